"""The source of a Markdown article in; the same with its headings' ids as `{#id}` out.

Each generator has its own way to write an id. What `dialects` reads of all of them stays as it
is; here come those that mean something to one generator only.
"""

from __future__ import annotations

import re

from service.ingest.dialects import MAX_MARKER_CHARS, Fence
from service.ingest.jsx import TagKind
from service.ingest.lexer import Lexer
from service.ingest.slugs import AnchorStyle

_ATX = re.compile(r"(?! {4})(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*#{1,6}[ \t]")
_UNDERLINE = re.compile(r"(?! {4})[ \t>]*(?:=+|-+)[ \t]*")
_LIST_AT_END = re.compile(r"(?P<text>.*?)[ \t]*\{:?(?P<list>[^{}\n]*)\}[ \t]*")
_LIST_LINE = re.compile(r"[ \t>]*\{:(?P<list>[^{}\n]*)\}[ \t]*")
_ID = re.compile(r"""(?:^|\s)(?:#|id=)(?P<quote>["']?)(?P<id>[^\s{}#"'=]+)(?P=quote)(?=\s|$)""")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def spelled_out(body: str, style: AnchorStyle) -> str:
    """The body with every id that the generator would accept written as `## Heading {#id}`."""
    if style == "github":
        return body
    lines = _without_unnamed_elements(body).split("\n")
    fence: Fence | None = None
    for number, line in enumerate(lines):
        if fence and fence.ends_before(line):
            fence = None
        if fence:
            fence = None if fence.closed_by(line) else fence
        elif (fence := Fence.opened_by(line)) is None:
            _spell_out(lines, number, style)
    return "\n".join(lines)


def _spell_out(lines: list[str], number: int, style: AnchorStyle) -> None:
    if len(lines[number]) > MAX_MARKER_CHARS:
        return
    if style == "kramdown":
        _move_list_line(lines, number)
    elif match := _LIST_AT_END.fullmatch(lines[number]):
        found = _ID.search(match["list"])
        if found and _is_heading(lines, number):
            lines[number] = f"{match['text']} {{#{found['id']}}}"


def _move_list_line(lines: list[str], number: int) -> None:
    """kramdown: `{: #id}` on a line of its own belongs to the block right above, or else below."""
    match = _LIST_LINE.fullmatch(lines[number])
    found = _ID.search(match["list"]) if match else None
    heading = _block_of_list_line(lines, number)
    if found and _is_heading(lines, heading):
        lines[heading] = f"{lines[heading].rstrip()} {{#{found['id']}}}"
        lines[number] = ""


def _block_of_list_line(lines: list[str], number: int) -> int:
    """Where a heading would stand that the list belongs to."""
    if number and lines[number - 1].strip():
        return number - (2 if _UNDERLINE.fullmatch(lines[number - 1]) else 1)
    below = (n for n in range(number + 1, len(lines)) if lines[n].strip())
    return next(below, len(lines))


def _is_heading(lines: list[str], number: int) -> bool:
    if not 0 <= number < len(lines) or not lines[number].strip():
        return False
    if _ATX.match(lines[number]):
        return True
    return number + 1 < len(lines) and bool(_UNDERLINE.fullmatch(lines[number + 1]))


def _without_unnamed_elements(body: str) -> str:
    """`<h2>` without an id becomes a paragraph: only rehype-slug gives such elements an anchor."""
    out: list[str] = []
    position = 0
    opened: list[bool] = []  # for each heading element whether it has an id
    for piece in Lexer(body, mdx=False).pieces():
        tag = piece.tag
        if tag is None or tag.name.lower() not in _HEADINGS:
            continue
        if tag.kind is TagKind.OPEN:
            opened.append(bool(tag.attribute("id")))
            is_named = opened[-1]
        else:
            is_named = not opened or opened.pop()
        if not is_named:
            name = piece.start + (2 if tag.kind is TagKind.CLOSE else 1)
            out += [body[position:name], "p"]
            position = name + len(tag.name)
    return "".join(out) + body[position:]
