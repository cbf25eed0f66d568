"""The real model: canonical vectors, and nothing cut silently."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from service.embedder import OnnxEmbedder, batches
from service.errors import ModelFileError
from service.models import describe
from service.types import Vector

# First five numbers of each vector. The float32 model's are published with sentence-transformers;
# int8 weights move a number by up to 0.007. Ours guard against a change of pooling or prefix.
FLOAT32 = {"hello world": [-0.0345, 0.0310, 0.0067, 0.0261, -0.0394]}
OURS = {
    "Hello, world.": [-0.0488, 0.0344, -0.0077, 0.0275, -0.0414],
    "How is the cosine floor chosen?": [0.01, 0.0402, -0.0676, -0.0172, -0.0452],
}
CANONICAL = [
    *((text, row, 0.01) for text, row in FLOAT32.items()),
    *((text, row, 0.001) for text, row in OURS.items()),
]


def length(vector: Vector) -> float:
    return float(np.linalg.norm(vector))


def cosine(a: Vector, b: Vector) -> float:
    return float(np.dot(a, b))


@pytest.mark.parametrize(("text", "row", "tolerance"), CANONICAL)
async def test_canonical_vectors(
    embedder: OnnxEmbedder, text: str, row: list[float], tolerance: float
) -> None:
    vector = await embedder.embed_query(text)
    assert list(vector[:5]) == pytest.approx(row, abs=tolerance)
    assert len(vector) == 384


@pytest.mark.parametrize("text", ["", "a", "What is a cosine floor?", "😀", "word " * 400])
async def test_every_vector_has_unit_length_and_no_nan(embedder: OnnxEmbedder, text: str) -> None:
    vector = await embedder.embed_query(text)
    assert length(vector) == pytest.approx(1, abs=1e-5)


async def test_questions_and_passages_share_a_space(embedder: OnnxEmbedder) -> None:
    question = await embedder.embed_query("how do I bake bread")
    bread, bike = await embedder.embed_passages(["Baking a loaf of bread.", "Fixing a tyre."])
    assert cosine(question, bread) > cosine(question, bike) + 0.3


async def test_a_vector_does_not_depend_on_its_batch(embedder: OnnxEmbedder) -> None:
    texts = ["short", "a somewhat longer text about nothing " * 8, "mid sized text here"] * 5
    together = await embedder.embed_passages(texts)
    alone = [(await embedder.embed_passages([text]))[0] for text in texts]
    for a, b in zip(together, alone, strict=True):
        assert cosine(a, b) == pytest.approx(1, abs=1e-5)


async def test_a_passage_over_the_limit_is_an_error_and_not_a_cut(embedder: OnnxEmbedder) -> None:
    with pytest.raises(ModelFileError, match="over the 256"):
        await embedder.embed_passages(["word " * 300])


async def test_a_question_over_the_networks_positions_is_embedded_whole(
    embedder: OnnxEmbedder,
) -> None:
    start = await embedder.embed_query("bread " * 600)
    other_end = await embedder.embed_query("bread " * 600 + "tyre " * 400)
    assert cosine(start, other_end) < 0.999


async def test_progress_adds_up_to_the_number_of_texts(embedder: OnnxEmbedder) -> None:
    done: list[int] = []
    await embedder.embed_passages(["a"] * 19, on_embedded=done.append)
    assert sum(done) == 19


async def test_the_event_loop_stays_free_while_a_question_is_embedded(
    embedder: OnnxEmbedder,
) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await embedder.embed_passages(["some words to embed " * 30] * 16)
    ticking.cancel()
    assert ticks > 10


def test_the_models_own_tokenizer_counts_without_its_own_truncation(
    embedder: OnnxEmbedder,
) -> None:
    assert embedder.tokenizer.count("word " * 1000) == 1002
    spans = embedder.tokenizer.spans("Él usó 😀 uv")
    assert spans == [(0, 2), (3, 5), (5, 6), (7, 8), (9, 11)]


def test_batches_hold_texts_of_like_length_longest_first() -> None:
    assert list(batches([1, 9, 2, 8], 2)) == [[1, 3], [2, 0]]


def test_a_corrupt_model_file_is_refused(tmp_path: Path) -> None:
    description = describe("bge-small-en-v1.5")
    folder = tmp_path / description.name
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"not the model")
    with pytest.raises(ModelFileError, match="has 13 bytes, the pinned file has 133,093,490"):
        OnnxEmbedder(description, tmp_path)
