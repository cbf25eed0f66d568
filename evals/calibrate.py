"""python -m evals calibrate: choose the floor on dev, judge it on heldout, write it down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.floor import (
    Certificate,
    FloorRow,
    augrc,
    auroc,
    calibrated_floor,
    certify,
    floor_table,
    risk_coverage,
)
from evals.metrics import top_cosine
from evals.types import Dataset, Ranked
from service.calibration import CALIBRATION_FILE, Calibration, load_calibrations
from service.errors import ConfigError

RISK = 0.05  # alpha: chosen, not measured
DELTA = 0.05  # chosen, not measured: the usual one


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What the floor does to questions that had no part in choosing it."""

    false_refusal: Certificate  # answerable questions for which nothing reaches the floor
    leak: Certificate  # no-answer questions for which something does
    auroc: float | None
    augrc: float | None


def choose_floor(ranked: Sequence[Ranked]) -> float:
    """The floor of the dev questions. Raises ConfigError if there are none to choose on."""
    floor = calibrated_floor([r for r in ranked if r.question.split == "dev"])
    if floor is None:
        raise ConfigError("no answerable dev question: there is nothing to calibrate on")
    return floor


def judge_floor(
    ranked: Sequence[Ranked], floor: float, *, alpha: float = RISK, delta: float = DELTA
) -> HeldOut:
    """The held-out questions under a floor that was chosen without them."""
    heldout = [r for r in ranked if r.question.split == "heldout"]
    known = [top_cosine(r.candidates) for r in heldout if r.question.is_answerable]
    strangers = [top_cosine(r.candidates) for r in heldout if not r.question.is_answerable]
    refused, leaked = sum(c < floor for c in known), sum(c >= floor for c in strangers)
    return HeldOut(
        false_refusal=certify(refused, len(known), alpha=alpha, delta=delta),
        leak=certify(leaked, len(strangers), alpha=alpha, delta=delta),
        auroc=auroc(heldout),
        augrc=augrc(risk_coverage(heldout)),
    )


def write_calibration(
    ranked: Sequence[Ranked],
    floor: float,
    judged: HeldOut,
    *,
    dataset: Dataset,
    index_id: str,
    path: Path = CALIBRATION_FILE,
) -> Calibration:
    """The floor with its origin, written beside those of other models."""
    dev = [r for r in ranked if r.question.split == "dev"]
    made = Calibration(
        index_id=index_id,
        floor=floor,
        dataset_sha256=dataset.sha256,
        answerable=sum(r.question.is_answerable for r in dev),
        no_answer=sum(not r.question.is_answerable for r in dev),
        date=datetime.now(UTC).date().isoformat(),
        heldout_answerable=judged.false_refusal.n,
        heldout_no_answer=judged.leak.n,
        false_refusals=judged.false_refusal.failures,
        leaks=judged.leak.failures,
        auroc=None if judged.auroc is None else round(judged.auroc, 4),
        confidence=judged.leak.confidence,
        false_refusal_upper=round(judged.false_refusal.upper, 4),
        leak_upper=round(judged.leak.upper, 4),
        articles_sha256=dataset.articles_sha256,
    )
    entries = {**load_calibrations(path), index_id: made}
    rows = [asdict(entry) for _, entry in sorted(entries.items())]
    path.write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    return made


def row_at(ranked: Sequence[Ranked], floor: float) -> FloorRow:
    """What the floor would do to these questions."""
    rows = {row.floor: row for row in floor_table(ranked)}
    if floor in rows:
        return rows[floor]
    below = not rows or floor < min(rows)
    edge = rows[min(rows)] if rows and below else None
    return edge or FloorRow(
        floor=floor, lost=sum(r.question.is_answerable for r in ranked), false_positives=0
    )
