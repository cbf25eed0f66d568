"""The stages together: which outcome a question ends in, and what the reader is told on the way."""

from __future__ import annotations

import json

import pytest

from service.ask.pipeline import Event, ask
from service.errors import BudgetExceeded, Interrupted, UpstreamError
from service.ports import Deps
from service.types import (
    AbstainedBecause,
    Abstention,
    Answer,
    DropReason,
    Excerpt,
    QuotesBecause,
    Refusal,
    Rule,
    Stage,
    Statement,
    Trace,
    WrittenBy,
)
from tests.builders import cite, make_ask_config, make_excerpt
from tests.fakes import FixedCorpus, HashEmbedder, ScriptedModel, piece, reply, written

EXCERPT = make_excerpt()
CITED = cite(EXCERPT, "The floor is a cosine.")


def grading(relevance: int = 3, *, sufficient: bool = True) -> str:
    grades = [{"excerpt": 1, "relevance": relevance}]
    return json.dumps({"grades": grades, "sufficient": sufficient})


async def asked(
    model: ScriptedModel | None,
    *,
    question: str = "What is the floor?",
    excerpt: Excerpt = EXCERPT,
    heard: list[Event] | None = None,
) -> Trace:
    async def listen(event: Event) -> None:
        assert heard is not None
        heard.append(event)

    deps = Deps(embedder=HashEmbedder(), corpus=FixedCorpus([excerpt]), model=model)
    return await ask(
        question,
        site="s",
        deps=deps,
        config=make_ask_config(),
        listener=None if heard is None else listen,
    )


async def test_a_graded_and_cited_answer_is_given() -> None:
    model = ScriptedModel(reply(grading()), written(piece("The floor is a cosine.", CITED)))
    trace = await asked(model)
    assert isinstance(trace.outcome, Answer)
    assert trace.outcome.written_by is WrittenBy.CLAUDE
    assert [s.text for s in trace.outcome.statements] == ["The floor is a cosine."]
    assert set(trace.seconds) == {"guard_input", "retrieve", "grade", "answer", "guard_output"}
    assert len(trace.usage) == 2


async def test_statements_are_told_as_they_pass_and_stages_as_they_begin() -> None:
    heard: list[Event] = []
    model = ScriptedModel(
        reply(grading()), written(piece("It is a cosine.", CITED), piece(" Calibrated.", CITED))
    )
    await asked(model, heard=heard)
    told = [e.text if isinstance(e, Statement) else e for e in heard]
    assert told == [
        *(Stage.GUARD_INPUT, Stage.RETRIEVE, Stage.GRADE, Stage.ANSWER),
        *("It is a cosine.", "Calibrated."),
    ]


async def test_an_uncited_statement_is_dropped_and_the_rest_is_shown() -> None:
    model = ScriptedModel(
        reply(grading()), written(piece("Hello there! "), piece("It is a cosine.", CITED))
    )
    trace = await asked(model)
    assert isinstance(trace.outcome, Answer)
    assert [s.text for s in trace.outcome.statements] == ["It is a cosine."]
    assert [(d.text, d.reason) for d in trace.dropped] == [("Hello there!", DropReason.UNCITED)]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param([reply(grading(1))], AbstainedBecause.NOT_RELEVANT, id="not relevant"),
        pytest.param(
            [reply(grading(2, sufficient=False))], AbstainedBecause.NOT_RELEVANT, id="insufficient"
        ),
        pytest.param(
            [reply(grading()), written(piece("NO_ANSWER"))],
            AbstainedBecause.MODEL_DECLINED,
            id="declined",
        ),
        pytest.param(
            [reply(grading()), written(piece("I can't."), finish="refusal")],
            AbstainedBecause.MODEL_DECLINED,
            id="the model refused",
        ),
        pytest.param(
            [reply(grading()), written()], AbstainedBecause.MODEL_DECLINED, id="said nothing"
        ),
        pytest.param(
            [reply(grading()), written(piece("It is 0.99.", CITED))],
            AbstainedBecause.CITATIONS_FAILED,
            id="nothing passed the guard",
        ),
    ],
)
async def test_abstentions_offer_related_sections(script: list, why: AbstainedBecause) -> None:
    outcome = (await asked(ScriptedModel(*script))).outcome
    assert isinstance(outcome, Abstention)
    assert outcome.why is why
    assert outcome.related == (EXCERPT,)


async def test_below_the_floor_nothing_is_asked_of_a_model() -> None:
    model = ScriptedModel()
    outcome = (await asked(model, excerpt=make_excerpt(cosine=0.1))).outcome
    assert isinstance(outcome, Abstention)
    assert outcome.why is AbstainedBecause.BELOW_FLOOR
    assert outcome.related


async def test_a_refused_question_goes_no_further_and_its_text_is_not_kept() -> None:
    trace = await asked(ScriptedModel(), question="mail jane.roe@gmail.com")
    assert trace.outcome == Refusal(rule=Rule.PERSONAL_DATA)
    assert trace.question.text == ""
    assert trace.retrieval is None


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param(None, QuotesBecause.NO_KEY, id="no key"),
        pytest.param([BudgetExceeded("spent")], QuotesBecause.BUDGET, id="budget at the grader"),
        pytest.param([UpstreamError("down")], QuotesBecause.UPSTREAM, id="grader down"),
        pytest.param(
            [reply(grading()), BudgetExceeded("spent")], QuotesBecause.BUDGET, id="at the answer"
        ),
        pytest.param(
            [reply(grading()), [UpstreamError("cut")]], QuotesBecause.UPSTREAM, id="answerer down"
        ),
    ],
)
async def test_without_a_model_the_answer_is_verbatim_quotes(
    script: list | None, why: QuotesBecause
) -> None:
    heard: list[Event] = []
    model = None if script is None else ScriptedModel(*script)
    outcome = (await asked(model, heard=heard)).outcome
    assert isinstance(outcome, Answer)
    assert (outcome.written_by, outcome.why) == (WrittenBy.QUOTES, why)
    assert all(s.text in EXCERPT.chunk.text for s in outcome.statements)
    assert [e for e in heard if isinstance(e, Statement)] == list(outcome.statements)


BREAKS = [piece("It is a cosine.", CITED), piece(" Calibrated. X", CITED), UpstreamError("cut")]


async def test_a_break_after_the_first_statement_is_an_interruption_for_who_has_read_it() -> None:
    with pytest.raises(Interrupted):
        await asked(ScriptedModel(reply(grading()), list(BREAKS)), heard=[])


async def test_a_break_that_no_reader_has_seen_becomes_quotes() -> None:
    outcome = (await asked(ScriptedModel(reply(grading()), list(BREAKS)))).outcome
    assert isinstance(outcome, Answer)
    assert outcome.why is QuotesBecause.UPSTREAM
    assert all(s.text in EXCERPT.chunk.text for s in outcome.statements)


async def test_a_truncated_answer_loses_its_unfinished_last_statement() -> None:
    model = ScriptedModel(
        reply(grading()),
        written(piece("It is a cosine.", CITED), piece(" It was cal", CITED), finish="max_tokens"),
    )
    trace = await asked(model)
    assert isinstance(trace.outcome, Answer)
    assert [s.text for s in trace.outcome.statements] == ["It is a cosine."]
    assert [d.reason for d in trace.dropped] == [DropReason.UNFINISHED]


async def test_only_relevant_excerpts_reach_the_answerer() -> None:
    model = ScriptedModel(
        reply(json.dumps({"grades": [{"excerpt": 1, "relevance": 3}], "sufficient": True})),
        written(piece("It is a cosine.", CITED)),
    )
    await asked(model)
    assert [r.purpose for r in model.requests] == ["grade", "answer"]
    assert [s.id for s in model.requests[1].sources] == ["floor#the-floor@0"]
    assert "".join(model.requests[1].sources[0].units) == EXCERPT.chunk.text
