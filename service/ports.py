"""What the two paths need from outside, written from the consumer's side.

`embedder`, `claude` and `store` implement these; `tests/fakes.py` is the second implementation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from service.types import (
    Article,
    Chunk,
    Excerpt,
    Lexical,
    ModelReply,
    ModelRequest,
    TextPiece,
    Vector,
)

Span = tuple[int, int]


class Tokenizer(Protocol):
    """Counts as the embedding model counts."""

    def spans(self, text: str) -> Sequence[Span]:
        """Character span of every token of `text`, special tokens left out."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text` as it would be embedded: special tokens and prefix included."""
        ...


class Chunker(Protocol):
    """Cuts articles, and says what the model gets to see of a chunk."""

    @property
    def id(self) -> str:
        """Names the chunker and its budgets: chunks of another id are cut differently."""
        ...

    def chunks(self, article: Article, *, site: str) -> tuple[Chunk, ...]:
        """Exact slices of the cleaned text, in order."""
        ...

    def embedded_text(self, chunk: Chunk, title: str) -> str:
        """What is embedded of the chunk: its context header and its text."""
        ...


class Embedder(Protocol):
    """Turns text into unit vectors."""

    @property
    def id(self) -> str:
        """Name and checksum of the model; two indexes with the same id may be compared."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """A question's vector, float32[dimensions] of unit length."""
        ...

    async def embed_passages(
        self, texts: Sequence[str], *, on_embedded: Callable[[int], None] = lambda n: None
    ) -> list[Vector]:
        """One vector for each text, in order. `on_embedded` hears of each finished batch."""
        ...


class Corpus(Protocol):
    """The part of the store that answers questions."""

    async def nearest(
        self,
        *,
        site: str,
        embedder_id: str,
        vector: Vector,
        limit: int,
        language: str | None = None,
        lexical: Lexical | None = None,
    ) -> tuple[Excerpt, ...]:
        """The site's chunks nearest to `vector`, highest cosine first, ties by slug and position.

        With `lexical`, ranked by cosine and words together. With `language`, only articles in
        it. Raises IndexMismatch for another embedder's index.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArticle:
    """What is known of an indexed article without reading it."""

    slug: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedArticle:
    """An article as it is to stand in the index, one vector a chunk."""

    article: Article
    fingerprint: str
    chunks: tuple[Chunk, ...]
    term_counts: tuple[Mapping[str, int], ...]  # of each chunk's embedded text
    embedded_hashes: tuple[str, ...]  # sha256 of each chunk's embedded text
    vectors: tuple[Vector, ...]


class Index(Protocol):
    """The part of the store that ingest writes."""

    def exclusive(
        self, *, site: str, on_wait: Callable[[], None]
    ) -> AbstractAsyncContextManager[None]:
        """Holds the site for one ingest; `on_wait` is called once if another one holds it."""
        ...

    async def stored_articles(self, *, site: str, index_id: str) -> tuple[StoredArticle, ...]:
        """What the site's index holds; fingerprints are empty if `index_id` differs."""
        ...

    async def known_vectors(
        self, *, site: str, embedder_id: str, hashes: Iterable[str]
    ) -> Mapping[str, Vector]:
        """Vectors already made of these embedded texts by the same model, pending ones included."""
        ...

    async def keep_pending(
        self, *, site: str, embedder_id: str, vectors: Mapping[str, Vector]
    ) -> None:
        """Keep vectors of an unfinished ingest, so that the next one need not make them again."""
        ...

    async def replace(
        self,
        *,
        site: str,
        index_id: str,
        embedder_id: str,
        articles: Sequence[ReplacedArticle],
        removed: Sequence[str],
    ) -> None:
        """Write and remove articles in one transaction; readers see the old state or the new.

        What was pending for the site is done with afterwards.
        """
        ...


class Model(Protocol):
    """Claude, seen from the stages."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One whole reply. Raises BudgetExceeded before spending, UpstreamError otherwise."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[TextPiece | ModelReply]:
        """Finished text blocks as they come, then the reply. Raises as `complete` does."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """What a question needs from outside. `model` None: quotes mode, nothing can be spent."""

    embedder: Embedder
    corpus: Corpus
    model: Model | None
