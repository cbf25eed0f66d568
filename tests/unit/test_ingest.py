"""What an ingest adds, changes, keeps and removes, and how little it embeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.errors import ContentError, ModelFileError
from service.ingest.chunk import ChunkRules, TokenChunker
from service.ingest.pipeline import IngestDeps, IngestReport, Progress, ingest
from service.ingest.source import Source
from tests.fakes import HashEmbedder, MemoryIndex, WordTokenizer


class Ingesting:
    """A folder, an index in memory and an embedder that remembers what it embedded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = MemoryIndex()
        self.embedder = HashEmbedder()
        self.rules = ChunkRules(target_tokens=40, max_tokens=60)

    async def run(self, **options: Any) -> IngestReport:
        self.embedder.embedded.clear()
        deps = IngestDeps(
            embedder=self.embedder,
            chunker=TokenChunker(tokenizer=WordTokenizer(), rules=self.rules),
            index=self.index,
            kept_together=2,
        )
        return await ingest(
            Source(folder=self.folder), site="s", deps=deps, progress=Progress(), **options
        )


@pytest.fixture
def ingesting(blog: Path) -> Ingesting:
    return Ingesting(blog)


async def test_the_first_ingest_embeds_every_chunk(ingesting: Ingesting) -> None:
    report = await ingesting.run()
    assert (report.added, report.changed, report.unchanged) == (2, 0, 0)
    assert report.chunks == report.embedded == len(ingesting.embedder.embedded) == 5
    assert report.truncated == 0


async def test_an_unchanged_folder_costs_nothing(ingesting: Ingesting) -> None:
    await ingesting.run()
    report = await ingesting.run()
    assert (report.unchanged, report.chunks, report.embedded) == (2, 0, 0)
    assert ingesting.embedder.embedded == []


async def test_an_edited_paragraph_embeds_only_its_own_chunk(ingesting: Ingesting) -> None:
    await ingesting.run()
    bread = ingesting.folder / "bread.md"
    bread.write_text(bread.read_text().replace("smooth", "silky"), "utf-8")
    report = await ingesting.run()
    assert (report.changed, report.embedded, report.reused) == (1, 1, 2)
    assert "silky" in ingesting.embedder.embedded[0]


async def test_a_new_title_changes_every_chunks_context(ingesting: Ingesting) -> None:
    await ingesting.run()
    bread = ingesting.folder / "bread.md"
    bread.write_text(bread.read_text().replace("Baking bread", "On bread"), "utf-8")
    assert (await ingesting.run()).embedded == 3


async def test_a_renamed_article_reuses_its_vectors(ingesting: Ingesting) -> None:
    await ingesting.run()
    (ingesting.folder / "bread.md").rename(ingesting.folder / "loaf.md")
    report = await ingesting.run(prune=True)
    assert (report.added, report.removed, report.embedded, report.reused) == (1, 1, 0, 3)


async def test_a_missing_article_is_kept_and_named_until_pruned(ingesting: Ingesting) -> None:
    await ingesting.run()
    (ingesting.folder / "bread.md").unlink()
    assert (await ingesting.run()).kept == ("bread",)
    assert (await ingesting.run(prune=True)).removed == 1
    assert list(ingesting.index.articles) == ["bikes"]


async def test_an_article_that_becomes_a_draft_leaves_the_index_at_once(
    ingesting: Ingesting,
) -> None:
    await ingesting.run()
    bread = ingesting.folder / "bread.md"
    bread.write_text(bread.read_text().replace("title:", "draft: true\ntitle:"), "utf-8")
    report = await ingesting.run()
    assert (report.removed, report.drafts, report.kept) == (1, 1, ())
    assert list(ingesting.index.articles) == ["bikes"]


async def test_a_broken_file_is_reported_keeps_its_old_version_and_stops_pruning(
    ingesting: Ingesting,
) -> None:
    await ingesting.run()
    (ingesting.folder / "bread.md").write_bytes(b"---\ntitle: x\n---\n\xff\xfe")
    (ingesting.folder / "bikes.mdx").unlink()
    (ingesting.folder / "new.md").write_text("# New\n\nSome text.", "utf-8")
    report = await ingesting.run(prune=True)
    assert [f.message for f in report.failures] == [
        "bread.md: byte 17 is not UTF-8: save the file as UTF-8"
    ]
    assert (report.added, report.removed) == (1, 0)
    assert sorted(ingesting.index.articles) == ["bikes", "bread", "new"]


async def test_a_changed_chunker_makes_everything_anew(ingesting: Ingesting) -> None:
    await ingesting.run()
    ingesting.rules = ChunkRules(target_tokens=30, max_tokens=60)
    report = await ingesting.run()
    assert (report.added, report.changed, report.unchanged) == (0, 2, 0)


async def test_an_interrupted_ingest_goes_on_where_it_stopped(blog: Path) -> None:
    class Interrupted(HashEmbedder):
        async def embed_passages(self, texts: Any, **options: Any) -> Any:
            if self.embedded:
                raise ModelFileError("the lights went out")
            return await super().embed_passages(texts, **options)

    ingesting = Ingesting(blog)
    ingesting.embedder = Interrupted()
    with pytest.raises(ModelFileError):
        await ingesting.run()
    assert ingesting.index.articles == {}
    ingesting.embedder = HashEmbedder()
    report = await ingesting.run()
    assert (report.embedded, report.reused) == (3, 2)


async def test_vectors_of_two_models_are_never_mixed(ingesting: Ingesting) -> None:
    await ingesting.run()
    (ingesting.folder / "bread.md").unlink()
    ingesting.embedder.id = "other@1"
    with pytest.raises(ContentError, match=r"1 indexed articles are not in the folder \(bread\)"):
        await ingesting.run()
    (ingesting.folder / "broken.md").write_bytes(b"\xff")
    with pytest.raises(ContentError, match=r"some files cannot be read; first broken\.md"):
        await ingesting.run(prune=True)


async def test_equal_text_is_embedded_once(ingesting: Ingesting) -> None:
    copy = (ingesting.folder / "bread.md").read_text()
    (ingesting.folder / "copy.md").write_text(copy, "utf-8")
    report = await ingesting.run()
    assert (report.chunks, report.embedded) == (8, 5)


async def test_progress_is_told(ingesting: Ingesting) -> None:
    told: list[tuple[str, int]] = []
    deps = IngestDeps(
        embedder=ingesting.embedder,
        chunker=TokenChunker(tokenizer=WordTokenizer(), rules=ingesting.rules),
        index=ingesting.index,
    )
    progress = Progress(
        started=lambda n: told.append(("of", n)), advanced=lambda n: told.append(("done", n))
    )
    await ingest(Source(folder=ingesting.folder), site="s", deps=deps, progress=progress)
    assert told == [("of", 5), ("done", 5)]
