"""The named configurations that are measured side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evals.chunkers import CUTTERS, CutChunker, WithoutHeader
from service.ask.retrieve import RetrieveConfig
from service.errors import ConfigError
from service.ports import Chunker

_NO_CAP = 50  # more than are ever ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalConfig:
    """A way to cut and a way to search."""

    name: str
    chunker: str  # "token", or a name of the chunking experiment
    retrieve: RetrieveConfig


def named_config(name: str, shipped: RetrieveConfig) -> EvalConfig:
    """A configuration by name; `shipped` is what the service runs. Raises ConfigError."""
    vector = replace(shipped, mode="vector")
    hybrid = replace(shipped, mode="hybrid")
    known = {
        "default": ("token", shipped),
        "baseline-v4": ("characters-v4", replace(vector, max_per_article=_NO_CAP)),
        "token-vector": ("token", replace(vector, max_per_article=_NO_CAP)),
        "token-vector-div": ("token", vector),
        "token-hybrid-noid": ("token", replace(hybrid, identifiers=False)),
        "token-hybrid": ("token", hybrid),
    }
    if name not in known:
        raise ConfigError(f"unknown configuration {name!r}; known: {', '.join(known)}")
    chunker, retrieve = known[name]
    return EvalConfig(name=name, chunker=chunker, retrieve=retrieve)


def chunking_names() -> list[str]:
    """Every chunker of the experiment, each with and without its context header."""
    return [name + suffix for name in ("token", *CUTTERS) for suffix in ("", "-noheader")]


def chunker_of(name: str, token: Chunker) -> Chunker:
    """The chunker of the experiment; `token` is the service's own."""
    base = name.removesuffix("-noheader")
    chunker: Chunker = token if base == "token" else CutChunker(name=base, cutter=CUTTERS[base])
    return chunker if base == name else WithoutHeader(inner=chunker)
