"""A stand-in for Claude's API on loopback: strict about requests, honest in its answers.

It refuses with 400 what the API is documented to refuse, grades excerpts by shared words, and
answers by citing the best units. `python -m tests.fake_claude --port 9000` runs it by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests import wire

_KNOWN = {
    *("model", "max_tokens", "messages", "system", "stream", "thinking", "output_config"),
    *("metadata", "tool_choice", "tools", "stop_sequences", "cache_control"),
}
_THINKING = {
    "claude-sonnet-5-5": {"type": "between_tools"},
    "claude-haiku-5-5": {"type": "disabled"},
}
_STOP_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "by", "can", "do", "does", "for", "from", "have", "how", "i"),
        *("if", "in", "is", "it", "my", "of", "on", "or", "the", "there", "to", "use", "what"),
        *("when", "where", "which", "why", "with"),
    )
)


class FakeClaude:
    """The API and what it has seen. `delay_s` is waited before a reply and between its blocks."""

    def __init__(self, *, delay_s: float = 0.0) -> None:
        self.delay_s = delay_s
        self.url = ""  # where it is served
        self.requests: list[wire.JSON] = []
        self.left: list[str] = []  # purposes of calls whose caller went away
        self.app = Starlette(routes=[Route("/v1/messages", self._messages, methods=["POST"])])

    async def _messages(self, request: Request) -> Response:
        body = json.loads(await request.body())
        problem = problem_of(body, dict(request.headers))
        if problem:
            error = {"type": "invalid_request_error", "message": problem}
            return JSONResponse({"type": "error", "error": error}, status_code=400)
        self.requests.append(body)
        return StreamingResponse(self._reply(body), media_type="text/event-stream")

    async def _reply(self, body: wire.JSON) -> AsyncIterator[bytes]:
        grading = "format" in body["output_config"]
        try:
            yield wire.sse(wire.message_start(body["model"], input_tokens=_size(body)))
            for index, (text, citations) in enumerate(grades(body) if grading else answer(body)):
                await asyncio.sleep(self.delay_s)
                yield wire.sse(*wire.text_block(index, text, citations))
            yield wire.sse(*wire.message_end())
        except asyncio.CancelledError:
            self.left.append("grade" if grading else "answer")
            raise


def problem_of(body: wire.JSON, headers: dict[str, str]) -> str | None:
    """What the API would refuse in this request."""
    content = body.get("messages", [{}])[0].get("content", [])
    results = [b for b in content if b["type"] == "search_result"]
    config = body.get("output_config", {})
    checks = {
        "authorization header is missing": headers.get("authorization", "").startswith("Bearer "),
        "anthropic-version header is missing": "anthropic-version" in headers,
        f"unknown fields {set(body) - _KNOWN}": set(body) <= _KNOWN,
        "max_tokens: required": isinstance(body.get("max_tokens"), int),
        "model: not found": body.get("model") in _THINKING,
        "thinking: not supported": body.get("thinking") == _THINKING.get(body.get("model")),
        "citations cannot be combined with output_config.format": not (
            results and "format" in config
        ),
        "text content blocks must be non-empty": all(
            t["text"].strip() for r in results for t in r["content"]
        ),
        "citations must be enabled for all search results or for none": len(
            {r.get("citations", {}).get("enabled", False) for r in results}
        )
        <= 1,
    }
    return next((problem for problem, holds in checks.items() if not holds), None)


def _size(body: wire.JSON) -> int:
    return len(json.dumps(body)) // 4


def words(text: str) -> set[str]:
    """The words that carry meaning, cut to a common stem of five letters."""
    return {w[:5] for w in re.findall(r"\w+", text.lower()) if w not in _STOP_WORDS}


def _question(body: wire.JSON) -> str:
    prompt = body["messages"][0]["content"][-1]["text"]
    return str(re.split(r"The reader's question:\n(?:<[^>]*>\n)?", prompt)[-1].split("\n")[0])


def grades(body: wire.JSON) -> Iterator[tuple[str, list[wire.JSON]]]:
    """3 for an excerpt that has half of the question's words, 1 for one with any, else 0."""
    prompt = body["messages"][0]["content"][-1]["text"]
    asked = words(_question(body))
    excerpts = re.findall(r"<(excerpt-\w+) number=\d+>\n(.*?)\n</\1>", prompt, re.DOTALL)
    shared = [len(asked & words(text)) / max(1, len(asked)) for _, text in excerpts]
    relevances = [3 if share >= 0.5 else 1 if share else 0 for share in shared]
    reply = {
        "grades": [{"excerpt": n, "relevance": r} for n, r in enumerate(relevances, start=1)],
        "sufficient": 3 in relevances,
    }
    yield json.dumps(reply), []


def answer(body: wire.JSON) -> Iterator[tuple[str, list[wire.JSON]]]:
    """The three units that share most words with the question, each cited."""
    asked = words(_question(body))
    results = [b for b in body["messages"][0]["content"] if b["type"] == "search_result"]
    units = [
        (len(asked & words(unit["text"])), r, u, result["source"], unit["text"])
        for r, result in enumerate(results)
        for u, unit in enumerate(result["content"])
    ]
    best = sorted(units, key=lambda unit: (-unit[0], unit[1], unit[2]))[:3]
    for _, r, u, source, text in best:
        cited = wire.citation(source, text, result=r, first=u, last=u + 1)
        yield f"{text.strip()}\n\n", [cited]


@contextmanager
def serving(app: Starlette, port: int = 0) -> Iterator[str]:
    """The app's address while the context is open."""
    listener = socket.create_server(("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--delay", type=float, default=0.3, help="seconds before each block")
    args = parser.parse_args()
    fake = FakeClaude(delay_s=args.delay)
    print(f"ANTHROPIC_BASE_URL=http://127.0.0.1:{args.port} ANTHROPIC_API_KEY=fake")
    uvicorn.run(fake.app, port=args.port, log_level="warning")


if __name__ == "__main__":
    main()
