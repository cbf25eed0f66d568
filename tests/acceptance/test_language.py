"""A blog in two languages: readers ask in one of them, on the web and in a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.conftest import Service
from tests.processes import Commands, data_directory

OVEN = "At how many degrees do I bake bread?"


@pytest.fixture
def blog(blog: Path) -> Path:
    """The tiny blog with an article in German that answers the same."""
    (blog / "brot.md").write_text(
        "---\ntitle: Brot backen\nlang: de\n---\n\n## Der Ofen\n\n"
        "Bake bread (Brot) at 240 degrees (Grad), that is hotter than most.\n",
        "utf-8",
    )
    return blog


async def ask(client: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    response = await client.post("/v1/ask", json={"question": OVEN, **body})
    assert response.status_code == 200, response.text
    return dict(response.json())


def linked(outcome: dict[str, Any]) -> set[str]:
    """The articles that an outcome cites or offers."""
    cited = [c["url"] for s in outcome["statements"] for c in s["citations"]]
    offered = [r["url"] for r in outcome["related"]]
    return {re.split("[/#]", url)[2] for url in cited + offered}


async def test_a_question_in_a_language_is_answered_from_its_articles_alone(
    service: Service,
) -> None:
    client = await service()
    assert linked(await ask(client, language="de")) == {"brot"}
    assert "bread" in linked(await ask(client, language="en"))
    assert "brot" not in linked(await ask(client, language="en"))
    assert linked(await ask(client)) >= {"bread", "brot"}
    assert linked(await ask(client, language=None)) == linked(await ask(client))


async def test_a_language_without_articles_is_an_abstention_that_offers_nothing(
    service: Service,
) -> None:
    outcome = await ask(await service(), language="xx")
    assert (outcome["outcome"], outcome["why"]) == ("abstention", "below_floor")
    assert linked(outcome) == set()


async def test_what_is_no_language_tag_is_422(service: Service) -> None:
    client = await service()
    for language in ("", "e", "DE", "deu", "de-AT", "d1", "de\n", 7, ["de"]):
        response = await client.post("/v1/ask", json={"question": OVEN, "language": language})
        assert (response.status_code, response.json()["code"]) == (422, "malformed_body"), language
        assert "language" in response.json()["detail"]


async def test_the_same_key_with_another_language_is_a_conflict(service: Service) -> None:
    client, key = await service(), {"idempotency-key": "abc"}
    for language, status in (("de", 200), ("de", 200), ("en", 409)):
        body = {"question": OVEN, "language": language}
        response = await client.post("/v1/ask", json=body, headers=key)
        assert response.status_code == status


async def test_a_search_in_a_language_finds_its_articles_alone(service: Service) -> None:
    client = await service()
    found = (await client.get("/v1/search", params={"q": OVEN, "language": "de"})).json()
    assert {e["slug"] for e in found["excerpts"]} == {"brot"}
    wrong = await client.get("/v1/search", params={"q": OVEN, "language": "deu"})
    assert wrong.status_code == 422


def test_a_search_in_the_terminal_explains_the_score_of_each_excerpt(blog: Path) -> None:
    with data_directory() as folder:
        commands = Commands(folder, blog)
        try:
            assert commands.run("ingest").returncode == 0
            plain = commands.run("search", OVEN, "--language", "en")
            explained = commands.run("search", OVEN, "--language", "en", "--explain")
            by_meaning = commands.run("search", OVEN, "--explain", RAG_MODE="vector")
        finally:
            commands.close()
    assert "Baking bread > The oven" in plain.stdout
    assert "score" not in plain.stdout

    lines = scores(explained.stdout)
    assert len(lines) == len(re.findall(r"^\d+\. ", explained.stdout, re.MULTILINE)) > 0
    assert [score for score, *_ in lines] == sorted((s for s, *_ in lines), reverse=True)
    assert all(score >= cosine for score, cosine, *_ in lines)
    assert lines[0][2] > 0
    assert lines[0][3] > 0
    assert "brot" not in explained.stdout

    for score, cosine, *bm25 in scores(by_meaning.stdout):
        assert (score, bm25) == (cosine, [0, 0])


def scores(output: str) -> list[tuple[float, ...]]:
    """Score, cosine, BM25 of chunk and of article, from each line that explains."""
    number = r"(-?\d+\.\d+)"
    line = (
        rf"^   score {number} = cosine {number} \+ words: "
        rf"BM25 of the chunk {number}, of the article {number}$"
    )
    return [tuple(map(float, found)) for found in re.findall(line, output, re.MULTILINE)]
