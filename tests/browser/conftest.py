"""Chromium, a page that must stay free of complaints, and a scripted server."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.stub_server import StubServer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
RECORD_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective));
"""


def chromium_path() -> str:
    """Where Chromium is; without it the tests are skipped, except in CI."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    missing = "Chromium is not installed: apt-get install chromium"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a module; longer would leave its event loop to the asynchronous tests."""
    path = chromium_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def stub() -> Iterator[StubServer]:
    """The scripted server."""
    with StubServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A fresh profile."""
    context = chromium.new_context(reduced_motion="reduce")
    context.set_default_timeout(5000)
    context.add_init_script(RECORD_VIOLATIONS)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; a console error, an exception or a CSP violation fails the test that caused it."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text)
            # The browser itself reports a reply with an error status; that is the test's doing.
            if message.type in ("error", "warning") and "Failed to load" not in message.text
            else None
        ),
    )
    yield page
    violations = [] if page.url == "about:blank" else page.evaluate("window.violations")
    assert complaints == []
    assert violations == []
