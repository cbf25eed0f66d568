"""Quotes mode: verbatim, from the best sections, and nothing made up."""

from __future__ import annotations

from service.ask.quote import quote
from service.types import Answer, Excerpt, Question, QuotesBecause, StatementKind
from tests.builders import make_excerpt, make_retrieval
from tests.fakes import HashEmbedder


async def quoted(question: str, *excerpts: Excerpt) -> Answer:
    return await quote(
        Question(text=question),
        make_retrieval(*excerpts),
        embedder=HashEmbedder(),
        why=QuotesBecause.NO_KEY,
    )


async def test_the_sentence_nearest_to_the_question_is_quoted() -> None:
    text = "Bread needs flour and water. The oven must be very hot. Salt is optional here."
    answer = await quoted("how hot must the oven be", make_excerpt(text))
    assert answer.statements[0].text == "The oven must be very hot."


async def test_a_code_block_comes_with_the_sentence_that_introduces_it() -> None:
    text = "Bread needs flour.\n\nTo lock the project run this:\n\n```sh\nuv lock\n```\n"
    answer = await quoted("how to lock the project", make_excerpt(text))
    assert [(s.kind, s.text) for s in answer.statements][-2:] == [
        (StatementKind.SENTENCE, "To lock the project run this:"),
        (StatementKind.CODE, "```sh\nuv lock\n```"),
    ]


async def test_quotes_come_from_different_sections_in_order_of_nearness() -> None:
    excerpts = [
        make_excerpt("This sentence is long enough to quote.", slug=s, position=i)
        for i, s in enumerate(("a", "b", "c", "d"))
    ]
    answer = await quoted("sentence", *excerpts)
    assert [s.citations[0].excerpt.chunk.slug for s in answer.statements] == ["a", "b", "c"]


async def test_every_statement_is_an_exact_span_of_the_article() -> None:
    text = "- First item with enough words.\n- Second item with enough words.\n\n## Heading\n"
    answer = await quoted("first item", make_excerpt(text, start=50))
    for statement in answer.statements:
        [citation] = statement.citations
        assert text[citation.start - 50 : citation.end - 50] == citation.quote == statement.text


async def test_line_wraps_of_the_source_are_not_shown_but_the_quote_keeps_them() -> None:
    answer = await quoted("wrapped sentence", make_excerpt("A sentence that\nis wrapped."))
    assert answer.statements[0].text == "A sentence that is wrapped."
    assert answer.statements[0].citations[0].quote == "A sentence that\nis wrapped."


async def test_an_excerpt_of_code_alone_speaks_as_it_is() -> None:
    answer = await quoted("uv lock", make_excerpt("```sh\nuv lock\n```"))
    assert answer.statements[0].kind is StatementKind.CODE
