"""Markdown in; the cleaned text with the exact spans of its blocks and sections out.

Block structure stays (headings, list markers, fences, table rows; quotes lose their `>`), inline
markup goes except the backticks of code. A paragraph of a list item after its first is PROSE; a
marker is written only in front of an item that starts with a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from service.ingest.anchors import Heading, sections_of, split_explicit_id
from service.ingest.lexer import PLACEHOLDER
from service.ingest.slugs import AnchorStyle, Unnamed, heading_ids, text_in_page
from service.types import Block, BlockKind, Section

MAX_NESTING = 80  # chosen, not measured: the parser recurses, Python allows about 1000 frames
MAX_BRACKETS = 2000  # chosen, not measured: more in one paragraph and links are not looked for

_TITLE_IN_INFO = re.compile(r"""(?<![\w-])(?:title|filename)=(?:"[^"]*"|'[^']*')""")
_LANGUAGE = re.compile(r"[^\s{,]+")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """The cleaned text; sections cover it, gaps between blocks are white space."""

    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    title: str


@dataclass(slots=True, kw_only=True)
class _List:
    number: int | None  # of the next item; None in bullet lists
    is_tight: bool
    indent: str = ""  # of the current item's content


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A heading before all headings of the article are known."""

    unnamed: Unnamed
    level: int
    start: int | None  # None if it shows nothing


def read_markdown(
    markdown: str,
    *,
    indented_code: bool,
    title: str = "",
    fallback_title: str = "",
    anchors: AnchorStyle = "github",
) -> Cleaned:
    """Parse CommonMark with tables, strikethrough, footnotes and definition lists, and clean it.

    Without `indented_code` indentation never makes code, as in MDX. Without `title` the first
    level-one heading is the title, and without that `fallback_title`.
    """
    emitter = _Emitter()
    emitter.read(_parse(markdown, indented_code=indented_code))
    text = "".join(emitter.parts)
    headings = emitter.headings(anchors)
    if not title:
        first_h1 = (heading.text for heading in headings if heading.level == 1)
        title = next(first_h1, fallback_title)
    sections = sections_of(headings, title=title, end=len(text))
    return Cleaned(text=text, title=title, sections=sections, blocks=tuple(emitter.blocks))


def _parser(*, indented_code: bool) -> MarkdownIt:
    """Inline parsing is switched off: `_inline` does it paragraph by paragraph."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.use(footnote_plugin).use(deflist_plugin).enable(["table", "strikethrough"])
    parser.disable(["footnote_tail", "footnote_inline", "html_block", "html_inline", "inline"])
    return parser if indented_code else parser.disable("code")


def _parse(markdown: str, *, indented_code: bool) -> list[Token]:
    parser = _parser(indented_code=indented_code)
    environment: dict[str, object] = {}
    tokens = parser.parse(markdown, environment)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        # The parser drops what is nested deeper: such a file is read without lists and quotes.
        parser = _parser(indented_code=False).disable(["list", "blockquote", "deflist"])
        environment = {}
        tokens = parser.parse(markdown, environment)
    plain = _parser(indented_code=indented_code).disable(["link", "image", "footnote_ref"])
    for token in tokens:
        if token.type == "inline":
            reader = plain if token.content.count("[") > MAX_BRACKETS else parser
            token.children = []
            reader.inline.parse(token.content, reader, environment, token.children)
    return tokens


def _shown(children: Sequence[Token]) -> str:
    """What readers see of a paragraph, with the backticks of inline code."""
    return "".join(_shown_part(token) for token in children).replace(PLACEHOLDER, "")


def _shown_part(token: Token) -> str:
    if token.type == "code_inline":
        return _code_span(token.content)
    if token.type == "image":
        return _shown(token.children or [])
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return token.content


def _code_span(code: str) -> str:
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(code)), default=0))
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def _plain(children: Sequence[Token]) -> str:
    """Readable text without markup on one line."""
    words = (
        _plain(token.children or []) if token.type == "image" else text_in_page([token])
        for token in children
    )
    return " ".join("".join(words).replace(PLACEHOLDER, "").split())


def _take_explicit_id(children: list[Token]) -> str | None:
    """Cut `{#id}` off the end of a heading."""
    if not children or children[-1].type != "text":
        return None
    children[-1].content, explicit = split_explicit_id(children[-1].content)
    return explicit


class _Emitter:
    """Writes the cleaned text block by block and notes where each one stands."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.blocks: list[Block] = []
        self._found: list[_Found] = []
        self._length = 0
        self._lists: list[_List] = []
        self._marker = ""  # of the list item that has begun, until it is written
        self._gap = ""  # between the last block and the next

    def read(self, tokens: Sequence[Token]) -> None:
        """Write everything."""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                position = self._table(tokens, position)
            elif token.type == "heading_open":
                self._heading(token, tokens[position + 1].children or [])
                position += 1
            elif token.type.endswith("_list_open"):
                self._open_list(tokens, position)
            else:
                self._single(token)
            position += 1

    def headings(self, anchors: AnchorStyle) -> list[Heading]:
        """The headings that were written; those without text count for the others' ids."""
        ids = heading_ids([found.unnamed for found in self._found], anchors)
        return [
            Heading(
                start=found.start,
                level=found.level,
                text=_plain(found.unnamed.children),
                anchor=anchor,
            )
            for found, anchor in zip(self._found, ids, strict=True)
            if found.start is not None
        ]

    def _single(self, token: Token) -> None:
        if token.type == "inline":
            self._paragraph(_shown(token.children or []))
        elif token.type in ("fence", "code_block"):
            self._write(BlockKind.CODE, _fenced(token))
        elif token.type == "list_item_open":
            self._open_item()
        elif token.type.endswith("_list_close"):
            self._lists.pop()
            self._marker = ""
            self._gap = self._between()

    def _heading(self, token: Token, children: list[Token]) -> None:
        level = int(token.tag[1])
        unnamed = Unnamed(explicit=_take_explicit_id(children), children=children)
        line = " ".join(_shown(children).split())
        if line:
            self._write(BlockKind.HEADING, f"{'#' * level} {line}")
        start = self.blocks[-1].start if line else None
        self._found.append(_Found(unnamed=unnamed, level=level, start=start))

    def _open_list(self, tokens: Sequence[Token], position: int) -> None:
        opening = tokens[position]
        number = int(opening.attrs.get("start", 1)) if opening.type[0] == "o" else None
        is_tight = _is_tight(tokens, position)
        if self._lists and not self._marker:
            self._gap = self._between()
        self._lists.append(_List(number=number, is_tight=is_tight, indent=self._indent()))

    def _open_item(self) -> None:
        innermost = self._lists[-1]
        outer = self._lists[-2].indent if len(self._lists) > 1 else ""
        self._marker = "- " if innermost.number is None else f"{innermost.number}. "
        innermost.indent = outer + " " * len(self._marker)
        if innermost.number is not None:
            innermost.number += 1

    def _indent(self) -> str:
        return self._lists[-1].indent if self._lists else ""

    def _between(self) -> str:
        return "\n" if self._lists and self._lists[-1].is_tight else "\n\n"

    def _paragraph(self, text: str) -> None:
        text = "\n".join(line.strip() for line in text.split("\n")).strip()
        if not text:
            return
        kind = BlockKind.LIST_ITEM if self._marker else BlockKind.PROSE
        self._write(kind, text)

    def _write(self, kind: BlockKind, text: str) -> None:
        """Add one block; its continuation lines stand below its first character."""
        indent = self._indent()
        marker, self._marker = self._marker, ""
        if kind is BlockKind.HEADING:
            indent = ""
        elif kind is BlockKind.LIST_ITEM:
            indent = indent[: len(indent) - len(marker)]
            text = marker + text
            text = text.replace("\n", "\n" + " " * (len(indent) + len(marker)))
        else:
            text = _indented(text, indent)
        self._add(self._gap + indent)
        self.blocks.append(Block(kind=kind, start=self._length, end=self._length + len(text)))
        self._add(text)
        self._gap = self._between()

    def _add(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)

    def _table(self, tokens: Sequence[Token], position: int) -> int:
        """Write a table as pipe rows; returns the position of its last token."""
        rows: list[list[str]] = []
        while tokens[position].type != "table_close":
            token = tokens[position]
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(" ".join(_shown(token.children or []).split()))
            position += 1
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, f"| {' | '.join('---' for _ in rows[0])} |")
        self._write(BlockKind.TABLE, "\n".join(lines))
        return position


def _indented(text: str, indent: str) -> str:
    """The lines after the first moved right; empty lines stay empty."""
    return re.sub(r"\n(?=[^\n])", lambda _: "\n" + indent, text) if indent else text


def _is_tight(tokens: Sequence[Token], position: int) -> bool:
    """Whether the list's paragraphs stand without blank lines between them."""
    level = tokens[position].level
    for token in tokens[position + 1 :]:
        if token.level == level:
            return True
        if token.type == "paragraph_open" and token.level == level + 2:
            return token.hidden
    return True


def _fenced(token: Token) -> str:
    """The code between fences that no line of it can close, with language and title."""
    code = token.content.removesuffix("\n")
    longest = max((len(run) for run in _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    language = _LANGUAGE.match(token.info.strip())
    title = _TITLE_IN_INFO.search(token.info)
    info = " ".join(match[0] for match in (language, title) if match)
    return f"{fence}{info}\n{code}\n{fence}".replace(PLACEHOLDER, "")
