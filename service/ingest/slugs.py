"""Headings of one article in, the ids its website gives them out, for each kind of generator.

An id the author wrote always wins; what differs is the text an id is made of, the characters it
keeps, and how repetitions are told apart.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
from markdown_it.token import Token

from service.ingest.anchors import Slugger
from service.ingest.lexer import PLACEHOLDER

AnchorStyle = Literal["github", "mkdocs", "hugo", "kramdown"]

_NOT_MKDOCS = re.compile(r"[^\w\s-]", re.ASCII)
_MKDOCS_GAP = re.compile(r"[-\s]+", re.ASCII)
_MKDOCS_COUNTED = re.compile(r"(.*)_([0-9]+)", re.DOTALL)
_NOT_HUGO = regex.compile(r"[^\p{L}\p{Nd}_\-]")
_NOT_KRAMDOWN = regex.compile(r"[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\-]")
_DASHES = re.compile("---?")
_BARE_URL = re.compile(r"\b(?:(?:https?|ftp)://|www\.)\S+")
_FIRST_RUN = re.compile(
    rf"(?:(?!--|\.\.\.|<<|>>)[^'\"\[_*~\n{PLACEHOLDER}])*(?:[_*~]+|\n)?"  # of a goldmark text node
)
_EDGE = "\ue000"  # of an inline element: text on its two sides is not one run; no id keeps it
_HARD = str.maketrans("-_", "\ue001\ue002", "'\"[*~.<>")  # what no typographer or parser may see
_SOFT = str.maketrans("\ue001\ue002", "-_", _EDGE)
_BREAKS = ("softbreak", "hardbreak")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unnamed:
    """A heading without its id."""

    children: Sequence[Token]  # inline, without the explicit id
    explicit: str | None  # the id the author wrote


def heading_ids(headings: Sequence[Unnamed], style: AnchorStyle) -> list[str]:
    """The id of every heading, in order; "" where the page has none."""
    return _NAMERS[style](headings)


def text_in_page(children: Iterable[Token]) -> str:
    """The text of a heading's element: code and links, but no images; with placeholders."""
    return "".join(
        "\n" if token.type in _BREAKS else token.content
        for token in children
        if token.type != "image"
    )


def _github(headings: Sequence[Unnamed]) -> list[str]:
    """As rehype-slug: written ids leave the counter of made ones alone."""
    slugger = Slugger()
    return [heading.explicit or slugger.slug(_github_text(heading)) for heading in headings]


def _github_text(heading: Unnamed) -> str:
    """The numbers of footnotes are text of the heading, too."""
    parts = (
        str(token.meta["id"] + 1) if token.type == "footnote_ref" else text_in_page([token])
        for token in heading.children
    )
    return "".join(parts).replace(PLACEHOLDER, "")


def _mkdocs(headings: Sequence[Unnamed]) -> list[str]:
    """As Python-Markdown's toc: written ids are taken everywhere, also before they occur."""
    taken = {heading.explicit for heading in headings if heading.explicit}
    last: dict[str, str] = {}  # by slug, the id made of it last: those before it are taken, too
    ids = []
    for heading in headings:
        if heading.explicit:
            ids.append(heading.explicit)
            continue
        slug = mkdocs_slug(text_in_page(heading.children).replace(PLACEHOLDER, ""))
        last[slug] = _unique_for_mkdocs(last.get(slug, slug), taken)
        taken.add(last[slug])
        ids.append(last[slug])
    return ids


def mkdocs_slug(text: str) -> str:
    """What Python-Markdown's toc makes of a text with its default `slugify` and separator."""
    words = " ".join(text.split())
    ascii_only = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii")
    return _MKDOCS_GAP.sub("-", _NOT_MKDOCS.sub("", ascii_only).strip().lower())


def _unique_for_mkdocs(slug: str, taken: set[str]) -> str:
    """`a`, `a_1`, `a_2`; an id is never empty, and one that is counted already counts on."""
    while slug in taken or not slug:
        counted = _MKDOCS_COUNTED.fullmatch(slug)
        slug = f"{counted[1]}_{int(counted[2]) + 1}" if counted else f"{slug}_1"
    return slug


def _hugo(headings: Sequence[Unnamed]) -> list[str]:
    """As Hugo with `autoHeadingIDType: github`: every id seen so far is taken, written or made.

    Checked with Hugo 0.168. Old ones (0.111) made ids of the source, addresses of links included.
    """
    taken: set[str] = set()
    repeated: Counter[str] = Counter()
    ids = []
    for heading in headings:
        made = heading.explicit or _unique_for_hugo(heading, taken, repeated)
        taken.add(made)
        ids.append(made)
    return ids


def _unique_for_hugo(heading: Unnamed, taken: set[str], repeated: Counter[str]) -> str:
    """A heading without text has no id, one without a letter is called `heading`."""
    text = _hugo_text(heading.children)
    if not text:
        return ""
    slug = hugo_slug(text) or "heading"
    result = slug if not repeated[slug] else f"{slug}-{repeated[slug]}"
    while result in taken:
        repeated[slug] += 1
        result = f"{slug}-{repeated[slug]}"
    return result


def hugo_slug(text: str) -> str:
    """What Hugo's `anchorize` makes of a text: letters, digits, `_` and `-` stay, marks go."""
    return _NOT_HUGO.sub("", _lower(text.strip().replace(" ", "-")))


def _hugo_text(children: Sequence[Token]) -> str:
    """The last line, without addresses that became links.

    Of a link, an emphasis or an image Hugo reads the first node only: up to a quotation mark,
    a dash, an ellipsis or other markup.
    """
    parts: list[str] = []
    depth = 0
    for position, token in enumerate(children):
        if token.type == "image":
            parts.append(_first_node(token.children or []) if depth == 0 else "")
        elif token.nesting > 0 and depth == 0:
            parts.append(_first_node(children, position))
        elif depth == 0:
            parts.append(_BARE_URL.sub("", _typeset([token], dash="–")))
        depth += token.nesting
    return "".join(parts).replace(PLACEHOLDER, "").rpartition("\n")[2].strip()


def _first_node(children: Sequence[Token], start: int = 0) -> str:
    """Text of the first leaf from `start` on."""
    following = (children[position] for position in range(start, len(children)))
    leaves = itertools.dropwhile(_is_no_leaf, following)
    first = next(leaves, None)
    if first is None or first.nesting:  # empty, or an address
        return ""
    if first.type == "image":
        return _first_node(first.children or [])
    if first.type == "code_inline":
        return first.content
    return _first_run(itertools.chain([first], leaves))


def _is_no_leaf(token: Token) -> bool:
    return (token.nesting > 0 and token.info != "auto") or not (token.nesting or token.content)


def _first_run(leaves: Iterable[Token]) -> str:
    """Neighbouring texts are one node for the typographer to cut; what was escaped is not cut."""
    texts = []
    for token in leaves:
        if token.type not in ("text", "text_special", *_BREAKS):
            break
        texts.append(_typeset_part(token))
    match = _FIRST_RUN.match("".join(texts))
    return _soft(match[0]) if match else ""


def _kramdown(headings: Sequence[Unnamed]) -> list[str]:
    """As kramdown-parser-gfm, which Jekyll uses: repetitions are counted by their text alone."""
    repeated: Counter[str] = Counter()
    ids = []
    for heading in headings:
        if heading.explicit:
            ids.append(heading.explicit)
            continue
        slug = kramdown_slug(_typeset(heading.children).replace(PLACEHOLDER, ""))
        ids.append(f"{slug}-{repeated[slug]}" if repeated[slug] else slug)
        repeated[slug] += 1
    return ids


def kramdown_slug(text: str) -> str:
    """What kramdown-parser-gfm makes of a text: everything that is part of a word stays."""
    return _NOT_KRAMDOWN.sub("", re.sub("[ \t]", "-", _lower(text)))


def _typeset(children: Iterable[Token], dash: str = "") -> str:
    """The text after `--` and `---` outside of code became dashes, which no id keeps."""
    text = "".join(_typeset_part(token) for token in children if token.type != "image")
    return _soft(_DASHES.sub(dash, text))


def _typeset_part(token: Token) -> str:
    """The parser gives the escapes of a text as tokens of their own: these are literal."""
    if token.type in _BREAKS:
        return "\n"
    if token.type in ("code_inline", "text_special"):
        return token.content.translate(_HARD)
    return token.content or _EDGE


def _soft(text: str) -> str:
    return text.translate(_SOFT)


def _lower(text: str) -> str:
    """Lower case of each character for itself: Go and Ruby know no final sigma."""
    return "".join(character.lower() for character in text)


_NAMERS: dict[AnchorStyle, Callable[[Sequence[Unnamed]], list[str]]] = {
    "github": _github,
    "mkdocs": _mkdocs,
    "hugo": _hugo,
    "kramdown": _kramdown,
}
