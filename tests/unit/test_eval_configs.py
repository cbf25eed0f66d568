"""Which configurations there are, and what tells each from the next."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from evals.chunkers import CUTTERS, CutChunker
from evals.configs import chunker_of, chunking_names, named_config
from service.ask.retrieve import RetrieveConfig
from service.errors import ConfigError
from service.ingest.chunk import ChunkRules, TokenChunker
from tests.builders import make_article
from tests.fakes import WordTokenizer

NAMES = (
    *("default", "baseline-v4", "token-vector", "token-vector-div"),
    *("token-hybrid-noid", "token-hybrid"),
)
SHIPPED = RetrieveConfig(floor=-1, top_k=5, max_per_article=2, mode="hybrid", chunk_weight=0.3)
TOKEN = TokenChunker(tokenizer=WordTokenizer(), rules=ChunkRules(target_tokens=40, max_tokens=60))


def difference(name: str, other: str) -> dict[str, Any]:
    """The knobs of `name` that `other` sets differently."""
    mine, others = (asdict(named_config(n, SHIPPED).retrieve) for n in (name, other))
    return {knob: value for knob, value in mine.items() if value != others[knob]}


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_keeps_its_name_and_what_it_does_not_set(name: str) -> None:
    config = named_config(name, SHIPPED)
    assert config.name == name
    assert (config.retrieve.top_k, config.retrieve.chunk_weight) == (5, 0.3)
    assert config.chunker == ("characters-v4" if name == "baseline-v4" else "token")


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_the_default_is_what_the_service_runs(mode: Any) -> None:
    shipped = RetrieveConfig(floor=-1, mode=mode)
    assert named_config("default", shipped).retrieve is shipped


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError) as fault:
        named_config("token-hybird", SHIPPED)
    assert str(fault.value) == (f"unknown configuration 'token-hybird'; known: {', '.join(NAMES)}")


def test_each_configuration_differs_from_its_rival_in_one_knob() -> None:
    assert difference("token-vector", "token-vector-div") == {"max_per_article": 50}
    assert difference("token-hybrid", "token-vector-div") == {"mode": "hybrid"}
    assert difference("token-hybrid-noid", "token-hybrid") == {"identifiers": False}
    assert difference("baseline-v4", "token-vector") == {}  # the chunker alone


def test_hybrid_and_vector_do_not_depend_on_the_mode_that_is_shipped() -> None:
    vector = RetrieveConfig(floor=-1, mode="vector")
    assert named_config("token-hybrid", vector).retrieve.mode == "hybrid"
    assert named_config("token-vector", SHIPPED).retrieve.mode == "vector"


def test_the_chunking_experiment_has_every_chunker_with_and_without_header() -> None:
    names = chunking_names()
    assert names[:2] == ["token", "token-noheader"]
    assert sorted(names) == sorted(
        [*(f"{n}{s}" for n in CUTTERS for s in ("", "-noheader")), "token", "token-noheader"]
    )


@pytest.mark.parametrize("name", chunking_names())
def test_every_name_of_the_experiment_is_a_chunker_that_cuts(name: str) -> None:
    chunker = chunker_of(name, TOKEN)
    article = make_article(("The dough", ["Knead it."]), title="Baking")
    [chunk] = chunker.chunks(article, site="s")
    assert chunk.text == "## The dough\n\nKnead it."
    has_header = chunker.embedded_text(chunk, "Baking").startswith("Baking")
    assert has_header == (not name.endswith("-noheader"))


def test_the_services_own_chunker_is_used_as_it_is() -> None:
    assert chunker_of("token", TOKEN) is TOKEN
    assert isinstance(chunker_of("section-1500", TOKEN), CutChunker)


@pytest.mark.parametrize("name", ["token", "fixed-500-50"])
def test_without_header_cuts_alike_under_an_id_of_its_own_and_embeds_the_text_alone(
    name: str,
) -> None:
    article = make_article(("", ["Bread needs time."]), ("The dough", ["Knead it. " * 40]))
    chunker, bare = chunker_of(name, TOKEN), chunker_of(f"{name}-noheader", TOKEN)
    chunks = bare.chunks(article, site="s")
    assert chunks == chunker.chunks(article, site="s")
    assert bare.id == f"{chunker.id}-noheader"
    assert [bare.embedded_text(c, "Baking") for c in chunks] == [c.text for c in chunks]
