"""The only stand-ins for our own ports. `tests/integration/test_contracts.py` holds them to the
same behaviour as the real things. The fake of Claude's API is a server: `tests/fake_claude.py`."""

from __future__ import annotations

import asyncio
import hashlib
import re
from array import array
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal

from service.budget import Tokens
from service.errors import BudgetExceeded
from service.ports import ReplacedArticle, Span, StoredArticle
from service.types import (
    Excerpt,
    Lexical,
    ModelReply,
    ModelRequest,
    SpanCited,
    TextPiece,
    Usage,
    Vector,
)

DIMENSIONS = 64


class WordTokenizer:
    """One token a word or mark, two special ones around a text, like WordPiece in the large."""

    def spans(self, text: str) -> Sequence[Span]:
        return [m.span() for m in re.finditer(r"\w+|[^\w\s]", text)]

    def count(self, text: str) -> int:
        return len(self.spans(text)) + 2


class HashEmbedder:
    """Deterministic unit vectors: each word adds to one of 64 places, so shared words are near."""

    id = "hash-64@test"

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed_query(self, text: str) -> Vector:
        return _hashed(text)

    async def embed_passages(
        self, texts: Sequence[str], *, on_embedded: Callable[[int], None] = lambda n: None
    ) -> list[Vector]:
        self.embedded += texts
        on_embedded(len(texts))
        return [_hashed(text) for text in texts]


def _hashed(text: str) -> Vector:
    places = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or ["\0"]:
        places[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    length = sum(p * p for p in places) ** 0.5
    return array("f", [p / length for p in places])


class FixedCorpus:
    """Answers every search with the same excerpts, nearest first."""

    def __init__(self, excerpts: Iterable[Excerpt] = ()) -> None:
        self._excerpts = sorted(excerpts, key=lambda e: (-e.cosine, e.chunk.slug, e.chunk.position))

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
        found = [e for e in self._excerpts if language in (None, e.language)]
        return tuple(found[:limit])


class MemoryIndex:
    """Holds one site's articles by slug, to test what an ingest decides."""

    def __init__(self) -> None:
        self.articles: dict[str, ReplacedArticle] = {}
        self.pending: dict[tuple[str, str], Vector] = {}
        self.index_id = ""
        self.embedder_id = ""
        self._busy = asyncio.Lock()

    @asynccontextmanager
    async def exclusive(self, *, site: str, on_wait: Callable[[], None]) -> AsyncIterator[None]:
        if self._busy.locked():
            on_wait()
        async with self._busy:
            yield

    async def keep_pending(
        self, *, site: str, embedder_id: str, vectors: Mapping[str, Vector]
    ) -> None:
        self.pending |= {(embedder_id, digest): v for digest, v in vectors.items()}

    async def stored_articles(self, *, site: str, index_id: str) -> tuple[StoredArticle, ...]:
        same = index_id == self.index_id
        return tuple(
            StoredArticle(slug=slug, fingerprint=a.fingerprint if same else "")
            for slug, a in sorted(self.articles.items())
        )

    async def known_vectors(
        self, *, site: str, embedder_id: str, hashes: Iterable[str]
    ) -> Mapping[str, Vector]:
        wanted = set(hashes)
        live = {
            (self.embedder_id, digest): vector
            for a in self.articles.values()
            for digest, vector in zip(a.embedded_hashes, a.vectors, strict=True)
        }
        known = {**live, **self.pending}
        return {d: v for (model, d), v in known.items() if model == embedder_id and d in wanted}

    async def replace(
        self,
        *,
        site: str,
        index_id: str,
        embedder_id: str,
        articles: Sequence[ReplacedArticle],
        removed: Sequence[str],
    ) -> None:
        for slug in removed:
            self.articles.pop(slug, None)
        self.articles.update({a.article.slug: a for a in articles})
        self.index_id = index_id
        self.embedder_id = embedder_id
        self.pending.clear()


class ScriptedModel:
    """Plays its script: a reply, a list of stream events, or a fault for each call, in order."""

    def __init__(self, *script: ModelReply | list[TextPiece | ModelReply] | Exception) -> None:
        self._script = list(script)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        step = self._next(request)
        assert isinstance(step, ModelReply), f"the script has a stream for {request.purpose}"
        return step

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextPiece | ModelReply]:
        step = self._next(request)
        assert isinstance(step, list), f"the script has no stream for {request.purpose}"
        for event in step:
            if isinstance(event, Exception):
                raise event
            yield event

    def _next(self, request: ModelRequest) -> ModelReply | list[TextPiece | ModelReply]:
        self.requests.append(request)
        assert self._script, f"the script has run out at {request.purpose}"
        step = self._script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


class MemoryLedger:
    """One cap, kept in memory."""

    def __init__(self, cap_usd: str = "1") -> None:
        self._cap = Decimal(cap_usd)
        self.reserved: dict[int, Decimal] = {}
        self.settled: dict[int, Decimal] = {}

    @property
    def spent(self) -> Decimal:
        open_ones = [usd for entry, usd in self.reserved.items() if entry not in self.settled]
        return sum([*open_ones, *self.settled.values()], Decimal(0))

    async def reserve(self, request: ModelRequest, usd: Decimal) -> int:
        if self.spent + usd > self._cap:
            raise BudgetExceeded(f"{self.spent} of {self._cap} USD are spent or reserved")
        entry = len(self.reserved) + 1
        self.reserved[entry] = usd
        return entry

    async def settle(self, entry: int, usd: Decimal, tokens: Tokens) -> None:
        self.settled.setdefault(entry, usd)


def reply(text: str, *, finish: str = "end_turn", cost_usd: float = 0.001) -> ModelReply:
    """A finished call."""
    usage = Usage(model="scripted", input_tokens=100, output_tokens=20, cost_usd=cost_usd)
    return ModelReply(text=text, finish=finish, usage=usage)


def written(*pieces: TextPiece, finish: str = "end_turn") -> list[TextPiece | ModelReply]:
    """A streamed answer of these pieces."""
    return [*pieces, reply("".join(p.text for p in pieces), finish=finish)]


def piece(text: str, *cited: SpanCited) -> TextPiece:
    """A text block with its citations."""
    return TextPiece(text=text, cited=cited)
