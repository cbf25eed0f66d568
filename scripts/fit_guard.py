"""Fits the two heads of the input guard from labelled lines {id, text, label, group}.

    python scripts/fit_guard.py injection.jsonl --questions evals/questions.yaml

Logistic regression in its dual form, by Newton's method, with numpy alone. Thresholds come from
scores out of fold, where near-duplicates (`group`) always fall into one fold. The weight file holds
numbers and hashes, nothing of the data.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from service.app import load_embedder
from service.ask.guard_heads import BUCKETS, FEATURES_ID, buckets_of, units_of
from service.ask.guard_patterns import asks_about_attacks, injection_pattern
from service.ask.guard_unicode import hidden_text
from service.ask.guard_views import Views, fold, views_of
from service.settings import load_settings
from service.types import normalise

Matrix = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]
FOLDS = 5
# chosen by recall at 1.5% false positives out of fold, of .005 to .5 and .03 to .3
RIDGE_GRAMS, RIDGE_VECTOR = 0.005, 0.1
PATTERN_WEIGHT = 2.0  # what a pattern adds to a score; of 1, 2, 4 and 8 the best out of fold
UNSURE = 0.3  # weight of rows that are no attack when read alone; chosen, not measured


@dataclass(slots=True, kw_only=True)
class Rows:
    """The labelled questions, their units and features."""

    raw: list[dict[str, Any]]
    owner: npt.NDArray[np.int64]  # of each unit, a row
    is_whole: npt.NDArray[np.bool_]
    grams: Matrix  # of each unit
    vectors: Matrix
    views: list[Views]  # of each row

    def hidden(self, row: int) -> list[str]:
        """The other readings that are scored."""
        return [v for v in (self.views[row].leet, *self.views[row].decoded) if v]

    @property
    def attack(self) -> npt.NDArray[np.bool_]:
        """Which rows are labelled as attacks."""
        return np.array([r["label"] == "injection" for r in self.raw])

    @property
    def explicit(self) -> npt.NDArray[np.bool_]:
        """Which rows are an attack when read alone."""
        return np.array([r.get("explicit") is not False for r in self.raw])


def main() -> None:
    """Fit, measure out of fold, write the weights."""
    args = _arguments()
    rows = _rows(_labelled(args.labelled) + _asked(args.questions), args.model)
    folds = np.array([_fold_of(str(r.get("group", r["id"]))) for r in rows.raw])
    scores = _scores(rows, folds)
    thresholds = {name: _thresholds(rows, s, args) for name, s in scores.items()}
    report = {n: _measured(rows, s, thresholds[n]) for n, s in scores.items()}
    measured = report["both"]
    if args.leave_out:
        _, sources = np.unique([_source(r) for r in rows.raw], return_inverse=True)
        scores = _scores(rows, np.where(rows.attack, sources + FOLDS, folds))
        report["leave_one_source_out"] = _measured(rows, scores["both"], thresholds["both"])
    args.out.write_text(json.dumps(_weights(rows, thresholds, measured, args)) + "\n", "utf-8")
    print(json.dumps(report, indent=1))


def _arguments() -> argparse.Namespace:
    top = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    top.add_argument("labelled", type=Path, nargs="+", help="JSON lines: id, text, label, group")
    top.add_argument("--questions", type=Path, nargs="*", default=[], help="YAML, all benign")
    top.add_argument("--out", type=Path, default=Path("service/guard_heads.json"))
    top.add_argument("--model", help="embedding model; default: the configured one")
    top.add_argument("--strict-fpr", type=float, default=0.0125, help="all that is not answered")
    top.add_argument("--refuse-fpr", type=float, default=0.005, help="of it, what is refused")
    top.add_argument("--leave-out", action="store_true", help="measure leave-one-source-out, too")
    return top.parse_args()


def _labelled(paths: Iterable[Path]) -> list[dict[str, Any]]:
    lines = [json.loads(li) for p in paths for li in p.read_text("utf-8").split("\n") if li.strip()]
    for row in lines:
        row["text"] = row.get("text") or base64.b64decode(row["text_b64"]).decode()
    return lines


def _asked(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Readers' questions: benign, and what the guard must never stop."""
    found = []
    for path in paths:
        for entry in yaml.safe_load(path.read_text("utf-8")):
            name = f"{path.name}:{entry['id']}"
            row = {"id": name, "group": name, "text": entry["question"], "label": "benign"}
            found.append({**row, "kind": "blog_question", "source": path.name})
    return found


def _rows(raw: list[dict[str, Any]], model: str | None) -> Rows:
    embedder = load_embedder(load_settings(model=model))
    texts = [normalise(r["text"]) for r in raw]
    units = [units_of(t) for t in texts]
    flat = [u for us in units for u in us]

    async def embedded() -> Matrix:
        return np.array([await embedder.embed_query(u) for u in flat], dtype=np.float32)

    views = [
        views_of(t, unicodedata.normalize("NFKC", r["text"]))
        for t, r in zip(texts, raw, strict=True)
    ]
    return Rows(
        raw=raw,
        owner=np.array([i for i, us in enumerate(units) for _ in us]),
        is_whole=np.array([k == 0 for us in units for k in range(len(us))]),
        grams=_gram_matrix([fold(u) for u in flat]),
        vectors=asyncio.run(embedded()),
        views=views,
    )


def _gram_matrix(folded: list[str]) -> Matrix:
    """Present or not, scaled to unit length, as gram_score counts."""
    matrix = np.zeros((len(folded), BUCKETS), np.float32)
    for row, text in zip(matrix, folded, strict=True):
        buckets = np.unique(buckets_of(text))
        row[buckets] = 1 / np.sqrt(len(buckets))
    return matrix


def _fold_of(group: str) -> int:
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % FOLDS


def _training(rows: Rows) -> npt.NDArray[np.int64]:
    """Whole questions, and the sentences of benign ones: an attack's sentences may be harmless."""
    return np.where(rows.is_whole | ~rows.attack[rows.owner])[0]


def _fitted(
    kernel: Numbers, y: Numbers, weight: Numbers, ridge: float, steps: int = 12
) -> tuple[Numbers, float]:
    """Newton's steps for logistic regression: w = X'a, f = K a + b."""
    a, b = np.zeros(len(y)), 0.0
    for _ in range(steps):
        p = 1 / (1 + np.exp(-y * (kernel @ a + b)))
        h = np.maximum(p * (1 - p), 1e-5) * weight
        z = kernel @ a + b + weight * y * (1 - p) / h
        solved = np.linalg.solve(
            kernel + np.diag(ridge / h), np.stack([z, np.ones_like(z)], axis=1)
        )
        b = float(solved[:, 0].sum() / solved[:, 1].sum())
        a = solved[:, 0] - b * solved[:, 1]
    return a, b


def _head(
    features: Matrix, rows: Rows, units: npt.NDArray[np.int64], ridge: float
) -> tuple[Numbers, float]:
    """Weights and bias of one head, trained on these units."""
    owner = rows.owner[units]
    y = np.where(rows.attack[owner], 1.0, -1.0)
    weight = np.where(rows.explicit[owner], 1.0, UNSURE)
    x = features[units]
    a, b = _fitted((x @ x.T).astype(np.float64), y, weight, ridge)
    return x.T @ a, b


def _scores(rows: Rows, folds: npt.NDArray[np.int64]) -> dict[str, Numbers]:
    """Of every row, as the guard counts: n-grams alone, and with the embedding."""
    grams, vectors, hidden = _out_of_fold(rows, folds)
    found = {}
    for name, units in (("grams", grams), ("both", grams + vectors)):
        worst = np.maximum(_worst(rows, units), hidden)
        for i, (row, views) in enumerate(zip(rows.raw, rows.views, strict=True)):
            worst[i] += PATTERN_WEIGHT * bool(injection_pattern(views))
            if hidden_text(row["text"]):
                worst[i] = np.inf
        found[name] = worst
    return found


def _out_of_fold(rows: Rows, folds: npt.NDArray[np.int64]) -> tuple[Numbers, Numbers, Numbers]:
    """Scores of units, and of rows' hidden readings, by heads that never saw the group."""
    grams, vectors = np.zeros(len(rows.owner)), np.zeros(len(rows.owner))
    hidden = np.full(len(rows.raw), -np.inf)
    training = _training(rows)
    for fold_ in np.unique(folds):
        units = training[folds[rows.owner[training]] != fold_]
        mine = folds[rows.owner] == fold_
        w, b = _head(rows.grams, rows, units, RIDGE_GRAMS)
        grams[mine] = rows.grams[mine] @ w + b
        for i in np.where(folds == fold_)[0]:
            if readings := rows.hidden(i):
                hidden[i] = (_gram_matrix(readings) @ w + b).max()
        w, b = _head(rows.vectors, rows, units, RIDGE_VECTOR)
        vectors[mine] = rows.vectors[mine] @ w + b
    return grams, vectors, hidden


def _worst(rows: Rows, scores: Numbers) -> Numbers:
    worst = np.full(len(rows.raw), -np.inf)
    np.maximum.at(worst, rows.owner, scores)
    return worst


def _thresholds(rows: Rows, scores: Numbers, args: argparse.Namespace) -> dict[str, float]:
    """Least scores at which no more than the wanted share of benign rows is caught."""
    ranked = np.sort(scores[~rows.attack])[::-1]
    allowed = {"strict": args.strict_fpr, "refuse": args.refuse_fpr}
    places = {name: max(1, int(rate * len(ranked))) for name, rate in allowed.items()}
    return {name: float(ranked[i - 1 : i + 1].mean()) for name, i in places.items()}


def _source(row: dict[str, Any]) -> str:
    """The source without the recipe of a derived row."""
    name = str(row.get("source", "unknown")).partition(" (")[0]
    return name.rpartition("from ")[2] or name


def _measured(rows: Rows, scores: Numbers, thresholds: dict[str, float]) -> dict[str, Any]:
    """How many are caught in all, and by kind and source."""
    about = np.array([asks_about_attacks(v) for v in rows.views]) & np.isfinite(scores)
    caught = {
        "refused": (scores >= thresholds["refuse"]) & ~about,
        "caught": scores >= thresholds["strict"],
    }
    report: dict[str, Any] = {}
    groups = {"explicit": rows.attack & rows.explicit, "benign": ~rows.attack}
    for i, row in enumerate(rows.raw):
        for key in (f"kind: {row.get('kind')}", f"source: {row['label']}: {_source(row)}"):
            groups.setdefault(key, np.zeros(len(rows.raw), bool))[i] = True
    for key in sorted(groups):
        mask = groups[key]
        report[key] = {"n": int(mask.sum())}
        for name, hit in caught.items():
            report[key][name] = int((hit & mask).sum())
    return report


def _weights(
    rows: Rows,
    thresholds: dict[str, dict[str, float]],
    measured: dict[str, Any],
    args: argparse.Namespace,
) -> dict[str, Any]:
    training = _training(rows)
    grams = _packed(*_head(rows.grams, rows, training, RIDGE_GRAMS))
    vector = _packed(*_head(rows.vectors, rows, training, RIDGE_VECTOR))
    files = [*args.labelled, *args.questions]
    return {
        "features": FEATURES_ID,
        "embedder": load_embedder(load_settings(model=args.model)).id,
        "provenance": {
            "made_by": "scripts/fit_guard.py",
            "date": datetime.now(UTC).date().isoformat(),
            "sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
            "n": len(rows.raw),
            "attacks": int(rows.attack.sum()),
            "out_of_fold": {key: measured[key] for key in ("explicit", "benign")},
        },
        "grams": {**grams, "thresholds": thresholds["grams"]},
        "vector": vector,
        "both": {"thresholds": thresholds["both"]},
        "pattern_weight": PATTERN_WEIGHT,
    }


def _packed(weights: Numbers, bias: float) -> dict[str, Any]:
    scale = float(np.abs(weights).max()) / 127
    data = np.round(weights / scale).astype(np.int8).tobytes()
    return {"bias": bias, "scale": scale, "int8": base64.b64encode(data).decode()}


if __name__ == "__main__":
    main()
