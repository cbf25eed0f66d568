"""The only importer of anthropic: a ModelRequest in, text pieces and a ModelReply with bill out.

Each attempt is reserved in the ledger before it is sent. Retries are ours, so that each is
reserved too, and happen only while nothing of the reply has been handed on.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2

from service.budget import Ledger, Tokens, cost_usd, worst_case_usd
from service.errors import UpstreamError
from service.types import ModelReply, ModelRequest, Source, SpanCited, TextPiece, Usage

_ATTEMPTS = 2  # chosen: a reader waits for one retry, not for three
_LONGEST_WAIT_S = 3.0  # a longer retry-after means quotes now rather than an answer later
_FIRST_WAIT_S = 0.4  # chosen, not measured
# 200: an error that came as an event inside a stream, such as an overload
_RETRIED_STATUS = frozenset({200, 408, 409, 429, 500, 502, 503, 504, 529})

# What the SDK and its transport raise, in and between the events of a stream.
_FAULTS = (
    anthropic.APIError,
    httpx2.HTTPError,
    AssertionError,
    json.JSONDecodeError,
    TimeoutError,
)

# No thinking: grading and quoting need none, and its tokens are billed. The models spell it
# differently and answer 400 to the other's spelling.
_NO_THINKING: Mapping[str, Mapping[str, str]] = {
    "claude-haiku-5-5": {"type": "disabled"},
    "claude-sonnet-5-5": {"type": "between_tools"},
}


@dataclass(slots=True)
class Breaker:
    """Stops asking a service that is down, so that readers get quotes at once and not after a wait.

    After some faults in a row it is open for a while; then one call may try again.
    """

    faults_to_open: int = 5  # chosen, not measured
    open_s: float = 20.0  # chosen, not measured
    _faults: int = 0
    _open_until: float = 0.0

    def check(self, now: float) -> None:
        """Raises UpstreamError while the breaker is open."""
        if now < self._open_until:
            raise UpstreamError("Claude was out of reach a moment ago; not asked again yet")

    def succeeded(self) -> None:
        """Forget the faults."""
        self._faults = 0

    def failed(self, now: float) -> None:
        """Count a fault; each one past the limit opens the breaker again."""
        self._faults += 1
        if self._faults >= self.faults_to_open:
            self._open_until = now + self.open_s


class Claude:
    """Implements the port Model."""

    def __init__(
        self,
        *,
        api_key: str,
        ledger: Ledger,
        base_url: str | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        self._ledger = ledger
        self._breaker = breaker or Breaker()
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,  # a retry of the SDK's own would be billed without a reservation
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One whole reply. Raises BudgetExceeded before spending, UpstreamError otherwise."""
        reply: ModelReply | None = None
        async for event in self.stream(request):
            if isinstance(event, ModelReply):
                reply = event
        if reply is None:
            raise UpstreamError("Claude's reply ended without a result")
        return reply

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextPiece | ModelReply]:
        """Finished text blocks as they come, then the reply. Raises as `complete` does."""
        self._breaker.check(time.monotonic())
        deadline = time.monotonic() + request.timeout_s
        for attempt in range(1, _ATTEMPTS + 1):
            started = False
            try:
                async for event in self._attempt(request, deadline):
                    started = True
                    yield event
                self._breaker.succeeded()
                return
            except _FAULTS as fault:
                self._breaker.failed(time.monotonic())
                wait_s = _wait_before_retry(fault, attempt)
                out_of_time = wait_s is None or time.monotonic() + wait_s >= deadline
                if started or attempt == _ATTEMPTS or wait_s is None or out_of_time:
                    raise UpstreamError(_told(fault)) from fault
                await asyncio.sleep(wait_s)

    async def _attempt(
        self, request: ModelRequest, deadline: float
    ) -> AsyncIterator[TextPiece | ModelReply]:
        entry = await self._ledger.reserve(request, worst_case_usd(request))
        reading = _Reading()
        try:
            async with _within(deadline):
                stream = await self._client.messages.create(**_wire(request), stream=True)
        except anthropic.APIError as fault:
            if _never_ran(fault):
                await self._ledger.settle(entry, cost_usd(request.model, _NOTHING), _NOTHING)
            raise
        async with stream:
            events = aiter(stream)
            while True:
                async with _within(deadline):
                    event = await anext(events, None)
                if event is None:
                    break
                piece = reading.feed(event)
                if piece is not None:
                    yield piece
        yield await self._settled(entry, request, reading)

    async def _settled(self, entry: int, request: ModelRequest, reading: _Reading) -> ModelReply:
        """Book the bill. A stream that was cut has none: its reservation stays."""
        if reading.finish is None or not reading.ended:
            raise httpx2.RemoteProtocolError("the stream ended before the message did")
        tokens = reading.tokens
        usd = cost_usd(request.model, tokens)
        await self._ledger.settle(entry, usd, tokens)
        return ModelReply(
            text="".join(reading.texts),
            finish=reading.finish,
            usage=Usage(
                model=request.model,
                input_tokens=tokens.all_input,
                output_tokens=tokens.output,
                cost_usd=float(usd),
            ),
        )


_NOTHING = Tokens(input=0, output=0)


def _within(deadline: float) -> asyncio.Timeout:
    """The SDK's own timeout counts from read to read; this one covers the whole call."""
    return asyncio.timeout(max(0.0, deadline - time.monotonic()))


@dataclass(slots=True)
class _Reading:
    """What has been read of a stream. Blocks are told apart by their type, never by place."""

    texts: list[str] = field(default_factory=list)
    finish: str | None = None
    ended: bool = False
    tokens: Tokens = _NOTHING
    _text: str = ""
    _cited: list[SpanCited] = field(default_factory=list)

    def feed(self, event: Any) -> TextPiece | None:
        match event.type:
            case "message_start":
                self._bill(event.message.usage)
            case "content_block_start":
                self._text, self._cited = "", []
                if event.content_block.type == "text":
                    self._text = event.content_block.text
            case "content_block_delta":
                self._delta(event.delta)
            case "content_block_stop":
                return self._piece()
            case "message_delta":
                self.finish = event.delta.stop_reason
                self._bill(event.usage)
            case "message_stop":
                self.ended = True
        return None

    def _delta(self, delta: Any) -> None:
        if delta.type == "text_delta":
            self._text += delta.text
        elif delta.type == "citations_delta" and delta.citation.type == "search_result_location":
            cited = delta.citation
            self._cited.append(
                SpanCited(
                    source_index=cited.search_result_index,
                    source_id=cited.source,
                    first=cited.start_block_index,
                    last=cited.end_block_index,
                    quoted=cited.cited_text,
                )
            )

    def _piece(self) -> TextPiece | None:
        if not self._text:
            return None
        self.texts.append(self._text)
        piece = TextPiece(text=self._text, cited=tuple(self._cited))
        self._text, self._cited = "", []
        return piece

    def _bill(self, usage: Any) -> None:
        """Later figures replace earlier ones; a field that is absent keeps its figure."""
        self.tokens = Tokens(
            input=_figure(usage.input_tokens, self.tokens.input),
            output=_figure(usage.output_tokens, self.tokens.output),
            cache_write=_figure(usage.cache_creation_input_tokens, self.tokens.cache_write),
            cache_read=_figure(usage.cache_read_input_tokens, self.tokens.cache_read),
        )


def _figure(stated: int | None, before: int) -> int:
    return before if stated is None else stated


def _wire(request: ModelRequest) -> dict[str, Any]:
    """The request as the API wants it."""
    content = [*_search_results(request.sources), {"type": "text", "text": request.prompt}]
    wire: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "messages": [{"role": "user", "content": content}],
        "output_config": {"effort": "low"},
    }
    if request.schema is not None:
        wire["output_config"]["format"] = {"type": "json_schema", "schema": request.schema}
    if request.model in _NO_THINKING:
        wire["thinking"] = _NO_THINKING[request.model]
    return wire


def _search_results(sources: Sequence[Source]) -> list[dict[str, Any]]:
    return [
        {
            "type": "search_result",
            "source": source.id,
            "title": source.title,
            "content": [{"type": "text", "text": unit} for unit in source.units],
            "citations": {"enabled": True},
        }
        for source in sources
    ]


def _wait_before_retry(fault: Exception, attempt: int) -> float | None:
    """Seconds to wait, or None where trying again is of no use."""
    if isinstance(fault, anthropic.APIStatusError):
        if fault.error_code or fault.status_code not in _RETRIED_STATUS:
            return None  # a spend limit comes as 429 with an error_code and does not pass
        asked = _retry_after_s(fault.response.headers)
        if asked is not None:
            return asked if asked <= _LONGEST_WAIT_S else None
    if isinstance(fault, TimeoutError):
        return None  # the deadline of the whole call
    return float(_FIRST_WAIT_S * 2 ** (attempt - 1) * random.uniform(0.75, 1.25))  # noqa: S311


def _never_ran(fault: anthropic.APIError) -> bool:
    """Whether the call certainly cost nothing: refused by the API, or no connection was made."""
    return isinstance(fault, anthropic.APIStatusError) or isinstance(
        fault.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout
    )


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    stated = headers.get("retry-after")
    if stated is None:
        return None
    try:
        return float(stated)
    except ValueError:
        return _LONGEST_WAIT_S + 1  # a date: far enough away not to wait for it


def _told(fault: Exception) -> str:
    if isinstance(fault, anthropic.APIStatusError):
        return f"Claude answered {fault.status_code} ({getattr(fault, 'type', None) or 'error'})"
    if isinstance(fault, TimeoutError):
        return "Claude took longer than the time allowed"
    return f"the connection to Claude failed ({type(fault).__name__})"
