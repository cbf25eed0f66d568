"""What was asked and how it ended, feedback, and stored answers for repeated requests."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.store.db import Database
from service.types import Abstention, Answer, Refusal, Trace

_RECORD = """
insert into asks
  (id, site, question, outcome, why, written_by, top_cosine, cost_usd, seconds, response, receipt)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
_FEEDBACK = """
insert into feedback (ask_id, vote, reasons, note)
select id, $2, $3, $4 from asks where id = $1
on conflict (ask_id) do update
set vote = excluded.vote, reasons = excluded.reasons, note = excluded.note, given_at = now()
returning ask_id
"""
_FORGET = "delete from asks where site = $1 and asked_at < now() - make_interval(days => $2)"
_FORGET_KEYS = "delete from idempotency where created_at < now() - interval '1 day'"
_KNOWN_KEY = "select body_sha256, response from idempotency where site = $1 and key = $2"
_REMEMBER = """
insert into idempotency (site, key, body_sha256, response) values ($1, $2, $3, $4)
on conflict (site, key) do nothing
"""


_UNANSWERED = """
select question, outcome, why, top_cosine
from asks
where site = $1 and question <> ''
  and (outcome = 'abstention' or (outcome = 'answer' and top_cosine < $2))
order by asked_at desc
limit $3
"""


_FIND = "select question, asked_at, response, receipt from asks where id = $1"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAsk:
    """A question as it was kept."""

    question: str
    asked_at: datetime.datetime
    response: Mapping[str, Any]
    receipt: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoorlyAnswered:
    """A reader's question that the articles did not, or hardly, answer."""

    question: str
    outcome: str
    why: str | None
    top_cosine: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResponse:
    """The answer that an Idempotency-Key already has."""

    body_sha256: str
    response: Mapping[str, Any]


class PgAsks:
    """The log of questions, without anything that names a reader."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def record(
        self, trace: Trace, *, site: str, response: Mapping[str, Any], receipt: Mapping[str, Any]
    ) -> None:
        """Keep how a question ended. Refused questions are stored without their text."""
        outcome, why, written_by = _ending(trace)
        candidates = trace.retrieval.candidates if trace.retrieval else ()
        async with self._db.connection("recording the question") as conn:
            await conn.execute(
                _RECORD,
                *(trace.id, site, trace.question.text, outcome, why, written_by),
                max((e.cosine for e in candidates), default=None),
                sum(u.cost_usd for u in trace.usage),
                dict(trace.seconds),
                dict(response),
                dict(receipt),
            )

    async def find(self, ask_id: str) -> StoredAsk | None:
        """A stored question with all that is kept of it."""
        async with self._db.connection("reading a question") as conn:
            row = await conn.fetchrow(_FIND, ask_id)
        return row and StoredAsk(**row)

    async def feedback(self, ask_id: str, *, vote: str, reasons: Sequence[str], note: str) -> bool:
        """One vote for each answer, the last one counts. False: no such answer."""
        async with self._db.connection("recording feedback") as conn:
            found = await conn.fetchval(_FEEDBACK, ask_id, vote, list(reasons), note)
        return found is not None

    async def poorly_answered(
        self, *, site: str, low_score: float, limit: int
    ) -> tuple[PoorlyAnswered, ...]:
        """Abstentions, and answers whose best excerpt is below `low_score`, newest first."""
        async with self._db.connection("reading asked questions") as conn:
            rows = await conn.fetch(_UNANSWERED, site, low_score, limit)
        return tuple(PoorlyAnswered(**row) for row in rows)

    async def forget(self, *, site: str, older_than_days: int) -> None:
        """Delete questions past their retention, and keys older than a day."""
        async with self._db.connection("deleting old questions") as conn:
            await conn.execute(_FORGET, site, older_than_days)
            await conn.execute(_FORGET_KEYS)

    async def stored_response(self, *, site: str, key: str) -> StoredResponse | None:
        """What was answered under this Idempotency-Key."""
        async with self._db.connection("looking up the request's key") as conn:
            row = await conn.fetchrow(_KNOWN_KEY, site, key)
        return row and StoredResponse(body_sha256=row["body_sha256"], response=row["response"])

    async def store_response(
        self, *, site: str, key: str, body_sha256: str, response: Mapping[str, Any]
    ) -> None:
        """Keep the answer for a repetition of the request."""
        async with self._db.connection("storing the request's key") as conn:
            await conn.execute(_REMEMBER, site, key, body_sha256, dict(response))


def _ending(trace: Trace) -> tuple[str, str | None, str | None]:
    match trace.outcome:
        case Answer(written_by=written_by, why=why):
            return "answer", why, written_by
        case Abstention(why=abstained):
            return "abstention", abstained, None
        case Refusal(rule=rule):
            return "refusal", rule, None
