"""check-anchors: what citations link to, compared with a built website."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.cli.anchors import check
from service.cli.main import BAD_USE, FAILED, OK, main
from service.errors import ConfigError
from service.ingest.sitecheck import MissingAnchor, MissingPage, ids_of
from service.settings import load_settings
from tests.processes import Commands

ARTICLE = "Intro\n\n## First part\n\n## First part\n\n## Call `f()`\n"
PAGE = '<h2 id="first-part"></h2><h2 id="first-part-1"></h2><a name="call-f"></a>'


@pytest.fixture
def blog(tmp_path: Path) -> Path:
    folder = tmp_path / "blog"
    (folder / "guides").mkdir(parents=True)
    (folder / "guides" / "one.md").write_text(ARTICLE)
    return folder


def built(tmp_path: Path, pages: dict[str, str]) -> Path:
    site = tmp_path / "dist"
    for name, html in pages.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html)
    return site


def report(
    blog: Path, site: Path, template: str = "https://example.com/blog/{slug}", style="github"
):
    return check(load_settings({}, content=blog, url_template=template), site, style)[1]


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("/blog/{slug}", "blog/guides/one/index.html"),
        ("/blog/{slug}", "blog/guides/one.html"),
        ("/blog/{slug}", "guides/one/index.html"),
        ("/blog/{slug}", "guides/one.html"),
        ("https://example.com/{slug}/", "guides/one/index.html"),
        ("https://example.com/a/b/{slug}.html", "a/b/guides/one.html"),
        ("https://example.com/a/b/{slug}.html", "guides/one.html"),
        ("https://example.com/my%20blog/{slug}", "my blog/guides/one.html"),
    ],
)
def test_a_page_is_found_where_generators_put_it(tmp_path, blog, template, name):
    found = report(blog, built(tmp_path, {name: PAGE}), template)
    assert found.is_complete
    assert (found.articles, found.anchors) == (1, 3)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("index.md", "blog/index.html"),
        ("index.md", "index.html"),
        ("guides/index.md", "blog/guides/index.html"),
        ("guides/index.md", "guides.html"),
        ("naïve café.md", "blog/naïve café/index.html"),
    ],
)
def test_index_articles_and_names_to_encode_are_found_too(tmp_path, file, name):
    article = tmp_path / "blog" / file
    article.parent.mkdir(parents=True)
    article.write_text(ARTICLE)
    assert report(tmp_path / "blog", built(tmp_path, {name: PAGE})).is_complete


def test_a_missing_page_is_named_with_every_place_that_was_looked_at(tmp_path, blog):
    found = report(blog, built(tmp_path, {"index.html": ""}))
    assert not found.is_complete
    assert found.missing_anchors == ()
    assert found.missing_pages == (
        MissingPage(
            slug="guides/one",
            looked_for=(
                "blog/guides/one/index.html",
                "blog/guides/one.html",
                "guides/one/index.html",
                "guides/one.html",
            ),
        ),
    )


def test_a_missing_anchor_is_named_with_its_heading_and_the_nearest_id(tmp_path, blog):
    html = PAGE.replace("first-part-1", "first-part_1")
    found = report(blog, built(tmp_path, {"blog/guides/one.html": html}))
    assert found.missing_anchors == (
        MissingAnchor(
            slug="guides/one",
            page="blog/guides/one.html",
            heading="First part",
            anchor="first-part-1",
            nearest="first-part_1",
        ),
    )


def test_a_page_without_ids_has_no_nearest_one(tmp_path, blog):
    found = report(blog, built(tmp_path, {"blog/guides/one.html": "<p>text"}))
    assert [gone.nearest for gone in found.missing_anchors] == [None, None, None]


def test_the_top_of_a_page_needs_no_anchor(tmp_path):
    blog = tmp_path / "blog"
    blog.mkdir()
    (blog / "a.md").write_text("Only text\n")
    found = report(blog, built(tmp_path, {"a.html": ""}))
    assert (found.is_complete, found.anchors) == (True, 0)


@pytest.mark.parametrize(
    ("html", "ids"),
    [
        ('<h2 id="a">A</h2><p id=b>', ["a", "b"]),
        ('<a name="c"></a><input name="d"><A NAME="e">', ["c", "e"]),
        ('<h2 id="f&amp;g"></h2><h2 id=""></h2><h2 id>', ["f&g"]),
        ('<!-- <h2 id="h"> --><script>"<h2 id=i>"</script>', []),
        ('<h2 id="straße">', ["straße"]),
        ('<h2 id="open', []),
    ],
)
def test_ids_are_those_a_fragment_can_point_at(html, ids):
    assert list(ids_of(html)) == ids


def test_a_folder_that_is_no_built_site_is_bad_use(tmp_path, blog):
    with pytest.raises(ConfigError, match="is no folder"):
        report(blog, tmp_path / "dist")
    (tmp_path / "dist").mkdir()
    with pytest.raises(ConfigError, match=r"holds no \.html file"):
        report(blog, tmp_path / "dist")


def run(monkeypatch, blog: Path, site: Path, *options: str, **environ: str) -> int:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return main(["check-anchors", "--site-dir", str(site), "--content", str(blog), *options])


def test_a_complete_site_is_counted(tmp_path, blog, monkeypatch, capsys):
    site = built(tmp_path, {"blog/guides/one.html": PAGE})
    assert run(monkeypatch, blog, site) == OK
    assert capsys.readouterr().out == (
        "1 articles, 3 anchors (github): 0 pages and 0 anchors missing\n"
    )


def test_another_way_to_make_ids_is_suggested_where_it_fits_better(
    tmp_path, blog, monkeypatch, capsys
):
    html = PAGE.replace("first-part-1", "first-part_1")
    site = built(tmp_path, {"blog/guides/one.html": html})
    assert run(monkeypatch, blog, site) == FAILED
    assert capsys.readouterr().out.splitlines() == [
        "blog/guides/one.html: no id 'first-part-1' for the heading 'First part'; "
        "nearest 'first-part_1'",
        "1 articles, 3 anchors (github): 0 pages and 1 anchors missing",
        "ASK_BLOG_ANCHORS=mkdocs fits this site better.",
    ]
    assert run(monkeypatch, blog, site, ASK_BLOG_ANCHORS="mkdocs") == OK


def test_an_article_that_cannot_be_read_is_not_checked_and_fails(
    tmp_path, blog, monkeypatch, capsys
):
    (blog / "latin.md").write_bytes(b"caf\xe9")
    site = built(tmp_path, {"blog/guides/one.html": PAGE})
    assert run(monkeypatch, blog, site, "--json") == FAILED
    found = json.loads(capsys.readouterr().out)
    assert [failure["path"] for failure in found["failures"]] == ["latin.md"]
    assert (found["articles"], found["style"], found["better_style"]) == (1, "github", None)


def test_the_command_tells_programs_what_is_missing(tmp_path, blog):
    site = built(tmp_path, {"index.html": "", "blog/guides/one.html": PAGE[:25]})
    commands = Commands(tmp_path / "data", blog)
    result = commands.run("check-anchors", "--site-dir", str(site), "--json")
    found = json.loads(result.stdout)
    assert result.returncode == FAILED
    assert [gone["anchor"] for gone in found["missing_anchors"]] == ["first-part-1", "call-f"]
    result = commands.run("check-anchors", "--site-dir", str(tmp_path / "none"))
    assert (result.returncode, result.stdout) == (BAD_USE, "")
    assert result.stderr.startswith("ask-the-blog: ")
