"""An article's body in, Markdown without MDX, JSX or dialect syntax out: tags go, children stay.

Removed inline syntax leaves a PLACEHOLDER, so that white space beside it counts in headings as it
does in the built page; `markdown` drops it. A tag without its counterpart stays as text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from service.ingest.dialects import flatten_dialects
from service.ingest.jsx import Tag, TagKind
from service.ingest.lexer import PLACEHOLDER, VISIBLE_PROPS, Lexer, Piece, escaped

_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset "
    "figcaption figure footer form header hgroup html legend li main menu nav ol option p section "
    "summary table tbody td tfoot th thead tr ul video"
)
_INLINE_NAMES = (
    "a abbr area audio b base bdi bdo br button canvas cite code col colgroup data datalist del "
    "dfn em embed font h1 h2 h3 h4 h5 h6 head hr i iframe img input ins kbd label link map mark "
    "meta meter noscript object optgroup output param picture pre progress q rp rt ruby s samp "
    "script select slot small source span strike strong style sub sup svg template textarea time "
    "title track tt u var wbr"
)
_BLOCK_ELEMENTS = frozenset(_BLOCK_NAMES.split())
_INLINE_ELEMENTS = frozenset(_INLINE_NAMES.split())
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_TAGS = re.compile(r"<[^<>]*>")
_EMPTIED_LINE = re.compile(rf"^[ \t]*{PLACEHOLDER}[ \t{PLACEHOLDER}]*$", re.MULTILINE)
_NO_PLAIN_LINE = re.compile(r"[ \t]*(?:>|\||[-*+][ \t]|\d{1,9}[.)][ \t])|[ \t]*#{1,6}[ \t]")
_WARNINGS = {
    "<!--": "an HTML comment; strict MDX rejects the file",
    "<": "a `<` that opens no tag is kept as text; strict MDX rejects the file",
    "{": "a `{` that opens no expression is kept as text; strict MDX rejects the file",
    "tag": "a tag has no counterpart; strict MDX rejects the file",
    "jsx": "an expression that contains elements is left out, with their text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stripped:
    """Markdown, and one warning for each kind of thing strict MDX would not accept."""

    markdown: str
    warnings: tuple[str, ...] = ()


def strip_mdx(body: str, *, mdx: bool) -> Stripped:
    """Reduce `body` to Markdown; `mdx` says whether braces, import and export have a meaning."""
    text = flatten_dialects(body)
    pieces = list(Lexer(text, mdx=mdx).pieces())
    if not mdx and (dedented := _dedent_children(text, pieces)) != text:
        text = dedented
        pieces = list(Lexer(text, mdx=mdx).pieces())
    paired = _pairs(pieces)
    markdown = _Renderer(text, pieces, paired, mdx=mdx).markdown()
    return Stripped(markdown=markdown, warnings=_warnings(pieces, paired) if mdx else ())


def _warnings(pieces: list[Piece], paired: dict[int, int]) -> tuple[str, ...]:
    found = [piece.doubt for piece in pieces if piece.doubt]
    if any(_is_alone(piece, paired) for piece in pieces):
        found.append("tag")
    return tuple(_WARNINGS[doubt] for doubt in dict.fromkeys(found))


def _is_alone(piece: Piece, paired: dict[int, int]) -> bool:
    tag = piece.tag
    return tag is not None and tag.kind is not TagKind.EMPTY and piece.start not in paired


def _pairs(pieces: list[Piece]) -> dict[int, int]:
    """Start of each tag that has a counterpart -> start of the counterpart."""
    paired: dict[int, int] = {}
    opened: list[Piece] = []
    waiting: dict[str, int] = {}
    for piece in pieces:
        tag = piece.tag
        if tag is None or tag.kind is TagKind.EMPTY:
            continue
        if tag.kind is TagKind.OPEN:
            opened.append(piece)
            waiting[tag.name] = waiting.get(tag.name, 0) + 1
        elif waiting.get(tag.name):
            partner = _pop_until(tag.name, opened, waiting)
            paired[partner.start], paired[piece.start] = piece.start, partner.start
    return paired


def _pop_until(name: str, opened: list[Piece], waiting: dict[str, int]) -> Piece:
    while True:
        piece = opened.pop()
        if piece.tag:
            waiting[piece.tag.name] -= 1
            if piece.tag.name == name:
                return piece


def _dedent_children(text: str, pieces: list[Piece]) -> str:
    """Move the children of tags that stand alone on a line to the column of the tag."""
    lines = text.split("\n")
    shifts = [0] * (len(lines) + 1)
    breaks = [match.start() for match in re.finditer("\n", text)]
    paired = _pairs(pieces)
    for piece in pieces:
        if piece.tag is None or piece.tag.kind is TagKind.CLOSE or piece.start not in paired:
            continue
        first = bisect_left(breaks, piece.tag.end) + 1
        last = bisect_left(breaks, paired[piece.start])
        if first < last and (column := _lone_column(text, piece)) is not None:
            body = next((line for line in lines[first:last] if line.strip()), "")
            shift = max(_column(body) - column, 0)
            shifts[first] += shift
            shifts[last] -= shift
    return "\n".join(_shifted(lines, shifts))


def _lone_column(text: str, piece: Piece) -> int | None:
    """The column of a tag with nothing before it and nothing but tags behind it on its line."""
    start = text.rfind("\n", 0, piece.start) + 1
    end = text.find("\n", piece.end)
    before, behind = text[start : piece.start], text[piece.end : end if end >= 0 else len(text)]
    return len(before) if not before.strip(" ") and not _TAGS.sub("", behind).strip() else None


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _shifted(lines: list[str], shifts: list[int]) -> list[str]:
    total, out = 0, []
    for line, shift in zip(lines, shifts, strict=False):
        total += shift
        out.append(line[min(total, _column(line)) :])
    return out


class _Renderer:
    """Joins the pieces; knows what stands on the line being written."""

    def __init__(
        self, text: str, pieces: list[Piece], paired: dict[int, int], *, mdx: bool
    ) -> None:
        self._text = text
        self._pieces = pieces
        self._paired = paired
        self._mdx = mdx
        self._out: list[str] = []
        self._line = ""  # what has been written of the current line
        self._heading_id: str | None = None
        self._in_heading = False

    def markdown(self) -> str:
        """The whole text."""
        position = 0
        for piece in self._pieces:
            self._write(self._text[position : piece.start])
            if piece.tag:
                self._tag(piece, piece.tag)
            elif piece.output is not None:
                self._write(piece.output, is_code=piece.is_code)
            else:
                self._write(self._text[piece.start : piece.end], is_code=piece.is_code)
            position = piece.end
        self._write(self._text[position:])
        return _EMPTIED_LINE.sub("", "".join(self._out))

    def _write(self, text: str, *, is_code: bool = False) -> None:
        if self._in_heading and not is_code:
            text = text.replace("\n", " ")
        self._out.append(text)
        _head, newline, tail = text.rpartition("\n")
        line = tail if newline else self._line + tail
        self._line = line if len(line) < 200 else line[:100] + line[-50:]  # its ends are enough

    def _tag(self, piece: Piece, tag: Tag) -> None:
        name = tag.name.lower() if tag.name in _HEADINGS or tag.name.islower() else tag.name
        is_html = name in _BLOCK_ELEMENTS or name in _INLINE_ELEMENTS
        if _is_alone(piece, self._paired) and not is_html:
            self._write(self._text[piece.start : piece.end])
        elif name in _HEADINGS and piece.start in self._paired:
            self._heading_tag(int(name[1]), tag)
        elif name == "br":
            self._write(" ")
        elif name in _BLOCK_ELEMENTS:
            self._block_tag(piece, tag)
        else:
            self._inline_tag(piece, tag, is_html=is_html)

    def _heading_tag(self, level: int, tag: Tag) -> None:
        """A heading as an element; in MDX it has an anchor only if the author wrote one."""
        if tag.kind is TagKind.OPEN:
            self._in_heading, self._heading_id = True, tag.attribute("id")
            mark = "#" * level + " " if self._heading_id or not self._mdx else ""
            self._write(("" if self._is_line_empty() else "\n\n") + mark)
        else:
            explicit = f" {{#{self._heading_id}}}" if self._heading_id else ""
            self._in_heading = False
            self._write(f"{explicit}\n\n")

    def _block_tag(self, piece: Piece, tag: Tag) -> None:
        """Text before and behind a block element's tag are different paragraphs."""
        if self._is_line_empty():
            self._write(PLACEHOLDER)
        elif _NO_PLAIN_LINE.match(self._line):
            self._write(f"{PLACEHOLDER} ")
        elif self._text.startswith("\n", piece.end):
            self._write(f"{PLACEHOLDER}\n")
        else:
            indent = self._line[: len(self._line) - len(self._line.lstrip())]
            self._write(f"{PLACEHOLDER}\n\n{indent}")

    def _inline_tag(self, piece: Piece, tag: Tag, *, is_html: bool) -> None:
        names = ("alt",) if is_html else VISIBLE_PROPS
        seen = dict.fromkeys(
            escaped(text.strip()) for name in names if (text := tag.attribute(name))
        )
        if not seen:
            glues = not is_html and self._line[-1:].isalnum()
            glues = glues and self._text[piece.end : piece.end + 1].isalnum()
            self._write(f"{PLACEHOLDER} " if glues else PLACEHOLDER)
        elif is_html or not self._is_line_empty():
            space = " " if self._line.strip(PLACEHOLDER + " ") else ""
            self._write(f"{space}{' '.join(seen)} ")
        else:
            indent = self._line.replace(PLACEHOLDER, "")
            gap = f"\n\n{indent}"
            self._write(gap + gap.join(seen) + gap)

    def _is_line_empty(self) -> bool:
        return not self._line.strip(PLACEHOLDER + " \t")
