"""What the workflows run exists: their eval commands parse, and nothing typed becomes script."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from evals.__main__ import parser
from evals.configs import named_config
from service.ask.retrieve import RetrieveConfig

WORKFLOWS = sorted((Path(__file__).parents[1] / ".github" / "workflows").glob("*.yml"))
COMMAND = re.compile(r"-m evals (.+)")


def steps(path: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def scripts(path: Path) -> list[str]:
    return [step["run"].replace("\\\n", " ") for step in steps(path) if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_eval_commands_of_workflows_parse_and_their_configurations_exist(path: Path) -> None:
    shipped = RetrieveConfig(floor=-1)
    commands = [found for script in scripts(path) for found in COMMAND.findall(script)]
    assert commands
    for command in commands:
        args = parser().parse_args(shlex.split(command.split("2>&1")[0]))
        for name in getattr(args, "configs", "default").split(","):
            assert name == "$CONFIGS" or named_config(name, shipped)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_scripts_of_workflows_contain_no_expression(path: Path) -> None:
    assert not [script for script in scripts(path) if "${{" in script]


def test_the_comparison_measures_both_refs_on_the_same_questions_and_articles() -> None:
    [path] = [path for path in WORKFLOWS if path.stem == "rag-eval"]
    measuring = [step for step in steps(path) if "evals retrieval" in step.get("run", "")]
    assert [step["working-directory"] for step in measuring] == ["head", "base"]
    for step in measuring:
        assert "--content ../head/content/articles" in step["run"]
        assert "--questions ../head/evals/questions.yaml" in step["run"]
        assert "--embeddings" not in step["run"]
