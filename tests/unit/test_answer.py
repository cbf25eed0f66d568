"""A streamed answer is cut into statements that carry the citations of the text they span."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.answer import Assembler, citable, declines
from service.types import SpanCited, StatementKind, TextPiece
from tests.builders import make_excerpt
from tests.fakes import piece

A = SpanCited(source_index=0, source_id="a", first=0, last=1, quoted="a")
B = SpanCited(source_index=1, source_id="b", first=0, last=1, quoted="b")


def drafts(*pieces: TextPiece) -> list[tuple[str, tuple[SpanCited, ...]]]:
    assembler = Assembler()
    found = [d for p in pieces for d in assembler.feed(p)] + assembler.finish()
    return [(d.text, d.cited) for d in found]


def test_each_sentence_carries_the_citation_of_its_own_piece() -> None:
    assert drafts(piece("One.", A), piece(" Two.", B)) == [("One.", (A,)), ("Two.", (B,))]


def test_a_sentence_made_of_several_pieces_carries_all_their_citations() -> None:
    assert drafts(piece("It is fast", A), piece(" and "), piece("small.", B)) == [
        ("It is fast and small.", (A, B))
    ]


def test_a_piece_over_two_sentences_supports_both() -> None:
    assert drafts(piece("One. Two.", A)) == [("One.", (A,)), ("Two.", (A,))]


def test_an_uncited_sentence_stays_uncited() -> None:
    assert drafts(piece("Here you go. "), piece("One.", A)) == [
        ("Here you go.", ()),
        ("One.", (A,)),
    ]


def test_list_items_and_code_blocks_are_statements_of_their_own() -> None:
    assembler = Assembler()
    text = "Do this:\n\n- first. Really.\n- second\n\n```sh\nuv sync\n```\n"
    found = [*assembler.feed(piece(text, A)), *assembler.finish()]
    assert [(d.kind, d.text) for d in found] == [
        (StatementKind.SENTENCE, "Do this:"),
        (StatementKind.LIST_ITEM, "- first. Really."),
        (StatementKind.LIST_ITEM, "- second"),
        (StatementKind.CODE, "```sh\nuv sync\n```"),
    ]


def test_a_statement_is_handed_out_as_soon_as_the_next_one_begins() -> None:
    assembler = Assembler()
    assert assembler.feed(piece("One.", A)) == []
    assert [d.text for d in assembler.feed(piece(" Two", B))] == ["One."]
    assert [d.text for d in assembler.finish()] == ["Two"]


@given(st.lists(st.text(alphabet="ab. \n-`1", max_size=12), max_size=12))
def test_no_text_is_lost_however_the_stream_is_cut(texts: list[str]) -> None:
    found = drafts(*(piece(t, A) for t in texts))
    shown = "".join(text for text, _ in found)
    assert "".join(shown.split()) == "".join("".join(texts).split())


def test_a_source_is_the_excerpt_in_units() -> None:
    source = citable(make_excerpt("One. Two.\n\n```\ncode\n```")).source()
    assert list(source.units) == ["One. ", "Two.\n\n", "```\ncode\n```"]
    assert source.title == "How retrieval works > The floor"


@pytest.mark.parametrize(
    ("text", "declined"),
    [
        ("NO_ANSWER", True),
        ("**NO_ANSWER**.", True),
        ("I must say NO_ANSWER here", True),
        ("No answer", True),
        ("There is no answer in Postgres.", False),
    ],
)
def test_declining(text: str, declined: bool) -> None:
    assert declines(text) is declined
