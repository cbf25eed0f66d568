"""The first stage: raw text -> a Question, or the Refusal that names the rule it broke.

Advisory by design: what keeps an answer honest is guard_output. These patterns are scoped to what
a reader of a technical blog would not write, since refusing a good question is the worse error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from service.types import MAX_QUESTION_CHARS, Question, Refusal, Rule

_MAX_RAW_CHARS = 4 * MAX_QUESTION_CHARS  # chosen: NFKC and folding only ever shorten honest text


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardInputConfig:
    """What happens to personal data: refuse the question, or mask it and go on."""

    pii: Literal["refuse", "mask"] = "refuse"


_YOUR = r"(?:your|the|all|any|previous|prior|above|earlier|preceding|system|these|those|my|of)"
_ORDERS = (
    r"(?:instructions?|rules?|prompts?|directions?|guidelines?|guardrails|restrictions|orders)"
)

_INJECTION = (
    # "ignore all previous instructions", but not "ignore files in .gitignore"
    rf"\b(?:ignore|disregard|forget|override|bypass|skip|drop)\b(?:\s+{_YOUR}){{1,4}}\s+{_ORDERS}\b",
    r"\b(?:reveal|show|print|repeat|output|tell me|give me|leak|expose|what(?:'s| is| are))\b"
    rf"(?:\s+(?:me|us|out))?\s+your\s+(?:\w+\s+){{0,2}}(?:prompt|{_ORDERS})\b",
    r"\b(?:system|initial|hidden|secret)\s+prompt\b"
    r".{0,40}\b(?:verbatim|word for word|repeat|reveal)",
    r"\brepeat\b.{0,40}\b(?:everything|all|the (?:text|words))\b.{0,20}\babove\b",
    r"\byou are (?:now|no longer)\b"
    r".{0,60}\b(?:assistant|ai|model|bot|dan|unrestricted|jailbroken)\b",
    r"\b(?:pretend|act as if|roleplay|role-play)\b"
    r".{0,30}\b(?:you|no (?:rules|restrictions|filters))\b",
    r"\b(?:do anything now|jailbreak mode|developer mode enabled|dan mode)\b",
    r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|<<SYS>>",
    r"^\s*(?:system|assistant)\s*:",
    r"\bnew (?:instructions?|task|rules?)\s*:",
)

_OFF_TOPIC = (
    r"\b(?:write|compose|generate)\b"
    r".{0,20}\b(?:poem|song|haiku|limerick|essay|cover letter|love letter)",
    r"\b(?:do|solve|finish)\s+my\s+(?:homework|assignment|exam)\b",
    r"\btell me a (?:joke|bedtime story)\b",
    r"\b(?:recipe for|horoscope|lottery numbers|stock tips)\b",
    r"\bwho (?:will|should) (?:win|i vote for)\b",
)

_EMAIL = r"[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24}"
_RESERVED_EMAIL = (
    r"@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|[\w-]+\.(?:example|test|invalid|localhost))$"
)
_AFTER_REMOTE = re.compile(
    r"\b(?:ssh|scp|sftp|rsync|git\s+clone|git)\b[^.?!]{0,60}$", re.IGNORECASE
)
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w.-])")
_PHONE = re.compile(r"(?<![\w.:/-])\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}(?![\w-])")
_SECRET = re.compile(
    r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,})"
    r"|://[^\s/:@]{1,64}:[^\s/@]{3,64}@"
)

_INJECTION_RE = re.compile("|".join(f"(?:{p})" for p in _INJECTION), re.IGNORECASE)
_OFF_TOPIC_RE = re.compile("|".join(f"(?:{p})" for p in _OFF_TOPIC), re.IGNORECASE)
_EMAIL_RE = re.compile(_EMAIL, re.IGNORECASE)
_RESERVED_EMAIL_RE = re.compile(_RESERVED_EMAIL, re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Personal data in a text: its kind and where it stands."""

    kind: str
    start: int
    end: int


def guard_input(raw: str, config: GuardInputConfig) -> Question | Refusal:
    """The question as it will be asked, or why it will not be."""
    if not _is_text(raw):
        return Refusal(rule=Rule.MALFORMED)
    if len(raw) > _MAX_RAW_CHARS:
        return Refusal(rule=Rule.TOO_LONG)
    question = Question.of(raw)
    if not question.text:
        return Refusal(rule=Rule.EMPTY)
    if len(question.text) > MAX_QUESTION_CHARS:
        return Refusal(rule=Rule.TOO_LONG)
    findings = personal_data(question.text)
    if findings and config.pii == "refuse":
        return Refusal(rule=Rule.PERSONAL_DATA)
    if _INJECTION_RE.search(question.text):
        return Refusal(rule=Rule.INJECTION)
    if _OFF_TOPIC_RE.search(question.text):
        return Refusal(rule=Rule.OFF_TOPIC)
    return Question(text=masked(question.text, findings))


def _is_text(raw: str) -> bool:
    """False for lone surrogates, which JSON can smuggle in and no encoding can carry."""
    return not any("\ud800" <= ch <= "\udfff" for ch in raw)


def personal_data(text: str) -> list[Finding]:
    """E-mail addresses, phone and card numbers, keys and passwords, in order."""
    findings = [
        *_found("secret", _SECRET, text),
        *(f for f in _found("email", _EMAIL_RE, text) if not _is_harmless_address(text, f)),
        *(f for f in _found("card", _CARD, text) if passes_luhn(text[f.start : f.end])),
        *_found("phone", _PHONE, text),
    ]
    return sorted(findings, key=lambda f: f.start)


def _found(kind: str, pattern: re.Pattern[str], text: str) -> list[Finding]:
    return [Finding(kind=kind, start=m.start(), end=m.end()) for m in pattern.finditer(text)]


def _is_harmless_address(text: str, finding: Finding) -> bool:
    """RFC 2606 names, and user@host as an argument of ssh, scp or git."""
    address = text[finding.start : finding.end]
    return bool(_RESERVED_EMAIL_RE.search(address) or _AFTER_REMOTE.search(text[: finding.start]))


def passes_luhn(number: str) -> bool:
    """Whether the digits of `number` carry a valid Luhn check digit (ISO/IEC 7812)."""
    digits = [int(ch) for ch in reversed(number) if ch.isdigit()]
    doubled = [d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)]
    return len(digits) >= 13 and sum(doubled) % 10 == 0


def masked(text: str, findings: list[Finding]) -> str:
    """The text with each finding replaced by its kind in brackets."""
    parts: list[str] = []
    position = 0
    for finding in findings:
        if finding.start >= position:
            parts += [text[position : finding.start], f"[{finding.kind}]"]
            position = finding.end
    return "".join([*parts, text[position:]])
