"""Only the pinned files are used, and a download that broke goes on where it stopped."""

from __future__ import annotations

import hashlib
from pathlib import Path

import httpcore2
import httpx
import pytest
import respx

from service.errors import ConfigError, ModelFileError
from service.models import ModelDescription, ModelFile, describe, fetch, known_models, locate

DATA = bytes(range(256)) * 40
URL = "https://models.example/model.onnx"
FILE = ModelFile(
    name="model.onnx", size=len(DATA), sha256=hashlib.sha256(DATA).hexdigest(), url=URL
)
MODEL = ModelDescription(
    name="tiny",
    dimensions=4,
    pooling="mean",
    query_prefix="",
    passage_prefix="",
    max_tokens=8,
    chunk_target_tokens=6,
    max_positions=8,
    licence="MIT",
    source="made here",
    files={"model": FILE, "tokenizer": FILE},
)


@pytest.fixture
def hub() -> respx.Route:
    with respx.mock(using="httpcore2") as router:
        yield router.get(URL)


def test_every_known_model_is_fully_described() -> None:
    for model in known_models().values():
        assert set(model.files) == {"model", "tokenizer"}
        assert all(len(f.sha256) == 64 and f.size for f in model.files.values())
        assert model.chunk_target_tokens < model.max_tokens <= model.max_positions


def test_an_unknown_model_is_refused_with_the_known_names() -> None:
    with pytest.raises(ConfigError, match=r"unknown model 'x'; known models: bge-small-en-v1\.5"):
        describe("x")


def test_ids_change_with_anything_that_changes_a_vector() -> None:
    assert describe("minilm-l6-v2-int8").id != describe("bge-small-en-v1.5").id
    assert describe("minilm-l6-v2-int8").id.startswith("minilm-l6-v2-int8@")


def test_a_download_is_verified_and_put_in_place(hub: respx.Route, tmp_path: Path) -> None:
    hub.respond(content=DATA)
    heard: list[int] = []
    fetch(MODEL, tmp_path, on_bytes=lambda name, done, total: heard.append(done))
    assert locate(MODEL, tmp_path)["model"].read_bytes() == DATA
    assert heard[-1] == len(DATA)
    assert fetch(MODEL, tmp_path) == []


def test_a_broken_download_goes_on_where_it_stopped(hub: respx.Route, tmp_path: Path) -> None:
    part = tmp_path / "tiny" / "model.onnx.part"
    part.parent.mkdir()
    part.write_bytes(DATA[:1000])
    hub.respond(206, content=DATA[1000:])
    fetch(MODEL, tmp_path)
    assert hub.calls.last.request.headers["range"] == "bytes=1000-"
    assert locate(MODEL, tmp_path)["model"].read_bytes() == DATA


def test_a_server_that_cannot_resume_starts_over(hub: respx.Route, tmp_path: Path) -> None:
    part = tmp_path / "tiny" / "model.onnx.part"
    part.parent.mkdir()
    part.write_bytes(b"something else")
    hub.respond(200, content=DATA)
    fetch(MODEL, tmp_path)
    assert locate(MODEL, tmp_path)["model"].read_bytes() == DATA


@pytest.mark.parametrize(
    "content", [b"x" * len(DATA), DATA + b"x"], ids=["wrong content", "too long"]
)
def test_a_wrong_file_is_refused_and_deleted(
    hub: respx.Route, tmp_path: Path, content: bytes
) -> None:
    hub.respond(content=content)
    with pytest.raises(ModelFileError):
        fetch(MODEL, tmp_path)
    assert not (tmp_path / "tiny" / "model.onnx").exists()


def test_a_lost_connection_keeps_what_has_arrived(hub: respx.Route, tmp_path: Path) -> None:
    class Half(httpx.SyncByteStream):
        def __iter__(self):
            yield DATA[:5000]
            raise httpcore2.ReadError("reset")

    hub.mock(return_value=httpx.Response(200, stream=Half()))
    with pytest.raises(ModelFileError, match="run the command again to go on"):
        fetch(MODEL, tmp_path)
    assert (tmp_path / "tiny" / "model.onnx.part").stat().st_size == 5000


def test_files_are_taken_from_a_folder(tmp_path: Path) -> None:
    source = tmp_path / "here"
    source.mkdir()
    (source / "model.onnx").write_bytes(DATA)
    fetch(MODEL, tmp_path / "cache", from_dir=source)
    assert locate(MODEL, tmp_path / "cache")["model"].read_bytes() == DATA


def test_a_wrong_file_in_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(DATA[:-1])
    with pytest.raises(ModelFileError, match="has 10,239 bytes, the pinned file has 10,240"):
        fetch(MODEL, tmp_path / "cache", from_dir=tmp_path)


def test_a_file_that_changed_since_is_refused_before_use(tmp_path: Path) -> None:
    source = tmp_path / "here"
    source.mkdir()
    (source / "model.onnx").write_bytes(DATA)
    fetch(MODEL, tmp_path, from_dir=source)
    (tmp_path / "tiny" / "model.onnx").write_bytes(b"y" * len(DATA))
    with pytest.raises(ModelFileError, match="run: python -m service models fetch tiny"):
        locate(MODEL, tmp_path)
