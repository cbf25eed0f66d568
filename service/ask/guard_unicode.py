"""Characters that a reader cannot see but a model reads: what of them is refused, and why.

A lone variation selector, the joiners inside emoji, Persian and Indic words, and flags made of
tags are how people write; they pass.
"""

from __future__ import annotations

import re

# UTR 36 and Unicode TR 39 name these; a run of four selectors carries four hidden bytes (chosen:
# honest text has one after a character, and no emoji or ideograph has more than two in a row)
_SELECTOR_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4}")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,8}\U000e007f")
_TAG = re.compile("[\U000e0000-\U000e007f]")
_BIDI_OVERRIDE = re.compile("[\u202d\u202e]")
_ISOLATED_ASCII = re.compile("[\u2066-\u2068][^\u2066-\u2069]{0,40}[A-Za-z]{2}")
_SPLIT_WORD = re.compile("[A-Za-z][\u200b-\u200d\u2060\ufeff]+[A-Za-z]")


def hidden_text(raw: str) -> str | None:
    """The name of the trick by which `raw` carries what no reader sees, or None."""
    if raw.isascii():
        return None
    if _SELECTOR_RUN.search(raw):
        return "variation_selectors"
    if _TAG.search(_FLAG.sub("", raw)):
        return "tag_characters"
    if _BIDI_OVERRIDE.search(raw) or _ISOLATED_ASCII.search(raw):
        return "bidi"
    if _SPLIT_WORD.search(raw):
        return "zero_width"
    return None
