"""The cutters of the chunking experiment, over articles of any shape."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.chunkers import CUTTERS, CutChunker, characters_v4, paragraphs, sections, windows
from service.types import Article, Chunk
from tests.builders import make_article

EVERY_CUTTER = pytest.mark.parametrize("name", list(CUTTERS))

WORDS = st.sampled_from(["bread", "Knead it.", "oven?", "--flag", "é😀", "salt\n", "x" * 70, "a"])
PROSE = st.lists(WORDS, min_size=1, max_size=60).map(" ".join).map(str.strip)
CODE = st.lists(WORDS, min_size=1, max_size=60).map(lambda words: f"```\n{' '.join(words)}\n```")
PARAGRAPHS = st.lists(PROSE | CODE, max_size=5)
HEADINGS = st.sampled_from(["The dough", "The oven", "Salt", "A flat tyre"])


@st.composite
def articles(draw: st.DrawFn) -> Article:
    introduction = ("", [draw(PROSE), *draw(PARAGRAPHS)])
    below = draw(st.lists(st.tuples(HEADINGS, PARAGRAPHS), max_size=4, unique_by=lambda s: s[0]))
    return make_article(introduction, *below)


def cut(name: str, article: Article) -> tuple[Chunk, ...]:
    return CutChunker(name=name, cutter=CUTTERS[name]).chunks(article, site="s")


def cut_by_all(article: Article) -> list[tuple[Chunk, ...]]:
    """One article for every cutter: making articles takes longer than cutting them."""
    return [cut(name, article) for name in CUTTERS]


@given(article=articles())
def test_chunks_are_exact_trimmed_slices_in_order_with_an_id_each(article: Article) -> None:
    for chunks in cut_by_all(article):
        assert [c.text for c in chunks] == [article.text[c.start : c.end] for c in chunks]
        assert all(c.text == c.text.strip() != "" for c in chunks)
        assert [c.position for c in chunks] == list(range(len(chunks)))
        assert [c.start for c in chunks] == sorted(c.start for c in chunks)
        assert len({c.id for c in chunks}) == len(chunks)


@given(article=articles())
def test_every_non_blank_character_is_in_some_chunk(article: Article) -> None:
    written = {i for i, ch in enumerate(article.text) if not ch.isspace()}
    for chunks in cut_by_all(article):
        assert written <= {i for c in chunks for i in range(c.start, c.end)}


@given(article=articles())
def test_anchor_and_heading_path_are_of_the_section_where_a_slice_begins(
    article: Article,
) -> None:
    for chunk in (c for chunks in cut_by_all(article) for c in chunks):
        [own] = [s for s in article.sections if s.start <= chunk.start < s.end]
        assert (chunk.anchor, chunk.heading_path) == (own.anchor, own.heading_path)


@EVERY_CUTTER
def test_an_article_without_text_has_no_chunks(name: str) -> None:
    assert cut(name, make_article()) == ()


@EVERY_CUTTER
def test_the_same_text_has_other_ids_on_another_site(name: str) -> None:
    chunker = CutChunker(name=name, cutter=CUTTERS[name])
    article = make_article(("", ["Bread needs time."]))
    [mine], [yours] = (chunker.chunks(article, site=site) for site in ("mine", "yours"))
    assert (mine.text, mine.id == yours.id) == (yours.text, False)


@pytest.mark.parametrize(("size", "overlap"), [(500, 50), (1000, 100), (2000, 200), (7, 3)])
@given(article=articles())
def test_windows_have_their_size_and_repeat_their_overlap(
    size: int, overlap: int, article: Article
) -> None:
    spans = list(windows(size, overlap)(article))
    assert [end - start for start, end in spans[:-1]] == [size] * (len(spans) - 1)
    assert {a[1] - b[0] for a, b in pairwise(spans)} <= {overlap}
    assert spans[0][0] == 0
    assert spans[-1][1] == len(article.text)
    assert overlap < spans[-1][1] - spans[-1][0] <= size or len(spans) == 1


def test_windows_over_long_white_space_give_no_chunk_twice() -> None:
    article = make_article(("", ["start" + " " * 900 + "middle" + " " * 900 + "end"]))
    assert [c.text for c in cut("fixed-500-50", article)] == ["start", "middle", "end"]


@given(article=articles())
def test_v4_chunks_hold_at_most_1500_characters_and_touch_each_other(article: Article) -> None:
    spans = list(characters_v4(article))
    assert all(0 < end - start <= 1500 for start, end in spans)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(article.text)


def test_v4_cuts_back_to_the_last_end_of_a_sentence_and_through_what_has_none() -> None:
    sentence = "Knead the dough for ten minutes. "
    [first, *_] = characters_v4(make_article(("", [sentence * 60])))
    assert first == (0, len(sentence) * (1500 // len(sentence)))
    [first, *_] = characters_v4(make_article(("", ["x" * 4000])))
    assert first == (0, 1500)


@given(article=articles(), size=st.integers(20, 400))
def test_paragraphs_are_whole_blocks_and_over_the_size_only_if_one_block_is(
    article: Article, size: int
) -> None:
    starts, ends = {b.start for b in article.blocks}, {b.end for b in article.blocks}
    alone = {(b.start, b.end) for b in article.blocks}
    spans = list(paragraphs(size)(article))
    for start, end in spans:
        assert start in starts
        assert end in ends
        assert end - start <= size or (start, end) in alone
    for (start, _), following in pairwise(spans):
        next_end = min(b.end for b in article.blocks if b.start == following[0])
        assert next_end - start > size


def test_paragraphs_are_packed_across_headings() -> None:
    article = make_article(("", ["Bread."]), ("The dough", ["Knead it."]))
    assert [c.text for c in cut("paragraph-1000", article)] == [
        "Bread.\n\n## The dough\n\nKnead it."
    ]


@given(article=articles(), size=st.integers(20, 400))
def test_sections_never_cross_a_heading(article: Article, size: int) -> None:
    for start, end in sections(size)(article):
        assert [s for s in article.sections if s.start < end and s.end > start] == [
            s for s in article.sections if s.start <= start < s.end
        ]


@given(article=articles(), size=st.integers(20, 400))
def test_a_section_that_fits_is_one_chunk(article: Article, size: int) -> None:
    spans = list(sections(size)(article))
    for section in article.sections:
        text = article.text[section.start : section.end].strip()
        if len(text) <= size:
            assert (section.start, section.start + len(text)) in spans


def test_a_section_that_does_not_fit_is_packed_block_by_block() -> None:
    article = make_article(("The dough", ["a" * 60, "b" * 30, "c" * 60]), ("Salt", ["d"]))
    texts = [article.text[start:end] for start, end in sections(100)(article)]
    assert texts == [
        f"## The dough\n\n{'a' * 60}",
        f"{'b' * 30}\n\n{'c' * 60}",
        "## Salt\n\nd",
    ]


def test_a_slice_that_begins_inside_code_says_so() -> None:
    article = make_article(("", ["p" * 400, f"```\n{'c' * 400}\n```", "q" * 400]))
    chunks = cut("fixed-500-50", article)
    assert [(c.start, c.starts_in_code) for c in chunks] == [(0, False), (450, True), (900, False)]


def test_a_slice_that_begins_with_the_fence_does_not_start_in_code() -> None:
    article = make_article(("", ["p" * 900, f"```\n{'c' * 400}\n```"]))
    assert [c.starts_in_code for c in cut("paragraph-1000", article)] == [False, False]


@given(article=articles())
def test_whole_blocks_never_start_in_code(article: Article) -> None:
    for name in ("paragraph-1000", "section-1500"):
        assert not any(c.starts_in_code for c in cut(name, article))


def test_the_context_header_is_title_and_heading_path() -> None:
    article = make_article(("The dough", ["Knead it."]), title="Baking")
    chunker = CutChunker(name="section-1500", cutter=CUTTERS["section-1500"])
    [chunk] = chunker.chunks(article, site="s")
    assert chunker.id == "section-1500"
    assert chunker.embedded_text(chunk, article.title) == (
        "Baking > The dough\n## The dough\n\nKnead it."
    )
