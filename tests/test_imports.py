"""The dependency rules: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DRIVERS = {"asyncpg", "pgvector", "anthropic", "fastapi", "starlette", "uvicorn", "onnxruntime"}

# place -> what it may import of service
ALLOWED = {
    "service/types.py": set(),
    "service/errors.py": set(),
    "service/ports.py": {"types"},
    "service/settings.py": {"errors"},
    "service/ask/": {"types", "errors", "ports", "ask", "terms"},
    "service/ingest/": {"types", "errors", "ports", "ingest", "terms"},
    "service/models.py": {"errors"},
    "service/embedder.py": {"types", "errors", "ports", "models"},
    "service/budget.py": {"types", "errors"},
    "service/claude.py": {"types", "errors", "budget"},
    "service/calibration.py": {"errors"},
    "service/store/": {"types", "errors", "ports", "budget", "store"},
}

# library -> the only places that may import it
HOMES = {
    "anthropic": ["service/claude.py"],
    "asyncpg": ["service/store/"],
    "pgvector": ["service/store/"],
    "fastapi": ["service/web/"],
    "starlette": ["service/web/"],
    "uvicorn": ["service/web/"],
    "onnxruntime": ["service/embedder.py"],
    "numpy": ["service/embedder.py", "service/store/vectors.py"],
    "pydantic": ["service/settings.py", "service/web/", "service/ask/grade.py"],
}


def imports(path: Path) -> list[str]:
    tree = ast.parse(path.read_text("utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return found


def files(place: str) -> list[Path]:
    path = ROOT / place
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


@pytest.mark.parametrize("place", ALLOWED)
def test_a_part_imports_only_what_lies_below_it(place: str) -> None:
    for path in files(place):
        for name in imports(path):
            if name.startswith("service."):
                assert name.split(".")[1] in ALLOWED[place], f"{path}: {name}"


@pytest.mark.parametrize("library", HOMES)
def test_a_library_stays_in_its_home(library: str) -> None:
    for path in files("service/"):
        where = path.relative_to(ROOT).as_posix()
        if any(name.split(".")[0] == library for name in imports(path)):
            assert any(where.startswith(home) for home in HOMES[library]), where


@pytest.mark.parametrize("place", ["service/", "evals/"])
def test_nothing_imports_tests_and_the_service_never_imports_evals(place: str) -> None:
    for path in files(place):
        roots = {name.split(".")[0] for name in imports(path)}
        assert "tests" not in roots
        assert place == "evals/" or "evals" not in roots


def test_there_are_no_rooms_without_a_purpose() -> None:
    names = {p.stem for p in files("service/")} | {p.parent.name for p in files("service/")}
    assert not names & {"utils", "core", "common", "helpers", "manager"}
