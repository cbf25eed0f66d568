"""Patterns for orders to the model and for other uses of it, each with a name.

They are scoped to a verb, a possessive and a noun of instruction, or to role tokens, since the
words alone are a technical blog's daily bread. Every repetition is bounded: time is linear.
"""

from __future__ import annotations

import re

from service.ask.guard_views import Views

_YOUR = (
    r"(?:your|ur|the|all|any|every|previous|prior|past|above|earlier|preceding|former|existing|"
    r"system|original|initial|given|safety|these|those|my|of|that|and|other|current|usual)"
)
_ORDERS = (
    r"(?:instructions?|rules?|prompts?|directions?|directives?|guidelines?|guardrails|"
    r"restrictions?|orders|constraints|commands?|programming|policies|protocols|safeguards)"
)
_DROP = (
    r"(?:ignore|disregard|forget|override|overrule|bypass|skip|drop|discard|neglect|abandon|"
    r"delete|circumvent|violate|do not follow|don't follow|stop following|set aside|supersedes?)"
)
_SHOW = (
    r"(?:reveal|show|print|repeat|output|display|share|tell|give|leak|expose|dump|return|write|"
    r"recite|paste|summari[sz]e|translate|encode|send|disclose|what(?:'s| is| are| were| was))"
)

INJECTION = {
    # "ignore all previous instructions", but not "ignore files in .gitignore"
    "override": rf"\b{_DROP}(?:\s+{_YOUR}){{1,4}}\s+{_ORDERS}\b",
    "override_all": r"\b(?:ignore|disregard|forget)\s+(?:everything|all|anything|whatever)\b"
    r"(?:\s+\w+){0,3}?\s+(?:above|before|prior|previous|previously|said|told|earlier|learned)\b"
    r"|\b(?:ignore|disregard|forget)\s+(?:the\s+)?(?:above|previous|foregoing)"
    r"(?:\s+(?:and|text|task|assignments?)\b|\s*[.:,!;]|$)",
    "reveal": rf"\b{_SHOW}(?:\s+(?:me|us|out|back|of|in|full))?\s+"
    rf"(?:your|ur)\s+(?:\w+\s+){{0,2}}(?:prompts?|{_ORDERS})\b",
    "reveal_verbatim": r"\b(?:system|initial|hidden|secret)\s+prompt\b"
    r".{0,40}\b(?:verbatim|word for word|repeat|reveal)",
    "repeat_above": r"(?:^|[.!?:;,\"]\s|please |and |then |now )"
    r"(?:repeat|print|output|show|copy|recite|return)\b.{0,40}\b"
    r"(?:everything|all|the (?:text|words|message|sentences?|prompt|lines?))\b.{0,20}"
    r"\b(?:above|before this|so far|up to here)\b",
    "persona": r"\byou are (?:now|no longer)\b"
    r".{0,60}\b(?:assistant|ai|model|bot|dan|unrestricted|jailbroken|free|mode)\b"
    r"|\bfrom now on,? (?:you|act|respond|answer|ignore)\b",
    "pretend": r"\b(?:pretend|act as if|roleplay|role-play)\b"
    r".{0,30}\b(?:you (?:are|have|were|can)|no (?:rules|restrictions|filters))\b"
    r"|\b(?:act|respond|answer|behave|operate|speak) (?:as|like) (?:an? )?"
    r"(?:unrestricted|unfiltered|evil|uncensored|jailbroken|dan)\b",
    "mode": r"\b(?:do anything now|(?:jailbreak|dan|god|admin|debug|unrestricted|developer) mode"
    r"(?: is| now)? (?:enabled|activated|on)|enable (?:jailbreak|dan|unrestricted) mode)\b"
    r"|\bjailbreak mode\b|\bdan mode\b",
    "no_limits": r"\b(?:without|no|free (?:of|from)|disable|turn off|lift|remove)"
    r"(?: any| all| your| the| more){0,2} (?:ethical|moral|safety|content)"
    r" (?:restrictions?|filters?|guidelines?|limits|limitations?|constraints|measures|rules)\b",
    "role_token": r"<\|?(?:im_start|im_end|system|endoftext|assistant)\|?>|\[/?inst\]|<</?sys>>"
    r"|</?(?:system_prompt|context|user_query)>|\"role\"\s{0,3}:\s{0,3}\"(?:system|assistant)\""
    r"|^\s{0,3}#{2,4}\s?(?:system|instructions?|new instructions?)\b",
    "role_label": r"^\s*(?:system|assistant)\s*:|[\])>.]\s{0,3}system\s?:",
    "new_orders": r"\bnew (?:instructions?|task|rules?|directives?)\s*:"
    r"|\b(?:end of (?:user )?(?:question|input|prompt))\b.{0,20}(?:system|instruct|now)",
    "pwned": r"\bi have been pwned\b|\bhaha pwned\b",
    "obey_encoded": r"\b(?:decode|decrypt|rot13|base64|backwards|reverse)\b.{0,40}"
    r"\b(?:and|then)\s(?:\w+\s)?(?:follow|obey|execute|do what|do exactly|comply)",
    "override_es": r"\b(?:ignora|olvida|olvide|omite|descarta|ignore|esqueca|dimentica|"
    r"desconsidere|oublie|oubliez|ignorez|vergiss|vergessen sie|ignoriere|ignorieren sie|"
    r"missachte|negeer|vergeet)\b(?:\s\w+){0,3}?\s(?:instruc\w+|anweisungen|regeln|aufgaben|"
    r"auftrage|regles|reglas|regole|regras|consignes|istruzioni|instructies|indicaciones|obige\w*|"
    r"istruzione|angaben|davor|zuvor|antes|prima|avant)\b",
    "override_other": r"(?:игнориру|забудь|αγνοησ|忽略|無視|无视|忘记|무시)\w*.{0,16}"
    r"(?:инструкц|указан|правил|οδηγι|指示|指令|지시)",
}

_SQUEEZED = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|my|of|previous|prior|above|"
    r"earlier|everything|system){1,4}(?:instruction|rule|prompt|guideline|restriction|told|before)?"
    r"|(?:reveal|show|print|repeat|tell)(?:me)?(?:your|the)(?:system|secret|initial)?(?:prompt|"
    r"instruction|password)|systemprompt"
)

OFF_TOPIC = {
    "verse": r"\b(?:write|compose|generate)\b.{0,20}\b(?:poem|song|haiku|limerick|sonnet)\b",
    "essay": r"\b(?:write|compose|generate|draft) (?:me |us )?(?:an? |my |the )(?:\w+ ){0,2}"
    r"(?:essay|cover letter|love letter|speech|short story|dissertation|resume)\b",
    "homework": r"\b(?:do|solve|finish)\s+my\s+(?:homework|assignment|exam)\b",
    "joke": r"\btell me a (?:joke|(?:bedtime )?story)\b",
    "advice": r"\b(?:recipe for|horoscope|lottery numbers|stock tips)\b",
    "elections": r"\bwho (?:will|should) (?:win the election|i vote for)\b",
    "translate": r"^(?:please )?translate (?:this|the following) (?:to|into|from|sentence|text)\b",
}

# Asking *about* attacks, as a reader of a security article does; patterns then only make it strict
_ABOUT = re.compile(
    r"^(?:\W{0,3}(?:how|why|what|which|when|where|does|do|is|are|can|could|should|would|will|explain"
    r"|describe|was|did|has|in the|wie|was|warum|comment|como|por que)\b)"
    r"(?=.*\b(?:injection|injections|jailbreaks?|jailbreaking|attacks?|attacker|prevent|detect|"
    r"detection|defend|defen[cs]es?|guards?|filter|filters|block|blocked|blocks|mitigate|stop|"
    r"protect|phrases?|regex|classifier|article|post|string|called|mean|means|example|owasp)\b)"
)
_QUOTED = re.compile(r"[\"“'`‘][^\"”'`’]{4,200}[\"”'`’]")

_INJECTION_RE = {name: re.compile(p, re.IGNORECASE) for name, p in INJECTION.items()}
_OFF_TOPIC_RE = {name: re.compile(p, re.IGNORECASE) for name, p in OFF_TOPIC.items()}


def injection_pattern(views: Views) -> str | None:
    """The name of the first pattern that fits any reading of the question."""
    for text in (views.folded, views.leet, *views.decoded):
        if not text:
            continue
        for name, pattern in _INJECTION_RE.items():
            if pattern.search(text):
                return name
    if any(_SQUEEZED.search(text) for text in views.squeezed):
        return "squeezed"
    return None


def off_topic_pattern(views: Views) -> str | None:
    """The name of the first pattern of another use."""
    return next((n for n, p in _OFF_TOPIC_RE.items() if p.search(views.folded)), None)


def asks_about_attacks(views: Views) -> bool:
    """A question that mentions an attack, mostly in quotation marks, rather than makes it."""
    return bool(_ABOUT.search(views.folded)) and (
        views.folded.rstrip().endswith("?") or bool(_QUOTED.search(views.folded))
    )
