"""Keys, tokens and passwords in a text, by their makers' prefixes and by the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.ask.guard_findings import Finding

_BY_PREFIX = (
    # prefix and least length as the vendors document them; the rest of each token is opaque
    r"sk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{30,}",
    r"gl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_.-]{20,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}",
    r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}",
    r"AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
    r"hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|dckr_pat_[\w-]{20,}",
    r"do[opr]_v1_[0-9a-f]{40,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"(?:SK|AC)[0-9a-f]{32}|SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}",
    r"\d{8,10}:AA[A-Za-z0-9_-]{30,}",
    r"(?:EAAC|EAAG)[A-Za-z0-9]{30,}|sq0(?:atp|csp)-[\w-]{20,}|lin_api_\w{30,}|ntn_\w{30,}",
    r"dp\.pt\.\w{30,}|hv[sbr]\.\w{24,}|fly[vo]1_\w{20,}|rubygems_[0-9a-f]{40,}|PMAK-[\w-]{30,}",
    r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{40,}",
)
_PREFIXED = re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(_BY_PREFIX) + r")")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----\s*(\S{16,})")
_IN_URL = re.compile(r"://[^\s/:@]{0,64}:([^\s/@]{3,64})@[\w.\[]")
_ASSIGNED = re.compile(
    r"(?:(?:api|access|account|secret|auth|private|client|signing|encryption)[_-]?(?:key|token|"
    r"secret)|secret|token|passw(?:or)?d|passwd|pwd|bearer)[\"']?\s{0,2}(?:[:=]|\s)\s{0,2}[\"']?"
    r"([A-Za-z0-9+/_.~$!%#^&*@-]{8,200}=*)",
    re.IGNORECASE,
)
_URL_VARIABLE = re.compile(r"\b[A-Z_]{0,20}(?:URL|DSN|PASS|KEY|SECRET|TOKEN)=(\S{6,100})")
_CURL_USER = re.compile(r"\bcurl\b.{0,80}\s(?:-u|--user)\s?[\"']?[\w.@-]{1,40}:(\S{6,80})")
_PASSWORD_WORD = re.compile(
    r"\b(?:pass(?:word|phrase|code)|passwd|pwd|kennwort|passwort|contrase[nñ]a|mot de passe)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\s\"'`,;()<>]{7,64}")
_DOCUMENTED = re.compile(
    r"example|your|changeme|placeholder|redacted|dummy|sample|x{6}|\*{3}|\.\.\.|(.)\1{7}|<|\{|123456",
    re.IGNORECASE,
)
_CLASSES = (
    re.compile("[a-z]"),
    re.compile("[A-Z]"),
    re.compile("[0-9]"),
    re.compile(r"[^\w.\-/:]"),
)


def secrets_in(text: str) -> Iterator[Finding]:
    """Every secret, documentation's placeholders left out."""
    for pattern in (_PREFIXED, _PRIVATE_KEY):
        for match in pattern.finditer(text):
            if not _DOCUMENTED.search(match.group().removesuffix("...")):
                yield Finding(kind="secret", start=match.start(), end=match.end())
    for match in _IN_URL.finditer(text):
        if not _is_placeholder(match.group(1)):
            yield Finding(kind="secret", start=match.start(), end=match.end(1))
    for pattern, least in ((_ASSIGNED, 3), (_URL_VARIABLE, 3), (_CURL_USER, 2)):
        for match in pattern.finditer(text):
            if _looks_random(match.group(1), least):
                yield Finding(kind="secret", start=match.start(1), end=match.end(1))
    yield from _passwords(text)


def _passwords(text: str) -> Iterator[Finding]:
    """A token that only a password looks like, in a question that speaks of one."""
    if not _PASSWORD_WORD.search(text):
        return
    for match in _TOKEN.finditer(text):
        token = match.group().rstrip(".?!:") or match.group()
        if _looks_random(match.group(), 4) or _looks_random(token, 4):
            yield Finding(kind="secret", start=match.start(), end=match.end())


def _looks_random(value: str, least: int) -> bool:
    """Kinds of characters mixed as words, names and paths do not mix them."""
    if _is_placeholder(value) or value.startswith(("http", "$", "--", "@", "/", "./")):
        return False
    kinds = sum(bool(pattern.search(value)) for pattern in _CLASSES)
    return kinds >= least


def _is_placeholder(value: str) -> bool:
    plain = value.lower().strip("[]()'\"")
    return bool(_DOCUMENTED.search(value)) or plain in _STAND_INS


_STAND_INS = frozenset("pass password passwd pwd secret token user pw postgres root admin".split())
