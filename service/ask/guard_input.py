"""The first stage: raw text -> a Question, or the Refusal that names the rule it broke.

Advisory by design: what keeps an answer honest is guard_output. Sizes, hidden characters, personal
data, orders to the model, other uses, in this order: nothing of a question is embedded, kept or
sent anywhere before personal data has passed.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from service.ask.guard_findings import Finding, masked
from service.ask.guard_heads import Heads, gram_score, joint_scores, units_of
from service.ask.guard_numbers import passes_luhn
from service.ask.guard_patterns import asks_about_attacks, injection_pattern, off_topic_pattern
from service.ask.guard_pii import personal_data
from service.ask.guard_unicode import hidden_text
from service.ask.guard_views import Views, fold, views_of
from service.ports import Embedder
from service.types import MAX_QUESTION_CHARS, Question, Refusal, Rule, Vector

__all__ = [
    "Finding",
    "GuardInputConfig",
    "Guarded",
    "Verdict",
    "guard",
    "guard_input",
    "masked",
    "passes_luhn",
    "personal_data",
    "verdict",
]

_MAX_RAW_CHARS = 4 * MAX_QUESTION_CHARS  # chosen: NFKC and folding only ever shorten honest text
_MAX_RAW_BYTES = 4 * _MAX_RAW_CHARS  # what so many characters can be in UTF-8


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardInputConfig:
    """What happens to personal data, and the heads, if any belong to the embedder in use."""

    pii: Literal["refuse", "mask"] = "refuse"
    heads: Heads | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of a question, and the names of the checks that fired."""

    outcome: Question | Refusal
    fired: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A verdict and the question's embedding, made once, for retrieval to use again."""

    verdict: Verdict
    vector: Vector | None = None


def guard_input(
    raw: str, config: GuardInputConfig, vectors: Sequence[Vector] = ()
) -> Question | Refusal:
    """The question as it will be asked, or why it will not be.

    `vectors` are the embeddings of units_of() the question; without them the n-gram head alone
    is asked.
    """
    return verdict(raw, config, vectors).outcome


async def guard(raw: str, *, embedder: Embedder, config: GuardInputConfig) -> Guarded:
    """guard_input with both heads; nothing is embedded before personal data has passed."""
    admitted = _admitted(raw, config)
    heads = config.heads
    if heads is None or heads.embedder_id != embedder.id or isinstance(admitted, Verdict):
        return Guarded(verdict=verdict(raw, replace(config, heads=None)))
    units = units_of(admitted.text)
    vectors = await asyncio.gather(*(embedder.embed_query(unit) for unit in units))
    return Guarded(verdict=_of_intent(admitted, config, vectors), vector=vectors[0])


def verdict(raw: str, config: GuardInputConfig, vectors: Sequence[Vector] = ()) -> Verdict:
    """guard_input, and what fired."""
    admitted = _admitted(raw, config)
    if isinstance(admitted, Verdict):
        return admitted
    return _of_intent(admitted, config, vectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitted:
    """Text without hidden characters and personal data."""

    text: str
    spaced: str  # with its runs of spaces; "" where something was masked
    masked: tuple[str, ...] = ()


def _admitted(raw: str, config: GuardInputConfig) -> _Admitted | Verdict:
    """Sizes, hidden characters, personal data."""
    if broken := _broken(raw):
        return Verdict(outcome=Refusal(rule=broken), fired=(broken.value,))
    if trick := hidden_text(raw):
        return Verdict(outcome=Refusal(rule=Rule.HIDDEN_TEXT), fired=(trick,))
    text = Question.of(raw).text
    findings = personal_data(text)
    if not findings:
        return _Admitted(text=text, spaced=unicodedata.normalize("NFKC", raw))
    kinds = tuple(dict.fromkeys(f.kind for f in findings))
    if config.pii == "refuse":
        return Verdict(outcome=Refusal(rule=Rule.PERSONAL_DATA), fired=kinds)
    return _Admitted(text=masked(text, findings), spaced="", masked=kinds)


def _broken(raw: str) -> Rule | None:
    """Sizes before and after NFKC, and whether it is text at all."""
    if len(raw) > _MAX_RAW_CHARS:
        return Rule.TOO_LONG
    # lone surrogates: JSON can smuggle them in and no encoding can carry them
    if any("\ud800" <= ch <= "\udfff" for ch in raw):
        return Rule.MALFORMED
    if len(raw.encode()) > _MAX_RAW_BYTES:
        return Rule.TOO_LONG
    text = Question.of(raw).text
    if not text:
        return Rule.EMPTY
    return Rule.TOO_LONG if len(text) > MAX_QUESTION_CHARS else None


def _of_intent(admitted: _Admitted, config: GuardInputConfig, vectors: Sequence[Vector]) -> Verdict:
    """Orders to the model, then other uses. A question about attacks is guarded at worst."""
    text, heads = admitted.text, config.heads
    views = views_of(text, admitted.spaced)
    pattern = injection_pattern(views)
    if heads is None:
        suspicion, name = (_CERTAIN if pattern else _NONE), ""
    else:
        suspicion, name = _suspicion(text, views, bool(pattern), heads, vectors)
    fired = tuple(n for n in (pattern, name) if n) if suspicion else ()
    if suspicion == _CERTAIN and not asks_about_attacks(views):
        return Verdict(outcome=Refusal(rule=Rule.INJECTION), fired=fired)
    if other := off_topic_pattern(views):
        return Verdict(outcome=Refusal(rule=Rule.OFF_TOPIC), fired=(other,))
    question = Question(text=text, guarded=suspicion > _NONE)
    return Verdict(outcome=question, fired=(*admitted.masked, *fired))


_NONE, _SOME, _CERTAIN = range(3)


def _suspicion(
    text: str, views: Views, pattern: bool, heads: Heads, vectors: Sequence[Vector]
) -> tuple[int, str]:
    """How sure the heads are, with the pattern's weight, and which of them it was."""
    grams = [gram_score(fold(unit), heads) for unit in units_of(text)]
    hidden = [gram_score(view, heads) for view in (views.leet, *views.decoded) if view]
    if vectors:
        scores, least, name = [*joint_scores(grams, vectors, heads), *hidden], heads.both, "heads"
    else:
        scores, least, name = [*grams, *hidden], heads.grams, "n-grams"
    score = max(scores) + (heads.pattern_weight if pattern else 0.0)
    return sum(score >= t for t in (least.strict, least.refuse)), name
