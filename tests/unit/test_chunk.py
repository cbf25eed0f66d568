"""Chunks are exact slices within the budget, and nothing of an article is left out."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ingest.chunk import ChunkRules, chunk_article, context_header, embedded_text
from service.types import Article, Block, BlockKind, Chunk, Section
from tests.builders import make_article
from tests.fakes import WordTokenizer

TOKENIZER = WordTokenizer()
RULES = ChunkRules(target_tokens=40, max_tokens=60)


def chunks_of(article: Article, rules: ChunkRules = RULES) -> tuple[Chunk, ...]:
    return chunk_article(article, site="s", tokenizer=TOKENIZER, rules=rules)


def words(n: int, word: str = "word") -> str:
    return " ".join(f"{word}{i}" for i in range(n))


def test_small_paragraphs_of_a_section_are_packed_into_one_chunk() -> None:
    [chunk] = chunks_of(make_article(("One", [words(5), words(5)])))
    assert chunk.text == f"## One\n\n{words(5)}\n\n{words(5)}"


def test_a_chunk_never_crosses_into_the_next_section() -> None:
    chunks = chunks_of(make_article(("One", ["a b c."]), ("Two", ["d e f."])))
    assert [c.anchor for c in chunks] == ["one", "two"]


def test_a_paragraph_over_the_target_but_under_the_maximum_stays_whole() -> None:
    [chunk] = chunks_of(make_article(("", [words(50)])))
    assert chunk.text == words(50)


def test_a_paragraph_over_the_maximum_is_split_at_sentences() -> None:
    sentences = " ".join(f"{words(12, f's{i}x')}." for i in range(6))
    chunks = chunks_of(make_article(("", [sentences])))
    assert len(chunks) > 1
    assert all(c.text.endswith(".") for c in chunks)


def test_a_long_word_without_any_border_is_still_cut_to_size() -> None:
    chunks = chunks_of(make_article(("", ["x" * 5000])))
    assert "".join(c.text for c in chunks) == "x" * 5000
    assert len(chunks) > 20


def test_code_that_fits_is_kept_whole() -> None:
    code = "```py\n" + "\n".join(f"a{i} = {i}" for i in range(14)) + "\n```"
    chunks = chunks_of(make_article(("", [words(20), code, words(20)])))
    assert code in [c.text for c in chunks]


def test_code_over_the_maximum_becomes_overlapping_windows_of_whole_lines() -> None:
    lines = [f"call_{i}(x)" for i in range(60)]
    code = "```py\n" + "\n".join(lines) + "\n```"
    windows = chunks_of(make_article(("", [code])))
    assert len(windows) > 2
    assert all(set(w.text.splitlines()) <= {*lines, "```py", "```"} for w in windows)
    for before, after in itertools.pairwise(windows):
        assert before.start < after.start < before.end < after.end
    assert [w.starts_in_code for w in windows] == [False] + [True] * (len(windows) - 1)


def test_the_heading_of_an_empty_section_goes_with_its_first_subsection() -> None:
    text = "## Parent\n\n### Child\n\nBody.\n"
    article = Article(
        slug="a",
        title="A",
        text=text,
        sections=(
            Section(
                anchor="parent",
                heading="Parent",
                level=2,
                heading_path=("Parent",),
                start=0,
                end=11,
            ),
            Section(
                anchor="child",
                heading="Child",
                level=3,
                heading_path=("Parent", "Child"),
                start=11,
                end=len(text),
            ),
        ),
        blocks=(
            Block(kind=BlockKind.HEADING, start=0, end=9),
            Block(kind=BlockKind.HEADING, start=11, end=20),
            Block(kind=BlockKind.PROSE, start=22, end=27),
        ),
    )
    [chunk] = chunks_of(article)
    assert (chunk.anchor, chunk.text) == ("child", "## Parent\n\n### Child\n\nBody.")


def test_a_last_heading_without_text_is_not_lost() -> None:
    chunks = chunks_of(make_article(("One", ["a."]), ("Empty", [])))
    assert chunks[-1].text == "## Empty"


def test_the_embedded_text_is_the_header_and_the_untouched_chunk() -> None:
    [chunk] = chunks_of(make_article(("One", ["Body."]), title="Title"))
    assert embedded_text(chunk, "Title", TOKENIZER, RULES) == "Title > One\n## One\n\nBody."
    assert chunk.tokens == TOKENIZER.count("Title > One\n## One\n\nBody.")


def test_a_very_long_heading_path_does_not_eat_the_budget() -> None:
    header = context_header(words(9), (words(30), "Last one"), TOKENIZER, RULES)
    assert header == f"{words(9)} > Last one"


def test_ids_are_the_same_each_time_and_differ_between_sites() -> None:
    article = make_article(("One", [words(5)]))
    assert chunks_of(article) == chunks_of(article)
    elsewhere = chunk_article(article, site="t", tokenizer=TOKENIZER, rules=RULES)
    assert chunks_of(article)[0].id != elsewhere[0].id


paragraphs = st.lists(st.text(min_size=1).filter(lambda t: t.strip()), max_size=4)


@given(
    st.lists(st.tuples(st.sampled_from(["", "One", "Two words"]), paragraphs), max_size=4),
    st.integers(20, 60),
)
def test_every_word_lands_in_a_chunk_that_is_an_exact_slice_within_the_budget(
    sections: list[tuple[str, list[str]]], target: int
) -> None:
    article = make_article(*sections)
    rules = ChunkRules(target_tokens=target, max_tokens=target + 20)
    chunks = chunks_of(article, rules)
    covered = {i for c in chunks for i in range(c.start, c.end)}
    for chunk in chunks:
        assert chunk.text == article.text[chunk.start : chunk.end]
        assert chunk.tokens <= rules.max_tokens
    for word in re.finditer(r"\S", article.text):
        assert word.start() in covered


def test_two_megabytes_in_one_paragraph_are_cut_in_reasonable_time() -> None:
    chunks = chunks_of(make_article(("", ["lorem ipsum " * 170_000])))
    assert sum(len(c.text.split()) for c in chunks) == 340_000


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_an_article_without_text_has_no_chunks(blank: str) -> None:
    empty = Article(slug="a", title="A", text=blank, sections=(), blocks=())
    assert chunks_of(empty) == ()
