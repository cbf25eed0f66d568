"""The rule applied: a winner, and what became of each hypothesis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.decide import Verdict, as_json, decide
from evals.rules import Hypothesis, Rules, Step, read_rules
from evals.saved import SavedReport
from service.errors import ConfigError

RULES = Rules(
    selection=(
        Step(measure="mrr", within=0.02),
        Step(measure="evidence_recall@5"),
        Step(measure="chars@5"),
    ),
    hypotheses=(),
)


def report(
    metrics: Mapping[str, Mapping[str, float]],
    scores: Mapping[str, Sequence[float]] | None = None,
    *,
    p95: float = 20.0,
    types: Sequence[str] | None = None,
) -> SavedReport:
    """Configurations with these means; questions, each on its own article, with these scores."""
    rows = scores or {name: [1.0] for name in metrics}
    return SavedReport.model_validate(
        {
            "configs": {
                name: {
                    "metrics": values,
                    "calibrated_floor": 0.3,
                    "floor_table": [],
                    "latency_ms": {"p50": 10, "p95": p95},
                    "n": {},
                }
                for name, values in metrics.items()
            },
            "per_question": {
                name: [
                    row(n, score, (types or ["concept"] * len(values))[n])
                    for n, score in enumerate(values)
                ]
                for name, values in rows.items()
            },
            "provenance": {},
        }
    )


def row(n: int, score: float, type_: str) -> dict[str, Any]:
    labels: dict[str, Any] = {"expected": [f"a{n}"], "scores": {"recall@3": score, "mrr": score}}
    if type_ == "no-answer":
        labels = {"expected": [], "scores": {}, "top_cosine": score}
    return {"id": f"q{n}", "question": "?", "type": type_, "hits": [], **labels}


def hypothesis(**changes: Any) -> Hypothesis:
    fields: dict[str, Any] = {
        "id": "h",
        "claim": "New is better.",
        "configs": "new",
        "against": "old",
        "gains": {"recall@3": 0},
    }
    return Hypothesis(**{**fields, **changes})


def two(old: Sequence[float], new: Sequence[float], **kwargs: Any) -> SavedReport:
    means = {name: {"mrr": sum(s) / len(s)} for name, s in (("old", old), ("new", new))}
    return report(means, {"old": old, "new": new}, **kwargs)


def trial(found: SavedReport, **changes: Any) -> Any:
    [only] = decide(
        found, Rules(selection=RULES.selection, hypotheses=(hypothesis(**changes),))
    ).trials
    return only


# ---------------------------------------------------------------- selection


@pytest.mark.parametrize(
    ("metrics", "winner"),
    [
        # clearly the highest MRR
        ({"a": (0.80, 0.5, 900), "b": (0.75, 0.9, 100)}, "a"),
        # within 0.02 of it: the evidence decides
        ({"a": (0.80, 0.5, 900), "b": (0.785, 0.6, 900)}, "b"),
        # exactly 0.02 away is within
        ({"a": (0.80, 0.5, 900), "b": (0.78, 0.6, 900)}, "b"),
        # equal evidence: fewer characters
        ({"a": (0.80, 0.6, 900), "b": (0.79, 0.6, 700)}, "b"),
        # all equal: the first
        ({"a": (0.80, 0.6, 900), "b": (0.80, 0.6, 900)}, "a"),
    ],
)
def test_the_selection_goes_step_by_step(
    metrics: dict[str, tuple[float, float, float]], winner: str
) -> None:
    names = ("mrr", "evidence_recall@5", "chars@5")
    made = report({c: dict(zip(names, v, strict=True)) for c, v in metrics.items()})
    assert decide(made, RULES).winner == winner


def test_the_steps_say_how_the_winner_was_found() -> None:
    made = report({"a": {"mrr": 0.8}, "b": {"mrr": 0.79}, "c": {"mrr": 0.5}})
    assert decide(made, RULES).steps == ("highest mrr within 0.02: a 0.800, b 0.790",)


def test_a_configuration_that_breaks_a_required_hypothesis_is_left_out() -> None:
    worse = two([1, 1, 1, 0], [1, 1, 0, 1])
    needed = Rules(selection=RULES.selection, hypotheses=(hypothesis(required=True),))
    decision = decide(worse, needed)
    assert decision.winner == "old"
    assert decision.steps[0] == "new is left out: it does not keep h"


# ---------------------------------------------------------------- hypotheses


def test_a_gain_is_supported_contradicted_or_undecided_by_its_whole_interval() -> None:
    assert trial(two([0] * 20, [1] * 15 + [0] * 5)).verdict is Verdict.SUPPORTED
    assert trial(two([1] * 20, [0] * 15 + [1] * 5)).verdict is Verdict.CONTRADICTED
    assert trial(two([0, 1] * 10, [1, 0] * 9 + [1, 1])).verdict is Verdict.UNDECIDED
    assert trial(two([1] * 20, [1] * 20)).verdict is Verdict.UNDECIDED


def test_a_gain_of_three_points_needs_three_points() -> None:
    one_in_fifty = two([0] * 50, [1] + [0] * 49)
    assert trial(one_in_fifty).is_kept
    assert not trial(one_in_fifty, gains={"recall@3": 0.03}).is_kept


def test_every_condition_has_its_figures() -> None:
    [finding] = trial(two([0, 0, 1, 1], [0, 1, 1, 1])).findings
    assert (finding.before, finding.after, finding.n, finding.clusters) == (0.5, 0.75, 4, 4)
    assert finding.interval.low <= 0.25 <= finding.interval.high


def test_one_contradicted_condition_contradicts_the_claim() -> None:
    fast = two([0] * 20, [1] * 20, p95=399)
    slow = two([0] * 20, [1] * 20, p95=401)
    assert trial(fast, p95_ms=400).verdict is Verdict.SUPPORTED
    assert trial(slow, p95_ms=400).verdict is Verdict.CONTRADICTED


def test_a_worse_no_answer_rate_breaks_the_rule_however_few_the_questions() -> None:
    types = ["concept"] * 10 + ["no-answer"] * 2
    old, new = [0.0] * 10 + [0.1, 0.1], [1.0] * 10 + [0.1, 0.5]  # the last are top cosines
    found = trial(two(old, new, types=types), not_worse=["no_answer_fp"])
    assert not found.is_kept
    assert found.verdict is Verdict.UNDECIDED  # two questions prove nothing


def test_a_claim_about_one_type_looks_at_no_other_question() -> None:
    types = ["exact"] * 10 + ["concept"] * 10
    found = two([0] * 10 + [1] * 10, [1] * 10 + [0] * 10, types=types)
    assert trial(found, type="exact").verdict is Verdict.SUPPORTED
    assert trial(found).verdict is Verdict.UNDECIDED


def test_a_claim_without_its_configurations_or_questions_is_untested() -> None:
    for changes in ({"against": "absent"}, {"type": "how-to"}, {"not_worse": ["no_answer_fp"]}):
        rules = Rules(selection=RULES.selection, hypotheses=(hypothesis(**changes),))
        decision = decide(two([0], [1]), rules)
        assert decision.trials == ()
        assert [h.id for h in decision.untested] == ["h"]


def test_the_json_of_a_decision_has_verdicts_and_figures() -> None:
    rules = Rules(
        selection=RULES.selection, hypotheses=(hypothesis(), hypothesis(id="g", against="x"))
    )
    made = as_json(decide(two([0] * 20, [1] * 20), rules))
    assert json.loads(json.dumps(made)) == made
    assert (made["winner"], made["untested"]) == ("new", ["g"])
    [tried] = made["hypotheses"]
    assert (tried["verdict"], tried["findings"][0]["after"]) == ("supported", 1.0)


def test_a_star_stands_for_the_same_part_in_both_names() -> None:
    reranked = hypothesis(configs="*-rerank", against="*")
    assert reranked.rival("token-hybrid-rerank") == "token-hybrid"
    assert reranked.rival("token-hybrid") is None
    assert hypothesis(configs="token-hybrid*", against="x").rival("token-hybrid-noid") == "x"


# ---------------------------------------------------------------- the file


def test_the_rules_of_the_project_are_readable_and_each_claim_has_its_name() -> None:
    rules = read_rules()
    assert [step.measure for step in rules.selection] == ["mrr", "evidence_recall@5", "chars@5"]
    names = [h.id for h in rules.hypotheses]
    assert len(set(names)) == len(names)
    assert {h.id for h in rules.hypotheses if h.required} == {"hybrid", "reranker"}


def test_a_broken_file_of_rules_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("selection: 3\n", "utf-8")
    with pytest.raises(ConfigError, match=r"rules.yaml: not a file of rules"):
        read_rules(path)
