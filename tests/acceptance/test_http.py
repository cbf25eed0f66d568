"""HTTP in, JSON out: the whole service as its clients see it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import asyncpg
import httpx2
import pytest

from service.store.asks import PgAsks
from service.store.db import open_database
from tests.acceptance.conftest import Service
from tests.fake_claude import FakeClaude

OVEN = "At how many degrees do I bake bread?"


async def ask(client: httpx2.AsyncClient, question: str = OVEN, **headers: str) -> dict[str, Any]:
    response = await client.post("/v1/ask", json={"question": question}, headers=headers)
    assert response.status_code == 200, response.text
    return dict(response.json())


async def events(
    client: httpx2.AsyncClient, question: str = OVEN, **headers: str
) -> list[tuple[str, dict[str, Any]]]:
    headers = {"accept": "text/event-stream", **headers}
    async with client.stream(
        "POST", "/v1/ask", json={"question": question}, headers=headers
    ) as response:
        text = (await response.aread()).decode()
    blocks = [b for b in text.split("\n\n") if b.startswith("event: ")]
    return [
        (head.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for head, data in (b.split("\n") for b in blocks)
    ]


def claude_settings(fake: FakeClaude) -> dict[str, Any]:
    return {"anthropic_api_key": "k", "anthropic_base_url": fake.url}


async def test_without_a_key_the_answer_is_verbatim_quotes_with_links(service: Service) -> None:
    outcome = await ask(await service())
    assert (outcome["outcome"], outcome["written_by"], outcome["why"]) == (
        *("answer", "quotes", "no_key"),
    )
    assert "no API key is set" in outcome["message"]
    first = outcome["statements"][0]
    assert first["text"] == "Bake at 230 degrees for 40 minutes:"
    assert first["citations"] == [
        {
            "n": 1,
            "title": "Baking bread",
            "section": "The oven",
            "url": "/blog/bread#the-oven:~:text=Bake%20at%20230%20degrees%20for%2040%20minutes%3A",
            "quote": "Bake at 230 degrees for 40 minutes:",
        }
    ]
    assert outcome["statements"][1]["kind"] == "code"
    assert outcome["usage"] == {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0}


async def test_with_a_key_claude_writes_and_every_statement_is_cited(
    service: Service, fake_claude: FakeClaude
) -> None:
    outcome = await ask(await service(**claude_settings(fake_claude)))
    assert (outcome["outcome"], outcome["written_by"], outcome["why"]) == (
        *("answer", "claude", None),
    )
    assert all(s["citations"] for s in outcome["statements"])
    assert outcome["usage"]["cost_usd"] > 0
    assert [("format" in r["output_config"]) for r in fake_claude.requests] == [True, False]


async def test_the_stream_tells_stages_then_statements_then_the_same_outcome(
    service: Service, fake_claude: FakeClaude
) -> None:
    client = await service(**claude_settings(fake_claude))
    heard = await events(client)
    names = [name for name, _ in heard]
    assert names[:4] == ["stage"] * 4
    assert [data["name"] for _, data in heard[:4]] == [
        *("guard_input", "retrieve", "grade", "answer"),
    ]
    assert names[4:-1] == ["statement"] * len(names[4:-1])
    assert names[-1] == "done"
    done = heard[-1][1]
    assert done["statements"] == [data for name, data in heard if name == "statement"]
    as_json = await ask(client)
    same = ("outcome", "written_by", "why", "statements", "related")
    assert {key: as_json[key] for key in same} == {key: done[key] for key in same}


async def test_the_stream_is_not_to_be_buffered_or_changed_on_its_way(service: Service) -> None:
    client = await service()
    async with client.stream(
        "POST", "/v1/ask", json={"question": OVEN}, headers={"accept": "text/event-stream"}
    ) as response:
        await response.aread()
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache, no-transform"
    assert response.headers["x-accel-buffering"] == "no"


async def test_a_question_about_something_else_is_an_abstention(service: Service) -> None:
    outcome = await ask(await service(min_score=0.5), "What is the capital of France?")
    assert (outcome["outcome"], outcome["why"]) == ("abstention", "below_floor")
    assert outcome["statements"] == []
    assert outcome["related"][0].keys() == {"title", "section", "url"}


async def test_a_refusal_names_its_rule_and_does_not_echo_the_question(service: Service) -> None:
    outcome = await ask(await service(), "mail jane.roe@gmail.com about it")
    assert (outcome["outcome"], outcome["why"]) == ("refusal", "personal_data")
    assert "jane" not in json.dumps(outcome)


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        pytest.param(b"{", {}, 422, "malformed_body", id="wrong JSON"),
        pytest.param(b"[]", {}, 422, "malformed_body", id="not an object"),
        pytest.param(b'{"q": "x"}', {}, 422, "malformed_body", id="no question"),
        pytest.param(b'{"question": 7}', {}, 422, "malformed_body", id="not text"),
        pytest.param(b'{"question": "x", "y": 1}', {}, 422, "malformed_body", id="extra field"),
        pytest.param(b"\xff", {}, 422, "malformed_body", id="not UTF-8"),
        pytest.param(
            b'{"question": "' + b"x" * 1_000_000 + b'"}', {}, 413, "body_too_large", id="1 MB"
        ),
        pytest.param(
            b"x", {"content-type": "text/plain"}, 415, "unsupported_media_type", id="text"
        ),
        pytest.param(
            b"q=x",
            {"content-type": "application/x-www-form-urlencoded"},
            *(422, "malformed_body"),
            id="form without question",
        ),
    ],
)
async def test_bad_requests_get_a_problem_with_a_stable_code(
    service: Service, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    client = await service()
    headers = {"content-type": "application/json", **headers}
    response = await client.post("/v1/ask", content=content, headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert (problem["code"], problem["status"]) == (code, status)
    assert problem["type"] == f"urn:ask-the-blog:problem:{code}"


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("", "empty"),
        ("x" * 501, "too_long"),
        ("\u200b\ufeff", "empty"),
        ("\0", "empty"),
    ],
)
async def test_unusable_questions_are_refusals(service: Service, question: str, rule: str) -> None:
    assert (await ask(await service(), question))["why"] == rule


async def test_a_lone_surrogate_is_a_refusal_and_not_a_crash(service: Service) -> None:
    client = await service()
    response = await client.post(
        "/v1/ask",
        content=b'{"question": "x \\ud800"}',
        headers={"content-type": "application/json"},
    )
    assert response.json()["why"] == "malformed"


async def test_the_same_key_and_question_get_the_stored_answer_without_a_second_bill(
    service: Service, fake_claude: FakeClaude
) -> None:
    client = await service(**claude_settings(fake_claude))
    key = {"idempotency-key": "abc"}
    first = await ask(client, **key)
    assert await ask(client, **key) == first
    heard = await events(client, **key)
    assert heard[-1] == ("done", first)
    assert len(fake_claude.requests) == 2


async def test_the_same_key_with_another_question_is_a_conflict(service: Service) -> None:
    client = await service()
    key = {"idempotency-key": "abc"}
    await ask(client, **key)
    response = await client.post("/v1/ask", json={"question": "Other?"}, headers=key)
    assert (response.status_code, response.json()["code"]) == (409, "idempotency_conflict")


async def test_a_form_post_gets_a_page_with_the_same_statements_and_links(
    service: Service,
) -> None:
    client = await service()
    response = await client.post("/v1/ask", data={"question": f"{OVEN} <b>"})
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "Bake at 230 degrees" in response.text
    assert 'href="/blog/bread#the-oven:~:text=' in response.text
    assert "<b>" not in response.text


async def test_search_shows_excerpts_and_spends_nothing(
    service: Service, fake_claude: FakeClaude
) -> None:
    client = await service(**claude_settings(fake_claude))
    found = (await client.get("/v1/search", params={"q": OVEN})).json()
    assert found["excerpts"][0]["slug"] == "bread"
    assert found["excerpts"][0]["anchor"] == "the-oven"
    assert fake_claude.requests == []


async def test_related_articles(service: Service) -> None:
    client = await service()
    [*related] = (await client.get("/v1/related/bread")).json()
    assert {r["title"] for r in related} == {"Fixing bikes"}
    assert (await client.get("/v1/related/nothing")).status_code == 404


async def test_feedback_needs_a_known_answer(service: Service) -> None:
    client = await service()
    outcome = await ask(client)
    vote = {"id": outcome["id"], "vote": "up"}
    assert (await client.post("/v1/feedback", json=vote)).status_code == 204
    unknown = await client.post("/v1/feedback", json={**vote, "id": "x"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    wrong = await client.post("/v1/feedback", json={**vote, "vote": "maybe"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "malformed_body")


async def test_health_readiness_and_metrics(service: Service) -> None:
    client = await service()
    await ask(client)
    assert (await client.get("/healthz")).json() == {"status": "alive"}
    assert (await client.get("/readyz")).json() == {"status": "ready", "articles": 2}
    metrics = (await client.get("/metrics")).text
    assert 'ask_blog_questions_total{outcome="answer",why="no_key"} 1.0' in metrics
    assert "bread" not in metrics


async def test_article_pages_carry_the_anchors_that_citations_link_to(service: Service) -> None:
    page = await (await service()).get("/blog/bread")
    assert page.status_code == 200
    assert '<h2 id="the-oven">The oven</h2>' in page.text


async def test_the_demo_page_and_its_widget_are_served(service: Service) -> None:
    client = await service()
    assert "<ask-blog" in (await client.get("/")).text
    script = await client.get("/widget/ask-blog.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["access-control-allow-origin"] == "*"
    assert (await client.get("/widget/nothing.js")).status_code == 404
    assert (await client.get("/widget/..%2fapi.py")).status_code == 404


async def test_only_allowed_origins_may_ask_across_origins(service: Service) -> None:
    client = await service(allowed_origins="https://blog.example")
    asking = {"access-control-request-method": "POST"}
    for origin, allowed in (("https://blog.example", True), ("https://evil.example", False)):
        response = await client.options("/v1/ask", headers={"origin": origin, **asking})
        assert (response.headers.get("access-control-allow-origin") == origin) is allowed


async def test_the_api_is_described(service: Service) -> None:
    described = (await (await service()).get("/openapi.json")).json()
    assert set(described["paths"]) == {
        *("/v1/ask", "/v1/search", "/v1/related/{slug}", "/v1/feedback"),
    }


async def test_a_database_that_goes_away_is_told_in_json_and_in_the_stream(
    service: Service, database_url: str
) -> None:
    client = await service()
    name = database_url.split("?")[0].rsplit("/", 1)[1]
    admin = await asyncpg.connect(database_url.replace(f"/{name}?", "/postgres?"))
    await admin.execute(f"drop database {name} with (force)")
    await admin.close()
    response = await client.post("/v1/ask", json={"question": OVEN})
    assert (response.status_code, response.json()["code"]) == (503, "store_unavailable")
    assert (await events(client))[-1] == (
        "error",
        {"code": "store_unavailable", "detail": "The database cannot be reached."},
    )
    assert (await client.get("/readyz")).status_code == 503
    assert (await client.get("/healthz")).status_code == 200


async def test_when_the_budget_is_spent_readers_get_quotes(
    service: Service, fake_claude: FakeClaude
) -> None:
    client = await service(**claude_settings(fake_claude), daily_usd="0.0001")
    outcome = await ask(client)
    assert (outcome["written_by"], outcome["why"]) == ("quotes", "budget")
    assert fake_claude.requests == []


async def test_what_happened_to_a_question_is_kept_as_a_receipt(
    service: Service, fake_claude: FakeClaude, database_url: str
) -> None:
    outcome = await ask(await service(**claude_settings(fake_claude)))
    db = await open_database(database_url)
    stored = await PgAsks(db).find(outcome["id"])
    await db.close()
    assert stored is not None
    assert stored.response == outcome
    assert stored.receipt["excerpts"][0]["relevance"] == 3
    assert [u["model"] for u in stored.receipt["usage"]] == [
        *("claude-haiku-5-5", "claude-sonnet-5-5"),
    ]
    assert len(stored.receipt["prompts"]) == 12


async def test_when_claude_is_down_readers_get_quotes(service: Service) -> None:
    settings = {"anthropic_api_key": "k", "anthropic_base_url": "http://127.0.0.1:9"}
    outcome = await ask(await service(**settings))
    assert (outcome["written_by"], outcome["why"]) == ("quotes", "upstream")


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
async def test_claude_is_left_as_soon_as_the_reader_leaves(
    service: Service, fake_claude: FakeClaude, accept: str
) -> None:
    fake_claude.delay_s = 30
    client = await service(**claude_settings(fake_claude))
    asking = asyncio.create_task(
        client.post("/v1/ask", json={"question": OVEN}, headers={"accept": accept})
    )
    while not fake_claude.requests:
        await asyncio.sleep(0.01)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    for _ in range(100):
        if fake_claude.left:
            break
        await asyncio.sleep(0.02)
    assert fake_claude.left == ["grade"]
