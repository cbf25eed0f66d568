"""A source is read in its own format, with the options that belong to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.errors import ContentError
from service.ingest.source import Source, read_source

PAGE = """<html lang="en"><head><title>Baking bread</title></head><body>
<main id="wrong"><h1>Site</h1><p>Subscribe to our letters about everything.</p></main>
<div id="post"><h1>Baking bread</h1><p>Bread needs flour, water, salt and time.</p>
<aside class="ad">Buy our knives today.</aside>
<h2 id="own-id">The dough</h2><p>Knead the dough for ten minutes.</p></div></body></html>"""


@pytest.fixture
def markdown(tmp_path: Path) -> Path:
    (tmp_path / "bread.md").write_text("# Bread\n\n## Käse & Brot\n\nKnead it.\n", "utf-8")
    return tmp_path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "bread.html").write_text(PAGE, "utf-8")
    return tmp_path


def text_of(folder: Path, **options: Any) -> str:
    [article] = read_source(Source(folder=folder, **options)).articles
    return article.text


@pytest.mark.parametrize(
    ("anchors", "expected"),
    [("github", "käse--brot"), ("mkdocs", "kase-brot"), ("hugo", "käse--brot")],
)
def test_markdown_headings_get_the_ids_of_the_named_generator(
    markdown: Path, anchors: Any, expected: str
) -> None:
    [article] = read_source(Source(folder=markdown, anchors=anchors)).articles
    assert article.sections[-1].anchor == expected


def test_without_a_name_the_generator_is_found_by_the_files_around(markdown: Path) -> None:
    (markdown / "mkdocs.yml").write_text("site_name: x\n", "utf-8")
    [article] = read_source(Source(folder=markdown)).articles
    assert article.sections[-1].anchor == "kase-brot"


def test_a_built_page_keeps_its_own_ids_whatever_the_generator(site: Path) -> None:
    source = Source(folder=site, format="html", anchors="mkdocs", main_selector="#post")
    [article] = read_source(source).articles
    assert article.sections[-1].anchor == "own-id"


def test_the_selector_says_which_part_of_a_built_page_is_the_article(site: Path) -> None:
    text = text_of(site, format="html", main_selector="#post")
    assert "Knead the dough" in text
    assert "Subscribe" not in text
    assert "Subscribe" in text_of(site, format="html", main_selector="#wrong")


def test_what_a_drop_selector_names_is_left_out_of_a_built_page(site: Path) -> None:
    options: dict[str, Any] = {"format": "html", "main_selector": "#post"}
    with_it = text_of(site, drop_selectors=(".nothing",), **options)
    without = text_of(site, drop_selectors=(".nothing", "h2 + p"), **options)
    assert "Knead the dough" in with_it
    assert "Knead the dough" not in without
    assert "Bread needs flour" in without


def test_markdown_takes_no_notice_of_selectors(markdown: Path) -> None:
    plain = text_of(markdown)
    assert text_of(markdown, main_selector="#post", drop_selectors=("p",)) == plain


@pytest.mark.parametrize(("format", "named"), [("markdown", ".md or .mdx"), ("html", "html")])
def test_a_folder_without_files_of_the_format_is_refused(
    tmp_path: Path, format: Any, named: str
) -> None:
    with pytest.raises(ContentError, match=named):
        read_source(Source(folder=tmp_path, format=format))
