"""Reads rules.yaml: what was expected of the configurations, and how one of them is chosen."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.saved import SavedRow
from service.errors import ConfigError

RULES_FILE = Path(__file__).with_name("rules.yaml")


class Step(BaseModel):
    """One step of the selection."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: str
    within: float = 0.0


class Hypothesis(BaseModel):
    """A claim that figures can contradict; the fields are explained in rules.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    claim: str
    configs: str
    against: str
    gains: dict[str, float]
    not_worse: tuple[str, ...] = ()
    p95_ms: float | None = None
    type: str | None = None
    tag: str | None = None
    required: bool = False

    def rival(self, config: str) -> str | None:
        """Whom `config` is held against; None if the hypothesis is not about it."""
        pattern = re.escape(self.configs).replace(r"\*", "(.*)", 1)
        found = re.fullmatch(pattern, config)
        if found is None:
            return None
        return self.against.replace("*", found.group(1), 1) if found.groups() else self.against

    def concerns(self, row: SavedRow) -> bool:
        """Whether the question is of the type and tag that the claim is about."""
        return self.type in (None, row.type) and (self.tag is None or self.tag in row.tags)


class Rules(BaseModel):
    """What was expected, and how to choose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    selection: tuple[Step, ...]
    hypotheses: tuple[Hypothesis, ...]


def read_rules(path: Path = RULES_FILE) -> Rules:
    """The rules. Raises ConfigError for a file that cannot be read."""
    try:
        return Rules.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as fault:
        raise ConfigError(f"{path}: not a file of rules: {fault}") from fault
