"""python -m evals calibrate: choose the floor on dev, report on heldout, write calibration.json."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from evals.floor import FloorRow, calibrated_floor, floor_table
from evals.types import Dataset, Ranked
from service.calibration import CALIBRATION_FILE, Calibration, load_calibrations
from service.errors import ConfigError


def calibrate(
    ranked: list[Ranked], *, dataset: Dataset, index_id: str, path: Path = CALIBRATION_FILE
) -> Calibration:
    """The floor of the dev questions, written beside those of other models."""
    dev = [r for r in ranked if r.question.split == "dev"]
    floor = calibrated_floor(dev)
    if floor is None:
        raise ConfigError("no answerable dev question: there is nothing to calibrate on")
    made = Calibration(
        index_id=index_id,
        floor=floor,
        dataset_sha256=dataset.sha256,
        answerable=sum(r.question.is_answerable for r in dev),
        no_answer=sum(not r.question.is_answerable for r in dev),
        date=datetime.now(UTC).date().isoformat(),
    )
    entries = {**load_calibrations(path), index_id: made}
    rows = [asdict(entry) for _, entry in sorted(entries.items())]
    path.write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    return made


def row_at(ranked: list[Ranked], floor: float) -> FloorRow:
    """What the floor would do to these questions."""
    rows = {row.floor: row for row in floor_table(ranked)}
    if floor in rows:
        return rows[floor]
    below = not rows or floor < min(rows)
    edge = rows[min(rows)] if rows and below else None
    return edge or FloorRow(
        floor=floor, lost=sum(r.question.is_answerable for r in ranked), false_positives=0
    )
