"""The main element of a built page in; Markdown out, so that one reader makes blocks and sections.

Code is flattened first: highlighters wrap lines in tables, links and buttons, and their class names
mean nothing outside of code. Emphasis and links are dropped here, as the reader would drop them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bs4.element import NavigableString, Tag
from markdownify import MarkdownConverter

from service.ingest.lexer import PLACEHOLDER

MARK = "data-mark"
"""Attribute of a heading: which of the page's headings it is, written behind it as `{#/mark}`; no
id that is made of words has a slash."""
RESERVED = "\x1e\x1f\0" + PLACEHOLDER  # must not occur in a page: between cells, rows and code

_ROW, _CELL = "\x1e", "\x1f"
_INFO = "data-info"
_BLOCKS = (
    "address,article,aside,blockquote,body,caption,center,dd,details,dl,dt,fieldset,figcaption,"
    "figure,footer,header,hgroup,legend,main,menu,section,summary"
)
_INLINE = (
    "a,abbr,acronym,b,bdi,bdo,big,cite,del,dfn,em,font,i,ins,kbd,mark,q,s,samp,small,span,strike,"
    "strong,sub,sup,time,tt,u,var,video"
)
_GUTTERS = "pre.lineno,td.linenos,td.rouge-gutter,td.gl,.line-numbers-wrapper"
_NO_CODE = (  # inside of code
    ".ln,.lnt,.lineno,.linenos,.gutter,.line-number,.line-numbers-rows,.hljs-ln-numbers,button,"
    "[aria-hidden=true]"
)
_TITLES = (
    ":scope > figcaption,:scope > .filename,:scope > .code-block-title,:scope > .code-block-caption"
    ",:scope > [class*=codeBlockTitle],:scope > [data-rehype-pretty-code-title]"
)
_WRAPPER = re.compile(
    r"highlight|language-|codeblock|code-block|expressive-code|frame|sourceCode", re.IGNORECASE
)
_LANGUAGE = re.compile(r"(?:language|lang|highlight|highlight-source|brush:?)-(?P<name>[\w+#.-]+)")
_NO_LANGUAGE = frozenset(  # what highlighters call code whose author named no language
    ("none", "nohighlight", "plaintext", "fallback", "default", "undefined", "notranslate")
)
_ALWAYS = re.compile(r"([\\`*_\[\]<>#|~&])")
_AT_START = re.compile(r"(?m)^([ \t]*[0-9]*)([-+:=.)])")
_TICKS = re.compile(r"`+")
_START = re.compile(r"[0-9]{1,8}")  # CommonMark: at most nine digits


def class_names(element: Tag) -> list[str]:
    """The classes of an element."""
    return [name for name in element.get_attribute_list("class") if name]


def markdown_of(main: Tag) -> str:
    """Markdown of an element that `flatten_code` has seen; changes the element."""
    for element in (main, *main.select(_BLOCKS)):
        element.name = "div"
    for table in main.select("table"):
        _lay_out(table)
    for box in main.select("li input[type=checkbox]"):
        gap = "" if str(box.next_sibling or "")[:1].isspace() else " "
        box.replace_with(f"[{'x' if box.has_attr('checked') else ' '}]{gap}")
    return _Converter(strip=_INLINE.split(",")).convert_soup(main)


def drop(elements: Iterable[Tag]) -> None:
    """Take elements away, some of which may lie in others."""
    for element in list(elements):
        if not element.decomposed:
            element.decompose()


def flatten_code(root: Tag) -> None:
    """Leave the bare code in every `pre`, its language and title in an attribute."""
    drop(root.select(_GUTTERS))
    for pre in root.find_all("pre"):
        if not pre.decomposed:
            _flatten(pre)


def _flatten(pre: Tag) -> None:
    own = [*pre.select(":scope > code"), pre]
    drop(pre.select(_NO_CODE))
    code = _code(pre)
    pre.clear()
    wrappers = list(_wrappers(pre))
    language = next(filter(None, map(_language, [*own, *wrappers])), "")
    title = _take_title(wrappers)
    if not code.strip():
        pre.decompose()
        return
    pre.append(NavigableString(code.strip("\n")))
    pre[_INFO] = f'{language} title="{title}"' if title else language


def _wrappers(pre: Tag) -> Iterator[Tag]:
    """The elements that hold this code alone, innermost first."""
    for parent in pre.parents:
        is_wrapper = parent.name == "figure" or _WRAPPER.search(" ".join(class_names(parent)))
        is_layout = parent.name in ("div", "td", "tr", "tbody", "table")
        if not (is_wrapper or is_layout) or len(parent.find_all("pre", limit=2)) != 1:
            return
        yield parent


def _language(element: Tag) -> str:
    """The language an element's attributes name; "" if none or only a stand-in."""
    named = [element.get("data-lang"), element.get("data-language")]
    if element.name in ("pre", "code"):
        named.append(element.get("lang"))
    found = (_LANGUAGE.fullmatch(name) for name in class_names(element))
    named += [match["name"] for match in found if match]
    names = (name for name in named if isinstance(name, str) and name not in _NO_LANGUAGE)
    return next((name for name in names if re.fullmatch(r"[\w+#.-]+", name)), "")


def _take_title(wrappers: list[Tag]) -> str:
    """The file name shown above the code; it goes, since a fence has a place for it."""
    for wrapper in wrappers:
        if found := wrapper.select_one(_TITLES):
            title = " ".join(found.get_text().split())
            found.decompose()
            return title.replace('"', "'")
    return ""


def _code(pre: Tag) -> str:
    """The text with the line breaks that browsers show: of `br` and of lines that are blocks."""
    for line in pre.select("br"):
        line.replace_with("\n")
    for line in pre.select("div,p,li,tr"):
        following = line.next_sibling
        if not line.get_text().endswith("\n") and not str(following or "").startswith("\n"):
            line.append("\n")
    return pre.get_text()


def _lay_out(table: Tag) -> None:
    """A table that holds more than lines of text is layout: its cells become paragraphs."""
    if table.select_one("table,pre,h1,h2,h3,h4,h5,h6") or table.find_parent(["td", "th"]):
        parts = table.select("thead,tbody,tfoot,tr,td,th")
        for part in (table, *parts):
            part.name = "div"
    for caption in table.select(":scope > div"):
        table.insert_before(caption.extract())


def _code_span(code: str, *, in_table: bool) -> str:
    """A span that shows `code`; what follows is kept off its backticks."""
    shown = code.replace("\n", " ")
    if not shown.strip():
        return " "
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    is_padded = "`" in (shown[0], shown[-1]) or shown[0] == shown[-1] == " "
    pad = " " if is_padded else ""
    shown = shown.replace("|", "\\|") if in_table else shown
    return f"{ticks}{pad}{shown}{pad}{ticks}{PLACEHOLDER}"


class _Converter(MarkdownConverter):
    """markdownify with what the cleaned text needs: nothing lost, nothing taken for markup."""

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Text that Markdown shows as it is, wherever in a line it stands."""
        return _AT_START.sub(r"\1\\\2", _ALWAYS.sub(r"\\\1", text))

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A heading and its mark."""
        line = " ".join(text.split())
        if "_inline" in parent_tags or not line:
            return f" {line} "
        mark = el.get(MARK)
        return f"\n\n{'#' * max(1, min(6, n))} {line}{f' {{#/{mark}}}' if mark else ''}\n\n"

    def convert_div(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A block; in a heading or a cell its words."""
        text = text.strip(" \n")
        if "_inline" in parent_tags:
            return f" {text} "
        return f"\n\n{text}\n\n" if text else "\n\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A fence that no line of the code closes."""
        code = el.get_text()
        if "_inline" in parent_tags:
            return _code_span(code, in_table=True)
        longest = max((len(run) for run in _TICKS.findall(code)), default=0)
        fence = "`" * max(3, longest + 1)
        info = str(el.get(_INFO, "")).replace("`", "")
        return f"\n\n{fence}{info}\n{code}\n{fence}\n\n"

    def convert_code(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A code span."""
        if "_noformat" in parent_tags:
            return text
        return _code_span(el.get_text(), in_table="td" in parent_tags or "th" in parent_tags)

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """The description."""
        return self.escape(" ".join(str(el.get("alt") or "").split()), parent_tags)

    def convert_hr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A break between blocks; asterisks, as `- ---` would be no list item."""
        return " " if "_inline" in parent_tags else "\n\n***\n\n"

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A list; one that interrupts a paragraph has to start with 1."""
        text = text.strip("\n")
        if "_inline" in parent_tags:
            return f" {text} "
        is_tight = "li" in parent_tags and _first_number(el) in ("", "1")
        return f"{'' if is_tight else chr(10)}\n{text}\n\n"

    convert_ul = convert_list
    convert_ol = convert_list

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item; all of a list have its first number, since the reader counts on."""
        text = text.strip(" \n")
        if "_inline" in parent_tags or not text:
            return f" {text} " if text else ""
        number = _first_number(el.parent)
        marker = f"{number}{'.)'[_turn(el.parent)]} " if number else f"{'-*'[_turn(el.parent)]} "
        indent = " " * len(marker)
        body = re.sub(r"\n(?=[^\n])", "\n" + indent, text)
        return f"{marker}{body}\n{chr(10) if el.find('p', recursive=False) else ''}"

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A cell on one line."""
        return " ".join(text.split()) + _CELL

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A row."""
        return text + _ROW

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Pipe rows, the first as header; all as wide as the widest, or Markdown drops cells."""
        rows = [row.strip("\n ").split(_CELL)[:-1] for row in text.split(_ROW)]
        rows = [row for row in rows if any(row)]
        if not rows or "_inline" in parent_tags:
            return " ".join(cell for row in rows for cell in row)
        width = max(map(len, rows))
        padded = [row + [""] * (width - len(row)) for row in rows]
        lines = [f"| {' | '.join(row)} |" for row in padded]
        lines.insert(1, f"| {' | '.join(['---'] * width)} |")
        return "\n\n" + "\n".join(lines) + "\n\n"


def _first_number(parent: Tag | None) -> str:
    """`1` or the number an ordered list starts with; "" for other lists."""
    if parent is None or parent.name != "ol":
        return ""
    start = str(parent.get("start", ""))
    return start if _START.fullmatch(start) else "1"


def _turn(parent: Tag | None) -> int:
    """0 or 1, so that a list directly after another of its kind does not continue it."""
    turn = 0
    before = parent.find_previous_sibling() if parent else None
    while before is not None and parent is not None and before.name == parent.name:
        turn, before = 1 - turn, before.find_previous_sibling()
    return turn
