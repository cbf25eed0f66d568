"""Phone, card, account and identity numbers: found by shape, believed by checksum or metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import phonenumbers
from stdnum import get_cc_module, iban

from service.ask.guard_findings import Finding

_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w.-]*\d)(?![\w-])")
# first digits that ISO/IEC 7812 gives to card networks; other long numbers are data
_CARD_PREFIX = re.compile(r"4|5[0-8]|2[2-7]|3[0-9]|6[0-9]")
_CARD_LENGTHS = range(13, 20)
_PLUS_PHONE = re.compile(r"(?<![\w.:/+-])\+\d{1,3}(?:[ ./-]?\(?\d{1,5}\)?){2,6}(?![\w-])")
_PLAIN_PHONE = re.compile(r"(?<![\w.:/+#-])\(?\d{1,5}\)?(?:[ .-]?\d{2,9}){1,5}(?![\w:/-]|\.\d)")
_PHONE_WORD = re.compile(
    r"\b(?:phone|telephone|tel|call|mobile|cell|text|sms|whatsapp|signal|twilio|reach|on-call|"
    r"my (?:\w+ )?number|plus sign|handy|telefon|fax|contact|dial|ring)\b",
    re.IGNORECASE,
)
# the regions whose numbers readers of English and European blogs write without a plus; chosen
_REGIONS = (
    "US GB FR DE ES IT NL DK NO SE FI PL PT CH AT BE IE AU NZ ZA IN CN JP KR IL AE BR".split()
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])")
_ID_WORD = re.compile(
    r"\b(?:ssn|social security|national id\w*|id (?:number|card|no)|identity|"
    r"tax (?:id|number|file)|nif|nie|dni|pesel|personnummer|aadhaar|cpf|steuer\w*|"
    r"bsn|nhs|insurance number|pps|ahv|"
    r"codice fiscale|citizen|passport|patient|pseudonymi[sz]e|anonymi[sz]e|redact\w*|stored hashed|"
    r"export contains|customer|w-9)\b",
    re.IGNORECASE,
)
_ID_NUMBER = re.compile(r"(?<![\w.+-])[A-Z]{0,6}\d(?:[./-]?[A-Z0-9]| \d){5,18}(?![\w-])")
_PASSPORT_WORD = re.compile(r"\b(?:passport|pasaporte|reisepass|passeport|passaporto|mrz)\b", re.I)
_PASSPORT = re.compile(r"(?<![\w-])(?=(?:\w*\d){4})(?:[A-Z]{0,3}\d{6,9}|[A-Z0-9]{8,9})(?![\w-])")
# country and module of python-stdnum: identity numbers of persons
_SCHEMES = (
    "at:vnr at:tin au:tfn bg:egn br:cpf ca:sin ch:ssn cn:ric cz:rc de:idnr dk:cpr ee:ik es:dni "
    "es:nie fi:hetu fr:nir fr:nif gb:nhs gr:amka hr:oib ie:pps il:idnr in:aadhaar in:pan "
    "it:codicefiscale it:iva kr:rrn lt:asmens mx:curp nl:bsn no:fodselsnummer nz:ird pl:pesel "
    "pt:nif ro:cnp se:personnummer si:emso sk:rc th:pin th:tin tr:tckimlik tw:ubn us:ssn "
    "us:itin za:idnr lv:pk"
).split()


def numbers_in(text: str) -> Iterator[Finding]:
    """Every number that identifies a person or an account."""
    if not _DIGITS.search(text):
        return
    yield from _cards(text)
    yield from _phones(text)
    for match in _IBAN.finditer(text):
        if end := _iban_end(match.group()):
            yield Finding(kind="iban", start=match.start(), end=match.start() + end)
    named = bool(_ID_WORD.search(text))
    for match in _SSN.finditer(text):
        if match.group(1) == "-" or named:
            yield Finding(kind="national_id", start=match.start(), end=match.end())
    if named:
        yield from _national_ids(text)
    if _PASSPORT_WORD.search(text):
        for match in _PASSPORT.finditer(text):
            yield Finding(kind="passport", start=match.start(), end=match.end())


_DIGITS = re.compile(r"\d(?:\D{0,3}\d){5}")


def _cards(text: str) -> Iterator[Finding]:
    for match in _CARD.finditer(text):
        if _CARD_PREFIX.match(match.group()) and passes_luhn(match.group()):
            yield Finding(kind="card", start=match.start(), end=match.end())


def passes_luhn(number: str) -> bool:
    """Whether the digits of `number` carry a valid Luhn check digit (ISO/IEC 7812)."""
    digits = [int(ch) for ch in reversed(number) if ch.isdigit()]
    doubled = [d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)]
    return len(digits) in _CARD_LENGTHS and sum(doubled) % 10 == 0


def _phones(text: str) -> Iterator[Finding]:
    for match in _PLUS_PHONE.finditer(text):
        if _is_phone(match.group(), None):
            yield Finding(kind="phone", start=match.start(), end=match.end())
    named = bool(_PHONE_WORD.search(text))
    for match in _PLAIN_PHONE.finditer(text):
        if (named or match.group().startswith("(")) and _is_national_phone(match.group()):
            yield Finding(kind="phone", start=match.start(), end=match.end())


def _is_national_phone(number: str) -> bool:
    digits = [ch for ch in number if ch.isdigit()]
    if not 8 <= len(digits) <= 12 or _CALENDAR.match(number):
        return False
    return any(_is_phone(number, region) for region in _REGIONS)


_CALENDAR = re.compile(r"(?:19|20)\d\d[-.]?\d\d[-.]?\d\d$|\d{1,3}(?:\.\d{1,3}){2,}$|1[5-8]\d{8}$")


def _is_phone(number: str, region: str | None) -> bool:
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return False
    if region is None:
        return bool(phonenumbers.is_possible_number(parsed))
    return bool(phonenumbers.is_valid_number_for_region(parsed, region))


def _iban_end(run: str) -> int | None:
    """Where the IBAN at the beginning of `run` ends: words may follow it after a space."""
    while len(run) >= 15:
        if iban.is_valid(run):
            return len(run)
        run = run.rpartition(" ")[0]
    return None


def _national_ids(text: str) -> Iterator[Finding]:
    for match in _ID_NUMBER.finditer(text):
        number = match.group()
        if any(scheme.is_valid(number) for scheme in _schemes()):
            yield Finding(kind="national_id", start=match.start(), end=match.end())


@cache
def _schemes() -> list[Any]:
    found = (get_cc_module(*name.split(":")) for name in _SCHEMES)
    return [scheme for scheme in found if scheme is not None]
