"""Headings in; their ids in the built page, as github-slugger 2 makes them, and sections out.

Ids an author wrote win and, as in rehype-slug, leave the counter of made ids alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from service.types import Section

_NEWER = (  # what github-slugger 2.0.0 removes because its tables are those of Unicode 13
    "558 58b-58c 5c8-5c9 870-89f 8b5 8c8-8d2 b53-b54 c3c c5c-c5d cdc-cdd cf3 ece 170d 1715-171f "
    "180f 1ac1-1af0 1b4c 1c89-1c8a 1dfa 208f 209d-209f 2c2f 2c5f 9ffd-9fff a7c0-a7c1 a7cc-a7db "
    "a7dd-a7f4 ab6c-ab6d 10570-105f3 10780-107bf 10940-10959 10d40-10d85 10ec2-10eff "
    "10f70-10f85 11070-11075 110c2 1123f-11241 11380-113e2 116d0-116e3 11740-11746 11ab0-11abf "
    "11b0a-11bf9 11db0-11df1 11f00-11f5a 1246f-1247f 12550-12ff0 1342f-143fa 16100-16139 "
    "16a70-16ac9 16d40-16d79 16ea0-16ed3 16ff2-16ff6 187f8-187ff 18cd6-18cff 18d09-1affe "
    "1b11f-1b132 1b155 1b168 1ccf0-1d128 1d250-1d281 1d6a6 1df00-1dfff 1e030-1e08f 1e290-1e2ae "
    "1e4d0-1e7fe 2a6de-2a6df 2b735-2b73f 2b81e 2cea2-2cead 2ebf0-2ee5d 31350-3fc3f"
)


def _class_of(ranges: str) -> str:
    """Hexadecimal code points and ranges as the inside of a character class."""
    return "".join(
        "-".join(f"\\U{int(end, 16):08x}" for end in part.split("-")) for part in ranges.split()
    )


_REMOVED = regex.compile(rf"[^\p{{Alphabetic}}\p{{M}}\p{{Nd}}\p{{Pc}} \-]|[{_class_of(_NEWER)}]")
_EXPLICIT_ID = re.compile(r"[ \t]*\{#([^\s{}#]+)\}[ \t]*\Z")


def split_explicit_id(text: str) -> tuple[str, str | None]:
    """`Title {#id}` -> (`Title`, `id`); other texts come back as they are."""
    match = _EXPLICIT_ID.search(text)
    return (text[: match.start()], match[1]) if match else (text, None)


class Slugger:
    """Makes ids for the headings of one article; equal texts get -1, -2 and so on."""

    def __init__(self) -> None:
        self._occurrences: dict[str, int] = {}

    def slug(self, text: str) -> str:
        """The id of the next heading in the article."""
        original = result = _REMOVED.sub("", text.lower()).replace(" ", "-")
        while result in self._occurrences:
            self._occurrences[original] += 1
            result = f"{original}-{self._occurrences[original]}"
        self._occurrences[result] = 0
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading as it was found."""

    start: int  # of its line, characters into the cleaned text
    level: int
    text: str  # plain
    anchor: str


def sections_of(headings: Sequence[Heading], *, title: str, end: int) -> tuple[Section, ...]:
    """The sections of a text that is `end` characters long, an introduction first if it has one."""
    starts = [heading.start for heading in headings] + [end]
    sections = [_introduction(title, starts[0])] if starts[0] or not headings else []
    outer: list[Heading] = []
    for heading, section_end in zip(headings, starts[1:], strict=True):
        while outer and outer[-1].level >= heading.level:
            outer.pop()
        path = tuple(above.text for above in outer if not _is_title(above, title))
        outer.append(heading)
        sections.append(
            Section(
                anchor=heading.anchor,
                heading=heading.text,
                level=heading.level,
                heading_path=(*path, heading.text),
                start=heading.start,
                end=section_end,
            )
        )
    return tuple(sections)


def _introduction(title: str, end: int) -> Section:
    return Section(anchor="", heading=title, level=0, heading_path=(), start=0, end=end)


def _is_title(heading: Heading, title: str) -> bool:
    return heading.level == 1 and heading.text == title.replace("`", "")
