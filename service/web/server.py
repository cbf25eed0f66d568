"""uvicorn inside our own event loop: signals and sockets stay with the caller."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from service.errors import ConfigError

_GRACE_S = 5  # open streams get this long to end; chosen, not measured


class Server(uvicorn.Server):
    """Ends when `should_exit` is set. uvicorn itself would raise a caught signal once more after
    serving, before Postgres has been stopped."""

    def __init__(self, api: FastAPI) -> None:
        super().__init__(
            uvicorn.Config(
                api, log_level="warning", timeout_graceful_shutdown=_GRACE_S, proxy_headers=False
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """The port, taken before anything slow is started. Raises ConfigError."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as fault:
        raise ConfigError(
            f"cannot listen on {host}:{port} ({_reason(fault)}); "
            "choose another with --host and --port, or ASK_BLOG_HOST and ASK_BLOG_PORT"
        ) from fault


def _reason(fault: OSError) -> str:
    if isinstance(fault, socket.gaierror) or fault.errno is None:
        return str(fault.strerror or fault)
    return os.strerror(fault.errno)


def address(listener: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
