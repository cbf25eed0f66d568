"""Two linear heads that score how much a question reads like orders to a model.

One takes the question's embedding and belongs to the embedder it was fitted with; the other takes
hashed character n-grams and words of the folded text and belongs to none. scripts/fit_guard.py
fits both with the very features of this module.
"""

from __future__ import annotations

import base64
import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from service.types import Vector

BUCKETS = 1 << 15  # 32 KiB of weights; twice as many changed no figure out of fold
FEATURES_ID = "grams-1"  # to be raised whenever the same text would give other buckets
_SIZES = (3, 4, 5)
_MAX_UNITS = 8  # whole question and at most seven sentences; chosen for time
_MIN_UNIT_CHARS = 12  # shorter is no order; chosen, not measured
_SENTENCE_END = re.compile(r"(?<=[.!?;:\n。！？])\s+|[\[\]{}<>|\"]+\s*")
_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Least score that makes a question strict, and that refuses it."""

    strict: float
    refuse: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The weights and where they come from."""

    gram_weights: array[float]  # BUCKETS of them
    gram_bias: float
    grams: Thresholds  # of the n-gram head, where there is no embedding
    embedder_id: str
    vector_weights: array[float]
    vector_bias: float
    both: Thresholds  # of the sum of the heads
    pattern_weight: float  # what a pattern that fits adds to the score
    provenance: Mapping[str, Any]


def units_of(text: str) -> list[str]:
    """The text and, where it has several, its sentences: what is scored, the worst counting."""
    parts = [p.strip() for p in _SENTENCE_END.split(text)]
    parts = [p for p in parts if len(p) >= _MIN_UNIT_CHARS and p != text]
    return [text, *parts[: _MAX_UNITS - 1]]


def buckets_of(folded: str) -> list[int]:
    """A bucket for every character n-gram, word and pair of words."""
    data = f" {folded} ".encode("utf-32-le")
    grams = [crc32(data[i : i + 4 * n]) for n in _SIZES for i in range(0, len(data) - 4 * n + 1, 4)]
    words = _WORDS.findall(folded)
    pairs = (f"{a} {b}" for a, b in zip(["^", *words], [*words, "$"], strict=True))
    grams += [crc32(w.encode()) for w in words]
    grams += [crc32(p.encode()) for p in pairs]
    return [g & (BUCKETS - 1) for g in grams]


def gram_score(folded: str, heads: Heads) -> float:
    """How much one unit reads like an order by its letters and words; 0 is undecided."""
    buckets = set(buckets_of(folded))
    weights = heads.gram_weights
    total = sum([weights[b] for b in buckets])
    return total / math.sqrt(max(1, len(buckets))) + heads.gram_bias


def vector_score(vector: Vector, heads: Heads) -> float:
    """The same by its meaning."""
    pairs = zip(vector, heads.vector_weights, strict=True)
    return sum([x * w for x, w in pairs]) + heads.vector_bias


def joint_scores(
    grams: Sequence[float], vectors: Sequence[Vector], heads: Heads
) -> Iterator[float]:
    """The sum of both heads for every unit that has a vector."""
    for gram, vector in zip(grams, vectors, strict=False):
        yield gram + vector_score(vector, heads)


def heads_of(raw: Mapping[str, Any]) -> Heads:
    """Heads from the weight file's content. Raises ValueError, KeyError for another layout."""
    if raw["features"] != FEATURES_ID:
        raise ValueError(f"made for features {raw['features']}, this is {FEATURES_ID}")
    return Heads(
        gram_weights=_unpacked(raw["grams"]),
        gram_bias=raw["grams"]["bias"],
        grams=Thresholds(**raw["grams"]["thresholds"]),
        embedder_id=raw["embedder"],
        vector_weights=_unpacked(raw["vector"]),
        vector_bias=raw["vector"]["bias"],
        both=Thresholds(**raw["both"]["thresholds"]),
        pattern_weight=float(raw["pattern_weight"]),
        provenance=raw["provenance"],
    )


def _unpacked(raw: Mapping[str, Any]) -> array[float]:
    """Signed bytes in base64, times the scale."""
    scale = float(raw["scale"])
    return array("f", [scale * q for q in array("b", base64.b64decode(raw["int8"]))])
