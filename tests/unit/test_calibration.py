"""A floor belongs to one embedder and chunker, and is doubted on other articles."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from service.calibration import Calibration, articles_digest, drift, floor_for
from service.errors import ConfigError

ARTICLES = [("a", "Text."), ("b", "More.")]


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    made = Calibration(
        index_id="m+c",
        floor=0.25,
        dataset_sha256="d",
        answerable=40,
        no_answer=8,
        date="2026-11-30",
        articles_sha256=articles_digest(ARTICLES),
    )
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps([asdict(made)]), "utf-8")
    return path


def test_the_floor_of_another_embedder_or_chunker_is_refused(calibration: Path) -> None:
    assert floor_for("m+c", calibration) == 0.25
    with pytest.raises(ConfigError, match="no cosine floor is calibrated for n\\+c"):
        floor_for("n+c", calibration)


def test_other_articles_are_told_apart_whatever_their_order(calibration: Path) -> None:
    assert drift("m+c", articles_digest(reversed(ARTICLES)), calibration) is None
    warning = drift("m+c", articles_digest(ARTICLES[:1]), calibration)
    assert warning is not None
    assert "calibrated on other articles (2026-11-30)" in warning


@pytest.mark.parametrize("text", ["{", "[1]", '[{"index_id": "x"}]', "{}"])
def test_a_broken_file_says_how_to_make_it_anew(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text, "utf-8")
    if text == "{}":
        with pytest.raises(ConfigError, match="no cosine floor"):
            floor_for("m+c", path)
        return
    with pytest.raises(ConfigError, match="run: python -m evals calibrate"):
        floor_for("m+c", path)


def test_without_a_file_there_is_no_floor(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ASK_BLOG_MIN_SCORE"):
        floor_for("m+c", tmp_path / "none.json")
