"""Claude's wire format, as the API is documented to speak it: events, messages and errors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import httpx

JSON = dict[str, Any]


def sse(*events: JSON) -> bytes:
    """Server-sent events, each named by its type."""
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def message_start(model: str, *, input_tokens: int = 1000) -> JSON:
    usage = {
        "input_tokens": input_tokens,
        "output_tokens": 1,
        "cache_creation_input_tokens": None,
        "cache_read_input_tokens": None,
    }
    return {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        },
    }


def text_block(index: int, text: str, citations: Sequence[JSON] = ()) -> list[JSON]:
    """A text block: its text in two deltas, then its citations, as the API orders them."""
    half = len(text) // 2
    return [
        {
            "type": "content_block_start",
            "index": index,
            "content_block": {"type": "text", "text": ""},
        },
        *(
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "text_delta", "text": part},
            }
            for part in (text[:half], text[half:])
        ),
        *(
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "citations_delta", "citation": citation},
            }
            for citation in citations
        ),
        {"type": "content_block_stop", "index": index},
    ]


def citation(source: str, quoted: str, *, result: int = 0, first: int = 0, last: int = 1) -> JSON:
    return {
        "type": "search_result_location",
        "source": source,
        "title": "T",
        "cited_text": quoted,
        "search_result_index": result,
        "start_block_index": first,
        "end_block_index": last,
    }


def message_end(*, stop_reason: str = "end_turn", output_tokens: int = 50) -> list[JSON]:
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": None},
            "usage": {"output_tokens": output_tokens},
        },
        {"type": "message_stop"},
    ]


def message(
    model: str, *blocks: Iterable[JSON], stop_reason: str = "end_turn", input_tokens: int = 1000
) -> bytes:
    """A whole streamed message."""
    return sse(
        message_start(model, input_tokens=input_tokens),
        *(event for block in blocks for event in block),
        *message_end(stop_reason=stop_reason),
    )


def stream_of(body: bytes, *, size: int = 7) -> httpx.Response:
    """A 200 whose body arrives in small, oddly cut pieces."""

    class Pieces(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for start in range(0, len(body), size):
                yield body[start : start + size]

    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Pieces())


def error(status: int, kind: str, headers: JSON | None = None, **fields: Any) -> httpx.Response:
    """An error response of the API."""
    body = {"type": "error", "error": {"type": kind, "message": kind, **fields}}
    return httpx.Response(status, headers=headers, json=body)
