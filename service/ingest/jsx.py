"""What MDX adds to Markdown, by character: tags, `{expressions}`, import and export statements.

A position goes in, where the construct ends comes out, or None if it is not one: the caller then
keeps the character as text. No position is scanned more than a few times, whatever the text.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from enum import Enum, auto

MAX_BROKEN_EXPORTS = 3  # chosen, not measured: each one scans to the end of the text
MAX_JUDGED_CHARS = 2000  # chosen, not measured: enough to tell prose from JavaScript
MAX_IMPORT_CHARS = 2000  # chosen, not measured: the names of one import statement

_TAG_NAME = re.compile(r"<(/?)([A-Za-z_$][\w$.:-]*)?")
_BEHIND_NAME = (" ", "\t", "\n", "/", ">", "{")
_SPACE = re.compile(r"[ \t]*(?:\n[ \t]*)?")
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z_:@#$*][^\s=/>\"'{}<`]*")
_EQUALS = re.compile(r"\s*=\s*")
_UNQUOTED = re.compile(r"[^\s\"'=<>`{}]+")
_STRINGS = {
    '"': re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'),
    "'": re.compile(r"'[^'\\\n]*(?:\\.[^'\\\n]*)*'"),
    "`": re.compile(r"`[^`\\]*(?:\\.[^`\\]*)*`", re.DOTALL),
}
_BRACE_STOPS = re.compile(r"""[{}"'`\\]|/[/*]""")
_STATEMENT_STOPS = re.compile(r"""[(){}\[\]"'`\\]|/[/*]|\n(?=[ \t]*\n|#{1,6}[ \t])""")
_LITERAL = re.compile(
    r"""\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|`([^`\\$]*(?:\$(?!\{)[^`\\$]*)*)`"""
    r"""|(-?(?:\d[\d.]*|Infinity)))\s*""",
    re.DOTALL,
)
_IMPORT = re.compile(
    rf"import\s*(?:type\s+)?(?:[\w$*{{}},\s]{{1,{MAX_IMPORT_CHARS}}}?(?<=[\s}}])from\s*)?"
    r"""(?:"[^"\n]+"|'[^'\n]+')[ \t]*(?:with\s*\{[^}\n]*\}[ \t]*)?;?[ \t]*(?://[^\n]*)?(?=\n|\Z)"""
)
_EXPORT = re.compile(
    r"export\s+(?:"
    r"(?:const|let|var)\s+(?:[\w$]+\s*[=:]|[{\[])"
    r"|(?:default\s+)?(?:async\s+)?function\b\s*\*?\s*[\w$]*\s*[(<]"
    r"|(?:default\s+)?(?:abstract\s+)?class\b[^\n]*\{"
    r"|(?:declare\s+)?(?:type|interface|enum)\s+[\w$]+[^\n]*[={]"
    r"|\*|\{[^}]*\}"
    r"|default\s+(?:[({\[<\"'`]|async\s*\(|[\w$][\w$.]*[ \t]*(?:[;(]|=>|\n|\Z))"
    r")"
)
_KEYWORDS = (
    "as async await case class const default delete do else export extends from function if in "
    "instanceof let new of return satisfies switch throw typeof var void while yield"
)
_TWO_WORDS = re.compile(
    r"(?<![\w$.-])(?!(?:{0})\b)[\w$-]+[ \t\n]+(?!(?:{0})\b)[\w$]".format(
        _KEYWORDS.replace(" ", "|")
    )
)


class TagKind(Enum):
    """Which part of an element a tag is."""

    OPEN = auto()
    CLOSE = auto()
    EMPTY = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """One tag, as written."""

    name: str  # "" for a fragment
    kind: TagKind
    end: int  # exclusive
    attributes: tuple[tuple[str, str | None], ...] = ()  # None: no value, or an expression

    def attribute(self, name: str) -> str | None:
        """The string given for `name`, if there is one."""
        return next((value for key, value in self.attributes if key == name and value), None)


def string_literal(expression: str) -> str | None:
    """What a string, a number or a template without holes shows; None for anything else."""
    match = _LITERAL.fullmatch(expression)
    return next((group for group in match.groups() if group is not None), None) if match else None


def is_code(expression: str) -> bool:
    """Whether JavaScript could be meant: two bare words side by side are prose."""
    expression = expression[:MAX_JUDGED_CHARS]
    if re.search(r"</|/>|=>", expression):
        return True
    bare = re.sub(r"/\*.*?\*/", " ", expression, flags=re.DOTALL)
    for pattern in _STRINGS.values():
        bare = pattern.sub("''", bare)
    return _TWO_WORDS.search(bare) is None


class Source:
    """A text with the memory that keeps repeated searches linear."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._brace_ends: dict[int, int | None] = {}
        self._last: dict[str, int] = {}
        self._broken_exports = 0

    def find(self, needle: str, start: int) -> int:
        """Like `str.find`, but free once no needle is left."""
        if needle not in self._last:
            self._last[needle] = self.text.rfind(needle)
        return self.text.find(needle, start) if self._last[needle] >= start else -1

    def after(self, needle: str, start: int) -> int | None:
        """The position behind the next `needle`."""
        found = self.find(needle, start)
        return None if found < 0 else found + len(needle)

    def brace_end(self, start: int) -> int | None:
        """The position behind the `}` that belongs to the `{` at `start`."""
        if start not in self._brace_ends:
            self._match_braces(start)
        return self._brace_ends[start]

    def _match_braces(self, start: int) -> None:
        open_braces: list[int] = []
        stop = _BRACE_STOPS.search(self.text, start)
        while stop:
            position = stop.end()
            if stop[0] == "{":
                open_braces.append(stop.start())
            elif stop[0] == "}":
                self._brace_ends[open_braces.pop()] = position
                if not open_braces:
                    return
            else:
                position = self._behind_string_or_comment(stop)
            stop = _BRACE_STOPS.search(self.text, position)
        self._brace_ends.update(dict.fromkeys(open_braces))

    def _behind_string_or_comment(self, stop: re.Match[str]) -> int:
        """Quotes in the text of nested elements close nothing; they are passed over alone."""
        mark = stop[0]
        if mark in _STRINGS:
            string = _STRINGS[mark].match(self.text, stop.start())
            return string.end() if string else stop.end()
        if mark == "/*":
            return self.after("*/", stop.end()) or stop.end()
        if mark == "//" and self.text[stop.start() - 1 : stop.start()] != ":":
            line_end = self.find("\n", stop.end())
            return len(self.text) if line_end < 0 else line_end
        return stop.end() + (mark == "\\")

    def statement_end(self, start: int) -> int | None:
        """The end of the import or export statement that starts the line at `start`."""
        if self.text.startswith("import", start):
            match = _IMPORT.match(self.text, start)
            return match.end() if match else None
        if _EXPORT.match(self.text, start) and self._broken_exports < MAX_BROKEN_EXPORTS:
            return self._export_end(start)
        return None

    def _export_end(self, start: int) -> int | None:
        """An export runs to a blank line outside brackets, as in MDX, or to a heading."""
        depth = 0
        stop = _STATEMENT_STOPS.search(self.text, start)
        while stop:
            position = stop.end()
            if stop[0] in "([{":
                depth += 1
            elif stop[0] in ")]}":
                depth -= 1
            elif stop[0].startswith("\n"):
                if depth <= 0:
                    return stop.start()
            else:
                position = self._behind_string_or_comment(stop)
            stop = _STATEMENT_STOPS.search(self.text, position)
        if depth <= 0:
            return len(self.text)
        self._broken_exports += 1
        return None

    def tag(self, start: int) -> Tag | None:
        """The tag that starts with the `<` at `start`."""
        match = _TAG_NAME.match(self.text, start)
        if match is None:
            return None
        slash, name = match[1], match[2] or ""
        if slash or not name:
            kind = TagKind.CLOSE if slash else TagKind.OPEN
            end = match.end() if not name else self._space_end(match.end())
            closed = end is not None and self.text.startswith(">", end)
            return Tag(name=name, kind=kind, end=end + 1) if end is not None and closed else None
        if self.text[match.end() : match.end() + 1] not in _BEHIND_NAME:
            return None
        return self._attributes(name, match.end())

    def _attributes(self, name: str, start: int) -> Tag | None:
        found: list[tuple[str, str | None]] = []
        position: int | None = start
        while position is not None:
            position = self._space_end(position)
            if position is None:
                return None
            if self.text.startswith(">", position):
                kind, end = TagKind.OPEN, position + 1
                return Tag(name=name, kind=kind, end=end, attributes=tuple(found))
            if self.text.startswith("/>", position):
                kind, end = TagKind.EMPTY, position + 2
                return Tag(name=name, kind=kind, end=end, attributes=tuple(found))
            if self.text.startswith("{", position):
                position = self.brace_end(position)
            else:
                position = self._attribute(position, found)
        return None

    def _space_end(self, start: int) -> int | None:
        """Behind the white space between attributes; a blank line ends the tag's chances."""
        match = _SPACE.match(self.text, start)
        end = match.end() if match else start
        return None if self.text.startswith("\n", end) else end

    def _attribute(self, start: int, found: list[tuple[str, str | None]]) -> int | None:
        """Read one attribute into `found`; returns where it ends, None if it is not one."""
        name = _ATTRIBUTE_NAME.match(self.text, start)
        if name is None:
            return None
        equals = _EQUALS.match(self.text, name.end())
        if equals is None:
            found.append((name[0], None))
            return name.end()
        value, end = self._value(equals.end())
        found.append((name[0], value))
        return end

    def _value(self, start: int) -> tuple[str | None, int | None]:
        quote = self.text[start : start + 1]
        if quote in ('"', "'"):
            end = self.after(quote, start + 1)
            return (html.unescape(self.text[start + 1 : end - 1]) if end else None), end
        if quote == "{":
            end = self.brace_end(start)
            return (string_literal(self.text[start + 1 : end - 1]) if end else None), end
        unquoted = _UNQUOTED.match(self.text, start)
        return (unquoted[0], unquoted.end()) if unquoted else (None, None)
