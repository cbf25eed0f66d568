"""Money: prices, the worst case of a call before it is made, and its cost after.

A call's worst case is reserved in the ledger before it is sent and settled by its bill; an
outcome that stays unknown keeps the whole reservation.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from service.errors import BudgetExceeded, ConfigError
from service.types import ModelRequest

_MTOK = Decimal(1_000_000)
_TEMPLATE_TOKENS = 2_000  # role and tool framing around what we send; chosen generously
_TEMPLATE_TOKENS_PER_UNIT = 20  # framing of one citable unit; chosen generously


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens. The vendor's price page as of 2026-10-07."""

    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal
    max_input_tokens: int  # above it the vendor charges more: such a request is not sent


PRICES = {
    "claude-sonnet-5-5": Price(
        input=Decimal("2"),
        output=Decimal("10"),
        cache_write=Decimal("2.50"),
        cache_read=Decimal("0.10"),
        max_input_tokens=1_000_000,
    ),
    "claude-haiku-5-5": Price(
        input=Decimal("0.10"),
        output=Decimal("0.50"),
        cache_write=Decimal("0.125"),
        cache_read=Decimal("0.01"),
        max_input_tokens=100_000,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """A bill as the API states it."""

    input: int
    output: int  # thinking included
    cache_write: int = 0
    cache_read: int = 0

    @property
    def all_input(self) -> int:
        """Everything that was read, from the cache or not."""
        return self.input + self.cache_write + self.cache_read


def price_of(model: str) -> Price:
    """The model's prices. Raises ConfigError for one without: it could be spent without limit."""
    if model not in PRICES:
        raise ConfigError(
            f"no price is known for {model!r}, so nothing is spent on it; "
            f"known: {', '.join(sorted(PRICES))}"
        )
    return PRICES[model]


def cost_usd(model: str, tokens: Tokens) -> Decimal:
    """What the bill comes to."""
    price = price_of(model)
    return (
        tokens.input * price.input
        + tokens.cache_write * price.cache_write
        + tokens.cache_read * price.cache_read
        + tokens.output * price.output
    ) / _MTOK


def most_input_tokens(request: ModelRequest) -> int:
    """An upper bound of the prompt's tokens: a token is at least one byte of UTF-8.

    Three to four times what a prompt really has, but it holds for any text, needs no further
    request, and is given back when the call is settled.
    """
    units = [unit for source in request.sources for unit in source.units]
    labels = [text for source in request.sources for text in (source.id, source.title)]
    schema = str(request.schema or "")
    texts = [request.system, request.prompt, schema, *labels, *units]
    return (
        sum(len(text.encode()) for text in texts)
        + _TEMPLATE_TOKENS
        + _TEMPLATE_TOKENS_PER_UNIT * len(units)
    )


def worst_case_usd(request: ModelRequest) -> Decimal:
    """The most that one attempt at the request can cost. Raises ConfigError, BudgetExceeded."""
    price = price_of(request.model)
    tokens = most_input_tokens(request)
    if tokens > price.max_input_tokens:
        raise BudgetExceeded(
            f"a prompt of up to {tokens} tokens is over the limit of {request.model}"
        )
    return cost_usd(request.model, Tokens(input=tokens, output=request.max_tokens))


class Ledger(Protocol):
    """Where reservations are kept. `store.ledger` implements it in Postgres."""

    async def reserve(self, request: ModelRequest, usd: Decimal) -> int:
        """Set `usd` aside; the entry's number. Raises BudgetExceeded if a cap could be passed."""
        ...

    async def settle(self, entry: int, usd: Decimal, tokens: Tokens) -> None:
        """Replace the reservation by the real cost."""
        ...
