"""What evals make of a running blog: its live index, and the questions that readers asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest
import yaml

from evals.__main__ import main
from service.app import App, open_app
from service.ingest.pipeline import Progress, ingest
from service.ingest.source import Source
from service.settings import load_settings
from service.types import (
    AbstainedBecause,
    Abstention,
    Answer,
    Citation,
    Outcome,
    Question,
    QuotesBecause,
    Refusal,
    Rule,
    Statement,
    StatementKind,
    Trace,
    WrittenBy,
)
from service.web.api import create_api
from tests.builders import make_excerpt, make_retrieval
from tests.integration.test_evals import ROWS

GAUGE = "ask_blog_rag_eval_recall_at_3"
ABSTAINED = Abstention(why=AbstainedBecause.BELOW_FLOOR, related=())


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text(yaml.safe_dump(rows), "utf-8")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.yaml"
    write(path, ROWS)
    return path


@pytest.fixture
async def app(blog: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[App]:
    """The service on a database of its own, which `evals` finds in the environment."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    settings = load_settings({}, database_url=database_url, min_score=0.2, content=blog)
    async with open_app(settings) as opened:
        await ingest(Source(folder=blog), site="blog", deps=opened.index.deps, progress=Progress())
        yield opened


async def evals(command: str, blog: Path, questions: Path, *options: str) -> int:
    words = [command, "--content", str(blog), "--questions", str(questions), *options]
    return await asyncio.to_thread(main, words)


async def gauge(app: App) -> str:
    transport = httpx2.ASGITransport(app=create_api(app))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        lines = (await client.get("/metrics")).text.splitlines()
    [value] = [line.split()[1] for line in lines if line.startswith(f"{GAUGE} ")]
    return value


async def rows(database_url: str, query: str) -> list[dict[str, Any]]:
    connection = await asyncpg.connect(database_url)
    found = await connection.fetch(query)
    await connection.close()
    return [dict(row) for row in found]


async def test_live_keeps_a_row_and_shows_its_recall_on_metrics(
    app: App, blog: Path, questions: Path, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await gauge(app) == "NaN"
    assert await evals("live", blog, questions) == 0
    assert await gauge(app) == "1.0"
    [row] = await rows(database_url, "select * from rag_eval_runs")
    stats = await app.index.corpus.stats(site="blog")
    assert (row["site"], row["index_id"]) == ("blog", stats.index_id)
    assert (row["answerable"], row["recall_at_3"], len(row["dataset_sha256"])) == (2, 1.0, 64)
    assert '"mrr": 1.0' in row["metrics"]
    assert "2 answerable and 1 no-answer questions" in capsys.readouterr().out


async def test_live_shows_the_last_run_when_the_index_has_fallen_behind_the_folder(
    app: App, blog: Path, questions: Path, database_url: str
) -> None:
    assert await evals("live", blog, questions) == 0
    stats = await app.index.corpus.stats(site="blog")
    await app.index.deps.index.replace(
        site="blog",
        index_id=str(stats.index_id),
        embedder_id=app.deps.embedder.id,
        articles=[],
        removed=["bread"],
    )
    assert await evals("live", blog, questions) == 0
    assert await gauge(app) == "0.5"
    assert len(await rows(database_url, "select 1 from rag_eval_runs")) == 2


async def test_live_without_an_answerable_question_says_so_and_keeps_nothing(
    app: App, blog: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(questions, ROWS[2:])
    assert await evals("live", blog, questions) == 1
    assert capsys.readouterr().err == (
        f"evals: {questions}: no answerable question: there is no recall to measure\n"
    )
    assert await gauge(app) == "NaN"


async def test_live_does_not_measure_half_a_folder(
    app: App, blog: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (blog / "latin.md").write_bytes(b"\xff")
    assert await evals("live", blog, questions) == 1
    assert "not measured: latin.md: byte 0 is not UTF-8" in capsys.readouterr().err


def answer(cosine: float) -> tuple[Outcome, float]:
    excerpt = make_excerpt(cosine=cosine)
    cited = Citation(excerpt=excerpt, start=0, end=len("The floor is a cosine."))
    statement = Statement(text=cited.quote, kind=StatementKind.SENTENCE, citations=(cited,))
    made = Answer(statements=(statement,), written_by=WrittenBy.QUOTES, why=QuotesBecause.NO_KEY)
    return made, cosine


ASKED: list[tuple[str, tuple[Outcome, float]]] = [
    ("How do I store yeast?", (ABSTAINED, 0.1)),
    ("Which saddle is comfortable?", answer(0.25)),
    ("how long do i knead the dough?", (ABSTAINED, 0.1)),  # the set has it
    ("how do i store yeast", (ABSTAINED, 0.1)),
    ("How hot is the oven?", answer(0.8)),  # went well
    ("Why did jane.roe@gmail.com get no newsletter from you?", (ABSTAINED, 0.1)),
    ("", (Refusal(rule=Rule.PERSONAL_DATA), 0.0)),
    ("HOW DO I STORE YEAST?!", answer(0.29)),
]


@pytest.fixture
async def asked(app: App) -> None:
    for number, (text, (outcome, cosine)) in enumerate(ASKED):
        trace = Trace(
            id=f"ask-{number}",
            question=Question(text=text),
            outcome=outcome,
            retrieval=make_retrieval(make_excerpt(cosine=cosine)),
        )
        await app.asks.record(trace, site="blog", response={}, receipt={})


@pytest.mark.usefixtures("asked")
async def test_mine_prints_what_went_badly_once_most_asked_first_without_labels(
    blog: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await evals("mine", blog, questions) == 0
    found = yaml.safe_load(capsys.readouterr().out)
    assert {f["question"]: f["source"] for f in found} == {
        "HOW DO I STORE YEAST?!": "asked 3 times, answered at a cosine of 0.29",
        "Why did [email] get no newsletter from you?": "asked 1 times, below_floor",
        "Which saddle is comfortable?": "asked 1 times, answered at a cosine of 0.25",
    }
    assert found[0]["question"] == "HOW DO I STORE YEAST?!"
    assert [f["id"] for f in found] == ["mined-001", "mined-002", "mined-003"]
    for entry in found:
        assert (entry["type"], entry["split"]) == (None, None)
        assert entry["slugs"] == entry["anchors"] == entry["evidence"] == entry["tags"] == []


@pytest.mark.usefixtures("asked")
async def test_mine_never_prints_personal_data(
    blog: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await evals("mine", blog, questions) == 0
    heard = capsys.readouterr()
    assert "jane" not in heard.out + heard.err


@pytest.mark.usefixtures("asked")
async def test_mine_looks_no_further_back_and_no_higher_than_it_is_told(
    blog: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await evals("mine", blog, questions, "--limit", "1") == 0
    [newest] = yaml.safe_load(capsys.readouterr().out)
    assert newest["source"] == "asked 1 times, answered at a cosine of 0.29"
    assert await evals("mine", blog, questions, "--low-score", "0.9") == 0
    found = yaml.safe_load(capsys.readouterr().out)
    assert "How hot is the oven?" in {f["question"] for f in found}


@pytest.mark.usefixtures("asked")
async def test_mine_only_reads(blog: Path, questions: Path, database_url: str) -> None:
    before = await everything(database_url)
    assert {"asks", "articles", "rag_eval_runs", "spend"} <= set(before)
    assert await evals("mine", blog, questions) == 0
    assert await everything(database_url) == before


async def everything(database_url: str) -> dict[str, list[str]]:
    """Every row of every table."""
    names = "select tablename as name from pg_tables where schemaname = 'public'"
    tables = [row["name"] for row in await rows(database_url, names)]
    every = "select t::text as row from {} t order by 1"
    return {t: [r["row"] for r in await rows(database_url, every.format(t))] for t in tables}


@pytest.mark.usefixtures("app")
async def test_mine_prints_an_empty_list_where_nothing_went_badly(
    blog: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await evals("mine", blog, questions) == 0
    assert capsys.readouterr().out == "[]\n"
