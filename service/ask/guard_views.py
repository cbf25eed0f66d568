"""Other readings of a question, beside the text and never in its place.

What was spaced out, written backwards, in look-alike letters, in digits for letters, in base64,
hexadecimal or rot13 is what a model may still read. Every view takes linear time.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Look-alikes of Latin letters, from Unicode's confusables (UTS 39), those seen in attacks
_LOOKALIKES = str.maketrans(
    "абвгԁеѕіјкӏмпорсԛтухүԝһзьаοαβγεζηικνρτυχωɑɡɩɪʏʀ∂€",
    "a6brdesijklmnopcqtyxywh3baoabyeznikvptuxwagiiyrde",
)
_LEET = str.maketrans("013456789@$!|+€", "oieasgtbgasiite")
_WORD = re.compile(r"\S+")
_HAS_LATIN = re.compile(r"[A-Za-z]")
_HAS_OTHER = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")
_LEET_WORD = re.compile(r"(?<![\w.@/:-])(?=\w*[a-z])[a-z@$!|+0-9€]*[013456789@$|+€][a-z@$!|+0-9€]*")
_SPACED = re.compile(r"(?<!\S)(?:\S[ \-_.*]){4,}\S(?!\S)")
_SPACED_WORDS = 8  # single letters it takes to hide an order; chosen, not measured
_LONE_SPACE = re.compile(r"(?<!\S)(\S) (?=\S(?!\S))")
_NO_WORD = re.compile(r"[\W_]+")
_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[ :]?){8,}")
_HEX_MARK = re.compile(r"\\x|0x|[ :%]")
# the commonest words of English and of orders to a model: two more than before say "this way round"
_COMMON = frozenset(
    "the a an and of to in is you your me my i it that this for all any what how do not no with "
    "ignore previous instructions system prompt say print tell show write give are be".split()
)
_LETTERS = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """`folded` replaces nothing: the others are read beside it."""

    folded: str  # lower case, accents stripped, look-alikes folded in mixed words
    leet: str  # digits and signs read as letters; "": no word looks like that
    decoded: tuple[str, ...]  # readable text found in encodings, each folded
    squeezed: tuple[str, ...]  # spaced-out letters without any space


def views_of(text: str, raw: str = "") -> Views:
    """Every reading of a normalised question; `raw` still has its runs of spaces."""
    folded = fold(text)
    decoded = [fold(t) for t in _decodings(text)]
    if len(raw.split()) > _SPACED_WORDS and _SPACED.search(raw):
        decoded.append(" ".join(_LONE_SPACE.sub(r"\1", fold(raw)).split()))
    leet = _LEET_WORD.sub(lambda m: m.group().translate(_LEET), folded)
    return Views(
        folded=folded,
        leet=leet if leet != folded else "",
        decoded=tuple(decoded),
        squeezed=tuple(_NO_WORD.sub("", m.group()) for m in _SPACED.finditer(folded)),
    )


def fold(text: str) -> str:
    """Lower case, no accents, and Latin letters for look-alikes in words that mix scripts."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    unmixed = _WORD.sub(_folded_word, lowered)
    parts = unicodedata.normalize("NFD", unmixed)
    return unicodedata.normalize(
        "NFC", "".join(ch for ch in parts if not "\u0300" <= ch <= "\u036f")
    )


def _folded_word(match: re.Match[str]) -> str:
    word = match.group()
    mixed = _HAS_LATIN.search(word) and _HAS_OTHER.search(word)
    return word.translate(_LOOKALIKES) if mixed else word


def _decodings(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        yield from _readable(_from_base64(match.group()))
    for match in _HEX.finditer(text):
        digits = _HEX_MARK.sub("", match.group())
        yield from _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    common = _common(text)
    for other in (text[::-1], codecs.decode(text, "rot13")):
        if _common(other) >= common + 2:
            yield other


def _from_base64(run: str) -> bytes:
    standard = run.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(standard[: len(standard) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _readable(data: bytes) -> Iterator[str]:
    """The text, where nearly all of it is letters and spaces, as no hash or image is."""
    text = data.decode("utf-8", "ignore")
    plain = sum(ch.isalpha() or ch in " .,:;!?'\"-\n" for ch in text)
    if len(data) >= 8 and len(text) > 0.9 * len(data) and plain > 0.9 * len(text):
        yield text


def _common(text: str) -> int:
    return sum(word in _COMMON for word in _LETTERS.findall(text.lower()))
