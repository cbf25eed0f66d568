"""The embedders of the evals: hashing words, and remembering vectors from run to run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.embedders import CachedEmbedder, HashEmbedder
from service.types import Vector


class Counting:
    """Stands in for the model: a vector of the text's length, and a note of every text."""

    def __init__(self, *, dimensions: int = 3, id: str = "counting@1") -> None:
        self.id = id
        self.description = SimpleNamespace(dimensions=dimensions)
        self.passages: list[str] = []
        self.queries: list[str] = []

    def vector(self, text: str) -> Vector:
        return array("f", [float(len(text))] * self.description.dimensions)

    async def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        return self.vector(text)

    async def embed_passages(
        self, texts: Sequence[str], *, on_embedded: Callable[[int], None] = lambda n: None
    ) -> list[Vector]:
        self.passages += texts
        on_embedded(len(texts))
        return [self.vector(text) for text in texts]


TEXTS = ["bread", "a bike", "the oven"]


def cosine(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@given(text=st.text(max_size=200))
async def test_hashed_vectors_have_384_places_and_unit_length(text: str) -> None:
    vector = await HashEmbedder().embed_query(text)
    assert (len(vector), vector.typecode) == (384, "f")
    assert math.isclose(cosine(vector, vector), 1, abs_tol=1e-5)


async def test_hashed_vectors_are_the_same_for_questions_and_passages_and_in_every_run() -> None:
    passages = await HashEmbedder().embed_passages(TEXTS)
    assert passages == [await HashEmbedder().embed_query(text) for text in TEXTS]
    [only] = await HashEmbedder().embed_passages(["bread"])
    assert [i for i, place in enumerate(only) if place] == [214]  # of its sha256


async def test_hashed_vectors_are_near_where_words_are_shared_whatever_their_case() -> None:
    embed = HashEmbedder().embed_query
    question = await embed("knead the DOUGH?")
    assert await embed("Knead, the dough") == question
    assert cosine(question, await embed("knead the bread")) > 0.6
    assert cosine(question, await embed("squeaking brakes")) == 0


async def test_hashing_tells_of_its_progress() -> None:
    told: list[int] = []
    await HashEmbedder().embed_passages(TEXTS, on_embedded=told.append)
    assert told == [3]


async def test_a_second_run_embeds_nothing_and_gives_the_same_vectors(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    vectors = await CachedEmbedder(first, tmp_path).embed_passages(TEXTS)
    again = await CachedEmbedder(second, tmp_path).embed_passages(TEXTS)
    assert first.passages == TEXTS
    assert second.passages == []
    assert again == vectors == [first.vector(text) for text in TEXTS]


async def test_only_what_is_new_is_embedded_and_order_is_kept(tmp_path: Path) -> None:
    await CachedEmbedder(Counting(), tmp_path).embed_passages(["bread"])
    inner, told = Counting(), list[int]()
    found = await CachedEmbedder(inner, tmp_path).embed_passages(
        ["a bike", "bread", "a bike"], on_embedded=told.append
    )
    assert inner.passages == ["a bike"]
    assert found == [inner.vector(text) for text in ("a bike", "bread", "a bike")]
    assert sum(told) == 3


async def test_questions_are_embedded_anew_each_time(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    assert await cached.embed_query("bread") == await cached.embed_query("bread")
    assert inner.queries == ["bread", "bread"]
    assert cached.id == inner.id


@pytest.mark.parametrize("other", [{"dimensions": 4}, {"id": "other@1"}])
async def test_vectors_of_another_model_or_dimension_are_not_taken(
    tmp_path: Path, other: dict[str, object]
) -> None:
    await CachedEmbedder(Counting(), tmp_path).embed_passages(TEXTS)
    inner = Counting(**other)
    await CachedEmbedder(inner, tmp_path).embed_passages(TEXTS)
    assert inner.passages == TEXTS


@pytest.mark.parametrize("lost", [1, 12, 43])
async def test_an_incomplete_last_record_is_ignored_and_made_good(
    tmp_path: Path, lost: int
) -> None:
    await CachedEmbedder(Counting(), tmp_path).embed_passages(TEXTS)
    path = tmp_path / "vectors-counting@1-3.bin"
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost])

    inner = Counting()
    await CachedEmbedder(inner, tmp_path).embed_passages(TEXTS)
    assert inner.passages == TEXTS[-1:]
    assert path.read_bytes() == whole
