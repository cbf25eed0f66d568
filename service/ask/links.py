"""Addresses that open an article at a section with the quoted words highlighted."""

from __future__ import annotations

import re
from urllib.parse import quote

from service.ask.segments import SegmentKind, list_marker_end, segments
from service.types import Citation, Excerpt

_MARKS = re.compile(r"^\s*(?:#{1,6}|>)\s+|[*_`|]", re.MULTILINE)
_FENCE_LINE = re.compile(r"^\s*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_EDGE_WORDS = 5  # words that name the start and the end of a longer quote; chosen, not measured
_WHOLE_WORDS = 12  # up to here the quote itself is the fragment; chosen, not measured


def article_url(template: str, slug: str) -> str:
    """The article's address: the slug without a closing /index, put into the template."""
    shown = "" if slug == "index" else slug.removesuffix("/index")
    return template.replace("{slug}", quote(shown))


def excerpt_article_url(template: str, excerpt: Excerpt) -> str:
    """Where the excerpt's article stands: as the site itself says, else by the template."""
    return excerpt.url or article_url(template, excerpt.chunk.slug)


def section_url(template: str, excerpt: Excerpt) -> str:
    """The address of the excerpt's section; of the article for its introduction."""
    url = excerpt_article_url(template, excerpt)
    anchor = excerpt.chunk.anchor
    return f"{url}#{quote(anchor)}" if anchor else url


def citation_url(template: str, citation: Citation) -> str:
    """`section_url` with a text fragment (WICG scroll-to-text) for the quote."""
    fragment = text_fragment(citation.quote)
    url = section_url(template, citation.excerpt)
    if not fragment:
        return url
    return f"{url}{'' if citation.excerpt.chunk.anchor else '#'}:~:text={fragment}"


def text_fragment(quoted: str) -> str:
    """`quote` or `first words,last words`, without Markdown marks, percent-encoded.

    A match may not cross a block border, so a quote of several blocks is given by its edges.
    """
    blocks = [words for words in map(_words, _blocks(quoted)) if words]
    if not blocks:
        return ""
    if len(blocks) == 1 and len(blocks[0]) <= _WHOLE_WORDS:
        return _encoded(blocks[0])
    return f"{_encoded(blocks[0][:_EDGE_WORDS])},{_encoded(blocks[-1][-_EDGE_WORDS:])}"


def _blocks(quoted: str) -> list[str]:
    """Paragraphs, list items and rows whole, code by line: what a browser sees as one run."""
    found: list[str] = []
    for segment in segments(quoted):
        text = quoted[segment.start : segment.end]
        if segment.kind is SegmentKind.CODE:
            found += _FENCE_LINE.sub("", text).splitlines()
        else:
            found.append(text[list_marker_end(text) :])
    return found


def _words(block: str) -> list[str]:
    return [word for word in _MARKS.sub("", block).split() if word.strip("-:")]


def _encoded(words: list[str]) -> str:
    """Dashes too: in a fragment they have a meaning of their own."""
    return quote(" ".join(words), safe="").replace("-", "%2D")
