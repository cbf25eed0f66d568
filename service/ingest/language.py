"""An article's language: as declared, else as its path says, else as its prose reads.

Articles that differ only in the language of their path are translations of one page.
"""

from __future__ import annotations

import re
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

_MIN_PROSE_CHARS = 200  # less is too little to tell; chosen, not measured
_SAMPLE_CHARS = 2000
_MIN_CONFIDENCE = 0.99  # below it the default is the better guess; chosen, not measured
_CODE = re.compile(r"[a-z]{2}(?:-[a-z]{2,4})?", re.IGNORECASE)
_I18N_FOLDER = "i18n"  # Docusaurus keeps translations below i18n/<language>/


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _known_codes() -> frozenset[str]:
    return frozenset(str(label) for label in _identifier().labels)


def detected_language(prose: str) -> str | None:
    """ISO 639-1 code of the text's language; None where it is too short or unclear."""
    sample = " ".join(prose.split())[:_SAMPLE_CHARS]
    if len(sample) < _MIN_PROSE_CHARS:
        return None
    code, confidence = _identifier().classify(sample)
    return str(code) if confidence >= _MIN_CONFIDENCE else None


def article_language(declared: str | None, slug: str, prose: str, default: str) -> str:
    """The primary language tag of an article.

    A path component such as `it` or `no` may be a word: it counts unless the prose says otherwise.
    """
    if declared:
        return declared
    detected = detected_language(prose)
    by_path = _path_language(slug)
    if by_path and detected in (None, by_path):
        return by_path
    return detected or default


def page_of(slug: str, language: str) -> str:
    """The slug without its language: `de/guides/foo`, `guides/foo.de` -> `guides/foo`."""
    parts = slug.split("/")
    kept = [part for part in parts if _code_of(part) != language]
    if len(kept) < len(parts) and kept and kept[0] == _I18N_FOLDER:
        kept = kept[1:]
    if not kept:
        return slug
    stem, dot, suffix = kept[-1].rpartition(".")
    if dot and _code_of(suffix) == language:
        kept[-1] = stem
    return "/".join(kept)


def _path_language(slug: str) -> str | None:
    parts = slug.split("/")
    candidates = [*parts[:-1], parts[-1].rpartition(".")[2] if "." in parts[-1] else ""]
    codes = (_code_of(part) for part in candidates)
    return next((code for code in codes if code), None)


def _code_of(part: str) -> str | None:
    """`pt` for `pt-BR`; None for anything that is no language tag."""
    if not _CODE.fullmatch(part):
        return None
    code = part[:2].lower()
    return code if code in _known_codes() else None
