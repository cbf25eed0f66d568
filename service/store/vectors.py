"""The codec between array("f") and pgvector, kept in one place with numpy."""

from __future__ import annotations

from array import array

import numpy as np
import pgvector

from service.types import Vector


def to_pgvector(vector: Vector) -> pgvector.Vector:
    """array("f") -> what the codec sends."""
    return pgvector.Vector(np.frombuffer(vector, dtype=np.float32))


def from_pgvector(stored: pgvector.Vector) -> Vector:
    """What the codec reads -> array("f")."""
    return array("f", stored.to_list())
