"""ONNX: text in, unit vectors out. The only place, with the codec in `store`, that sees numpy.

Text is never cut: a passage over the model's limit is an error, a long question is embedded in
windows whose vectors are averaged.
"""

from __future__ import annotations

import asyncio
import math
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from tokenizers import Tokenizer as TokenizerFile

from service.errors import ModelFileError
from service.models import ModelDescription, locate
from service.ports import Span
from service.types import Vector

Matrix = npt.NDArray[np.float32]

BATCH = 8  # texts of up to 256 tokens: fastest on 2 cores in evals/speed.py, and small in memory
_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def available_cores() -> int:
    """Cores this process may really use: affinity and the container's CPU quota, at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else (os.cpu_count() or 1)
    if _CGROUP_QUOTA.is_file():
        quota, period = _CGROUP_QUOTA.read_text().split()
        if quota != "max":
            cores = min(cores, math.ceil(int(quota) / int(period)))
    return max(1, cores)


def mean_pooling(hidden: Matrix, mask: npt.NDArray[np.int64]) -> Matrix:
    """Mean over the real tokens: float32[n, s, d], int64[n, s] -> float32[n, d]."""
    weights = mask[:, :, None].astype(np.float32)
    return np.asarray((hidden * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)


def unit_rows(matrix: Matrix) -> Matrix:
    """Rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def to_vector(row: Matrix) -> Vector:
    """float32[d] -> array("f")."""
    vector = array("f")
    vector.frombytes(np.ascontiguousarray(row, dtype=np.float32).tobytes())
    return vector


def batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Indices grouped so that texts of like length run together, longest first.

    A batch is padded to its longest text, so mixing lengths multiplies the work.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for start in range(0, len(order), size):
        yield order[start : start + size]


class OnnxTokenizer:
    """The model's own tokenizer with its truncation and padding switched off."""

    def __init__(self, path: Path, prefix: str = "") -> None:
        try:
            self._file = TokenizerFile.from_file(str(path))
        except Exception as fault:  # the library raises bare Exception
            raise ModelFileError(f"{path}: not a tokenizer file: {fault}") from fault
        self._file.no_truncation()
        self._file.no_padding()
        self._prefix = prefix

    def spans(self, text: str) -> Sequence[Span]:
        """Character span of every token of `text`, special tokens left out."""
        return list(self._file.encode(text, add_special_tokens=False).offsets)

    def count(self, text: str) -> int:
        """Tokens of `text` as it would be embedded: special tokens and prefix included."""
        return len(self._file.encode(self._prefix + text).ids)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids, special tokens included, of each text as given."""
        return [encoding.ids for encoding in self._file.encode_batch(list(texts))]


class OnnxEmbedder:
    """One model of models.toml, ready to embed. Safe to use from several tasks at once."""

    def __init__(self, description: ModelDescription, models_dir: Path) -> None:
        """Verify the files and load them. Raises ModelFileError."""
        paths = locate(description, models_dir)
        self.description = description
        self.tokenizer = OnnxTokenizer(paths["tokenizer"], description.passage_prefix)
        self._session = _open_session(paths["model"])
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._shrink = ort.RunOptions()
        # gives the arena's memory back: 0.3 instead of 1.4 GB after an ingest
        self._shrink.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    @property
    def id(self) -> str:
        """Name and checksum of the model."""
        return self.description.id

    async def embed_query(self, text: str) -> Vector:
        """A question's vector, float32[dimensions] of unit length."""
        return await asyncio.to_thread(self._embed_query, text)

    async def embed_passages(
        self, texts: Sequence[str], *, on_embedded: Callable[[int], None] = lambda n: None
    ) -> list[Vector]:
        """One vector for each text, in order. Raises ModelFileError for a text over the limit."""
        ids = await asyncio.to_thread(
            self.tokenizer.ids, [self.description.passage_prefix + text for text in texts]
        )
        lengths = [len(tokens) for tokens in ids]
        if lengths and max(lengths) > self.description.max_tokens:
            raise ModelFileError(
                f"a text of {max(lengths)} tokens is over the {self.description.max_tokens} of "
                f"{self.description.name}; nothing is cut silently"
            )
        vectors: list[Vector] = [array("f")] * len(texts)
        grouped = list(batches(lengths, BATCH))
        for batch in grouped:
            # only once, at the end: each time it costs a seventh of the batch
            options = self._shrink if batch is grouped[-1] else None
            rows = await asyncio.to_thread(self.forward, [ids[i] for i in batch], options)
            for index, row in zip(batch, rows, strict=True):
                vectors[index] = to_vector(row)
            on_embedded(len(batch))
        return vectors

    def _embed_query(self, text: str) -> Vector:
        [ids] = self.tokenizer.ids([self.description.query_prefix + text])
        size = self.description.max_positions
        rows = [self.forward([ids[i : i + size]])[0] for i in range(0, len(ids), size)]
        return to_vector(unit_rows(np.mean(rows, axis=0, keepdims=True))[0])

    def forward(self, ids: Sequence[list[int]], options: ort.RunOptions | None = None) -> Matrix:
        """Token ids of n texts -> float32[n, dimensions], rows of unit length."""
        longest = max(len(tokens) for tokens in ids)
        tokens = np.zeros((len(ids), longest), np.int64)
        mask = np.zeros_like(tokens)
        for row, sequence in enumerate(ids):
            tokens[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(tokens)
        hidden = self._session.run(None, feed, options)[0]
        pooled = hidden[:, 0] if self.description.pooling == "cls" else mean_pooling(hidden, mask)
        return unit_rows(pooled)


def _open_session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = available_cores()
    options.inter_op_num_threads = 1
    # folds the int8 weights into float32 once at load: the same vectors, faster
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
