"""The third stage: one call to a small model says which excerpts answer, and whether they suffice.

A reply that cannot be read leaves every excerpt *ungraded*. Ungraded excerpts go on to the answer:
guard_output checks every citation anyway, so the only cost is a longer prompt.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.ask import prompts
from service.ports import Model
from service.types import (
    Excerpt,
    Grade,
    Grading,
    ModelReply,
    ModelRequest,
    Question,
    Relevance,
    Retrieval,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeConfig:
    """Knobs of the grader."""

    model: str
    min_relevance: Relevance = Relevance.USEFUL  # chosen, not measured
    max_tokens: int = 400  # six grades and a verdict take about 120
    timeout_s: float = 15.0  # chosen, not measured


class _Judgement(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    excerpt: int
    relevance: Annotated[int, Field(ge=0, le=3)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    grades: list[_Judgement]
    sufficient: bool


# Written out, because the API knows no minimum, maximum or default.
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "grades": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "excerpt": {"type": "integer", "description": "its number"},
                    "relevance": {"type": "integer", "enum": [0, 1, 2, 3]},
                },
                "required": ["excerpt", "relevance"],
                "additionalProperties": False,
            },
        },
        "sufficient": {"type": "boolean"},
    },
    "required": ["grades", "sufficient"],
    "additionalProperties": False,
}


def read_grading(reply: ModelReply, excerpts: tuple[Excerpt, ...]) -> Grading:
    """The grades, or all excerpts ungraded if the reply is not exactly what was asked for."""
    judged = _parsed(reply)
    if judged is None or [g.excerpt for g in judged.grades] != list(range(1, len(excerpts) + 1)):
        return Grading(grades=ungraded(excerpts), sufficient=None)
    grades = tuple(
        Grade(excerpt=excerpt, relevance=Relevance(g.relevance))
        for excerpt, g in zip(excerpts, judged.grades, strict=True)
    )
    return Grading(grades=grades, sufficient=judged.sufficient)


def _parsed(reply: ModelReply) -> _Reply | None:
    if reply.finish != "end_turn":
        return None
    try:
        return _Reply.model_validate_json(reply.text)
    except ValidationError:
        return None


def ungraded(excerpts: tuple[Excerpt, ...]) -> tuple[Grade, ...]:
    """A grade without relevance for each excerpt."""
    return tuple(Grade(excerpt=excerpt, relevance=None) for excerpt in excerpts)


def relevant_excerpts(grading: Grading, config: GradeConfig) -> tuple[Excerpt, ...]:
    """What the answer may use; nothing where excerpts help, none answers and all don't suffice."""
    kept = [g for g in grading.grades if g.relevance is None or g.relevance >= config.min_relevance]
    answering = [g for g in kept if g.relevance is None or g.relevance is Relevance.ANSWERS]
    if grading.sufficient is False and not answering:
        return ()
    return tuple(g.excerpt for g in kept)


def label(excerpt: Excerpt) -> str:
    """How an excerpt is named to a model: its article and headings."""
    return " > ".join([excerpt.title, *excerpt.chunk.heading_path])


async def grade(
    question: Question, retrieval: Retrieval, *, model: Model, config: GradeConfig
) -> tuple[Grading, ModelReply]:
    """One call over all excerpts. Raises UpstreamError and BudgetExceeded."""
    shown = [(label(e), e.chunk.text) for e in retrieval.excerpts]
    fence = f"excerpt-{secrets.token_hex(4)}"
    request = ModelRequest(
        purpose="grade",
        model=config.model,
        system=prompts.GRADE_SYSTEM,
        sources=(),
        prompt=prompts.grade_prompt(question.text, shown, fence),
        max_tokens=config.max_tokens,
        timeout_s=config.timeout_s,
        schema=SCHEMA,
    )
    reply = await model.complete(request)
    return read_grading(reply, retrieval.excerpts), reply
