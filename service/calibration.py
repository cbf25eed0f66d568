"""The cosine floor that belongs to one embedder and chunker; refuses any other.

calibration.json is written by `python -m evals calibrate` from labelled questions.
"""

from __future__ import annotations

import json
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


def floor_for(index_id: str, path: Path = CALIBRATION_FILE) -> float:
    """The calibrated floor. Raises ConfigError if none was made for this embedder and chunker."""
    calibrations = load_calibrations(path)
    if index_id not in calibrations:
        raise ConfigError(
            f"no cosine floor is calibrated for {index_id}; run python -m evals calibrate, or set "
            "ASK_BLOG_MIN_SCORE"
        )
    return calibrations[index_id].floor
