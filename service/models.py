"""The files of the embedding models: described in models.toml, fetched once, verified always.

A file comes from an installed package, from the cache, or over HTTPS by `fetch`. Its size and
sha256 are checked each time before it is used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import httpx2

from service.errors import ConfigError, ModelFileError

_TABLE = Path(__file__).with_name("models.toml")
_CONNECT_TIMEOUT_S = 10.0  # chosen, not measured
_READ_TIMEOUT_S = 60.0  # chosen, not measured

OnBytes = Callable[[str, int, int], None]  # file name, bytes so far, bytes in all


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One pinned file: in an installed package, or at an address."""

    name: str
    size: int  # bytes
    sha256: str
    package: str | None = None
    path: str | None = None  # inside the package
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDescription:
    """What models.toml says of one embedder."""

    name: str
    dimensions: int
    pooling: Literal["mean", "cls"]
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    chunk_target_tokens: int
    max_positions: int
    licence: str
    source: str
    files: Mapping[str, ModelFile]  # "model" and "tokenizer"

    @property
    def id(self) -> str:
        """Name, and a hash of all that decides a vector: indexes and calibrations belong to it."""
        parts = [self.pooling, self.query_prefix, self.passage_prefix]
        parts += [self.files[role].sha256 for role in ("model", "tokenizer")]
        return f"{self.name}@{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"


@cache
def known_models() -> Mapping[str, ModelDescription]:
    """Every model of models.toml by name."""
    table = tomllib.loads(_TABLE.read_text("utf-8"))
    return {name: _described(name, entry) for name, entry in table.items()}


def _described(name: str, entry: dict[str, Any]) -> ModelDescription:
    files = {role: ModelFile(**fields) for role, fields in entry.pop("files").items()}
    return ModelDescription(name=name, files=files, **entry)


def describe(name: str) -> ModelDescription:
    """The description of `name`. Raises ConfigError that lists the known names."""
    models = known_models()
    if name not in models:
        raise ConfigError(f"unknown model {name!r}; known models: {', '.join(sorted(models))}")
    return models[name]


def model_dir(description: ModelDescription, models_dir: Path) -> Path:
    """Where the fetched files of a model lie."""
    return models_dir / description.name


def locate(description: ModelDescription, models_dir: Path) -> dict[str, Path]:
    """Paths of a model's verified files by role. Raises ModelFileError."""
    return {role: _located(description, f, models_dir) for role, f in description.files.items()}


def _located(description: ModelDescription, file: ModelFile, models_dir: Path) -> Path:
    path = _packaged(file) if file.package else model_dir(description, models_dir) / file.name
    mend = (
        f"reinstall the package {file.package}"
        if file.package
        else f"run: python -m service models fetch {description.name}"
    )
    if not path.is_file():
        raise ModelFileError(f"{path}: no such model file; {mend}")
    problem = mismatch(path, file)
    if problem:
        raise ModelFileError(f"{path}: {problem}; {mend}")
    return path


def _packaged(file: ModelFile) -> Path:
    spec = importlib.util.find_spec(file.package or "")
    if spec is None or spec.origin is None:
        raise ModelFileError(f"the package {file.package} with {file.name} is not installed")
    return Path(spec.origin).parent / (file.path or file.name)


def mismatch(path: Path, file: ModelFile) -> str | None:
    """What is wrong with the file at `path`, or None if it is the pinned one."""
    size = path.stat().st_size
    if size != file.size:
        return f"has {size:,} bytes, the pinned file has {file.size:,}"
    digest = _sha256(path)
    if digest != file.sha256:
        return f"has sha256 {digest[:16]}…, pinned is {file.sha256[:16]}…"
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fetch(
    description: ModelDescription,
    models_dir: Path,
    *,
    from_dir: Path | None = None,
    on_bytes: OnBytes = lambda name, done, total: None,
) -> list[Path]:
    """Bring every file that is not installed with a package into the cache, verified.

    A download that broke off goes on where it stopped. A file of the wrong size or checksum is
    refused and never put in place. Raises ModelFileError.
    """
    folder = model_dir(description, models_dir)
    folder.mkdir(parents=True, exist_ok=True)
    fetched = []
    for file in description.files.values():
        target = folder / file.name
        if file.package or (target.is_file() and mismatch(target, file) is None):
            continue
        part = target.with_suffix(target.suffix + ".part")
        if from_dir is None:
            _download(file, part, on_bytes)
        else:
            _copy(from_dir, file, part)
        _put_in_place(part, file, target)
        fetched.append(target)
    return fetched


def _copy(from_dir: Path, file: ModelFile, part: Path) -> None:
    source = from_dir / file.name
    if not source.is_file():
        raise ModelFileError(f"{source}: no such file; --from needs a folder holding {file.name}")
    if problem := mismatch(source, file):
        raise ModelFileError(f"{source}: {problem}; refused")
    shutil.copyfile(source, part)


def _download(file: ModelFile, part: Path, on_bytes: OnBytes) -> None:
    have = part.stat().st_size if part.is_file() else 0
    if have > file.size:
        part.unlink()
        have = 0
    if have == file.size:
        return
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    timeout = httpx2.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
    try:
        with httpx2.stream(
            "GET", file.url or "", headers=headers, timeout=timeout, follow_redirects=True
        ) as response:
            response.raise_for_status()
            resumed = response.status_code == httpx2.codes.PARTIAL_CONTENT
            done = have if resumed else 0
            with part.open("ab" if resumed else "wb") as stream:
                for block in response.iter_raw():
                    done += len(block)
                    if done > file.size:
                        break  # refused below, whatever else would come
                    stream.write(block)
                    on_bytes(file.name, done, file.size)
    except httpx2.HTTPError as fault:
        raise ModelFileError(
            f"{file.url}: {fault or type(fault).__name__}; what has arrived is kept, run the "
            "command again to go on, or take files you have with --from DIR"
        ) from fault


def _put_in_place(part: Path, file: ModelFile, target: Path) -> None:
    problem = mismatch(part, file)
    if problem and part.stat().st_size < file.size:
        raise ModelFileError(f"{part}: {problem}: incomplete; run the command again to go on")
    if problem:
        part.unlink()
        raise ModelFileError(f"{file.name} {problem}; refused and deleted")
    part.replace(target)
