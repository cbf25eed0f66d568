"""Anchors against what the real packages answer; scripts/slugger_vectors makes the vectors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from service.ingest.anchors import Slugger, split_explicit_id
from service.ingest.markdown import read_markdown
from service.ingest.mdx import strip_mdx

VECTORS = json.loads((Path(__file__).parent / "data" / "slugger_vectors.json").read_text())


def anchors(text: str, *, mdx: bool = False) -> list[str]:
    markdown = strip_mdx(text, mdx=mdx).markdown
    sections = read_markdown(markdown, indented_code=not mdx).sections
    return [section.anchor for section in sections if section.level]


def test_every_code_point_is_kept_or_removed_as_by_github_slugger():
    kept = {point for start, end in VECTORS["kept"] for point in range(start, end + 1)}
    skipped = set(VECTORS["unstable"]) | set(range(0xD800, 0xE000))
    points = [point for point in range(sys.maxunicode + 1) if point not in skipped]
    dropped = "".join(chr(point) for point in points if point not in kept)
    lower = "".join(c for c in map(chr, sorted(kept)) if c.lower() == c and c != " ")
    upper = [c for c in map(chr, sorted(kept)) if c.lower() != c]
    assert Slugger().slug(dropped) == ""
    assert Slugger().slug(lower) == lower
    assert [c for c in upper if not Slugger().slug(c)] == []


@pytest.mark.parametrize("sequence", VECTORS["sequences"])
def test_a_sequence_of_headings_gets_the_ids_of_github_slugger(sequence):
    slugger = Slugger()
    assert [[text, slugger.slug(text)] for text, _ in sequence] == sequence


@pytest.mark.parametrize("page", VECTORS["pages"], ids=lambda page: page["text"][:20])
def test_a_page_gets_the_anchors_of_rehype_slug(page):
    assert anchors(page["text"], mdx=page["mdx"]) == page["anchors"]


@pytest.mark.parametrize(
    "heading",
    [
        "## Title {#own}",
        "## Title {#own} ##",
        "## Title {/*own*/}",
        "## Title {/* #own */}",
        "## Title [#own]",
        "## Title { #own .wide }",
        "## Title {: #own }",
        "Title {#own}\n---",
        '<h2 id="own">Title</h2>',
        '<h2 class="a"\n  id="own">\n  Title\n</h2>',
    ],
)
@pytest.mark.parametrize("mdx", [True, False])
def test_an_id_the_author_wrote_is_the_anchor_and_not_part_of_the_heading(heading, mdx):
    stripped = strip_mdx(heading, mdx=mdx)
    cleaned = read_markdown(stripped.markdown, indented_code=not mdx)
    assert [(s.anchor, s.heading, s.level) for s in cleaned.sections] == [("own", "Title", 2)]
    assert cleaned.text == "## Title"


def test_written_ids_leave_the_counter_of_made_ids_alone():
    assert anchors("## A {#a}\n\n## A\n\n## A") == ["a", "a", "a-1"]


def test_a_comment_behind_a_heading_is_no_id():
    assert anchors("## Title {/* to do later */}", mdx=True) == ["title-"]


def test_a_heading_element_without_id_has_no_anchor_in_mdx_and_is_a_paragraph():
    text = strip_mdx("## A\n\n<h3>Flags</h3>\n\ntext\n\n### Flags", mdx=True).markdown
    cleaned = read_markdown(text, indented_code=False)
    assert [section.anchor for section in cleaned.sections] == ["a", "flags"]
    assert cleaned.text == "## A\n\nFlags\n\ntext\n\n### Flags"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title {#a-b}", ("Title", "a-b")),
        ("Title", ("Title", None)),
        ("{#a} Title", ("{#a} Title", None)),
        ("Title {a}", ("Title {a}", None)),
    ],
)
def test_split_explicit_id(text, expected):
    assert split_explicit_id(text) == expected
