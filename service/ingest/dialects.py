"""Line-level dialects become plain Markdown: asides, tabs, alerts, heading ids, highlight tags.

Covered: Docusaurus, Starlight and VuePress `:::`, MkDocs `!!!`, `???` and `===`, GitHub `[!NOTE]`.
Marker lines go, titles become paragraphs, bodies lose the marker's indentation; fences stay as is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

BODY_INDENT = 4  # Python-Markdown: the body of an admonition or tab stands four columns in
MAX_MARKER_CHARS = 1000  # chosen, not measured: longer lines are prose
_ASIDES = (  # may follow `:::` after a space; a name glued to the colons may be any
    "attention caution code-group danger details error hint important info note question "
    "raw seealso success tab tabs tip v-pre warning"
)
ASIDES = frozenset(_ASIDES.split())

_FENCE = re.compile(
    r"(?P<prefix>(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)"
    r"(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})",
    re.MULTILINE,
)
_BLOCK_WITH_BODY = re.compile(
    r"""[ \t]*(?:(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+[\w-]+)*"""
    r"""(?:[ \t]+(?P<q>["'])(?P<title>.*)(?P=q))?"""
    r"""|===[!+]{0,2}[ \t]+(?P<r>["'])(?P<label>.+)(?P=r))[ \t]*"""
)
_ASIDE = re.compile(
    r"(?P<prefix>[ \t>]*):{3,}(?P<gap>[ \t]*)(?P<brace>\{?)(?P<name>[A-Za-z][\w-]*)\}?"
    r"(?:\[(?P<label>.*)\])?(?:[ \t]*\{[^{}]*\})?(?:[ \t]+(?P<title>.*?))?"
    r"(?:[ \t]*\{[^{}]*\})?[ \t]*"
)
_ASIDE_END = re.compile(r"(?P<prefix>[ \t>]*):{3,}[ \t]*")
_ALERT = re.compile(r"(?P<prefix>[ \t]*(?:>[ \t]*)+)\[![A-Za-z]{3,20}\][+-]?[ \t]*(?P<title>.*)")
_HIGHLIGHT = re.compile(r"([ \t]*)\{(?:%-?|\{[<%])[ \t]*highlight[ \t]+([\w+#-]+).*[%>]\}+[ \t]*")
_HIGHLIGHT_END = re.compile(
    r"[ \t]*\{(?:%-?|\{[<%])[ \t]*(?:endhighlight|/[ \t]*highlight)[ \t]*-?[%>]\}+[ \t]*"
)
_SNIPPET = re.compile(r"[ \t]*-+8<-+.*")
_HEADING_ID = re.compile(
    r"(?P<text>[ \t>]*#{1,6}[ \t].*?)[ \t]*"
    r"(?:\{/\*(?P<comment>[^\s{}*#]+)\*/\}|\{/\*[ \t]*#(?P<hashed>[^\s{}*#]+)[ \t]*\*/\}"
    r"|\[#(?P<bracket>[^\s\[\]#]+)\]|\{:?[ \t]*#(?P<brace>[^\s{}#]+)(?:[ \t][^{}]*)?\})"
    r"[ \t]*(?:#+[ \t]*)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """An open fence: what closes it."""

    mark: str
    quoted: bool

    @classmethod
    def opened_by(cls, line: str) -> Fence | None:
        """The fence a line opens, also behind quote and list markers."""
        match = _FENCE.match(line)
        return cls(mark=match["mark"], quoted=">" in match["prefix"]) if match else None

    def ends_before(self, line: str) -> bool:
        """Whether the quote around the fence is over."""
        return self.quoted and not line.lstrip().startswith(">")

    def closed_by(self, line: str) -> bool:
        """Whether `line` is the closing fence."""
        rest = line.strip().lstrip("> \t") if self.quoted else line.strip()
        return len(rest) >= len(self.mark) and not rest.strip(self.mark[0])


@dataclass(slots=True)
class _State:
    lines: list[str]
    out: list[str] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)  # columns at which open bodies start
    asides: int = 0
    fence: Fence | None = None
    fence_depth: int = 0  # len(bodies) where the fence was opened
    last_highlight_end: int = -1  # number of its line
    in_highlight: bool = False


def flatten_dialects(body: str) -> str:
    """The text with dialect markers gone; lines inside fences change by their indentation only."""
    state = _State(lines=body.split("\n"))
    for number, line in enumerate(state.lines):
        if len(line) <= MAX_MARKER_CHARS and _HIGHLIGHT_END.fullmatch(line):
            state.last_highlight_end = number
    for number, line in enumerate(state.lines):
        _read_line(state, number, line)
    return "\n".join(state.out)


def _read_line(state: _State, number: int, raw: str) -> None:
    if raw.strip():
        _leave_bodies(state, raw)
    line = _dedented(raw, BODY_INDENT * len(state.bodies))
    if state.fence and state.fence.ends_before(line):
        state.fence = None
    if state.fence:
        if state.fence.closed_by(line):
            state.fence = None
        state.out.append(line)
    elif state.in_highlight:
        _read_highlighted(state, line)
    elif fence := Fence.opened_by(line):
        state.fence, state.fence_depth = fence, len(state.bodies)
        state.out.append(line)
    elif len(line) > MAX_MARKER_CHARS:
        state.out.append(line)
    else:
        state.out.extend(_read_marker(state, number, raw, line))


def _leave_bodies(state: _State, raw: str) -> None:
    """A line left of a body ends it, and a fence left open in it."""
    while state.bodies and indent_of(raw) < state.bodies[-1]:
        state.bodies.pop()
    if state.fence and len(state.bodies) < state.fence_depth:
        state.fence = None


def _read_highlighted(state: _State, line: str) -> None:
    if _HIGHLIGHT_END.fullmatch(line):
        state.in_highlight = False
        line = "~~~~~~"
    state.out.append(line)


def _read_marker(state: _State, number: int, raw: str, line: str) -> list[str]:
    """What a line outside of fences turns into."""
    if (match := _BLOCK_WITH_BODY.fullmatch(line)) and _has_body(state, number):
        state.bodies.append(indent_of(raw) + BODY_INDENT)
        title = match["title"] or match["label"]
        return _paragraph(line[: len(line) - len(line.lstrip())], title)
    if match := _HIGHLIGHT.fullmatch(line):
        state.in_highlight = state.last_highlight_end > number
        return ["", f"{match[1]}~~~~~~{match[2]}"] if state.in_highlight else [line]
    if _SNIPPET.fullmatch(line):
        return [""]
    return _read_aside(state, line)


def _read_aside(state: _State, line: str) -> list[str]:
    match = _ASIDE.fullmatch(line)
    if match and (not match["gap"] or match["brace"] or match["name"] in ASIDES):
        state.asides += 1
        return _paragraph(match["prefix"], match["label"] or match["title"])
    end = _ASIDE_END.fullmatch(line)
    if end and state.asides:
        state.asides -= 1
        return [end["prefix"].rstrip()]
    if match := _ALERT.fullmatch(line):
        return _paragraph(match["prefix"], match["title"])
    if match := _HEADING_ID.fullmatch(line):
        explicit = next(name for name in match.groups()[1:] if name)
        return [f"{match['text']} {{#{explicit}}}"]
    return [line]


def _paragraph(prefix: str, text: str | None) -> list[str]:
    blank = prefix.rstrip()
    return [blank, prefix + text, blank] if text else [blank]


def _has_body(state: _State, number: int) -> bool:
    """Whether the next line with text is indented far enough; else the marker is just prose."""
    column = indent_of(state.lines[number]) + BODY_INDENT
    following = (line for line in state.lines[number + 1 : number + 4] if line.strip())
    return indent_of(next(following, "")) >= column


def indent_of(line: str) -> int:
    """Columns of white space in front, tabs counted to the next multiple of four."""
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(4))


def _dedented(line: str, columns: int) -> str:
    """The line moved left, as far as its white space reaches."""
    if not columns:
        return line
    bare = line.lstrip(" \t")
    return " " * max(indent_of(line) - columns, 0) + bare
