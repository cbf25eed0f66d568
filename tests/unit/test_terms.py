"""Identifiers meet whole and in parts, words by their stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.terms import term_counts, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Installing installed installs", {"instal": 3}),
        ("maxSize", {"=maxsize": 1, "max": 1, "size": 1}),
        ("UV_BUILD", {"=uv_build": 1, "uv": 1, "build": 1}),
        ("--no-cache", {"=no-cache": 1, "no": 1, "cach": 1}),
        ("uv.lock.", {"=uv.lock": 1, "uv": 1, "lock": 1}),
        ("3.12", {"=3.12": 1, "3": 1, "12": 1}),
        ("ERR_NOT_FOUND", {"=err_not_found": 1, "err": 1, "not": 1, "found": 1}),
        ("pool.maxSize", {"=pool.maxsize": 1, "maxsize": 1, "pool": 1, "max": 1, "size": 1}),
        ("如何安装", {"如何": 1, "何安": 1, "安装": 1}),
        ("", {}),
        ("?! -- ...", {}),
    ],
)
def test_terms(text: str, expected: dict[str, int]) -> None:
    assert dict(term_counts(text)) == expected


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is no-cache", "pass `--no-cache` to skip it"),
        ("max size setting", "set `maxSize` high"),
        ("dependencies", "a dependency"),
        ("UV_CACHE_DIR", "export uv_cache_dir=/tmp"),
    ],
)
def test_what_a_reader_half_remembers_meets_what_is_written(question: str, text: str) -> None:
    assert set(terms(question)) & set(terms(text))


def test_stems_follow_the_language() -> None:
    assert dict(term_counts("Häuser", "de")) == {"haus": 1}


@given(st.text(max_size=200))
def test_no_text_raises_and_no_term_is_empty_or_endless(text: str) -> None:
    assert all(0 < len(term) <= 66 for term in terms(text))


def test_a_very_long_run_of_data_is_no_term() -> None:
    assert dict(term_counts("a" * 5000)) == {}
