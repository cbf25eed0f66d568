"""ask(): a reader's text in, a Trace out; the only file where the stages meet.

A fault of the model before the reader has seen a statement becomes an answer in quotes; after
that it is Interrupted.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from service.ask.answer import AnswerConfig, CitableExcerpt, answer, citable, declines
from service.ask.grade import GradeConfig, grade, relevant_excerpts
from service.ask.guard_input import GuardInputConfig, guard
from service.ask.guard_output import guard_output
from service.ask.quote import quote
from service.ask.retrieve import RetrieveConfig, related_sections, retrieve
from service.errors import BudgetExceeded, Interrupted, UpstreamError
from service.ports import Deps, Model
from service.types import (
    AbstainedBecause,
    Abstention,
    Answer,
    Draft,
    Dropped,
    DropReason,
    Excerpt,
    Grading,
    ModelReply,
    Outcome,
    Question,
    QuotesBecause,
    Refusal,
    Retrieval,
    Stage,
    Statement,
    Trace,
    Usage,
    WrittenBy,
)

Event = Stage | Statement
Listener = Callable[[Event], Awaitable[None]]

_REFUSED = Question(text="")  # a refused question is not kept


@dataclass(frozen=True, slots=True, kw_only=True)
class AskConfig:
    """The knobs of every stage."""

    retrieve: RetrieveConfig
    grade: GradeConfig
    answer: AnswerConfig
    guard_input: GuardInputConfig

    def in_language(self, language: str | None) -> AskConfig:
        """The same, searching only articles in this language."""
        return replace(self, retrieve=replace(self.retrieve, language=language))


@dataclass(slots=True, kw_only=True)
class _Run:
    """What one question has gathered so far."""

    question: Question
    listener: Listener | None
    retrieval: Retrieval | None = None
    grading: Grading | None = None
    statements: list[Statement] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    async def tell(self, event: Event) -> None:
        if self.listener is not None:
            await self.listener(event)

    @contextmanager
    def timed(self, stage: Stage) -> Iterator[None]:
        """Add the time inside to the stage, without that of stages timed within it."""
        started, before = time.perf_counter(), sum(self.seconds.values())
        try:
            yield
        finally:
            within = sum(self.seconds.values()) - before
            elapsed = time.perf_counter() - started - within
            self.seconds[stage.value] = self.seconds.get(stage.value, 0.0) + elapsed

    def trace(self, outcome: Outcome) -> Trace:
        return Trace(
            id=secrets.token_urlsafe(12),
            question=self.question,
            outcome=outcome,
            retrieval=self.retrieval,
            grading=self.grading,
            dropped=tuple(self.dropped),
            usage=tuple(self.usage),
            seconds=dict(self.seconds),
        )


async def ask(
    raw: str, *, site: str, deps: Deps, config: AskConfig, listener: Listener | None = None
) -> Trace:
    """Answer, abstain or refuse. `listener` hears of stages and of each checked statement.

    Raises StoreError, and Interrupted once a statement has been handed to the listener.
    """
    run = _Run(question=_REFUSED, listener=listener)
    await run.tell(Stage.GUARD_INPUT)
    with run.timed(Stage.GUARD_INPUT):
        guarded = await guard(raw, embedder=deps.embedder, config=config.guard_input)
    admitted = guarded.verdict.outcome
    if isinstance(admitted, Refusal):
        return run.trace(admitted)
    run.question = admitted

    await run.tell(Stage.RETRIEVE)
    with run.timed(Stage.RETRIEVE):
        retrieval = run.retrieval = await retrieve(
            run.question,
            site=site,
            embedder=deps.embedder,
            corpus=deps.corpus,
            config=config.retrieve,
            vector=guarded.vector,
        )
    if not retrieval.excerpts:
        return run.trace(_abstention(AbstainedBecause.BELOW_FLOOR, retrieval))
    if deps.model is None:
        return run.trace(await _quotes(run, retrieval, deps, QuotesBecause.NO_KEY))
    if admitted.guarded:
        return run.trace(await _quotes(run, retrieval, deps, QuotesBecause.GUARDED))
    try:
        return run.trace(await _written(run, retrieval, deps.model, config))
    except (BudgetExceeded, UpstreamError) as fault:
        if run.statements and listener is not None:
            raise Interrupted(str(fault)) from fault
        why = QuotesBecause.BUDGET if isinstance(fault, BudgetExceeded) else QuotesBecause.UPSTREAM
        return run.trace(await _quotes(run, retrieval, deps, why))


async def _written(run: _Run, retrieval: Retrieval, model: Model, config: AskConfig) -> Outcome:
    await run.tell(Stage.GRADE)
    with run.timed(Stage.GRADE):
        run.grading, reply = await grade(run.question, retrieval, model=model, config=config.grade)
    run.usage.append(reply.usage)
    excerpts = relevant_excerpts(run.grading, config.grade)
    if not excerpts:
        return _abstention(AbstainedBecause.NOT_RELEVANT, retrieval)

    await run.tell(Stage.ANSWER)
    with run.timed(Stage.ANSWER):
        written = await _write(run, excerpts, model, config.answer)
    if run.statements:
        return Answer(statements=tuple(run.statements), written_by=WrittenBy.CLAUDE)
    declined = written.finish == "refusal" or declines(written.text) or not run.dropped
    why = AbstainedBecause.MODEL_DECLINED if declined else AbstainedBecause.CITATIONS_FAILED
    return _abstention(why, retrieval)


async def _write(
    run: _Run, excerpts: tuple[Excerpt, ...], model: Model, config: AnswerConfig
) -> ModelReply:
    """Stream the answer, hand out each statement that passes guard_output; the whole reply.

    The last draft is held back until it is known whether the model finished its sentence.
    """
    sources = tuple(citable(e) for e in excerpts)
    held: Draft | None = None
    reply: ModelReply | None = None
    async for event in answer(run.question, sources, model=model, config=config):
        if isinstance(event, Draft):
            if held is not None:
                await _check(run, held, sources)
            held = event
            continue
        reply = event
        run.usage.append(event.usage)
    if reply is None:
        raise UpstreamError("the answer ended without a reply")
    if held is not None and reply.finish == "max_tokens":
        run.dropped.append(Dropped(text=held.text, reason=DropReason.UNFINISHED))
    elif held is not None:
        await _check(run, held, sources)
    return reply


async def _check(run: _Run, draft: Draft, sources: tuple[CitableExcerpt, ...]) -> None:
    with run.timed(Stage.GUARD_OUTPUT):
        checked = guard_output(draft, sources)
    if isinstance(checked, Dropped):
        run.dropped.append(checked)
    else:
        run.statements.append(checked)
        await run.tell(checked)


async def _quotes(run: _Run, retrieval: Retrieval, deps: Deps, why: QuotesBecause) -> Answer:
    run.statements.clear()
    await run.tell(Stage.ANSWER)
    with run.timed(Stage.ANSWER):
        quoted = await quote(run.question, retrieval, embedder=deps.embedder, why=why)
    for statement in quoted.statements:
        await run.tell(statement)
    return quoted


def _abstention(why: AbstainedBecause, retrieval: Retrieval) -> Abstention:
    return Abstention(why=why, related=related_sections(retrieval.candidates))
