"""Embedders for evals: one that cuts what is too long and counts it, one that only hashes."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

from service.embedder import OnnxEmbedder
from service.ports import Embedder
from service.types import Vector

_DIGEST_BYTES = 32
_DIMENSIONS = 384  # as the default model, so that the tables are the same


class HashEmbedder:
    """Words hashed to places. Measures wiring, not meaning: no threshold belongs on its figures."""

    id = "hash-384"

    async def embed_query(self, text: str) -> Vector:
        """A unit vector that shares places with texts of the same words."""
        return _hashed(text)

    async def embed_passages(
        self, texts: Sequence[str], *, on_embedded: Callable[[int], None] = lambda n: None
    ) -> list[Vector]:
        """One vector for each text, in order."""
        on_embedded(len(texts))
        return [_hashed(text) for text in texts]


def _hashed(text: str) -> Vector:
    places = [0.0] * _DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()) or ["\0"]:
        digest = hashlib.sha256(word.encode()).digest()
        places[int.from_bytes(digest[:2], "big") % _DIMENSIONS] += 1.0
    length = sum(p * p for p in places) ** 0.5
    return array("f", [p / length for p in places])


class CuttingEmbedder:
    """For chunkers that don't know the model's limit: longer text is cut, and counted.

    The service itself refuses such text; this is what a service that doesn't would lose.
    """

    def __init__(self, inner: Embedder, model: OnnxEmbedder) -> None:
        self._inner = inner
        self._model = model
        self.cut = 0  # texts over the limit so far

    @property
    def id(self) -> str:
        """The inner one's."""
        return self._inner.id

    async def embed_query(self, text: str) -> Vector:
        """As the inner one does."""
        return await self._inner.embed_query(text)

    async def embed_passages(
        self, texts: Sequence[str], *, on_embedded: Callable[[int], None] = lambda n: None
    ) -> list[Vector]:
        """One vector for each text, in order, of as much of it as the model takes."""
        fitting = [self._fitting(text) for text in texts]
        return await self._inner.embed_passages(fitting, on_embedded=on_embedded)

    def _fitting(self, text: str) -> str:
        tokenizer, limit = self._model.tokenizer, self._model.description.max_tokens
        if tokenizer.count(text) <= limit:
            return text
        self.cut += 1
        room = limit - tokenizer.count("")
        while tokenizer.count(text) > limit:
            text = text[: tokenizer.spans(text)[room - 1][1]]
            room -= 1
        return text


class CachedEmbedder:
    """Keeps every vector by the hash of its text, in one file for each model and dimension.

    A record is the text's sha256 and the vector's float32s; an incomplete last one is ignored,
    and the next write takes its place.
    """

    def __init__(self, inner: OnnxEmbedder, folder: Path) -> None:
        self._inner = inner
        dimensions = inner.description.dimensions
        self._record_bytes = _DIGEST_BYTES + 4 * dimensions
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"vectors-{inner.id}-{dimensions}.bin"
        self._known = _read_records(self._path, self._record_bytes)

    @property
    def id(self) -> str:
        """The model's."""
        return self._inner.id

    async def embed_query(self, text: str) -> Vector:
        """Always embedded anew: its time is part of what is measured."""
        return await self._inner.embed_query(text)

    async def embed_passages(
        self, texts: Sequence[str], *, on_embedded: Callable[[int], None] = lambda n: None
    ) -> list[Vector]:
        """One vector for each text, in order."""
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        new = {d: t for d, t in zip(digests, texts, strict=True) if d not in self._known}
        on_embedded(len(texts) - len(new))
        made = await self._inner.embed_passages(list(new.values()), on_embedded=on_embedded)
        fresh = dict(zip(new, made, strict=True))
        self._known |= fresh
        with self._path.open("ab") as stream:
            stream.truncate(stream.tell() // self._record_bytes * self._record_bytes)
            stream.write(b"".join(digest + vector.tobytes() for digest, vector in fresh.items()))
        return [self._known[digest] for digest in digests]


def _read_records(path: Path, size: int) -> dict[bytes, Vector]:
    data = path.read_bytes() if path.is_file() else b""
    known: dict[bytes, Vector] = {}
    for start in range(0, len(data) - size + 1, size):
        vector = array("f")
        vector.frombytes(data[start + _DIGEST_BYTES : start + size])
        known[data[start : start + _DIGEST_BYTES]] = vector
    return known
