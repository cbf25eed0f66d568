"""The demo page of the real service, with the real model, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.fake_claude import FakeClaude, serving
from tests.processes import Commands, data_directory

OVEN = "At how many degrees do I bake bread?"


@pytest.fixture
def commands(blog: Path) -> Iterator[Commands]:
    with data_directory() as folder:
        running = Commands(folder, blog)
        yield running
        running.close()


def ask(page: Page, url: str, question: str) -> None:
    page.goto(url)
    page.get_by_role("textbox", name="Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_reader_asks_reads_quotes_and_follows_a_citation_to_its_section(
    commands: Commands, page: Page
) -> None:
    _, url = commands.serving()
    ask(page, url, OVEN)
    expect(page.get_by_text("no API key is set")).to_be_visible()
    expect(page.locator("ask-blog").get_by_text("Bake at 230 degrees").first).to_be_visible()
    page.get_by_role("link", name="The oven").first.click()
    expect(page).to_have_url(f"{url}/blog/bread#the-oven")
    expect(page.get_by_role("heading", name="The oven")).to_be_in_viewport()


def test_a_written_answer_streams_in_with_its_sources(commands: Commands, page: Page) -> None:
    fake = FakeClaude(delay_s=0.1)
    with serving(fake.app) as claude:
        _, url = commands.serving(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=claude)
        ask(page, url, OVEN)
        expect(page.locator("ask-blog")).to_have_attribute("state", "answered")
    expect(page.get_by_text("no API key is set")).to_have_count(0)
    expect(page.locator("ask-blog").get_by_text("Bake at 230 degrees").first).to_be_visible()


def test_a_question_about_something_else_is_told_so_and_sections_are_offered(
    commands: Commands, page: Page
) -> None:
    _, url = commands.serving(ASK_BLOG_MIN_SCORE="0.6")
    ask(page, url, "What is the capital of France?")
    expect(page.locator("ask-blog")).to_have_attribute("state", "abstained")
    expect(page.get_by_role("link", name="Baking bread").first).to_be_visible()


def test_without_script_the_form_still_gets_an_answer_page(commands: Commands, page: Page) -> None:
    _, url = commands.serving()
    browser = page.context.browser
    assert browser is not None
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(url)
    plain.get_by_label("Your question").fill(OVEN)
    plain.get_by_role("button", name="Ask").click()
    expect(plain.get_by_role("heading", name=OVEN)).to_be_visible()
    expect(plain.get_by_text("Bake at 230 degrees")).to_be_visible()
    plain.get_by_role("link", name="The oven").first.click()
    expect(plain).to_have_url(f"{url}/blog/bread#the-oven")
    plain.context.close()
