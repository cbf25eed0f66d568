"""Links open the article at the section with the quote highlighted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.ask.links import article_url, citation_url, text_fragment
from service.types import Citation
from tests.builders import make_excerpt

TEMPLATE = "https://example.com/blog/{slug}"


@pytest.mark.parametrize(
    ("slug", "url"),
    [
        ("post", "https://example.com/blog/post"),
        ("guides/foo/index", "https://example.com/blog/guides/foo"),
        ("index", "https://example.com/blog/"),
        ("über uns", "https://example.com/blog/%C3%BCber%20uns"),
    ],
)
def test_article_urls(slug: str, url: str) -> None:
    assert article_url(TEMPLATE, slug) == url


@pytest.mark.parametrize(
    ("quote", "fragment"),
    [
        ("The floor is set.", "The%20floor%20is%20set."),
        ("Run `uv sync` now", "Run%20uv%20sync%20now"),
        ("a-b, c & d", "a%2Db%2C%20c%20%26%20d"),
        ("- item text", "item%20text"),
        ("## Heading", "Heading"),
        ("```sh\nuv lock\n```", "uv%20lock"),
        ("```sh\nuv lock --check\nuv sync\n```", "uv%20lock%20%2D%2Dcheck,uv%20sync"),
        (
            " ".join(f"w{i}" for i in range(20)),
            "w0%20w1%20w2%20w3%20w4,w15%20w16%20w17%20w18%20w19",
        ),
        ("No,\nthat is a wrapped line.", "No%2C%20that%20is%20a%20wrapped%20line."),
        ("- one two\n- three four", "one%20two,three%20four"),
        ("| a | b |", "a%20b"),
        ("```\n```", ""),
    ],
)
def test_text_fragments(quote: str, fragment: str) -> None:
    assert text_fragment(quote) == fragment


def cited(**fields: Any) -> Citation:
    excerpt = make_excerpt("It is set.", slug="post", **fields)
    return Citation(excerpt=excerpt, start=0, end=10)


def test_a_citation_has_anchor_and_fragment() -> None:
    assert citation_url(TEMPLATE, cited(anchor="the-floor")) == (
        "https://example.com/blog/post#the-floor:~:text=It%20is%20set."
    )


def test_the_introduction_has_a_fragment_without_an_anchor() -> None:
    assert citation_url(TEMPLATE, cited(anchor="")) == (
        "https://example.com/blog/post#:~:text=It%20is%20set."
    )


def test_an_address_that_the_site_itself_gives_wins_over_the_template() -> None:
    citation = cited(anchor="a")
    own = replace(citation, excerpt=replace(citation.excerpt, url="https://x.example/p/"))
    assert citation_url(TEMPLATE, own) == "https://x.example/p/#a:~:text=It%20is%20set."
