"""An article's language, and which articles are translations of one page."""

from __future__ import annotations

import pytest

from service.ingest.language import article_language, detected_language, page_of

ENGLISH = "The service answers questions from the articles of the blog and cites each section. " * 4
GERMAN = "Der Dienst beantwortet Fragen aus den Artikeln des Blogs und nennt jeden Abschnitt. " * 4


@pytest.mark.parametrize(
    ("declared", "slug", "prose", "language"),
    [
        pytest.param("pt", "de/post", GERMAN, "pt", id="declared wins"),
        pytest.param(None, "de/post", GERMAN, "de", id="path and prose agree"),
        pytest.param(None, "de/post", "Kurz.", "de", id="path, too little prose"),
        pytest.param(None, "it/setup", ENGLISH, "en", id="a folder that is only a word"),
        pytest.param(None, "post.de", "Kurz.", "de", id="suffix"),
        pytest.param(None, "post", GERMAN, "de", id="prose alone"),
        pytest.param(None, "post", "", "en", id="nothing to go by"),
        pytest.param(None, "de", ENGLISH, "en", id="an article named like a language"),
        pytest.param(None, "v1.2", "", "en", id="a version is no language"),
    ],
)
def test_languages(declared: str | None, slug: str, prose: str, language: str) -> None:
    assert article_language(declared, slug, prose, "en") == language


@pytest.mark.parametrize(
    ("slug", "language", "page"),
    [
        ("guides/foo", "en", "guides/foo"),
        ("en/guides/foo", "en", "guides/foo"),
        ("de/guides/foo", "de", "guides/foo"),
        ("pt-BR/guides/foo", "pt", "guides/foo"),
        ("guides/foo.de", "de", "guides/foo"),
        ("i18n/de/guides/foo", "de", "guides/foo"),
        ("it/guides/foo", "en", "it/guides/foo"),
        ("de", "de", "de"),
    ],
)
def test_translations_share_their_page(slug: str, language: str, page: str) -> None:
    assert page_of(slug, language) == page


def test_short_text_is_not_guessed() -> None:
    assert detected_language("uv add") is None
