"""claude.py on the wire: what is sent, what is read, and how each failure ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import httpcore2
import httpx
import pytest
import respx

from service.budget import Tokens, cost_usd, worst_case_usd
from service.claude import Breaker, Claude
from service.errors import BudgetExceeded, UpstreamError
from service.types import ModelReply, ModelRequest, Source, SpanCited, TextPiece
from tests import wire
from tests.fakes import MemoryLedger

SONNET, HAIKU = "claude-sonnet-5-5", "claude-haiku-5-5"
HELLO = wire.message(SONNET, wire.text_block(0, "Hello."))


def request(**fields: Any) -> ModelRequest:
    defaults: dict[str, Any] = {
        "purpose": "answer",
        "model": SONNET,
        "system": "Be brief.",
        "sources": (Source(id="a#b@0", title="A > B", units=["One. ", "Two."]),),
        "prompt": "The question?",
        "max_tokens": 500,
        "timeout_s": 5.0,
    }
    return ModelRequest(**{**defaults, **fields})


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
async def client(ledger: MemoryLedger) -> AsyncIterator[Claude]:
    client = Claude(api_key="k", ledger=ledger)
    yield client
    await client.close()


@pytest.fixture
def messages(claude: respx.MockRouter) -> respx.Route:
    return claude.post("/v1/messages")


async def events(client: Claude, **fields: Any) -> list[TextPiece | ModelReply]:
    return [event async for event in client.stream(request(**fields))]


def sent(route: respx.Route) -> dict[str, Any]:
    return dict(json.loads(route.calls.last.request.content))


async def test_sources_go_out_as_citable_search_results_before_the_question(
    client: Claude, messages: respx.Route
) -> None:
    messages.mock(return_value=wire.stream_of(HELLO))
    await events(client)
    body = sent(messages)
    assert body["messages"][0]["content"] == [
        {
            "type": "search_result",
            "source": "a#b@0",
            "title": "A > B",
            "content": [{"type": "text", "text": "One. "}, {"type": "text", "text": "Two."}],
            "citations": {"enabled": True},
        },
        {"type": "text", "text": "The question?"},
    ]
    assert body["thinking"] == {"type": "between_tools"}
    assert (body["model"], body["max_tokens"], body["stream"]) == (SONNET, 500, True)
    assert not {"temperature", "top_p", "top_k", "tools"} & set(body)


async def test_the_grader_asks_for_a_schema_and_sends_no_citations(
    client: Claude, messages: respx.Route
) -> None:
    messages.mock(return_value=wire.stream_of(wire.message(HAIKU, wire.text_block(0, "{}"))))
    await client.complete(request(model=HAIKU, sources=(), schema={"type": "object"}))
    body = sent(messages)
    assert body["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {"type": "object"},
    }
    assert body["thinking"] == {"type": "disabled"}
    assert "search_result" not in json.dumps(body)


async def test_blocks_come_out_whole_with_their_citations_and_the_bill_comes_last(
    client: Claude, messages: respx.Route, ledger: MemoryLedger
) -> None:
    thinking = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {"type": "content_block_stop", "index": 0},
    ]
    cited = wire.citation("a#b@0", "One. ")
    body = wire.message(
        SONNET, thinking, wire.text_block(1, "It is one.", [cited]), wire.text_block(2, " Bye")
    )
    messages.mock(return_value=wire.stream_of(body))
    *pieces, reply = await events(client)
    span = SpanCited(source_index=0, source_id="a#b@0", first=0, last=1, quoted="One. ")
    assert pieces == [
        TextPiece(text="It is one.", cited=(span,)),
        TextPiece(text=" Bye", cited=()),
    ]
    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.finish) == ("It is one. Bye", "end_turn")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1000, 50)
    assert ledger.settled == {1: cost_usd(SONNET, Tokens(input=1000, output=50))}


async def test_the_worst_case_is_reserved_before_anything_is_sent(messages: respx.Route) -> None:
    poor = MemoryLedger("0.0001")
    client = Claude(api_key="k", ledger=poor)
    with pytest.raises(BudgetExceeded):
        await events(client)
    assert not messages.called
    assert poor.reserved == {}
    await client.close()


@pytest.mark.parametrize("stop_reason", ["refusal", "max_tokens"])
async def test_a_refusal_and_a_truncation_are_replies_and_are_billed(
    client: Claude, messages: respx.Route, ledger: MemoryLedger, stop_reason: str
) -> None:
    body = wire.message(SONNET, wire.text_block(0, "No"), stop_reason=stop_reason)
    messages.mock(return_value=wire.stream_of(body))
    *_, reply = await events(client)
    assert isinstance(reply, ModelReply)
    assert reply.finish == stop_reason
    assert list(ledger.settled) == [1]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(wire.error(429, "rate_limit_error", {"retry-after": "0"}), id="429 short"),
        pytest.param(wire.error(500, "api_error"), id="500"),
        pytest.param(wire.error(529, "overloaded_error"), id="529"),
        pytest.param(httpcore2.ConnectError("refused"), id="no connection"),
    ],
)
async def test_a_passing_fault_is_tried_once_more_with_a_reservation_of_its_own(
    client: Claude, messages: respx.Route, ledger: MemoryLedger, first: Any
) -> None:
    messages.mock(side_effect=[first, wire.stream_of(HELLO)])
    *_, reply = await events(client)
    assert isinstance(reply, ModelReply)
    assert (messages.call_count, len(ledger.reserved)) == (2, 2)
    assert ledger.settled[1] == 0


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(wire.error(400, "invalid_request_error"), id="400"),
        pytest.param(wire.error(401, "authentication_error"), id="401"),
        pytest.param(wire.error(403, "permission_error"), id="403"),
        pytest.param(wire.error(413, "request_too_large"), id="413"),
        pytest.param(wire.error(429, "rate_limit_error", {"retry-after": "3600"}), id="429 long"),
        pytest.param(
            wire.error(
                429,
                "rate_limit_error",
                details={"error_code": "enforced_spend_limit_reached"},
            ),
            id="spend limit",
        ),
    ],
)
async def test_a_lasting_fault_is_not_tried_again_and_costs_nothing(
    client: Claude, messages: respx.Route, ledger: MemoryLedger, response: httpx.Response
) -> None:
    messages.mock(return_value=response)
    with pytest.raises(UpstreamError, match=f"answered {response.status_code}"):
        await events(client)
    assert messages.call_count == 1
    assert ledger.spent == 0


START = wire.sse(wire.message_start(SONNET))
ONE_BLOCK = wire.sse(wire.message_start(SONNET), *wire.text_block(0, "One."))
OVERLOADED = wire.sse({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(START, id="clean cut"),
        pytest.param(START + OVERLOADED, id="overload inside a 200"),
        pytest.param(START + b"event: content_block_delta\ndata: {broken\n\n", id="broken JSON"),
    ],
)
async def test_a_stream_that_breaks_before_any_text_is_retried_and_stays_reserved(
    client: Claude, messages: respx.Route, ledger: MemoryLedger, body: bytes
) -> None:
    messages.mock(side_effect=[wire.stream_of(body), wire.stream_of(HELLO)])
    *_, reply = await events(client)
    assert isinstance(reply, ModelReply)
    assert ledger.spent == worst_case_usd(request()) + ledger.settled[2]


@pytest.mark.parametrize(
    "body", [pytest.param(ONE_BLOCK, id="cut"), pytest.param(ONE_BLOCK + OVERLOADED, id="overload")]
)
async def test_a_stream_that_breaks_after_text_is_never_retried(
    client: Claude, messages: respx.Route, ledger: MemoryLedger, body: bytes
) -> None:
    messages.mock(return_value=wire.stream_of(body))
    received = []
    with pytest.raises(UpstreamError):
        async for event in client.stream(request()):
            received.append(event)
    assert received == [TextPiece(text="One.", cited=())]
    assert messages.call_count == 1
    assert ledger.spent == worst_case_usd(request())


async def test_a_reset_in_mid_stream_is_an_upstream_fault(
    client: Claude, messages: respx.Route
) -> None:
    class Reset(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield ONE_BLOCK
            raise httpcore2.ReadError("reset by peer")

    messages.mock(
        return_value=httpx.Response(
            200, headers={"content-type": "text/event-stream"}, stream=Reset()
        )
    )
    with pytest.raises(UpstreamError, match="connection to Claude failed"):
        await events(client)


class Trickle(httpx.AsyncByteStream):
    """Sends a ping every 50 ms, for ever: no single read ever takes long."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield START
        while True:
            await asyncio.sleep(0.05)
            yield wire.sse({"type": "ping"})


async def test_a_trickle_ends_at_the_deadline_of_the_whole_call(
    client: Claude, messages: respx.Route, ledger: MemoryLedger
) -> None:
    messages.mock(
        return_value=httpx.Response(
            200, headers={"content-type": "text/event-stream"}, stream=Trickle()
        )
    )
    started = asyncio.get_running_loop().time()
    with pytest.raises(UpstreamError, match="longer than the time allowed"):
        await events(client, timeout_s=0.4)
    assert asyncio.get_running_loop().time() - started < 2
    assert messages.call_count == 1
    assert ledger.spent == worst_case_usd(request())


async def test_a_cancelled_call_keeps_its_reservation(
    client: Claude, messages: respx.Route, ledger: MemoryLedger
) -> None:
    messages.mock(
        return_value=httpx.Response(
            200, headers={"content-type": "text/event-stream"}, stream=Trickle()
        )
    )
    task = asyncio.create_task(events(client))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ledger.spent == worst_case_usd(request())
    assert ledger.spent > Decimal(0)


async def test_after_faults_in_a_row_claude_is_left_alone_for_a_while(
    ledger: MemoryLedger, messages: respx.Route
) -> None:
    breaker = Breaker(faults_to_open=2, open_s=0.2)
    client = Claude(api_key="k", ledger=ledger, breaker=breaker)
    messages.mock(return_value=wire.error(400, "invalid_request_error"))
    for _ in range(2):
        with pytest.raises(UpstreamError, match="answered 400"):
            await events(client)
    with pytest.raises(UpstreamError, match="not asked again yet"):
        await events(client)
    assert messages.call_count == 2
    await asyncio.sleep(0.25)
    messages.mock(return_value=wire.stream_of(HELLO))
    *_, reply = await events(client)
    assert isinstance(reply, ModelReply)
    await client.close()


async def test_a_success_in_between_keeps_the_breaker_closed(
    ledger: MemoryLedger, messages: respx.Route
) -> None:
    client = Claude(api_key="k", ledger=ledger, breaker=Breaker(faults_to_open=2, open_s=60))
    fault = wire.error(400, "invalid_request_error")
    messages.mock(side_effect=[fault, wire.stream_of(HELLO), fault, wire.stream_of(HELLO)])
    for broken in (True, False, True, False):
        if broken:
            with pytest.raises(UpstreamError):
                await events(client)
        else:
            await events(client)
    assert messages.call_count == 4
    await client.close()
