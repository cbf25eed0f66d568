"""Whatever the model returns, a statement without a quote of ours does not pass."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.answer import citable
from service.ask.guard_output import cleaned, details, find_squashed, guard_output
from service.types import Draft, Dropped, DropReason, SpanCited, Statement, StatementKind
from tests.builders import cite, make_draft, make_excerpt

TEXT = "The floor is 0.28. Run `uv sync --frozen` to skip it.\n\n```sh\nuv lock --check\n```\n"
EXCERPT = make_excerpt(TEXT, start=100)
SOURCES = (citable(EXCERPT),)
FIRST = cite(EXCERPT, "The floor is 0.28.")
SECOND = cite(EXCERPT, "Run `uv sync")


def dropped(draft: Draft) -> DropReason | None:
    checked = guard_output(draft, SOURCES)
    return checked.reason if isinstance(checked, Dropped) else None


def kept(draft: Draft) -> Statement:
    checked = guard_output(draft, SOURCES)
    assert isinstance(checked, Statement)
    return checked


def test_a_cited_statement_is_kept_with_the_quote_at_its_place_in_the_article() -> None:
    [citation] = kept(make_draft("The floor lies at 0.28.", FIRST)).citations
    assert citation.quote == "The floor is 0.28."
    assert (citation.start, citation.end) == (100, 118)


def altered(**fields: object) -> SpanCited:
    return replace(FIRST, **fields)


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        pytest.param(make_draft("The floor is 0.28."), DropReason.UNCITED, id="no citation"),
        pytest.param(make_draft("  ", FIRST), DropReason.EMPTY, id="blank"),
        pytest.param(make_draft("![](x.png)", FIRST), DropReason.EMPTY, id="only an image"),
        pytest.param(
            make_draft("A.", altered(source_index=1)), DropReason.FOREIGN_SOURCE, id="index 1 of 1"
        ),
        pytest.param(
            make_draft("A.", altered(source_index=-1)), DropReason.FOREIGN_SOURCE, id="index -1"
        ),
        pytest.param(
            make_draft("A.", altered(source_id="x")), DropReason.FOREIGN_SOURCE, id="other id"
        ),
        pytest.param(
            make_draft("A.", altered(quoted="The floor is 0.29.")),
            DropReason.QUOTE_MISMATCH,
            id="quote altered",
        ),
        pytest.param(
            make_draft("A.", altered(quoted="")), DropReason.QUOTE_MISMATCH, id="empty quote"
        ),
        pytest.param(
            make_draft("The floor is 0.82.", FIRST), DropReason.DETAIL_MISMATCH, id="number swapped"
        ),
        pytest.param(
            make_draft("Run `uv sync --locked`.", SECOND), DropReason.DETAIL_MISMATCH, id="flag"
        ),
        pytest.param(
            make_draft("See https://evil.example/x.", FIRST), DropReason.DETAIL_MISMATCH, id="URL"
        ),
        pytest.param(
            make_draft("```sh\nuv lock --force\n```", FIRST, kind=StatementKind.CODE),
            DropReason.DETAIL_MISMATCH,
            id="code altered",
        ),
    ],
)
def test_drop_reasons(draft: Draft, reason: DropReason) -> None:
    assert dropped(draft) is reason


@pytest.mark.parametrize(
    "draft",
    [
        pytest.param(make_draft("It is a cosine floor of 0.28.", FIRST), id="number of the text"),
        pytest.param(make_draft("`uv sync --frozen` skips it.", SECOND), id="flag of the text"),
        pytest.param(make_draft("The floor is v0.28.", FIRST), id="version with a v"),
        pytest.param(make_draft("Use `uv sync` with `--frozen`.", SECOND), id="in other order"),
        pytest.param(
            make_draft("```sh\nuv lock --check\n```", FIRST, kind=StatementKind.CODE), id="code"
        ),
        pytest.param(
            make_draft("A.", altered(first=5, last=9)), id="wrong units but the quote is there"
        ),
        pytest.param(
            make_draft("1. The floor is set.", FIRST, kind=StatementKind.LIST_ITEM), id="marker"
        ),
    ],
)
def test_honest_statements_are_kept(draft: Draft) -> None:
    kept(draft)


@pytest.mark.parametrize(
    ("said", "known"),
    [("`-s`", False), ("`--frozen`", True), ("`--froz`", False), ("0.2", False), ("8", False)],
)
def test_a_detail_has_to_stand_by_itself(said: str, known: bool) -> None:
    assert (dropped(make_draft(f"It is {said}.", SECOND, FIRST)) is None) is known


def test_one_bad_citation_does_not_cost_the_good_one() -> None:
    statement = kept(make_draft("The floor is 0.28.", altered(source_id="x"), FIRST))
    assert [c.quote for c in statement.citations] == ["The floor is 0.28."]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [the docs](https://evil.example) now.", "See the docs now."),
        ("![alt](https://evil.example/?q=1) x", "alt x"),
        ("<img src=x onerror=alert(1)>Hi", "Hi"),
        ("Hi <https://evil.example>", "Hi"),
        ("**Bold** and _soft_ words", "Bold and soft words"),
        ("keep `<b>` and `a[0](b)` in code", "keep `<b>` and `a[0](b)` in code"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("a \u202eb\u200b c", "a b c"),
        ("- item", "item"),
        ("## Heading", "Heading"),
        ("[x](javascript:alert(1)) y", "x y"),
    ],
)
def test_cleaning(text: str, shown: str) -> None:
    assert cleaned(text, StatementKind.SENTENCE) == shown


def test_array_indexing_is_never_taken_for_a_link_or_a_citation() -> None:
    assert cleaned("`arr[1](x)` and arr[1] stay", StatementKind.SENTENCE) == (
        "`arr[1](x)` and arr[1] stay"
    )


def test_details_are_numbers_versions_flags_identifiers_and_code() -> None:
    text = "Set `a.b` to 3 in v1.2, pass --dry-run to pool.max_size or useCache, by 2026."
    assert details(text, StatementKind.SENTENCE) == [
        *("a.b", "3", "v1.2", "--dry-run", "pool.max_size", "useCache", "2026"),
    ]


def test_small_numbers_may_be_written_out() -> None:
    excerpt = make_excerpt("There are three stages.")
    checked = guard_output(
        make_draft("It has 3 stages.", cite(excerpt, "There are three stages.")),
        (citable(excerpt),),
    )
    assert isinstance(checked, Statement)


def test_a_quote_is_found_across_marks_and_white_space() -> None:
    assert find_squashed("uses uv sync now", "It *uses*\n`uv  sync` now.") == (4, 24)


@given(
    st.text(max_size=200),
    st.text(max_size=60),
    st.integers(-3, 3),
    st.integers(-3, 9),
    st.integers(-3, 9),
    st.sampled_from(list(StatementKind)),
)
def test_no_output_raises_and_every_released_quote_is_in_the_article(
    text: str, quoted: str, index: int, first: int, last: int, kind: StatementKind
) -> None:
    span = altered(source_index=index, first=first, last=last, quoted=quoted)
    checked = guard_output(make_draft(text, span, kind=kind), SOURCES)
    if isinstance(checked, Statement):
        assert all(c.quote and c.quote in TEXT for c in checked.citations)
