"""What was found in a text, and the text without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Personal data in a text: its kind and where it stands."""

    kind: str
    start: int
    end: int


def masked(text: str, findings: Iterable[Finding]) -> str:
    """The text with each finding replaced by its kind in brackets; overlapping ones become one."""
    parts: list[str] = []
    position = 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if finding.start >= position:
            parts += [text[position : finding.start], f"[{finding.kind}]"]
        position = max(position, finding.end)
    return "".join([*parts, text[position:]])
