"""Reads a report that `python -m evals retrieval --json` wrote; the first thing wrong stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from service.errors import ConfigError

NO_ANSWER_FP = "no_answer_fp"
LOWER_IS_BETTER = frozenset({NO_ANSWER_FP, "chars@5"})


class _Saved(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class SavedLabel(_Saved):
    """A labelled section; the anchor "" means the introduction."""

    slug: str
    anchor: str = ""


class SavedEvidence(_Saved):
    """Words that carry the answer."""

    slug: str
    quote: str


class SavedHit(_Saved):
    """What was retrieved; the text is how it begins."""

    slug: str
    anchor: str
    cosine: float | None = None
    chars: int
    text: str = ""


class SavedRow(_Saved):
    """A question with its scores under one configuration."""

    id: str
    question: str
    type: str
    tags: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    sections: tuple[SavedLabel, ...] = ()
    evidence: tuple[SavedEvidence, ...] = ()
    scores: dict[str, float | None]
    best_expected_cosine: float | None = None
    top_cosine: float | None = None
    seconds: float | None = None
    hits: tuple[SavedHit, ...] = ()

    @property
    def cluster(self) -> str:
        """The article it was asked about; a no-answer question stands alone."""
        return self.expected[0] if self.expected else self.id


class SavedFloorRow(_Saved):
    """What one floor would lose and let through."""

    floor: float
    lost: int
    false_positives: int


class SavedPoint(_Saved):
    """A point of the risk-coverage curve."""

    cosine: float
    coverage: float
    selective_risk: float
    joint_risk: float


class SavedQuality(_Saved):
    """The top cosine as a detector."""

    auroc: float | None = None
    augrc: float | None = None
    false_refusal: float | None = None
    leak: float | None = None
    risk_coverage: tuple[SavedPoint, ...] = ()


class SavedGroup(_Saved):
    """The figures of the questions of one type or tag."""

    n: int
    metrics: dict[str, float | None]
    intervals: dict[str, tuple[float, float] | None] = {}


class SavedFigures(_Saved):
    """The figures of one configuration."""

    metrics: dict[str, float | None]
    intervals: dict[str, tuple[float, float] | None] = {}
    calibrated_floor: float | None
    floor_table: tuple[SavedFloorRow, ...]
    floor_quality: SavedQuality = SavedQuality()
    latency_ms: dict[str, float]
    n: dict[str, int]
    by_type: dict[str, SavedGroup] = {}
    by_tag: dict[str, SavedGroup] = {}


class SavedReport(_Saved):
    """A whole run."""

    configs: dict[str, SavedFigures]
    per_question: dict[str, tuple[SavedRow, ...]]
    provenance: dict[str, Any]

    @property
    def dataset(self) -> tuple[str, str]:
        """What was asked: the hash of questions and articles, and the split."""
        kept = self.provenance
        return str(kept.get("dataset_sha256", "")), str(kept.get("split", "all"))

    def score(self, config: str, row: SavedRow, metric: str) -> float | None:
        """A question's score; for `no_answer_fp` 1 where something reaches the floor."""
        if metric != NO_ANSWER_FP:
            return row.scores.get(metric)
        floor = self.configs[config].calibrated_floor
        if row.type != "no-answer" or row.top_cosine is None or floor is None:
            return None
        return float(row.top_cosine >= floor)


def read_report(path: Path) -> SavedReport:
    """The report. Raises ConfigError for a file that is missing or something else."""
    try:
        return SavedReport.model_validate_json(path.read_bytes())
    except OSError as fault:
        raise ConfigError(
            f"{path}: {fault.strerror}; make a report with: python -m evals retrieval --json {path}"
        ) from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: not a retrieval report: {where}: {first['msg']}") from fault
