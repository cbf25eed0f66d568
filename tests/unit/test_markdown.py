"""Markdown becomes cleaned text with exact blocks and sections."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.ingest.markdown import Cleaned, read_markdown
from service.ingest.mdx import strip_mdx
from service.types import BlockKind

LINES = (  # joined at random they meet in every state of the readers
    "# A|## B {#c}|---|===|- a|  - b|1. c|> d|> - e|```|~~~ x|    f|`g`|**h**|[i](j)|![k](l)|<m>|"
    "</m>|<n/>|{o}|{/*|*/}|<!--|-->|:::note|:::|!!! note|=== 'p'|import q from 'q'|export {|[^1]|"
    "[^1]: r|s\\|&amp;|<pre>|</pre>|<h2>|</h2>|{% highlight t %}|u  |: v|\t||||"
)
PIECES = [*LINES.split("|"), "| w | x |", "|---|---|"]


def read(text: str, *, indented_code: bool = True, title: str = "T") -> Cleaned:
    return read_markdown(text, indented_code=indented_code, title=title)


def kinds(cleaned: Cleaned) -> list[tuple[str, str]]:
    return [(block.kind.value, cleaned.text[block.start : block.end]) for block in cleaned.blocks]


INLINE = {
    "link": ("see [the *docs*](https://a.b) now", "see the docs now"),
    "reference link": ("see [docs][a]\n\n[a]: https://a.b", "see docs"),
    "image": ("![a cat](cat.png)", "a cat"),
    "autolink": ("<https://a.b>", "https://a.b"),
    "emphasis": ("*a* __b__ ***c*** ~~d~~", "a b c d"),
    "code": ("run `a *b*` and `` c`d ``", "run `a *b*` and ``c`d``"),
    "escapes and entities": (r"\*a\* &lt;b&gt; &copy;", "*a* <b> ©"),
    "line wraps": ("a\nb  \nc\\\nd", "a\nb\nc\nd"),
    "footnote": ("a[^1] b\n\n[^1]: See *c*.", "a b\n\nSee c."),
    "unused footnote": ("a\n\n[^1]: See c.", "a\n\nSee c."),
    "task": ("- [ ] a\n- [x] b", "- [ ] a\n- [x] b"),
    "thematic break": ("a\n\n---\n\nb", "a\n\nb"),
    "quote": ("> a\n> b\n>\n> > c", "a\nb\n\nc"),
    "definition list": ("Term\n: Meaning", "Term\n\nMeaning"),
    "leftover html": ("a <b>", "a <b>"),
}


@pytest.mark.parametrize(("markdown", "expected"), INLINE.values(), ids=INLINE.keys())
def test_markup_goes_and_words_stay(markdown, expected):
    assert read(markdown).text == expected


BLOCKS = {
    "tight list": ("* a\n* b\n  c\n    * d\n* e", "- a\n- b\n  c\n  - d\n- e"),
    "loose list": ("- a\n\n- b\n\n  c", "- a\n\n- b\n\n  c"),
    "numbers count on": ("3. a\n3. b\n   - c", "3. a\n4. b\n   - c"),
    "fence in a list": (
        "- a\n\n  ```sh\n  b\n    c\n\n  ```",
        "- a\n\n  ```sh\n  b\n    c\n\n  ```",
    ),
    "item that is a fence": ("- ```\n  a\n  ```", "  ```\n  a\n  ```"),
    "table": (
        "a | b\n-|:-:\n`c` | **d**\ne | f",
        "| a | b |\n| --- | --- |\n| `c` | d |\n| e | f |",
    ),
    "indented code": ("a\n\n    b\n     c", "a\n\n```\nb\n c\n```"),
    "tilde fence": ("~~~\n```\n~~~", "````\n```\n````"),
    "unclosed fence": ("```js\na", "```js\na\n```"),
    "fence title": ('```js title="a b.js" {1,2} x', '```js title="a b.js"\n\n```'),
    "setext": ("A\nB\n===", "# A B"),
    "empty heading": ("a\n\n##\n\nb", "a\n\nb"),
}


@pytest.mark.parametrize(("markdown", "expected"), BLOCKS.values(), ids=BLOCKS.keys())
def test_block_structure_stays(markdown, expected):
    assert read(markdown).text.strip("\n") == expected


def test_blocks_are_exact_spans_of_their_kind():
    text = "# A\n\nb\nc\n\n- d\n\n  ```\n  e\n  ```\n\n  f\n  - g\n\n| h |\n|---|\n"
    assert kinds(read(text)) == [
        ("heading", "# A"),
        ("prose", "b\nc"),
        ("list_item", "- d"),
        ("code", "```\n  e\n  ```"),
        ("prose", "f"),
        ("list_item", "- g"),
        ("table", "| h |\n| --- |"),
    ]


def test_without_indented_code_indented_text_is_prose_and_headings_count():
    cleaned = read("    ## A\n\n        b", indented_code=False)
    assert cleaned.text == "## A\n\nb"


def test_a_hash_in_a_fence_is_not_a_heading():
    assert [section.level for section in read("```\n# a\n```").sections] == [0]


def test_headings_in_lists_and_quotes_are_sections():
    anchors = [section.anchor for section in read("- # A\n\n> ## B\n> c").sections]
    assert anchors == ["a", "b"]


def test_sections_cover_the_text_and_know_their_headings():
    cleaned = read("intro\n\n# T\n\n## `A` [b](c)\n\n### C\n\n# D\n\n### E", title="T")
    found = [(s.level, s.heading, s.heading_path) for s in cleaned.sections]
    assert found == [
        (0, "T", ()),
        (1, "T", ("T",)),
        (2, "A b", ("A b",)),
        (3, "C", ("A b", "C")),
        (1, "D", ("D",)),
        (3, "E", ("D", "E")),
    ]
    assert "".join(cleaned.text[s.start : s.end] for s in cleaned.sections) == cleaned.text
    assert cleaned.text[cleaned.sections[2].start :].startswith("## `A` b\n")


def test_no_introduction_when_the_text_starts_with_a_heading():
    assert [section.anchor for section in read("# A\n\nb").sections] == ["a"]


def test_a_text_without_headings_is_one_introduction():
    section = read("a").sections[0]
    assert (section.anchor, section.heading, section.start, section.end) == ("", "T", 0, 1)


def test_an_empty_text_has_one_empty_introduction():
    cleaned = read("")
    assert (cleaned.text, cleaned.blocks, len(cleaned.sections)) == ("", (), 1)


@pytest.mark.parametrize(
    ("markdown", "title", "expected"),
    [("# A", "T", "T"), ("b\n\n- # *A*", "", "A"), ("b", "", "last"), ("## B", "", "last")],
)
def test_the_title_is_given_or_the_first_h1_or_the_fallback(markdown, title, expected):
    cleaned = read_markdown(markdown, indented_code=True, title=title, fallback_title="last")
    assert cleaned.title == expected


DEEP = {
    "quotes": "> " * 300 + "word",
    "lists": "".join("  " * depth + "- word\n" for depth in range(120)),
    "lists on a line": "- " * 300 + "word",
    "brackets": "[" * 20_000 + "word",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
@pytest.mark.parametrize("indented_code", [True, False])
def test_nothing_is_lost_however_deeply_it_is_nested(text, indented_code):
    cleaned = read(text, indented_code=indented_code)
    assert cleaned.text.count("word") == text.count("word")


@pytest.mark.parametrize(
    "unit", ["lorem ipsum ", "<", "{", "`", "[", ":::", "#", "<a b={", "*a", "> "]
)
def test_long_texts_take_seconds_at_most(unit):
    text = unit * (20_000 // len(unit))
    started = time.monotonic()
    for mdx in (True, False):
        read(strip_mdx(text, mdx=mdx).markdown, indented_code=not mdx)
    assert time.monotonic() - started < 3


def test_two_megabytes_in_one_paragraph_are_read_whole():
    text = ("word " * 400_000).strip()
    assert read(strip_mdx(text, mdx=True).markdown).text == text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.booleans())
def test_blocks_and_sections_fit_whatever_the_text(lines, mdx):
    markdown = strip_mdx("\n".join(lines), mdx=mdx).markdown
    cleaned = read(markdown, indented_code=not mdx)
    end = 0
    for block in cleaned.blocks:
        assert block.start >= end
        assert not cleaned.text[end : block.start].strip()
        assert cleaned.text[block.start : block.end].strip()
        end = block.end
    assert not cleaned.text[end:].strip()
    assert "".join(cleaned.text[s.start : s.end] for s in cleaned.sections) == cleaned.text
    starts = [block.start for block in cleaned.blocks if block.kind is BlockKind.HEADING]
    assert [section.start for section in cleaned.sections if section.level] == starts


@settings(deadline=None)
@given(
    st.lists(st.text(alphabet="abcé019日 ,.;!?'\"()\t", max_size=20), max_size=12), st.booleans()
)
def test_every_word_of_plain_prose_is_kept_in_order(lines, mdx):
    text = "\n".join(lines)
    cleaned = read(strip_mdx(text, mdx=mdx).markdown, indented_code=not mdx)
    assert _words(cleaned.text) == _words(text)


def _words(text: str) -> list[str]:
    """Words, without the numbers of list items: those are counted anew."""
    while (unnumbered := re.sub(r"(?m)^[ \t]*\d{1,9}[.)](?=\s|$)", "", text)) != text:
        text = unnumbered
    return re.findall(r"\w+", text)
