"""The widget in a real browser, against scripted replies and under a strict CSP."""

from __future__ import annotations

import gzip
import json
import re
import threading
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.stub_server import WIDGET, Reply, Script, StubServer

QUESTION = "How is the floor chosen?"
BLOG = "https://example.com/blog"


def citation(n: int = 1, **changes: object) -> dict[str, Any]:
    return {
        "n": n,
        "title": "Calibration",
        "section": "The floor",
        "url": f"{BLOG}/calibration#the-floor:~:text=is%20data",
        "quote": "The floor is data.",
    } | changes


def statement(text: str, *citations: dict[str, Any], kind: str = "sentence") -> dict[str, Any]:
    return {"text": text, "kind": kind, "citations": list(citations or [citation()])}


def outcome(*statements: dict[str, Any], **changes: object) -> dict[str, Any]:
    return {
        "id": "a-1",
        "outcome": "answer",
        "written_by": "claude",
        "why": None,
        "message": None,
        "statements": list(statements),
        "related": [],
        "seconds": {},
        "usage": None,
    } | changes


def replying(*statements: dict[str, Any], **changes: object) -> Script:
    """A script that streams the statements and ends as it should."""

    def script(reply: Reply) -> None:
        reply.start()
        for each in statements:
            reply.event("statement", each)
        reply.event("done", outcome(*statements, **changes))

    return script


def abstaining(why: str, *related: dict[str, str]) -> Script:
    return replying(outcome="abstention", written_by=None, why=why, related=list(related))


def failing(status: int, code: str, **headers: str) -> Script:
    return lambda reply: reply.problem(status, code, **headers)


def widget(page: Page, stub: StubServer) -> Locator:
    page.goto(stub.url)
    element = page.locator("ask-blog")
    expect(element.get_by_role("textbox", name="Your question")).to_be_visible()
    return element


def ask(element: Locator, question: str = QUESTION) -> None:
    element.get_by_role("textbox", name="Your question").fill(question)
    element.get_by_role("button", name="Ask", exact=True).click()


def in_state(element: Locator, state: str) -> None:
    expect(element).to_have_attribute("state", state)


def statements(element: Locator) -> Locator:
    return element.locator(".words")


def status(element: Locator) -> Locator:
    return element.locator(".status")


# ---------------------------------------------------------------- an answer


def test_statements_appear_in_order_before_the_stream_ends(page: Page, stub: StubServer) -> None:
    go = threading.Event()

    def script(reply: Reply) -> None:
        reply.start()
        reply.event("stage", {"name": "answer"})
        reply.event("statement", statement("First."))
        reply.event("statement", statement("Second."))
        go.wait(5)
        reply.event("done", outcome(statement("First."), statement("Second.")))

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    expect(statements(element)).to_have_text(["First.", "Second."])
    in_state(element, "asking")
    go.set()
    in_state(element, "answered")
    expect(statements(element)).to_have_text(["First.", "Second."])


def test_status_line_names_the_stage_in_plain_words(page: Page, stub: StubServer) -> None:
    words = {
        "guard_input": "Checking the question…",
        "retrieve": "Searching the articles…",
        "grade": "Reading what was found…",
        "answer": "Writing from the passages…",
        "guard_output": "Checking every citation…",
        "a_later_one": "Working…",
    }
    go = threading.Semaphore(0)

    def script(reply: Reply) -> None:
        reply.start()
        for stage in words:
            reply.event("stage", {"name": stage})
            go.acquire(timeout=5)

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    expect(status(element)).to_have_attribute("role", "status")
    for each in words.values():
        expect(status(element)).to_have_text(each)
        go.release()


def test_citations_are_numbered_links_that_name_article_and_section(
    page: Page, stub: StubServer
) -> None:
    other = citation(2, title="Money", section="Caps", url=f"{BLOG}/money#caps", quote="A cap.")
    stub.will(replying(statement("One.", citation()), statement("Two.", citation(), other)))
    element = widget(page, stub)
    ask(element)
    links = element.locator("a.citation")
    expect(links).to_have_text(["1", "1", "2"])
    expect(links.first).to_have_attribute("href", citation()["url"])
    expect(links.first).to_have_attribute("title", "The floor is data.")
    named = element.get_by_role("link", name="Source 2: Money – Caps")
    expect(named).to_have_attribute("href", f"{BLOG}/money#caps")
    sources = element.get_by_role("list").filter(has_text="Money – Caps").get_by_role("link")
    expect(sources).to_have_text(["Calibration – The floor", "Money – Caps"])
    expect(status(element)).to_have_text("Answer complete. Sources: 2.")


def test_sentences_flow_and_list_items_share_a_list_and_code_stands_alone(
    page: Page, stub: StubServer
) -> None:
    stub.will(
        replying(
            statement("Run `make run` first."),
            statement("Then this:"),
            statement("item one", kind="list_item"),
            statement("item two", kind="list_item"),
            statement("```bash\nmake setup\nmake run\n```", kind="code"),
            statement("x = `1`", kind="code"),
        )
    )
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    expect(element.locator(".statements > *")).to_have_count(4)
    expect(element.locator(".statements > p .statement")).to_have_count(2)
    expect(element.locator(".statements > ul > li")).to_have_count(2)
    expect(element.locator("p code")).to_have_text("make run")
    expect(element.locator("pre").nth(0)).to_have_text("make setup\nmake run", use_inner_text=True)
    expect(element.locator("pre").nth(1)).to_have_text("x = `1`")
    expect(element.locator("figcaption").nth(0)).to_contain_text("bash")


def test_code_can_be_copied(context: BrowserContext, page: Page, stub: StubServer) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    stub.will(replying(statement("```\nmake run\n```", kind="code")))
    element = widget(page, stub)
    ask(element)
    element.get_by_role("button", name="Copy").click()
    expect(element.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "make run"


def test_done_has_the_last_word_over_what_was_streamed(page: Page, stub: StubServer) -> None:
    def script(reply: Reply) -> None:
        reply.start()
        reply.event("statement", statement("Draft."))
        reply.event("done", outcome(statement("Final.")))

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    expect(statements(element)).to_have_text(["Final."])


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("no_key", "Closest passages; no written answer because no API key is set."),
        ("budget", "Closest passages; no written answer because today’s budget is used up."),
        ("upstream", "Closest passages; no written answer because the model"),
    ],
)
def test_quotes_are_labelled_as_quotes_and_say_why(
    page: Page, stub: StubServer, why: str, words: str
) -> None:
    stub.will(replying(statement("The floor is data."), written_by="quotes", why=why))
    element = widget(page, stub)
    ask(element)
    expect(element.locator(".quotes-label")).to_contain_text(words)
    expect(status(element)).to_have_text("")
    expect(statements(element)).to_have_text(["The floor is data."])


# ---------------------------------------------------------------- no answer


def test_page_does_not_hang_up_on_a_service_that_is_still_finishing(
    page: Page, stub: StubServer
) -> None:
    left: list[bool] = []
    finished = threading.Event()

    def script(reply: Reply) -> None:
        replying(statement("One."))(reply)
        left.append(reply.reader_left(timeout_s=0.3))
        finished.set()

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    assert finished.wait(5)
    assert left == [False]


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("below_floor", "The articles don’t seem to cover this."),
        ("not_relevant", "nothing found in them answers this"),
        ("model_declined", "don’t say enough to answer this"),
        ("citations_failed", "its citations did not hold up"),
        ("a_later_one", "The articles don’t say."),
    ],
)
def test_abstention_says_why_and_offers_the_nearest_sections(
    page: Page, stub: StubServer, why: str, words: str
) -> None:
    near = {"title": "Money", "section": "Caps", "url": f"{BLOG}/money#caps"}
    stub.will(abstaining(why, near))
    element = widget(page, stub)
    ask(element)
    in_state(element, "abstained")
    expect(element.locator(".notice")).to_contain_text(words)
    link = element.get_by_role("link", name="Money – Caps")
    expect(link).to_have_attribute("href", f"{BLOG}/money#caps")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Ask me about the blog.", "Ask me about the blog."),
        (None, "This question can’t be answered here."),
    ],
)
def test_refusal_shows_the_message_of_the_service_or_a_plain_sentence(
    page: Page, stub: StubServer, message: str | None, words: str
) -> None:
    stub.will(replying(outcome="refusal", written_by=None, why="injection", message=message))
    element = widget(page, stub)
    ask(element)
    in_state(element, "refused")
    expect(element.locator(".notice")).to_contain_text(words)
    expect(element.locator(".feedback")).to_have_count(0)


# ---------------------------------------------------------------- hostile text

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def test_markup_from_model_and_articles_stays_text(page: Page, stub: StubServer) -> None:
    bad = citation(title=HOSTILE, section=HOSTILE, quote=HOSTILE)
    stub.will(
        replying(
            statement(HOSTILE, bad),
            statement(f"`{HOSTILE}`", bad, kind="list_item"),
            statement(f"```{HOSTILE}\n{HOSTILE}", bad, kind="code"),
        ),
        abstaining("below_floor", {"title": HOSTILE, "section": HOSTILE, "url": BLOG}),
        replying(outcome="refusal", message=HOSTILE),
    )
    element = widget(page, stub)
    for state in ("answered", "abstained", "refused"):
        ask(element)
        in_state(element, state)
        expect(element.locator("section")).to_contain_text("<img src=x")
        expect(element.locator("img, script, iframe, [onerror]")).to_have_count(0)
    expect(page).to_have_title("Ask the Blog")


ADDRESSES_TO_DISTRUST = [
    "javascript:document.title='owned'",
    " \tjava\nscript:document.title='owned'",
    "data:text/html,<script>1</script>",
    "vbscript:1",
    "blob:https://example.com/1",
    "https://",
    "",
    None,
    7,
]


def test_addresses_that_are_not_web_pages_become_no_links(page: Page, stub: StubServer) -> None:
    bad = [citation(n, url=url) for n, url in enumerate(ADDRESSES_TO_DISTRUST, start=1)]
    stub.will(replying(statement("One.", *bad), related=bad))
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    expect(element.locator(".citation")).to_have_text([str(each["n"]) for each in bad])
    expect(element.locator("a")).to_have_count(0)


def test_web_and_relative_addresses_are_linked_as_they_are(page: Page, stub: StubServer) -> None:
    urls = ["/blog/a#b", "a#b:~:text=c", f"{BLOG}/a?b=c#d", "//example.com/a"]
    good = [citation(n, url=url) for n, url in enumerate(urls, start=1)]
    stub.will(replying(statement("One.", *good)))
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    links = element.locator("a.citation")
    assert [link.get_attribute("href") for link in links.all()] == urls


def test_long_text_without_spaces_stays_inside_the_page(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("`" + "x" * 50_000), statement("y" * 50_000, kind="code")))
    page.set_viewport_size({"width": 320, "height": 640})
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    assert len(statements(element).first.inner_text()) == 50_001
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_bidi_overrides_do_not_reach_past_their_statement(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("\u202eevil\u2066"), statement("Then this.")))
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    words = statements(element).first
    assert words.evaluate("node => getComputedStyle(node).unicodeBidi") == "isolate"
    mark = element.locator(".citation").first.bounding_box()
    box = words.bounding_box()
    assert mark is not None
    assert box is not None
    assert mark["x"] >= box["x"] + box["width"]


@pytest.mark.parametrize(
    "data", ["null", "7", "[]", "{", '{"statements": 3}', '{"outcome": "constructor"}']
)
def test_done_that_makes_no_sense_is_an_interruption(
    page: Page, stub: StubServer, data: str
) -> None:
    def script(reply: Reply) -> None:
        reply.start()
        reply.send(f"event: done\ndata: {data}\n\n")

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    in_state(element, "interrupted")


# ---------------------------------------------------------------- the stream itself


def pieces(page: Page, text: str, cuts: str) -> list[dict[str, str]]:
    """What the parser makes of `text` cut by the JavaScript expression `cuts`."""
    return page.evaluate(
        f"""async (text) => {{
          const {{ EventStreamParser }} = await import("/widget/ask-blog-stream.js");
          const parser = new EventStreamParser();
          return ({cuts}).flatMap((piece) => [...parser.push(piece)]);
        }}""",
        text,
    )


STREAM = (
    ": hello\n\nevent: a\ndata: 1\ndata:2\nid: 7\n\n"
    "data\n\nevent: lost\n\ndata: é😀\u2028: x\n\ndata: cut"
)
EVENTS = [
    {"event": "a", "data": "1\n2"},
    {"event": "message", "data": ""},
    {"event": "message", "data": "é😀\u2028: x"},
]


def test_event_stream_is_read_the_same_wherever_it_is_cut(page: Page, stub: StubServer) -> None:
    widget(page, stub)
    for ending in ("\n", "\r\n", "\r"):
        for cuts in ("[text]", "[...text]", "text.match(/.{1,3}/gs)"):
            assert pieces(page, STREAM.replace("\n", ending), cuts) == EVENTS, (ending, cuts)


def test_event_that_never_ends_is_given_up(page: Page, stub: StubServer) -> None:
    def script(reply: Reply) -> None:
        reply.start()
        reply.event("statement", statement("Kept."))
        reply.send("data: " + "x" * 1_100_000)
        reply.reader_left()

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    in_state(element, "interrupted")
    expect(statements(element)).to_have_text(["Kept."])


def test_stream_in_single_bytes_with_heartbeats_makes_the_same_answer(
    page: Page, stub: StubServer
) -> None:
    said = statement("Grüße, 😀.")

    def script(reply: Reply) -> None:
        pretty = json.dumps(outcome(said), indent=1, ensure_ascii=False).replace("\n", "\r\ndata: ")
        reply.start()
        raw = f": beat\r\n\r\nevent: done\r\ndata: {pretty}\r\n\r\n".encode()
        for i in range(len(raw)):
            reply.send(raw[i : i + 1])

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    expect(statements(element)).to_have_text(["Grüße, 😀."])


def test_plain_json_reply_is_understood_too(page: Page, stub: StubServer) -> None:
    def script(reply: Reply) -> None:
        reply.start("application/json")
        reply.send(json.dumps(outcome(statement("All at once."))))

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    expect(statements(element)).to_have_text(["All at once."])


# ---------------------------------------------------------------- stop, stale, broken


def test_stop_hangs_up_and_keeps_what_has_arrived(page: Page, stub: StubServer) -> None:
    left: list[bool] = []
    seen = threading.Event()

    def script(reply: Reply) -> None:
        reply.start()
        reply.event("statement", statement("Kept."))
        left.append(reply.reader_left())
        seen.set()

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    expect(statements(element)).to_have_text(["Kept."])
    element.get_by_role("button", name="Stop").click()
    in_state(element, "stopped")
    assert seen.wait(5)
    assert left == [True]
    expect(statements(element)).to_have_text(["Kept."])
    expect(element.locator(".notice")).to_contain_text("The answer above is incomplete.")
    expect(element.get_by_role("button", name="Stop")).to_be_hidden()
    expect(element.get_by_role("button", name="Ask", exact=True)).to_be_focused()


@pytest.mark.parametrize("leave", ["element.remove()", "dispatchEvent(new Event('pagehide'))"])
def test_removing_the_element_or_leaving_the_page_hangs_up(
    page: Page, stub: StubServer, leave: str
) -> None:
    left: list[bool] = []
    seen = threading.Event()

    def script(reply: Reply) -> None:
        reply.start()
        reply.event("stage", {"name": "answer"})
        left.append(reply.reader_left())
        seen.set()

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    expect(status(element)).to_have_text("Writing from the passages…")
    element.evaluate(f"element => {leave}")
    assert seen.wait(5)
    assert left == [True]


def test_stale_reply_never_overwrites_a_newer_one(page: Page, stub: StubServer) -> None:
    """Even where aborting does nothing, as with a service worker in between."""
    page.add_init_script("const go = fetch; fetch = (u, o) => go(u, { ...o, signal: undefined })")
    newer_is_done = threading.Event()
    older_is_done = threading.Event()

    def older(reply: Reply) -> None:
        reply.start()
        reply.event("stage", {"name": "retrieve"})
        newer_is_done.wait(5)
        reply.event("statement", statement("Old."))
        reply.event("done", outcome(statement("Old."), id="old"))
        older_is_done.set()

    stub.will(older, replying(statement("New.")))
    element = widget(page, stub)
    ask(element, "The older question?")
    expect(status(element)).to_have_text("Searching the articles…")
    ask(element, "The newer question?")
    in_state(element, "answered")
    newer_is_done.set()
    assert older_is_done.wait(5)
    page.wait_for_timeout(150)
    expect(statements(element)).to_have_text(["New."])
    in_state(element, "answered")


def test_stream_that_ends_early_is_shown_as_interrupted(page: Page, stub: StubServer) -> None:
    def script(reply: Reply) -> None:
        reply.start()
        reply.event("statement", statement("Kept."))

    stub.will(script, replying(statement("Whole.")))
    element = widget(page, stub)
    ask(element)
    in_state(element, "interrupted")
    expect(statements(element)).to_have_text(["Kept."])
    notice = element.locator(".notice")
    expect(notice).to_contain_text("The connection broke. The answer above is incomplete.")
    element.get_by_role("button", name="Try again").click()
    in_state(element, "answered")
    expect(statements(element)).to_have_text(["Whole."])
    first, second = (headers["Idempotency-Key"] for headers in stub.headers)
    assert first == second, "a repeated question must not be paid for twice"


def test_silence_beyond_the_heartbeats_is_an_interruption(page: Page, stub: StubServer) -> None:
    page.clock.install()

    def script(reply: Reply) -> None:
        reply.start()
        reply.event("stage", {"name": "answer"})
        reply.reader_left()

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    expect(status(element)).to_have_text("Writing from the passages…")
    page.clock.fast_forward(46_000)
    in_state(element, "interrupted")


@pytest.mark.parametrize(
    ("code", "state", "words"),
    [
        ("interrupted", "interrupted", "The connection broke"),
        ("upstream", "failed", "could not be written right now"),
        ("internal", "failed", "Something went wrong on our side."),
        ("unheard_of", "failed", "The question could not be answered. (Details.)"),
    ],
)
def test_error_in_the_stream_is_told_in_plain_words(
    page: Page, stub: StubServer, code: str, state: str, words: str
) -> None:
    def script(reply: Reply) -> None:
        reply.start()
        reply.event("error", {"code": code, "detail": "Details."})

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    in_state(element, state)
    expect(element.locator(".notice")).to_contain_text(words)


@pytest.mark.parametrize(
    ("status_code", "code", "words", "can_retry"),
    [
        (422, "question_too_long", "The question is too long.", False),
        (400, "malformed_body", "could not read the question", False),
        (503, "store_unavailable", "can’t be searched right now", True),
        (429, "rate_limited", "Please wait a little.", True),
        (500, "unheard_of", "The question could not be answered. (Details.)", True),
    ],
)
def test_error_codes_are_shown_in_plain_words(
    page: Page, stub: StubServer, status_code: int, code: str, words: str, can_retry: bool
) -> None:
    stub.will(failing(status_code, code))
    element = widget(page, stub)
    ask(element)
    in_state(element, "failed")
    expect(element.locator(".notice")).to_contain_text(words)
    expect(element.get_by_role("button", name="Try again")).to_have_count(int(can_retry))


def test_rate_limit_says_how_long_to_wait(page: Page, stub: StubServer) -> None:
    stub.will(failing(429, "rate_limited", Retry_After="30"))
    element = widget(page, stub)
    ask(element)
    expect(element.locator(".notice")).to_contain_text("Please try again in 30 seconds.")


def test_error_page_of_a_proxy_is_an_error_in_plain_words(page: Page, stub: StubServer) -> None:
    def script(reply: Reply) -> None:
        reply._head(502, "text/html")
        reply.send("<h1>Bad gateway</h1>")

    stub.will(script)
    element = widget(page, stub)
    ask(element)
    expect(element.locator(".notice p")).to_have_text("Something went wrong on our side.")


def test_unreachable_service_is_told_and_can_be_tried_again(
    context: BrowserContext, page: Page, stub: StubServer
) -> None:
    stub.will(replying(statement("Back.")))
    element = widget(page, stub)
    context.set_offline(True)
    ask(element)
    in_state(element, "failed")
    expect(element.locator(".notice")).to_contain_text("The service can’t be reached.")
    context.set_offline(False)
    element.get_by_role("button", name="Try again").click()
    expect(statements(element)).to_have_text(["Back."])


# ---------------------------------------------------------------- the form


def test_counter_counts_code_points_as_the_service_does(page: Page, stub: StubServer) -> None:
    element = widget(page, stub)
    field = element.get_by_role("textbox")
    for text, count in [("", 0), ("abc", 3), ("😀😀", 2), ("  a \n\n b ", 3), ("a\u200bb", 2)]:
        field.fill(text)
        expect(element.locator(".counter")).to_have_text(f"{count} / 500")


def test_question_over_the_limit_is_not_sent(page: Page, stub: StubServer) -> None:
    element = widget(page, stub)
    field = element.get_by_role("textbox")
    ask(element, "😀" * 503)
    expect(element.locator(".problem")).to_have_text("Too long by 3. The limit is 500 characters.")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    field.fill("😀" * 500)
    expect(element.locator(".problem")).to_have_text("")
    assert stub.questions == []


def test_empty_question_is_not_sent(page: Page, stub: StubServer) -> None:
    element = widget(page, stub)
    ask(element, " \n ")
    expect(element.locator(".problem")).to_have_text("Type a question first.")
    assert stub.questions == []


def test_suggested_question_is_asked_with_one_click(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    element.get_by_role("button", name="How is the cosine floor chosen?").click()
    in_state(element, "answered")
    assert stub.questions == [{"question": "How is the cosine floor chosen?"}]
    expect(element.get_by_role("textbox")).to_have_value("How is the cosine floor chosen?")


def test_answer_names_its_question_once_the_field_says_something_else(
    page: Page, stub: StubServer
) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    title = element.get_by_role("heading", name=f"Answer to “{QUESTION}”")
    expect(title).to_be_hidden()
    element.get_by_role("textbox").fill("Another")
    expect(title).to_be_visible()


def test_everything_works_from_the_keyboard(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    field = element.get_by_role("textbox")
    page.keyboard.press("Tab")
    expect(field).to_be_focused()
    page.keyboard.type("Line one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("line two")
    page.keyboard.press("Enter")
    in_state(element, "answered")
    assert stub.questions == [{"question": "Line one\nline two"}]
    stops = []
    for _ in range(6):
        page.keyboard.press("Tab")
        stops.append(
            element.evaluate("({shadowRoot: {activeElement: a}}) => a.ariaLabel ?? a.textContent")
        )
    assert stops == [
        "Ask",
        "Source 1: Calibration – The floor",
        "Calibration – The floor",
        "Yes, helpful",
        "No, not helpful",
        "How is the cosine floor chosen?",
    ]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(element.get_by_text("Thank you.")).to_be_visible()


def test_picking_a_suggestion_moves_the_focus_to_the_answer(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    element.get_by_role("button", name=re.compile("API key")).focus()
    page.keyboard.press("Enter")
    in_state(element, "answered")
    expect(element.locator("section")).to_be_focused()


# ---------------------------------------------------------------- feedback


def test_thumb_up_is_sent_once_and_thanked_for(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    ask(element)
    element.get_by_role("button", name="Yes, helpful").click()
    expect(element.get_by_text("Thank you.")).to_be_visible()
    expect(element.get_by_role("button", name="Yes, helpful")).to_have_count(0)
    assert stub.feedback == [{"id": "a-1", "vote": "up", "reasons": [], "note": ""}]


def test_thumb_down_asks_what_was_wrong(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    ask(element)
    element.get_by_role("button", name="No, not helpful").click()
    element.get_by_label("Something is missing").check()
    element.get_by_label("Anything else (optional)").fill("the default")
    element.get_by_role("button", name="Send").click()
    expect(element.get_by_text("Thank you.")).to_be_visible()
    assert stub.feedback == [
        {"id": "a-1", "vote": "down", "reasons": ["incomplete"], "note": "the default"}
    ]


def test_vote_that_did_not_arrive_can_be_cast_again(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("One.")))
    stub.feedback_status = 503
    element = widget(page, stub)
    ask(element)
    element.get_by_role("button", name="Yes, helpful").click()
    expect(element.get_by_text("That didn’t get through.")).to_be_visible()
    stub.feedback_status = 204
    element.get_by_role("button", name="Yes, helpful").click()
    expect(element.get_by_text("Thank you.")).to_be_visible()


# ---------------------------------------------------------------- the page around it


def test_one_bubbling_composed_event_tells_the_state_but_not_the_question(
    page: Page, stub: StubServer
) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    page.evaluate(
        """() => {
          window.seen = [];
          addEventListener("ask-blog-change", (e) => seen.push([e.composed, e.detail]));
        }"""
    )
    ask(element)
    in_state(element, "answered")
    nothing = {"id": None, "outcome": None, "writtenBy": None}
    answer = {"id": "a-1", "outcome": "answer", "writtenBy": "claude"}
    assert page.evaluate("window.seen") == [
        [True, {"state": "asking"} | nothing],
        [True, {"state": "answered"} | answer],
    ]


def test_words_can_be_replaced_by_attribute_and_property(page: Page, stub: StubServer) -> None:
    element = widget(page, stub)
    element.evaluate(
        "e => e.setAttribute('strings', JSON.stringify({ ask: 'Fragen', label: 'A' }))"
    )
    expect(element.get_by_role("button", name="Fragen")).to_be_visible()
    element.evaluate("e => { e.strings = { label: 'Deine Frage' } }")
    expect(element.get_by_role("textbox", name="Deine Frage")).to_be_visible()
    expect(element.get_by_role("button", name="Fragen")).to_be_visible()
    element.evaluate("e => e.setAttribute('strings', '{broken')")
    expect(element.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def test_changing_words_keeps_the_answer_and_the_running_text(page: Page, stub: StubServer) -> None:
    stub.will(replying(statement("One.")))
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    element.evaluate("e => e.setAttribute('suggestions', 'Why?')")
    expect(element.get_by_role("button", name="Why?")).to_be_visible()
    expect(statements(element)).to_have_text(["One."])
    expect(element.get_by_role("textbox")).to_have_value(QUESTION)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_theme_attribute_overrides_the_preference(page: Page, stub: StubServer, theme: str) -> None:
    page.emulate_media(color_scheme="dark" if theme == "light" else "light")
    element = widget(page, stub)
    colour = "e => getComputedStyle(e).color"
    before = element.evaluate(colour)
    element.evaluate("(e, theme) => e.setAttribute('theme', theme)", theme)
    assert element.evaluate(colour) != before
    assert element.evaluate("e => getComputedStyle(e).colorScheme") == theme


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_page_never_scrolls_sideways(page: Page, stub: StubServer, direction: str) -> None:
    stub.will(
        replying(
            statement("A sentence with `a_rather_long_identifier_in_code_that_does_not_break`."),
            statement("```\n" + "long line of code " * 20 + "\n```", kind="code"),
            statement("An item.", *[citation(n) for n in range(1, 13)], kind="list_item"),
        )
    )
    element = widget(page, stub)
    page.evaluate("direction => { document.documentElement.dir = direction }", direction)
    ask(element)
    in_state(element, "answered")
    element.get_by_role("button", name="No, not helpful").click()
    for width in (1440, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_page_has_a_plain_form_for_readers_without_javascript(
    chromium: Any, stub: StubServer
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(stub.url)
    form = page.locator("ask-blog form")
    expect(form.get_by_label("Your question")).to_be_visible()
    expect(form.get_by_role("button", name="Ask")).to_be_visible()
    expect(form).to_have_attribute("action", "/v1/ask")
    expect(form).to_have_attribute("method", "post")
    context.close()


def test_widget_stays_below_twelve_kilobytes_compressed() -> None:
    modules = b"".join(file.read_bytes() for file in sorted(WIDGET.glob("*.js")))
    assert len(gzip.compress(modules)) < 12 * 1024


def test_page_and_a_whole_answer_cause_no_complaint(page: Page, stub: StubServer) -> None:
    """The page fixture checks console, exceptions and CSP; this one touches everything once."""
    stub.will(
        replying(statement("One."), statement("```\nx\n```", kind="code"), written_by="quotes"),
        abstaining("below_floor", citation()),
    )
    element = widget(page, stub)
    ask(element)
    in_state(element, "answered")
    element.get_by_role("button", name="Copy").click()
    ask(element, "And now?")
    in_state(element, "abstained")
    assert page.evaluate("typeof trustedTypes") == "object"
