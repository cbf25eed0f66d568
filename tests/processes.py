"""Running the commands as their users do, for tests of whole processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil

ROOT = Path(__file__).parents[1]
START_S = 60  # generous: a loaded machine of two cores


@contextmanager
def data_directory() -> Iterator[Path]:
    """A folder for Postgres outside pytest's own: each pytest that starts locks that one up, and
    Postgres of a run by root belongs to another user."""
    with tempfile.TemporaryDirectory(prefix="ask-blog-") as folder:
        yield Path(folder)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Commands:
    """Runs `python -m service` on a data directory of its own and ends what it started."""

    def __init__(self, data_dir: Path, blog: Path) -> None:
        self.data_dir = data_dir
        self.blog = blog
        self._started: list[subprocess.Popen[str]] = []

    def environment(self, **extra: str) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG")}
        return {
            **inherited,
            "ASK_BLOG_DATA_DIR": str(self.data_dir),
            "ASK_BLOG_CONTENT": str(self.blog),
            "ASK_BLOG_MIN_SCORE": "0.2",
            **extra,
        }

    def run(self, *args: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "service", *args],
            cwd=ROOT,
            env=self.environment(**extra),
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )

    def start(self, *args: str, **extra: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "service", *args],
            cwd=ROOT,
            env=self.environment(**extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._started.append(process)
        return process

    def serving(self, **extra: str) -> tuple[subprocess.Popen[str], str]:
        """A running service and its address, once it answers."""
        port = str(free_port())
        process = self.start("run", "--port", port, **extra)
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            assert process.poll() is None, process.communicate()[0]
            try:
                if httpx2.get(f"{url}/readyz", timeout=1, trust_env=False).status_code == 200:
                    return process, url
            except httpx2.HTTPError:
                time.sleep(0.1)
        raise AssertionError("the service did not become ready")

    def postgres(self) -> list[psutil.Process]:
        """The postmaster of this data directory, if it runs."""
        return [
            p
            for p in psutil.process_iter(["name", "cmdline"])
            if p.info["name"] == "postgres"
            and str(self.data_dir) in " ".join(p.info["cmdline"] or [])
        ]

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for process in self.postgres():
            process.terminate()
            process.wait(10)
