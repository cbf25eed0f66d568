"""Text -> the terms that lexical search counts: stems of words, and identifiers whole and in parts.

`uv_build.max_size` gives itself, `uv_build`, `max_size` and the stems of uv, build, max and size.
Questions and chunks go through the same function, so what a reader half remembers still meets.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import snowballstemmer

# A run that may be an identifier, flag, path, version or error code; trailing marks are no part.
_RUN = re.compile(r"[^\W_](?:[\w.\-/@:+#]*[\w+#])?|--?[^\W\d_][\w-]*", re.UNICODE)
_JOINT = re.compile(r"[.\-/@:_+#]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
TERMS_ID = "terms-1"  # to be raised whenever the same text would give other terms
_WHOLE_MARK = "="  # before an identifier; no run begins with it
_MAX_TERM_CHARS = 64  # longer runs are data, not words; chosen, not measured
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_STEMMERS = {
    **{"ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german"},
    **{"el": "greek", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french"},
    **{"hi": "hindi", "hu": "hungarian", "id": "indonesian", "it": "italian", "nl": "dutch"},
    **{"no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian"},
    **{"sv": "swedish", "ta": "tamil", "tr": "turkish"},
}


def term_counts(text: str, language: str = "en") -> Counter[str]:
    """How often each term occurs in the text."""
    return Counter(terms(text, language))


def terms(text: str, language: str = "en") -> Iterator[str]:
    """Every term of the text in order; an identifier gives itself and its parts."""
    normal = unicodedata.normalize("NFKC", text)
    for run in _RUN.findall(normal):
        parts = [part for part in _JOINT.split(run) if part]
        words = [word for part in parts for word in _CAMEL.split(part)]
        if len(words) > 1 or run.startswith("-"):
            yield from _whole(run)
        if len(parts) > 1:
            yield from (part.lower() for part in parts if len(part) > 1 and _CAMEL.search(part))
        for word in words:
            yield from _word(word.lower(), language)


def is_identifier(term: str) -> bool:
    """Whether the term is an identifier as a whole."""
    return term.startswith(_WHOLE_MARK)


def _whole(run: str) -> Iterator[str]:
    """The identifier itself, marked, so that it never meets a plain word."""
    name = run.lower().strip("-")
    if len(name) <= _MAX_TERM_CHARS:
        yield f"{_WHOLE_MARK}{name}"


def _word(word: str, language: str) -> Iterator[str]:
    if len(word) > _MAX_TERM_CHARS:
        return
    if _CJK.search(word):
        # written without spaces: pairs of characters stand in for words
        yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))
    else:
        yield _stem(word, language)


@cache
def _stemmer(language: str) -> Any:
    name = _STEMMERS.get(language)
    return snowballstemmer.stemmer(name) if name else None


@lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    return str(stemmer.stemWord(word)) if stemmer else word
