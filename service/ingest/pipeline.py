"""An article's path from folder to index: read -> compare -> chunk -> embed what is new -> replace.

One transaction at the end: readers see the old index or the new one. An article whose
fingerprint is stored already is neither chunked nor embedded.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from service.errors import ContentError
from service.ingest.articles import Failure, Folder
from service.ingest.source import Source, read_source
from service.ports import Chunker, Embedder, Index, ReplacedArticle, StoredArticle
from service.terms import TERMS_ID, term_counts
from service.types import Article, Chunk, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestDeps:
    """What an ingest needs from outside."""

    embedder: Embedder
    chunker: Chunker
    index: Index
    kept_together: int = 64  # embeddings lost at most when an ingest is killed: a second or two


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
    """Called as an ingest goes on; by default nothing happens."""

    started: Callable[[int], None] = lambda total: None  # texts to embed
    advanced: Callable[[int], None] = lambda done: None  # texts more embedded
    waiting: Callable[[], None] = lambda: None  # another ingest of the site is under way


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A new or changed article, cut and ready to embed."""

    article: Article
    fingerprint: str
    chunks: tuple[Chunk, ...]
    texts: tuple[str, ...]  # embedded text of each chunk
    hashes: tuple[str, ...]


def index_id(embedder_id: str, chunker_id: str) -> str:
    """What an index was made with."""
    return f"{embedder_id}+{chunker_id}"


def fingerprint(article: Article) -> str:
    """Hash of everything an ingest would write of the article."""
    fields = asdict(article)
    del fields["warnings"], fields["coverage"]
    return sha256(json.dumps([TERMS_ID, fields], sort_keys=True))


def sha256(text: str) -> str:
    """Hex digest of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()


async def ingest(
    source: Source, *, site: str, deps: IngestDeps, prune: bool = False, progress: Progress
) -> IngestReport:
    """Bring the site's index in line with the source; one ingest of a site at a time.

    An article that has become a draft is removed at once, one whose file is gone only by `prune`.
    Files that cannot be read are reported and leave their old version in the index; while there
    are any, nothing is pruned. Raises ContentError, StoreError, ModelFileError.
    """
    async with deps.index.exclusive(site=site, on_wait=progress.waiting):
        started = time.perf_counter()
        folder = read_source(source)  # now, so that a longer wait does not bring back older text
        return await _ingest(
            folder, site=site, deps=deps, prune=prune, progress=progress, started=started
        )


async def _ingest(
    folder: Folder,
    *,
    site: str,
    deps: IngestDeps,
    prune: bool,
    progress: Progress,
    started: float,
) -> IngestReport:
    current = index_id(deps.embedder.id, deps.chunker.id)
    stored = await deps.index.stored_articles(site=site, index_id=current)
    plan = _plan(folder, stored, prune=prune)
    prepared = [_prepare(a, plan.marks[a.slug], site, deps) for a in plan.due]
    vectors, embedded = await _vectors(prepared, site=site, deps=deps, on=progress)
    if plan.due or plan.removed:
        await deps.index.replace(
            site=site,
            index_id=current,
            embedder_id=deps.embedder.id,
            articles=[_replaced(p, vectors) for p in prepared],
            removed=plan.removed,
        )
    total = sum(len(p.chunks) for p in prepared)
    return IngestReport(
        added=plan.added,
        changed=len(plan.due) - plan.added,
        unchanged=len(folder.articles) - len(plan.due),
        removed=len(plan.removed),
        kept=plan.kept,
        drafts=len(folder.drafts),
        chunks=total,
        embedded=embedded,
        reused=total - embedded,
        truncated=0,
        failures=folder.failures,
        warnings=_warnings(folder),
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What an ingest is going to do, decided before anything is embedded."""

    due: tuple[Article, ...]  # added or changed
    added: int
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    marks: Mapping[str, str]  # fingerprint by slug


def _plan(folder: Folder, stored: Sequence[StoredArticle], *, prune: bool) -> _Plan:
    """Raises ContentError where vectors of two models would come to lie in one index."""
    known = {s.slug: s.fingerprint for s in stored}
    marks = {a.slug: fingerprint(a) for a in folder.articles}
    due = tuple(a for a in folder.articles if known.get(a.slug) != marks[a.slug])
    absent = sorted(set(known) - set(marks))
    withdrawn = {draft.slug for draft in folder.drafts}
    pruning = prune and not folder.failures
    removed = tuple(slug for slug in absent if pruning or slug in withdrawn)
    kept = tuple(slug for slug in absent if slug not in removed)
    if stored and not any(known.values()):
        _refuse_mixture(kept, folder.failures)
    added = sum(a.slug not in known for a in due)
    return _Plan(due=due, added=added, removed=removed, kept=kept, marks=marks)


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
    chunks = deps.chunker.chunks(article, site=site)
    texts = tuple(deps.chunker.embedded_text(c, article.title) for c in chunks)
    return _Prepared(
        article=article,
        fingerprint=mark,
        chunks=chunks,
        texts=texts,
        hashes=tuple(sha256(text) for text in texts),
    )


async def _vectors(
    prepared: Sequence[_Prepared], *, site: str, deps: IngestDeps, on: Progress
) -> tuple[dict[str, Vector], int]:
    """A vector for every embedded text by its hash, and how many had to be made.

    What has been made is kept as it comes, so that an interrupted ingest is not for nothing.
    """
    text_by_hash = {h: t for p in prepared for h, t in zip(p.hashes, p.texts, strict=True)}
    model = deps.embedder.id
    known = await deps.index.known_vectors(site=site, embedder_id=model, hashes=text_by_hash)
    vectors = dict(known)
    new = [h for h in text_by_hash if h not in known]
    on.started(len(new))
    # texts of like length run together in one batch, and fewest are lost when longest go last
    new.sort(key=lambda h: len(text_by_hash[h]))
    for start in range(0, len(new), deps.kept_together):
        hashes = new[start : start + deps.kept_together]
        texts = [text_by_hash[h] for h in hashes]
        made = await deps.embedder.embed_passages(texts, on_embedded=on.advanced)
        fresh = dict(zip(hashes, made, strict=True))
        vectors |= fresh
        if start + deps.kept_together < len(new):  # the last ones are written with their articles
            await deps.index.keep_pending(site=site, embedder_id=model, vectors=fresh)
    return vectors, len(new)


def _replaced(prepared: _Prepared, vectors: dict[str, Vector]) -> ReplacedArticle:
    return ReplacedArticle(
        article=prepared.article,
        fingerprint=prepared.fingerprint,
        chunks=prepared.chunks,
        term_counts=tuple(term_counts(t, prepared.article.language) for t in prepared.texts),
        embedded_hashes=prepared.hashes,
        vectors=tuple(vectors[h] for h in prepared.hashes),
    )


def _warnings(folder: Folder) -> tuple[str, ...]:
    return tuple(f"{a.slug}: {warning}" for a in folder.articles for warning in a.warnings)
