"""Splits Markdown into the units that can be cited and stated: sentences, list items, code, rows.

Spans are exact and together cover the text: white space after a unit belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import sentencex

# what follows backticks must have none, or the line is a code span and not a fence
_FENCE = re.compile(r"[ \t>]*(`{3,}(?=[^`]*$)|~{3,})", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ANY_FENCE = "a fence that was opened before the text"
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]")
_ROW = re.compile(r"[ \t]*\|")


class SegmentKind(StrEnum):
    """What a run of lines is."""

    PROSE = "prose"
    ITEM = "item"
    CODE = "code"
    HEADING = "heading"
    ROW = "row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A span of the text; blank lines after it are part of it."""

    kind: SegmentKind
    start: int
    end: int


def segments(text: str, *, starts_in_code: bool = False) -> list[Segment]:
    """Paragraphs, list items, fenced code, headings and table rows, covering the whole text."""
    found: list[Segment] = []
    fence = ""
    if starts_in_code and text:
        fence = _ANY_FENCE
        found.append(Segment(kind=SegmentKind.CODE, start=0, end=0))
    for start, end in _lines(text):
        line = text[start:end]
        opening = _FENCE.match(line)
        if fence:
            found[-1] = _longer(found[-1], end)
            closes = opening and (fence == _ANY_FENCE or opening[1].startswith(fence))
            if opening and closes and line.strip(" \t>\n") == opening[1]:
                fence = ""
        elif opening:
            fence = opening[1]
            found.append(Segment(kind=SegmentKind.CODE, start=start, end=end))
        elif found and (not line.strip() or _continues(found[-1], line, text)):
            found[-1] = _longer(found[-1], end)
        else:
            found.append(Segment(kind=_kind(line), start=start, end=end))
    return found


def _lines(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for line in text.splitlines(keepends=True):
        yield position, position + len(line)
        position += len(line)


def _kind(line: str) -> SegmentKind:
    if _HEADING.match(line):
        return SegmentKind.HEADING
    if _ITEM.match(line):
        return SegmentKind.ITEM
    return SegmentKind.ROW if _ROW.match(line) else SegmentKind.PROSE


def _continues(before: Segment, line: str, text: str) -> bool:
    """Whether a line goes on with the paragraph or list item before it."""
    if _kind(line) is not SegmentKind.PROSE or before.kind in (
        SegmentKind.HEADING,
        SegmentKind.ROW,
        SegmentKind.CODE,
    ):
        return False
    return not text[before.start : before.end].endswith("\n\n")


def _longer(segment: Segment, end: int) -> Segment:
    return Segment(kind=segment.kind, start=segment.start, end=end)


def sentences(text: str, segment: Segment, language: str = "en") -> list[tuple[int, int]]:
    """Spans of the segment's sentences; code, headings and table rows are one unit each."""
    if segment.kind not in (SegmentKind.PROSE, SegmentKind.ITEM):
        return [(segment.start, segment.end)]
    body = text[segment.start : segment.end]
    marker = _ITEM.match(body) if segment.kind is SegmentKind.ITEM else None
    offset = marker.end() if marker else 0
    ends = [
        offset + b["end_index"]
        for b in sentencex.get_sentence_boundaries(language, body[offset:])
        if b["text"].strip()
    ]
    if not ends:
        return [(segment.start, segment.end)]
    ends[-1] = len(body)
    starts = [0, *ends[:-1]]
    return [(segment.start + s, segment.start + e) for s, e in zip(starts, ends, strict=True)]


def citable_units(
    text: str, language: str = "en", *, starts_in_code: bool = False
) -> list[tuple[int, int]]:
    """Spans that together are the whole text, none of them blank: what a model may cite."""
    found = segments(text, starts_in_code=starts_in_code)
    return [span for segment in found for span in sentences(text, segment, language)]


def list_marker_end(text: str) -> int:
    """Length of the bullet or number that `text` starts with, else 0."""
    marker = _ITEM.match(text)
    return marker.end() if marker else 0
