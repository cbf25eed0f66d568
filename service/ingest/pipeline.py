"""An article's path from folder to index: read -> compare -> chunk -> embed what is new -> replace.

One transaction at the end: readers see the old index or the new one. An article whose
fingerprint is stored already is neither chunked nor embedded.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from service.errors import ContentError
from service.ingest.articles import Failure, Folder, read_folder
from service.ingest.chunk import ChunkRules, chunk_article, embedded_text
from service.ports import Embedder, Index, ReplacedArticle, Tokenizer
from service.types import Article, Chunk, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestDeps:
    """What an ingest needs from outside."""

    embedder: Embedder
    tokenizer: Tokenizer
    index: Index
    rules: ChunkRules


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """Counts of one ingest. Articles: added + changed + unchanged = read."""

    added: int
    changed: int
    unchanged: int
    removed: int
    kept: tuple[str, ...]  # slugs in the index but not in the folder, for want of --prune
    drafts: int
    chunks: int  # of the added and changed articles
    embedded: int
    reused: int
    truncated: int  # always 0: text over the model's limit is an error, not a cut
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Called as an ingest goes on; both do nothing by default."""

    started: Callable[[int], None] = lambda total: None  # texts to embed
    advanced: Callable[[int], None] = lambda done: None  # texts more embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A new or changed article, cut and ready to embed."""

    article: Article
    fingerprint: str
    chunks: tuple[Chunk, ...]
    texts: tuple[str, ...]  # embedded text of each chunk
    hashes: tuple[str, ...]


def index_id(embedder_id: str, rules: ChunkRules) -> str:
    """What vectors must have been made with to be comparable."""
    return f"{embedder_id}+{rules.id}"


def fingerprint(article: Article) -> str:
    """Hash of everything an ingest would write of the article."""
    fields = asdict(article)
    del fields["warnings"]
    return sha256(json.dumps(fields, sort_keys=True))


def sha256(text: str) -> str:
    """Hex digest of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()


async def ingest(
    content: Path, *, site: str, deps: IngestDeps, prune: bool = False, progress: Progress
) -> IngestReport:
    """Bring the site's index in line with the folder.

    An article that has become a draft is removed at once, one whose file is gone only by `prune`.
    Files that cannot be read are reported and leave their old version in the index; while there
    are any, nothing is pruned. Raises ContentError, StoreError, ModelFileError.
    """
    started = time.perf_counter()
    folder = read_folder(content)
    current = index_id(deps.embedder.id, deps.rules)
    stored = await deps.index.stored_articles(site=site, index_id=current)
    fingerprints = {s.slug: s.fingerprint for s in stored}
    marks = {a.slug: fingerprint(a) for a in folder.articles}
    due = [a for a in folder.articles if fingerprints.get(a.slug) != marks[a.slug]]
    absent = sorted(set(fingerprints) - set(marks))
    withdrawn = {draft.slug for draft in folder.drafts}
    pruning = prune and not folder.failures
    removed = [slug for slug in absent if pruning or slug in withdrawn]
    remade = bool(stored) and not any(fingerprints.values())
    if remade:
        _refuse_mixture(sorted(set(absent) - set(removed)), folder.failures)

    prepared = [_prepare(a, marks[a.slug], site, deps) for a in due]
    vectors, embedded = await _vectors(prepared, site=site, current=current, deps=deps, on=progress)
    if due or removed:
        await deps.index.replace(
            site=site,
            index_id=current,
            embedder_id=deps.embedder.id,
            articles=[_replaced(p, vectors) for p in prepared],
            removed=removed,
        )
    total = sum(len(p.chunks) for p in prepared)
    added = sum(a.slug not in fingerprints for a in due)
    return IngestReport(
        added=added,
        changed=len(due) - added,
        unchanged=len(folder.articles) - len(due),
        removed=len(removed),
        kept=tuple(slug for slug in absent if slug not in removed),
        drafts=len(folder.drafts),
        chunks=total,
        embedded=embedded,
        reused=total - embedded,
        truncated=0,
        failures=folder.failures,
        warnings=_warnings(folder),
        seconds=time.perf_counter() - started,
    )


def _refuse_mixture(kept: Sequence[str], failures: Sequence[Failure]) -> None:
    """Vectors of two models must never lie in one index."""
    if not kept:
        return
    reason = "the embedding model or the chunker has changed, so every article is made anew, but "
    if failures:
        raise ContentError(f"{reason}some files cannot be read; first {failures[0].message}")
    raise ContentError(
        f"{reason}{len(kept)} indexed articles are not in the folder ({', '.join(kept[:5])}); "
        "restore them, or run ingest with --prune"
    )


def _prepare(article: Article, mark: str, site: str, deps: IngestDeps) -> _Prepared:
    chunks = chunk_article(article, site=site, tokenizer=deps.tokenizer, rules=deps.rules)
    texts = tuple(embedded_text(c, article.title, deps.tokenizer, deps.rules) for c in chunks)
    return _Prepared(
        article=article,
        fingerprint=mark,
        chunks=chunks,
        texts=texts,
        hashes=tuple(sha256(text) for text in texts),
    )


async def _vectors(
    prepared: Sequence[_Prepared], *, site: str, current: str, deps: IngestDeps, on: Progress
) -> tuple[dict[str, Vector], int]:
    """A vector for every embedded text by its hash, and for how many chunks it had to be made."""
    text_by_hash = {h: t for p in prepared for h, t in zip(p.hashes, p.texts, strict=True)}
    known = await deps.index.known_vectors(site=site, index_id=current, hashes=text_by_hash)
    new = {h: t for h, t in text_by_hash.items() if h not in known}
    on.started(len(new))
    made = await deps.embedder.embed_passages(list(new.values()), on_embedded=on.advanced)
    return {**known, **dict(zip(new, made, strict=True))}, len(new)


def _replaced(prepared: _Prepared, vectors: dict[str, Vector]) -> ReplacedArticle:
    return ReplacedArticle(
        article=prepared.article,
        fingerprint=prepared.fingerprint,
        chunks=prepared.chunks,
        embedded_hashes=prepared.hashes,
        vectors=tuple(vectors[h] for h in prepared.hashes),
    )


def _warnings(folder: Folder) -> tuple[str, ...]:
    return tuple(f"{a.slug}: {warning}" for a in folder.articles for warning in a.warnings)
