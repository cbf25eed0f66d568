"""Server-sent events from a running question, cancelled as soon as nobody reads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HEARTBEAT_S = 15.0  # proxies commonly close a silent connection after 30 to 60 s
_QUEUED_EVENTS = 8  # a slow reader slows the question down instead of filling memory

Emit = Callable[[str, Mapping[str, Any]], Awaitable[None]]
Work = Callable[[Emit], Awaitable[None]]

HEADERS = {
    "cache-control": "no-cache, no-transform",
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
}


def encode_event(name: str, data: Mapping[str, Any]) -> bytes:
    """One event; the data is a single line of JSON."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


class EventStream(Response):
    """Runs `work` and sends what it emits. The work is cancelled as soon as the reader leaves."""

    def __init__(self, work: Work, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._work = work
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry: whichever of running and leaving ends first ends the other."""
        running = asyncio.create_task(self._run(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((running, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            running.cancel()
            leaving.cancel()
            await asyncio.gather(running, leaving, return_exceptions=True)
        if not running.cancelled():
            running.result()  # a fault belongs in the server's log

    async def _run(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_QUEUED_EVENTS)

        async def emit(name: str, data: Mapping[str, Any]) -> None:
            await queue.put(encode_event(name, data))

        async with asyncio.TaskGroup() as group:
            group.create_task(self._forward(queue, send))
            await self._work(emit)
            await queue.put(None)

    async def _forward(self, queue: asyncio.Queue[bytes | None], send: Send) -> None:
        while True:
            try:
                async with asyncio.timeout(self._heartbeat_s):
                    body = await queue.get()
            except TimeoutError:
                body = b": still here\n\n"
            if body is None:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            await send({"type": "http.response.body", "body": body, "more_body": True})


async def _left(receive: Receive) -> None:
    """Returns when the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
