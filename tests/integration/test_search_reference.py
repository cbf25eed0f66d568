"""pgvector's ranking against numpy's, over every labelled question and the handbook."""

from __future__ import annotations

import shutil
from array import array
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import yaml

from evals.chunkers import CUTTERS, CutChunker
from evals.embedders import HashEmbedder
from service.ingest.articles import read_folder
from service.ingest.pipeline import IngestDeps, Progress, ingest
from service.ingest.source import Source
from service.store.corpus import PgCorpus
from service.store.db import Database
from service.store.index import PgIndex

ROOT = Path(__file__).parents[2]
LIMIT = 48  # as deep as a search goes
ROUNDING = 1e-6  # pgvector adds up in float32; closer cosines it may rank either way
CHUNKER = CutChunker(name="paragraph-1000", cutter=CUTTERS["paragraph-1000"])

Key = tuple[str, int]  # slug and position of a chunk


class Reference:
    """Every chunk with its vector in float64."""

    def __init__(self, keys: list[Key], languages: list[str], matrix: npt.NDArray[np.float64]):
        self.keys = keys
        self.languages = languages
        self.matrix = matrix
        self.row = {key: i for i, key in enumerate(keys)}

    def tiers(self, vector: array[float], language: str | None) -> list[list[Key]]:
        """Chunks of like cosine together, nearest first."""
        wanted = np.asarray(vector, dtype=np.float64)
        cosines = self.matrix @ wanted / np.linalg.norm(self.matrix, axis=1)
        cosines /= np.linalg.norm(wanted)
        kept = [i for i, own in enumerate(self.languages) if language in (None, own)]
        order = sorted(kept, key=lambda i: -cosines[i])
        tiers: list[list[Key]] = []
        for before, i in pairwise([-1, *order]):
            if before < 0 or cosines[before] - cosines[i] > ROUNDING:
                tiers.append([])
            tiers[-1].append(self.keys[i])
        return tiers

    def same(self, a: Key, b: Key) -> bool:
        """Whether two chunks have the very same vector: an exact tie whatever is asked."""
        return bool((self.matrix[self.row[a]] == self.matrix[self.row[b]]).all())


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """The handbook, and a copy of each article in another language: every chunk has a twin."""
    folder = tmp_path / "handbook"
    shutil.copytree(ROOT / "content" / "articles", folder)
    for path in sorted(folder.glob("*.mdx")):
        copy = path.read_text("utf-8").replace("---\n", "---\nlang: de\n", 1)
        path.with_name(f"copy-of-{path.name}").write_text(copy, "utf-8")
    return folder


@pytest.fixture
async def reference(handbook: Path, db: Database) -> Reference:
    """What numpy knows of the articles; Postgres knows them afterwards, too."""
    embedder = HashEmbedder()
    deps = IngestDeps(embedder=embedder, chunker=CHUNKER, index=PgIndex(db))
    report = await ingest(Source(folder=handbook), site="s", deps=deps, progress=Progress())
    assert report.failures == ()
    keys, languages, texts = [], [], []
    for article in read_folder(handbook).articles:
        for chunk in CHUNKER.chunks(article, site="s"):
            keys.append((chunk.slug, chunk.position))
            languages.append(article.language)
            texts.append(CHUNKER.embedded_text(chunk, article.title))
    vectors = await embedder.embed_passages(texts)
    return Reference(keys, languages, np.asarray(vectors, dtype=np.float64))


def every_question() -> list[str]:
    rows = yaml.safe_load((ROOT / "evals" / "questions.yaml").read_text("utf-8"))
    return [row["question"] for row in rows]


@pytest.mark.parametrize("language", [None, "en", "de"])
async def test_search_ranks_as_numpy_does_with_exact_ties_by_slug_and_position(
    reference: Reference, db: Database, language: str | None
) -> None:
    corpus, embedder = PgCorpus(db), HashEmbedder()
    questions = every_question()
    exact_ties = 0
    for question in questions:
        vector = await embedder.embed_query(question)
        excerpts = await corpus.nearest(
            site="s", embedder_id=embedder.id, vector=vector, limit=LIMIT, language=language
        )
        found = [(e.chunk.slug, e.chunk.position) for e in excerpts]
        tiers = reference.tiers(vector, language)
        tier_of = {key: n for n, tier in enumerate(tiers) for key in tier}
        expected = [n for n, tier in enumerate(tiers) for _ in tier][:LIMIT]
        assert [tier_of[key] for key in found] == expected, question
        assert len(set(found)) == len(found) == LIMIT, question

        ties = [(a, b) for a, b in pairwise(found) if reference.same(a, b)]
        assert all(a < b for a, b in ties), question
        exact_ties += len(ties)
    assert len(questions) >= 95
    # every chunk has a twin, and most of those found stand beside theirs
    assert exact_ties >= (20 * len(questions) if language is None else 0)


async def test_a_language_sees_its_own_twin_of_every_chunk_and_nothing_else(
    reference: Reference, db: Database
) -> None:
    corpus, embedder = PgCorpus(db), HashEmbedder()
    vector = await embedder.embed_query(every_question()[0])
    of_chunks = len(reference.keys)
    for language, copies, count in (("en", {False}, 0.5), ("de", {True}, 0.5), ("fr", set(), 0)):
        found = await corpus.nearest(
            site="s", embedder_id=embedder.id, vector=vector, limit=10_000, language=language
        )
        assert {e.language for e in found} <= {language}
        assert {e.chunk.slug.startswith("copy-of-") for e in found} == copies
        assert len(found) == count * of_chunks
