"""An article's body in, its pieces out: text, code, tags, and syntax that readers never see.

Left to right, once. Nothing inside code is looked at; what only looks like syntax becomes text.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from service.ingest.dialects import Fence, indent_of
from service.ingest.jsx import Source, Tag, TagKind, is_code, string_literal

PLACEHOLDER = "\U0001da8b"
"""Stands where a tag stood: a SignWriting bracket, because emphasis beside a tag needs punctuation
there and no article holds this one; `articles` removes it from what it reads."""

VISIBLE_PROPS = ("label", "title", "alt", "caption", "summary")
"""Attributes of components that readers see as text; of HTML elements it is `alt` alone."""

_SPECIAL = re.compile(r"[\n`<{\\$]")
_MATH = re.compile(
    r"\$\$(?:[^$\n]|\n(?![ \t]*\n)){1,2000}\$\$|\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\w)"
)
_MATH_MARKS = re.compile(r"[\\^_]")  # without one of these two dollars are amounts of money
_TICKS = re.compile(r"`+")
_BOUNDARY = re.compile(  # lines an inline code span does not reach
    r"^(?:[ \t>]*$|[ \t>]*(?:#{1,6}[ \t]|`{3}|~{3}|[-*+][ \t]|\d{1,9}[.)][ \t]|\|))", re.MULTILINE
)
_ATX = re.compile(r"[ \t>]*#{1,6}[ \t][^\n]*", re.MULTILINE)
_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}(?=\S)|[ \t]*$)")
_KEPT_ID = re.compile(r"\{#[^\s{}#]+\}(?=[ \t]*(?:#+[ \t]*)?$)", re.MULTILINE)
_TEMPLATE_TAG = re.compile(r"\{\{[<%](?P<hugo>[^\n{}]*)[%>]\}\}|\{%-?[ \t]*\w[^\n{}]*%\}")
_TEMPLATE_PROP = re.compile(rf'\b(?:{"|".join(VISIBLE_PROPS)})="([^"\n]*)"')
_ATTRIBUTE_LIST = re.compile(
    r"""\{:?[ \t]*(?:(?:[.#][\w-]+)+|[\w-]+=(?:"[^"\n]*"|'[^'\n]*'|[^\s{}"']+))"""
    r"""(?:[ \t]+(?:(?:[.#][\w-]+)+|[\w-]+=(?:"[^"\n]*"|'[^'\n]*'|[^\s{}"']+)))*[ \t]*\}"""
)
_RAW_ELEMENT = re.compile(r"<(script|style|pre)(?=[\s>])", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of the source: kept as it is, or what stands for it in the output."""

    start: int
    end: int
    output: str | None = None  # None: the source itself
    tag: Tag | None = None
    is_code: bool = False
    doubt: str | None = None  # a key of the warnings: strict MDX would not accept this


def escaped(text: str) -> str:
    """Markdown that shows exactly `text`, on one line."""
    return _MARKUP.sub(r"\\\1", re.sub(r"\s+", " ", text))


class Lexer:
    """Cuts one body; `mdx` says whether braces, import and export have a meaning."""

    def __init__(self, text: str, *, mdx: bool) -> None:
        self.text = text
        self.mdx = mdx
        self._source = Source(text)
        self._lowered = Source(text.lower()) if len(text.lower()) == len(text) else self._source
        self._boundaries = [match.start() for match in _BOUNDARY.finditer(text)]
        self._after_blank = True
        self._item_columns: list[int] = []
        self._open_tags: Counter[str] = Counter()

    def pieces(self) -> Iterator[Piece]:
        """All pieces in order; the stretches between them are plain text."""
        position, at_line_start = 0, True
        while position < len(self.text):
            piece = self._at_line_start(position) if at_line_start else None
            at_line_start = False
            if piece is None:
                special = _SPECIAL.search(self.text, position)
                if special is None:
                    return
                position = special.end()
                at_line_start = special[0] == "\n"
                piece = self._at_character(special[0], special.start())
                if special[0] == "\\" and self.text[position : position + 1] != "\n":
                    position += 1
            if piece:
                yield piece
                position = piece.end
                at_line_start = self.text[position - 1] == "\n"

    def _at_character(self, character: str, start: int) -> Piece | None:
        if character == "`":
            return self._code_span(start)
        if character == "<":
            return self._angle(start)
        if character == "$":
            return self._math(start) if self.mdx else None
        if character == "{":
            return self._mdx_brace(start) if self.mdx else self._markdown_brace(start)
        return None

    # ------------------------------------------------------------ whole lines

    def _at_line_start(self, start: int) -> Piece | None:
        line = self._line(start)
        after_blank, self._after_blank = self._after_blank, not line.strip(" \t>")
        if not line.strip():
            return None
        if not self.mdx and self._is_indented_code(line, after_blank):
            self._after_blank = True
            return Piece(start=start, end=self._next_line(start), is_code=True)
        if fence := Fence.opened_by(line):
            return Piece(start=start, end=self._fence_end(start, fence), is_code=True)
        if self.mdx and after_blank and line.startswith(("import", "export")):
            return self._statement(start)
        return None

    def _line(self, start: int) -> str:
        end = self._source.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def _next_line(self, start: int) -> int:
        return self._source.after("\n", start) or len(self.text)

    def _statement(self, start: int) -> Piece | None:
        end = self._source.statement_end(start)
        if end is None:
            return None
        self._after_blank = True
        return Piece(start=start, end=self._next_line(end), output="\n")

    def _fence_end(self, start: int, fence: Fence) -> int:
        position = self._next_line(start)
        while position < len(self.text):
            line = self._line(position)
            if fence.ends_before(line):
                return position
            position = self._next_line(position)
            if fence.closed_by(line):
                break
        return position

    def _is_indented_code(self, line: str, after_blank: bool) -> bool:
        """Four columns more than the list item it could belong to, and not a child of a tag."""
        column = indent_of(line)
        while after_blank and self._item_columns and column < self._item_columns[-1]:
            self._item_columns.pop()
        base = self._item_columns[-1] if self._item_columns else 0
        if column >= base + 4 and after_blank:
            return not self._open_tags.total()
        if marker := _LIST_MARKER.match(line):
            while self._item_columns and column < self._item_columns[-1]:
                self._item_columns.pop()
            self._item_columns.append(marker.end())
        return False

    # ------------------------------------------------------------ within lines

    def _code_span(self, start: int) -> Piece:
        """A span closed within its paragraph is code; other backticks are text."""
        ticks = self._ticks(start)
        following = bisect_right(self._boundaries, start)
        limit = self._boundaries[following] if following < len(self._boundaries) else None
        heading = _ATX.match(self.text, self.text.rfind("\n", 0, start) + 1)
        limit = min(heading.end() if heading else len(self.text), limit or len(self.text))
        end = self._closing_ticks(start + ticks, ticks, limit)
        return Piece(start=start, end=end or start + ticks, is_code=True)

    def _math(self, start: int) -> Piece | None:
        """TeX between dollars: its braces are no expressions."""
        math = _MATH.match(self.text, start)
        if math is None or not _MATH_MARKS.search(math[0]):
            return None
        return Piece(start=start, end=math.end(), is_code=True)

    def _ticks(self, start: int) -> int:
        match = _TICKS.match(self.text, start)
        return len(match[0]) if match else 0

    def _closing_ticks(self, start: int, ticks: int, limit: int) -> int | None:
        for match in _TICKS.finditer(self.text, start, limit):
            if len(match[0]) == ticks:
                return match.end()
        return None

    def _angle(self, start: int) -> Piece | None:
        if self.text.startswith("<!--", start):
            end = self._source.after("-->", start + 4)
            comment = Piece(start=start, end=end or start, output=PLACEHOLDER, doubt="<!--")
            return comment if end else None
        if raw := _RAW_ELEMENT.match(self.text, start):
            piece = self._raw_element(start, raw[1].lower())
            if piece:
                return piece
        tag = self._source.tag(start)
        if tag is None:
            is_spaced = not self.text[start + 1 : start + 2].strip()
            return None if is_spaced else Piece(start=start, end=start + 1, doubt="<")
        self._note_open(tag)
        return Piece(start=start, end=tag.end, tag=tag)

    def _note_open(self, tag: Tag) -> None:
        """Keep in mind whose children follow; a tag that nothing closes has none."""
        if tag.kind is TagKind.CLOSE and self._open_tags[tag.name]:
            self._open_tags[tag.name] -= 1
        if tag.kind is TagKind.OPEN and self._source.find(f"</{tag.name}", tag.end) >= 0:
            self._open_tags[tag.name] += 1

    def _raw_element(self, start: int, name: str) -> Piece | None:
        """Scripts and styles vanish; preformatted text becomes a fence."""
        tag = self._source.tag(start)
        close = self._lowered.find(f"</{name}", start)
        end = self._source.after(">", close) if close >= 0 else None
        if tag is None or tag.kind is not TagKind.OPEN or end is None or tag.end > close:
            return None
        if name != "pre":
            return Piece(start=start, end=end, output=PLACEHOLDER)
        if self.mdx:
            return None
        code = html.unescape(_ANY_TAG.sub("", self.text[tag.end : close])).strip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(code)), default=0))
        return Piece(start=start, end=end, output=f"\n\n{fence}\n{code}\n{fence}\n\n", is_code=True)

    def _mdx_brace(self, start: int) -> Piece | None:
        if kept := _KEPT_ID.match(self.text, start):
            return Piece(start=start, end=kept.end(), is_code=True)
        end = self._source.brace_end(start)
        expression = self.text[start + 1 : end - 1] if end else ""
        if end is None or not is_code(expression):
            return Piece(start=start, end=start + 1, doubt="{")
        string = string_literal(expression)
        if string is not None:
            return Piece(start=start, end=end, output=escaped(string))
        has_text = "</" in expression
        return Piece(start=start, end=end, output=PLACEHOLDER, doubt="jsx" if has_text else None)

    def _markdown_brace(self, start: int) -> Piece | None:
        """Comments and the tags of Hugo, Liquid and attribute lists; other braces are text."""
        if self.text.startswith("{/*", start):
            end = self._source.after("*/}", start + 3)
            return Piece(start=start, end=end, output=PLACEHOLDER) if end else None
        if _KEPT_ID.match(self.text, start):
            return None
        if template := _TEMPLATE_TAG.match(self.text, start):
            seen = " ".join(_TEMPLATE_PROP.findall(template["hugo"] or ""))
            output = PLACEHOLDER + escaped(seen)
            return Piece(start=start, end=template.end(), output=output)
        if attributes := _ATTRIBUTE_LIST.match(self.text, start):
            return Piece(start=start, end=attributes.end(), output=PLACEHOLDER)
        return None
