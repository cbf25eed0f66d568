"""Files become articles; what cannot be read is reported and stops nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import ContentError
from service.ingest.articles import Draft, read_article, read_folder
from service.types import Article


@pytest.fixture
def write(tmp_path):
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def one(path: Path) -> Article:
    folder = read_folder(path)
    assert folder.failures == ()
    return folder.articles[0]


def test_articles_come_in_order_of_path_with_slugs_from_it(write, tmp_path):
    for name in ("b.md", "a/index.mdx", "a/z.MD", "c.txt", "_partial.md", "_d/e.md"):
        write(name, "text")
    for name in (".git/f.md", "node_modules/g/README.md"):
        write(name, "text")
    assert [a.slug for a in read_folder(tmp_path).articles] == ["a/index", "a/z", "b"]


def test_front_matter_gives_title_slug_date_and_language(write):
    front = "---\ntitle: A *b*\nslug: /blog/a/\ndate: 2024-05-06\nlang: pt-BR\n---\nText"
    article = one(write("x.md", front))
    assert (article.title, article.slug) == ("A *b*", "blog/a")
    assert (article.published, article.language, article.text) == ("2024-05-06", "pt", "Text")


def test_front_matter_may_be_toml(write):
    article = one(write("x.md", '+++\ntitle = "A"\ndate = 2024-05-06T07:08:09Z\n+++\nText'))
    assert (article.title, article.published, article.text) == ("A", "2024-05-06", "Text")


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("date: 2024-05-06T07:08:09Z", "2024-05-06"),
        ("date: '2024-05-06'", "2024-05-06"),
        ("pubDate: 2024-05-06", "2024-05-06"),
        ("other: 1", None),
    ],
)
def test_dates_are_iso_dates(write, field, expected):
    assert one(write("x.md", f"---\n{field}\n---\nText")).published == expected


def test_a_date_that_is_none_costs_a_warning_only(write):
    article = one(write("x.md", "---\ndate: last May\n---\nText"))
    assert article.published is None
    assert article.warnings == ("the date 'last May' is not of the form 2024-12-31",)


def test_without_front_matter_the_first_h1_or_the_slug_is_the_title(write):
    assert one(write("a/x.md", "Text\n\n# Head *line*")).title == "Head line"
    assert one(write("b/my-post.md", "Text\n\n---\n\nmore")).title == "my-post"


def test_the_language_is_the_default_of_the_folder_unless_given(write, tmp_path):
    write("a.md", "Text")
    write("b.md", "---\nlanguage: no\n---\nText")
    folder = read_folder(tmp_path, default_language="de")
    assert [article.language for article in folder.articles] == ["de", "no"]


def test_drafts_are_listed_and_not_read(write, tmp_path):
    write("a.md", "---\ndraft: true\n---\nText")
    write("b.md", "---\ndraft: false\n---\nText")
    folder = read_folder(tmp_path)
    assert ([d.path for d in folder.drafts], [a.slug for a in folder.articles]) == (["a.md"], ["b"])
    assert read_article(tmp_path / "a.md", tmp_path) == Draft(path="a.md", slug="a")


FAILURES = {
    "broken yaml": (b"---\ntitle: a\nslug: [b\n---\n", "x.md:4: the front matter is not YAML"),
    "tab in yaml": (b"---\ntitle: a\n\tb: c\n---\n", "x.md:3: the front matter is not YAML"),
    "impossible date": (b"---\ndate: 2024-13-45\n---\n", "x.md:1: the front matter is not YAML"),
    "list": (b"---\n- a\n---\n", "x.md:2: the front matter has to consist of"),
    "text": (b"---\na b\n---\n", "x.md:2: the front matter has to consist of"),
    "title of a wrong type": (b"---\nslug: a\ntitle: [b]\n---\n", "x.md:3: `title` has to be text"),
    "title that is a number": (b"---\ntitle: 404\n---\n", "x.md:2: `title` has to be text"),
    "slug of a wrong type": (b"---\nslug: {a: b}\n---\n", "x.md:2: `slug` has to be text"),
    "broken toml": (b"+++\ntitle = \n+++\n", "x.md:1: the front matter is not TOML"),
    "not closed": (b"---\ntitle: a\n\nText", "x.md:1: the front matter is not closed"),
    "not utf-8": (b"caf\xe9", "x.md: byte 3 is not UTF-8"),
    "utf-16": ("Text".encode("utf-16"), "x.md: byte 0 is not UTF-8"),
}


@pytest.mark.parametrize(("content", "message"), FAILURES.values(), ids=FAILURES.keys())
def test_a_broken_file_is_a_failure_and_the_others_go_on(write, tmp_path, content, message):
    write("a.md", "Text")
    write("x.md", content)
    write("z.md", "Text")
    folder = read_folder(tmp_path)
    assert [article.slug for article in folder.articles] == ["a", "z"]
    assert [failure.path for failure in folder.failures] == ["x.md"]
    assert folder.failures[0].message.startswith(message)
    with pytest.raises(ContentError, match=r"x\.md"):
        read_article(tmp_path / "x.md", tmp_path)


def test_the_second_file_with_a_slug_fails_and_both_are_named(write, tmp_path):
    write("a.md", "---\nslug: b\n---\nFirst")
    write("b.md", "Second")
    folder = read_folder(tmp_path)
    assert [article.text for article in folder.articles] == ["First"]
    assert "a.md" in folder.failures[0].message
    assert folder.failures[0].path == "b.md"


def test_a_missing_or_empty_folder_is_an_error_that_says_what_to_do(write, tmp_path):
    with pytest.raises(ContentError, match="does not exist"):
        read_folder(tmp_path / "none")
    with pytest.raises(ContentError, match=r"no \.md or \.mdx file"):
        read_folder(tmp_path)
    with pytest.raises(ContentError, match="not an article"):
        read_folder(write("a.txt", "Text"))


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf---\ntitle: A\n---\n\n# B\n\nc\nd",
        b"---\r\ntitle: A\r\n---\r\n\r\n# B\r\n\r\nc\r\nd",
        b"---\rtitle: A\r---\r\r# B\r\rc\rd",
    ],
    ids=["bom", "crlf", "cr"],
)
def test_byte_order_marks_and_line_ends_make_no_difference(write, content):
    article = one(write("x.md", content))
    assert (article.title, article.text) == ("A", "# B\n\nc\nd")


def test_nul_characters_are_removed_with_a_warning(write):
    article = one(write("x.md", "a\0b"))
    assert article.text == "ab"
    assert len(article.warnings) == 1


def test_an_article_without_text_is_read_with_a_warning(write):
    article = one(write("x.mdx", "---\ntitle: A\n---\nimport B from 'b'\n\n<B />"))
    assert (article.text, article.warnings) == ("", ("the article has no text",))
    assert [section.heading for section in article.sections] == ["A"]


def test_only_mdx_files_have_expressions_and_only_markdown_has_indented_code(write):
    body = "a {b}\n\n    c"
    assert one(write("1.md", body)).text == "a {b}\n\n```\nc\n```"
    assert one(write("2.mdx", body)).text == "a\n\nc"


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=80))
def test_any_bytes_are_an_article_or_a_failure(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "x.mdx"
    path.write_bytes(content)
    folder = read_folder(path)
    assert len(folder.articles) + len(folder.failures) + len(folder.drafts) == 1
