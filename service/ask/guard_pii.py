"""Personal data and secrets in a question, and what only looks like them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.ask.guard_findings import Finding
from service.ask.guard_numbers import numbers_in
from service.ask.guard_secrets import secrets_in

_EMAIL = re.compile(
    r"(?<![\w.+%-])[\w.+%-]{1,64}(?:@|＠|%40)(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24}(?![\w-])", re.I
)
_AT, _DOT = r"(?: @ |\s?[\[(]\s?at\s?[\])]\s?| at )", r"(?:\s?[\[(]\s?dot\s?[\])]\s?| dot |\.)"
_SPELT_EMAIL = re.compile(
    rf"\b[\w+-]{{1,40}}(?:{_DOT}[\w+-]{{1,40}}){{0,3}}{_AT}"
    rf"[a-z0-9-]{{2,40}}{_DOT}(?:com|org|net|io|dev|co|edu|info|me|[a-z]{{2}})\b",
    re.IGNORECASE,
)
# RFC 2606 and 6761: names for documentation and tests, and names that no mail reaches
_RESERVED = re.compile(
    r"[@＠](?:[\w-]+\.)*(?:example\.(?:com|org|net|edu)|[\w-]*\.?(?:example|test|invalid|localhost|"
    r"local|internal|lan|home|corp))$",
    re.IGNORECASE,
)
_REMOTE = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh|git\s+clone|git\s+remote|ssh-copy-id)\b", re.I)
_REMOTE_REACH = 60  # characters between the command and the host; chosen, not measured
_FILE_NAME = re.compile(
    r"\.(?:js|ts|py|rs|go|css|json|png|jpg|svg|md|mdx|html|yaml|yml|toml)$", re.I
)

_POSTCODE = (
    r"(?:\b[A-Z]{2} \d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b"
    r"|\b[A-Z]\d[A-Z] \d[A-Z]\d\b|\b\d{4} ?[A-Z]{2}\b|\b\d{2}-\d{3}\b|\b\d{5}-\d{3}\b|\b\d{4,5}\b)"
)
_HOUSE = (
    r"(?:\b\d{1,5}[a-z]?,? [A-ZÄÖÜÅÉ][\w'’.-]+"
    r"|[A-ZÄÖÜÅÉa-zß][\w'’.ß-]+,? (?:\d{1,5}[a-z]?\b))"
)
_ADDRESS = re.compile(
    rf"{_HOUSE}[^?!;\n]{{0,60}}?[, ]\s?{_POSTCODE}"
    rf"(?:,? \(?[A-ZÄÖÜÅ][\w'’-]+| \(?[A-Z]{{2}}|[?.,;]|$|\s)"
)
_US_ADDRESS = re.compile(
    r"\b\d{1,6} (?:[A-Z][\w'.]+ ){1,5}?(?:(?:Suite|Apt\.?|Unit) \d+)?[\w ]{0,20}, "
    r"[A-Z][\w ]{1,30}, [A-Z]{2} \d{5}|\b[FA]PO A[AEP] \d{5}"
)
_STREET = re.compile(
    r"\b\d{1,5} (?:[A-Z][a-z]+ ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|"
    r"Blvd|Court|Way|Place|Square|Terrace)\b(?=.{0,40}\d)"
)
_AT_HOME = re.compile(
    r"\b(?:live at|lives at|address|addresses|ship|invoice|sent? to|deliver|geocode|located|"
    r"return to|normali[sz]e|moved to|home|wohne|adresse|mail it|deduplicat\w+|"
    r"post to|headquarters)\b",
    re.IGNORECASE,
)
_DATE = (
    r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}|\d{1,2} [A-Z][a-z]{2,8} \d{4})"
)
_BIRTH = re.compile(
    r"(?:[A-ZÀ-Þ][\w'’.-]+\s){1,4}.{0,12}\b(?:born|dob|d\.o\.b\.|date of birth|birthday|birth date|"
    rf"geboren|n[ée]e? le|nacid[oa])\b.{{0,12}}{_DATE}",
    re.IGNORECASE,
)
_BIRTH_NAME = re.compile(r"(?:[A-ZÀ-Þ][\w'’.-]+[ ,]+){2}")

_NOT_PERSONAL = re.compile(
    # UUIDs, IPv4 (RFC 5737 and others) with port or mask, IPv6 (RFC 3849 and others), hashes,
    # ISO timestamps, versions
    r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d{1,2})?(?![\w.])"
    r"|\b(?:[0-9a-f]{1,4}:){2,7}[0-9a-f]{1,4}\b"
    r"|\b(?:sha256|sha512|sha1|md5)[:=-][0-9a-f]{7,128}\b"
    r"|(?<![\w_-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,128}(?![\w-])"
    r"|\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}\S{0,15}"
    r"|\b97[89][ -]?(?:\d[ -]?){9}\d\b"
    r"|\bv\d+(?:\.\d+)+\S*"
)


def personal_data(text: str) -> list[Finding]:
    """E-mail and postal addresses, numbers, births, keys and passwords, in order."""
    bare = _NOT_PERSONAL.sub(lambda m: "~" * len(m.group()), text)
    findings = [*secrets_in(text), *_emails(text), *numbers_in(bare), *_births(text)]
    findings += _addresses(bare)
    return sorted(findings, key=lambda f: (f.start, -f.end))


def _emails(text: str) -> Iterator[Finding]:
    for match in _EMAIL.finditer(text):
        if not _is_harmless(text, match):
            yield Finding(kind="email", start=match.start(), end=match.end())
    for match in _SPELT_EMAIL.finditer(text):
        spelt = match.group().lower()
        if "dot" in spelt or "(" in spelt or "[" in spelt or " @ " in spelt:
            yield Finding(kind="email", start=match.start(), end=match.end())


def _is_harmless(text: str, match: re.Match[str]) -> bool:
    """Names of RFC 2606, files, and user@host as an argument of ssh, scp, rsync or git."""
    address = match.group()
    before = text[max(0, match.start() - _REMOTE_REACH) : match.start()]
    return bool(
        _RESERVED.search(address)
        or _FILE_NAME.search(address)
        or address.lower().startswith("git@")
        or (_REMOTE.search(before) and not re.search(r"[.?!] ", before))
    )


def _births(text: str) -> Iterator[Finding]:
    for match in _BIRTH.finditer(text):
        if _BIRTH_NAME.search(match.group()):
            yield Finding(kind="birth", start=match.start(), end=match.end())


def _addresses(text: str) -> Iterator[Finding]:
    for match in _US_ADDRESS.finditer(text):
        yield Finding(kind="address", start=match.start(), end=match.end())
    if _AT_HOME.search(text):
        for pattern in (_ADDRESS, _STREET):
            for match in pattern.finditer(text):
                yield Finding(kind="address", start=match.start(), end=match.end())
