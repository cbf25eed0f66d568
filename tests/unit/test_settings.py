"""Settings are read once, and a wrong one says which and why."""

from __future__ import annotations

import pytest

from service.errors import ConfigError
from service.settings import load_settings, variables


def test_defaults_need_no_environment() -> None:
    settings = load_settings({})
    assert (settings.host, settings.port, settings.site) == ("127.0.0.1", 8000, "blog")
    assert settings.anthropic_api_key is None


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"ASK_BLOG_MODLE": "x"}, "ASK_BLOG_MODLE is not a setting.*did you mean ASK_BLOG_MODEL"),
        ({"RAG_TOPK": "3"}, "did you mean RAG_TOP_K"),
        ({"ASK_BLOG_PORT": "http"}, "ASK_BLOG_PORT: .*integer"),
        ({"ASK_BLOG_PORT": "70000"}, "ASK_BLOG_PORT: "),
        ({"ASK_BLOG_DAILY_USD": "-1"}, "ASK_BLOG_DAILY_USD: "),
        ({"ASK_BLOG_URL_TEMPLATE": "https://x/"}, r"ASK_BLOG_URL_TEMPLATE: .*\{slug\}"),
        ({"ASK_BLOG_PII": "maybe"}, "ASK_BLOG_PII: "),
        ({"ASK_BLOG_ALLOWED_ORIGINS": "a.example"}, "'a.example' must begin with https://"),
    ],
)
def test_wrong_settings_are_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_settings(environ)


def test_an_empty_variable_counts_as_unset() -> None:
    assert load_settings({"ANTHROPIC_API_KEY": "", "ASK_BLOG_PORT": ""}).port == 8000


def test_origins_are_split_at_commas() -> None:
    settings = load_settings({"ASK_BLOG_ALLOWED_ORIGINS": "https://a.example/, https://b.example"})
    assert settings.allowed_origins == ("https://a.example", "https://b.example")


def test_options_win_over_the_environment() -> None:
    assert load_settings({"ASK_BLOG_PORT": "1"}, port=2).port == 2
    assert load_settings({"ASK_BLOG_PORT": "1"}, port=None).port == 1


def test_the_key_is_not_shown() -> None:
    settings = load_settings({"ANTHROPIC_API_KEY": "sk-secret"})
    assert "sk-secret" not in repr(settings)


def test_every_variable_has_a_meaning() -> None:
    assert all(variables().values())
