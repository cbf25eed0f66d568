"""Every reserved and spent dollar. Caps hold across processes and crashes."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal

from service.budget import Tokens
from service.errors import BudgetExceeded
from service.store.db import Database
from service.types import ModelRequest

_LOCK = "select pg_advisory_xact_lock(hashtextextended('ask-the-blog spend ' || $1, 0))"
_SPENT = """
select
  coalesce(sum(coalesce(cost_usd, reserved_usd))
    filter (where created_at >= date_trunc('day', now(), 'UTC')), 0) as day,
  coalesce(sum(coalesce(cost_usd, reserved_usd)), 0) as month
from spend
where account = $1 and created_at >= date_trunc('month', now(), 'UTC')
"""
_RESERVE = """
insert into spend (account, purpose, model, reserved_usd) values ($1, $2, $3, $4) returning id
"""
_BY_DAY = """
select (created_at at time zone 'UTC')::date as day, account, purpose, model, count(*) as calls,
       count(*) filter (where settled_at is null) as open_calls,
       coalesce(sum(input_tokens), 0) as input_tokens,
       coalesce(sum(output_tokens), 0) as output_tokens,
       sum(coalesce(cost_usd, reserved_usd)) as usd
from spend
where created_at >= now() - make_interval(days => $1)
group by 1, 2, 3, 4
order by day desc, account, purpose, model
"""
_SETTLE = """
update spend
set cost_usd = $2, input_tokens = $3, output_tokens = $4, settled_at = now()
where id = $1 and settled_at is null
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """USD per UTC day and month; settled costs and open reservations count."""

    daily: Decimal
    monthly: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """USD of this UTC day and month, open reservations included."""

    day: Decimal
    month: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendRow:
    """One day's calls of one purpose to one model."""

    day: datetime.date
    account: str
    purpose: str
    model: str
    calls: int
    open_calls: int  # reserved, with an outcome that is not known
    input_tokens: int
    output_tokens: int
    usd: Decimal


async def spend_by_day(db: Database, *, days: int) -> tuple[SpendRow, ...]:
    """Where the money went, newest day first."""
    async with db.connection("reading the ledger") as conn:
        rows = await conn.fetch(_BY_DAY, days)
    return tuple(SpendRow(**row) for row in rows)


class PgLedger:
    """Implements budget.Ledger for one account."""

    def __init__(self, db: Database, *, account: str, caps: Caps) -> None:
        self._db = db
        self._account = account
        self._caps = caps

    async def spent(self) -> Spent:
        """What the account has spent and reserved."""
        async with self._db.connection("reading the ledger") as conn:
            row = await conn.fetchrow(_SPENT, self._account)
        return Spent(day=row["day"], month=row["month"])

    async def reserve(self, request: ModelRequest, usd: Decimal) -> int:
        """Set `usd` aside; the entry's number. Raises BudgetExceeded, and then nothing is kept."""
        async with self._db.transaction("reserving money") as conn:
            await conn.execute(_LOCK, self._account)
            row = await conn.fetchrow(_SPENT, self._account)
            for name, spent, cap in (
                ("daily", row["day"], self._caps.daily),
                ("monthly", row["month"], self._caps.monthly),
            ):
                if spent + usd > cap:
                    raise BudgetExceeded(
                        f"the next call could cost {usd:.4f} USD; {spent:.4f} of the {name} cap of "
                        f"{cap} USD are spent or reserved"
                    )
            return int(
                await conn.fetchval(_RESERVE, self._account, request.purpose, request.model, usd)
            )

    async def settle(self, entry: int, usd: Decimal, tokens: Tokens) -> None:
        """Replace the reservation by the real cost; a second settlement changes nothing."""
        async with self._db.connection("settling a call") as conn:
            await conn.execute(_SETTLE, entry, usd, tokens.all_input, tokens.output)
