"""An ingest may be killed at any moment: readers see all of the old index or all of the new.

TEST_KILLS=50 makes a long run of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from service.embedder import OnnxEmbedder
from service.store.corpus import PgCorpus
from service.store.db import Database
from tests.processes import ROOT, START_S

KILLS = int(os.environ.get("TEST_KILLS", "4"))
ARTICLES = 25


def write_version(folder: Path, version: int) -> None:
    """Every article says which version it is, in several sections of its own."""
    for number in range(ARTICLES):
        sections = "\n\n".join(
            f"## Part {part}\n\nArticle {number} part {part} is of version {version}. "
            + f"It says much about subject {number * part}. " * 12
            for part in range(4)
        )
        text = f"---\ntitle: Article {number}\n---\n\n{sections}\n"
        (folder / f"a{number}.md").write_text(text, "utf-8")


def start_ingest(folder: Path, database_url: str) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG")}
    return subprocess.Popen(
        [sys.executable, "-m", "service", "ingest", "--content", str(folder), "--json"],
        cwd=ROOT,
        env={**environment, "DATABASE_URL": database_url},
        stdout=subprocess.PIPE,
        text=True,
    )


async def versions(db: Database, embedder: OnnxEmbedder) -> list[int]:
    """The versions that a search of everything finds, each chunk counted."""
    found = await PgCorpus(db).nearest(
        site="blog",
        embedder_id=embedder.id,
        vector=await embedder.embed_query("what does the article say"),
        limit=1000,
    )
    return [int(e.chunk.text.split("of version ")[1].split(".")[0]) for e in found]


async def test_whenever_an_ingest_is_killed_the_index_is_whole_and_answers(
    tmp_path: Path, database_url: str, db: Database, embedder: OnnxEmbedder
) -> None:
    write_version(tmp_path, 0)
    start_ingest(tmp_path, database_url).communicate(timeout=START_S)
    assert set(await versions(db, embedder)) == {0}
    live, rng = 0, random.Random(7)
    longest_s = 4.0
    for version in range(1, KILLS + 1):
        write_version(tmp_path, version)
        process = start_ingest(tmp_path, database_url)
        await asyncio.sleep(rng.uniform(0.5, longest_s))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = await versions(db, embedder)
        assert len(found) == 4 * ARTICLES
        assert set(found) in ({live}, {version})
        live = found[0]
    process = start_ingest(tmp_path, database_url)
    counts = json.loads(process.communicate(timeout=START_S)[0])
    assert counts["failures"] == []
    assert set(await versions(db, embedder)) == {KILLS}
