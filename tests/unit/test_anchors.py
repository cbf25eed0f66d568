"""Anchors against what the real packages answer; scripts/slugger_vectors makes the vectors."""

from __future__ import annotations

import json
import re
import sys
import time
import unicodedata
from pathlib import Path

import markdown as python_markdown
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown.extensions.toc import slugify, unique

from service.ingest.anchors import Slugger, split_explicit_id
from service.ingest.articles import read_folder
from service.ingest.generators import MAX_LEVELS, Anchors, anchor_style
from service.ingest.headings import spelled_out
from service.ingest.markdown import read_markdown
from service.ingest.mdx import strip_mdx
from service.ingest.slugs import AnchorStyle, hugo_slug, kramdown_slug, mkdocs_slug

DATA = Path(__file__).parent / "data"
VECTORS = json.loads((DATA / "slugger_vectors.json").read_text())
HUGO = json.loads((DATA / "hugo_vectors.json").read_text())
KRAMDOWN = json.loads((DATA / "kramdown_vectors.json").read_text())
PAGES = json.loads((Path(__file__).parents[2] / "scripts/slugger_vectors/pages.json").read_text())


def anchors(text: str, *, mdx: bool = False, style: AnchorStyle = "github") -> list[str]:
    source = text if mdx else spelled_out(text, style)
    markdown = strip_mdx(source, mdx=mdx).markdown
    sections = read_markdown(markdown, indented_code=not mdx, anchors=style).sections
    return [section.anchor for section in sections if section.level]


def without_empty(ids: list[str]) -> list[str]:
    """A heading without an id may or may not be a section; no link can tell."""
    return [found for found in ids if found]


def points_of(ranges: list[list[int]]) -> set[int]:
    return {point for start, end in ranges for point in range(start, end + 1)}


def test_every_code_point_is_kept_or_removed_as_by_github_slugger():
    kept = points_of(VECTORS["kept"])
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


@pytest.mark.parametrize("page", HUGO["pages"], ids=lambda page: page["text"][:20])
def test_a_page_gets_the_anchors_of_hugo(page):
    found = anchors(page["text"], style="hugo")
    assert without_empty(found) == without_empty(page["anchors"])


@pytest.mark.parametrize("page", KRAMDOWN["pages"], ids=lambda page: page["text"][:20])
def test_a_page_gets_the_anchors_of_kramdown(page):
    found = anchors(page["text"], style="kramdown")
    assert without_empty(found) == without_empty(page["anchors"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page[:20])
def test_a_page_gets_the_anchors_of_python_markdown(page):
    assert without_empty(anchors(page, style="mkdocs")) == without_empty(in_python_markdown(page))


def in_python_markdown(page: str) -> list[str]:
    extensions = ["toc", "attr_list", "fenced_code", "admonition"]
    html = python_markdown.markdown(page, extensions=extensions)
    opening = re.findall(r"<h[1-6]([^>]*)>", html)
    return [match[1] if (match := re.search(r'id="([^"]*)"', tag)) else "" for tag in opening]


@pytest.mark.parametrize(
    "page",
    [
        "## A { .wide #own }\n\n## B {: .wide #own2 data-x=1 }\n\nC { .wide #own3 }\n---\n",
        "## A {: #own }\n\n## A\n\n## own\n\n## own_1 { .wide }\n\n## own\n",
        "## Later\n\n## Other { #later }\n\n## Later {#later_1}\n\n## Later\n",
        "!!! note\n\n    ## Inside\n\n    text\n\n## Inside\n",
        "## x_9\n\n## x_9\n\n## x\n\n## x\n\n## 日本\n\n## 本\n\n## _1\n",
    ],
)
def test_ids_that_only_mkdocs_reads_are_those_of_python_markdown(page):
    assert anchors(page, style="mkdocs") == in_python_markdown(page)


@settings(deadline=None)
@given(st.text())
def test_any_text_gets_the_slug_of_python_markdown(text):
    assert mkdocs_slug(text) == slugify(" ".join(text.split()), "-")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "a_1", "a_2", "A", "a b", "_1", "", "b_1_1", "b_1"])))
def test_repeated_headings_are_counted_as_by_python_markdown(texts):
    taken: set[str] = set()
    expected = [unique(slugify(text, "-"), taken) for text in texts]
    assert (
        anchors("\n\n".join(f"## `{text}`" if text else "## ." for text in texts), style="mkdocs")
        == expected
    )


@pytest.mark.parametrize(
    ("slug", "vectors"), [(hugo_slug, HUGO), (kramdown_slug, KRAMDOWN)], ids=["hugo", "kramdown"]
)
def test_every_character_is_kept_or_removed_as_by_the_generator(slug, vectors):
    kept = points_of(vectors["kept"])
    lost = [hex(point) for point in sorted(kept) if not slug(chr(point))]
    known = (c for c in map(chr, range(33, sys.maxunicode + 1)) if is_old(c))
    extra = [hex(ord(c)) for c in known if ord(c) not in kept and slug(c)]
    assert (lost, extra) == ([], [])


def is_old(character: str) -> bool:
    """Known to every version of Unicode that a generator may have been built with."""
    return unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs")


@pytest.mark.parametrize("style", ["mkdocs", "hugo", "kramdown"])
@settings(deadline=None, max_examples=50)
@given(text=st.text(alphabet="ab #{}:=>-_*`'<h2/>\\n.[]()!&;1", max_size=200))
def test_no_id_holds_white_space_whatever_the_text(style, text):
    found = anchors(f"## {text}\n\n{text}", style=style)
    assert [anchor for anchor in found if re.search(r"\s", anchor)] == []


@pytest.mark.parametrize("style", ["mkdocs", "hugo", "kramdown"])
@pytest.mark.parametrize(
    "text",
    [
        "- " * 20_000 + "x",
        "-" * 20_000 + "x\n{: #a}",
        "## " + " " * 20_000 + "{",
        "## " + "*a* " * 3_000,
        "## a\n\n" * 2_000,
        "{: #a}\n\n" * 2_000,
        "> " * 20_000 + "{: #a}",
    ],
    ids=lambda text: text[:6],
)
def test_long_articles_take_seconds_at_most(style, text):
    started = time.perf_counter()
    anchors(text, style=style)
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize("style", ["mkdocs", "hugo", "kramdown"])
def test_code_is_no_heading_and_its_lists_stay(style):
    code = "```md\n## A { .x #own }\n{: #own }\n<h2>B</h2>\n```\n\n`<h2>c</h2>`"
    assert spelled_out(code, style) == code
    assert anchors(code, style=style) == []


@pytest.mark.parametrize("style", ["mkdocs", "hugo", "kramdown"])
def test_a_heading_element_without_id_is_a_paragraph_where_the_generator_gives_it_no_anchor(style):
    text = "<h2>Bare</h2>\n\n<h3 id='named'>Named</h3>\n\n## Bare"
    assert anchors(text, style=style) == ["named", "bare"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "github"),
        ({"mkdocs.yml": ""}, "mkdocs"),
        ({"hugo.toml": ""}, "hugo"),
        ({"archetypes/default.md": ""}, "hugo"),
        ({"config.toml": "baseURL = 'https://example.com'"}, "hugo"),
        ({"config.yaml": "languageCode: en\n"}, "hugo"),
        ({"config.toml": "base_url = 'https://example.com'"}, "github"),  # Zola
        ({"_config.yml": "title: x\n"}, "kramdown"),
        ({"astro.config.mjs": ""}, "github"),
        ({"docusaurus.config.ts": ""}, "github"),
        ({"next.config.js": ""}, "github"),
        ({"site/docusaurus.config.js": "", "mkdocs.yml": ""}, "github"),  # the nearest decides
        ({"site/docs/mkdocs.yml": "", "_config.yml": ""}, "mkdocs"),
    ],
)
def test_the_generator_is_known_by_its_configuration(tmp_path, files, expected):
    articles = tmp_path / "site" / "docs"
    articles.mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert anchor_style(articles) == expected


def test_a_configuration_above_the_repository_says_nothing(tmp_path):
    (tmp_path / "mkdocs.yml").touch()
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    assert anchor_style(tmp_path) == "mkdocs"
    assert anchor_style(tmp_path / "repository") == "github"


def test_a_configuration_far_above_the_articles_says_nothing(tmp_path):
    (tmp_path / "mkdocs.yml").touch()
    near = tmp_path.joinpath(*"abcd"[:MAX_LEVELS])
    far = near / "e"
    far.mkdir(parents=True)
    assert anchor_style(near) == "mkdocs"
    assert anchor_style(far) == "github"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("auto", ["one", "one_1"]), ("github", ["one", "one-1"]), ("mkdocs", ["one", "one_1"])],
)
def test_the_setting_wins_over_the_configuration(tmp_path, setting: Anchors, expected):
    (tmp_path / "mkdocs.yml").touch()
    (tmp_path / "a.md").write_text("## One\n\n## One\n")
    (article,) = read_folder(tmp_path, anchors=setting).articles
    assert [section.anchor for section in article.sections] == expected
    (article,) = read_folder(tmp_path / "a.md", anchors=setting).articles
    assert [section.anchor for section in article.sections] == expected
