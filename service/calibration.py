"""The cosine floor that belongs to one embedder and chunker; refuses any other.

calibration.json is written by `python -m evals calibrate` from labelled questions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from service.errors import ConfigError

CALIBRATION_FILE = Path(__file__).with_name("calibration.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A floor and where it came from."""

    index_id: str  # embedder and chunker
    floor: float  # cosine
    dataset_sha256: str  # of the questions and the articles it was chosen on
    answerable: int  # questions it was chosen on
    no_answer: int
    date: str  # ISO
    # what the floor did to other questions than those it was chosen on
    heldout_answerable: int = 0
    heldout_no_answer: int = 0
    false_refusals: int = 0  # held-out answerable questions for which nothing reaches the floor
    leaks: int = 0  # held-out no-answer questions for which something does
    auroc: float | None = None  # of the top cosine on them: 1 separates the kinds, 0.5 is a coin
    confidence: float = 0.95  # of the two bounds
    false_refusal_upper: float = 1.0  # exact one-sided upper bound of the rate
    leak_upper: float = 1.0
    articles_sha256: str = ""  # of the articles alone: a floor may not suit others


def load_calibrations(path: Path = CALIBRATION_FILE) -> dict[str, Calibration]:
    """Every calibration of the file by index id. Raises ConfigError for a broken file."""
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text("utf-8"))
        return {entry["index_id"]: Calibration(**entry) for entry in entries}
    except (ValueError, TypeError, KeyError) as fault:
        raise ConfigError(
            f"{path}: not a calibration file ({fault}); run: python -m evals calibrate"
        ) from fault


def articles_digest(articles: Iterable[tuple[str, str]]) -> str:
    """Hash of (slug, cleaned text) of all articles, whatever their order."""
    digest = hashlib.sha256()
    for slug, text in sorted(articles):
        digest.update(f"\0{slug}\0{text}".encode())
    return digest.hexdigest()


def drift(index_id: str, articles_sha256: str, path: Path = CALIBRATION_FILE) -> str | None:
    """What to tell an owner whose articles are not those the floor was chosen on, else None."""
    made = load_calibrations(path).get(index_id)
    if made is None or made.articles_sha256 in ("", articles_sha256):
        return None
    return (
        f"the cosine floor of {made.floor:.2f} was calibrated on other articles ({made.date}); "
        "label questions on yours and run python -m evals calibrate, or set ASK_BLOG_MIN_SCORE"
    )


def floor_for(index_id: str, path: Path = CALIBRATION_FILE) -> float:
    """The calibrated floor. Raises ConfigError if none was made for this embedder and chunker."""
    calibrations = load_calibrations(path)
    if index_id not in calibrations:
        raise ConfigError(
            f"no cosine floor is calibrated for {index_id}; run python -m evals calibrate, or set "
            "ASK_BLOG_MIN_SCORE"
        )
    return calibrations[index_id].floor
