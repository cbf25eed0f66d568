"""A scripted stand-in for the service: serves the widget under a strict CSP, replies as told.

In: one script per expected question. Out: what the browser sent, and whether it hung up.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WIDGET = Path(__file__).parents[2] / "service" / "web" / "widget"
MEDIA_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'"
)


class Reply:
    """What a script may do with the request it answers."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def start(self, media_type: str = "text/event-stream") -> None:
        self._head(200, media_type)

    def send(self, raw: str | bytes) -> None:
        self._handler.wfile.write(raw.encode() if isinstance(raw, str) else raw)

    def event(self, name: str, data: object) -> None:
        self.send(f"event: {name}\ndata: {json.dumps(data)}\n\n")

    def problem(self, status: int, code: str, **headers: str) -> None:
        self._head(status, "application/problem+json", **headers)
        self.send(json.dumps({"title": code, "status": status, "detail": "Details.", "code": code}))

    def reader_left(self, timeout_s: float = 5) -> bool:
        """Wait until the browser hangs up; False if it stays on the line."""
        connection = self._handler.connection
        readable, _, _ = select.select([connection], [], [], timeout_s)
        try:
            return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
        except ConnectionError:
            return True

    def _head(self, status: int, media_type: str, **headers: str) -> None:
        self._handler.send_response(status)
        self._handler.send_header("Content-Type", media_type)
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()


Script = Callable[[Reply], None]


class StubServer(ThreadingHTTPServer):
    """Listens on a free port; `questions` and `feedback` keep what arrived, in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.scripts: deque[Script] = deque()
        self.questions: list[dict[str, Any]] = []
        self.feedback: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.feedback_status = 204
        self.hung_up = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def will(self, *scripts: Script) -> None:
        """Answer the next questions with these, in order."""
        self.scripts.extend(scripts)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is what some tests are about."""
        self.hung_up.set()


class Handler(BaseHTTPRequestHandler):
    """Files of the widget, the page, one question, one vote."""

    server: StubServer
    wbufsize = 0

    def do_GET(self) -> None:
        name = "demo.html" if self.path == "/" else self.path.removeprefix("/widget/")
        file = WIDGET / name
        if file.parent != WIDGET or not file.is_file():
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", f"{MEDIA_TYPES[file.suffix]}; charset=utf-8")
        self.send_header("Content-Security-Policy", CSP)
        self.end_headers()
        self.wfile.write(file.read_bytes())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/feedback":
            self.server.feedback.append(json.loads(body))
            self.send_response(self.server.feedback_status)
            self.end_headers()
            return
        self.server.headers.append(self.headers)
        self.server.questions.append(json.loads(body))
        self.server.scripts.popleft()(Reply(self))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""
