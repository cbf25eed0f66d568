"""The last stage: a draft becomes a Statement, or is Dropped with the reason.

Pure and total. Every citation is looked up in the excerpt it names; a statement keeps the ones
that hold and is dropped when none does, or when it carries a number, flag, version or piece of
code that its cited excerpts don't have. The only links in an answer are our own citations.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from service.ask.answer import CitableExcerpt
from service.ask.segments import list_marker_end
from service.types import (
    Citation,
    Draft,
    Dropped,
    DropReason,
    Excerpt,
    SpanCited,
    Statement,
    StatementKind,
)

_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\((?:[^()]|\([^)]*\))*\)")
_AUTOLINK = re.compile(r"<(?:https?|mailto|ftp|javascript|data):[^>\s]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_OPENING = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>()`]+", re.IGNORECASE)
_DETAIL = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*"  # flags
    r"|\b[A-Za-z_][\w]*(?:[._][\w]+)+\b"  # dotted and underscored identifiers
    r"|\b[a-z]+[A-Z]\w*\b"  # camelCase
    r"|(?<![\w.])\d[\d.,:]*\w*"  # numbers, versions, sizes
)
_VERSION_DIGIT = re.compile(r"\d")
_VERSION_MARK = re.compile(r"^v(?=\d)")  # "v1.2" may be said of "1.2"
_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)


def guard_output(draft: Draft, sources: Sequence[CitableExcerpt]) -> Statement | Dropped:
    """The statement a reader may see, or why not."""
    text = cleaned(draft.text, draft.kind)
    if not text:
        return Dropped(text=draft.text, reason=DropReason.EMPTY)
    if not draft.cited:
        return Dropped(text=draft.text, reason=DropReason.UNCITED)
    ours = [c for c in draft.cited if is_ours(c, sources)]
    if not ours:
        return Dropped(text=draft.text, reason=DropReason.FOREIGN_SOURCE)
    citations = [c for c in (located(span, sources) for span in ours) if c is not None]
    if not citations:
        return Dropped(text=draft.text, reason=DropReason.QUOTE_MISMATCH)
    if unsupported_details(text, draft.kind, [c.excerpt for c in citations]):
        return Dropped(text=draft.text, reason=DropReason.DETAIL_MISMATCH)
    return Statement(text=text, kind=draft.kind, citations=tuple(dict.fromkeys(citations)))


def is_ours(span: SpanCited, sources: Sequence[CitableExcerpt]) -> bool:
    """Whether the span names a source that was sent, by index and by id."""
    return 0 <= span.source_index < len(sources) and sources[span.source_index].id == span.source_id


def located(span: SpanCited, sources: Sequence[CitableExcerpt]) -> Citation | None:
    """Where the quote stands in the article, or None if it is not in the cited excerpt."""
    source = sources[span.source_index]
    chunk = source.excerpt.chunk
    if 0 <= span.first < span.last <= len(source.units):
        start, end = source.units[span.first][0], source.units[span.last - 1][1]
        if squashed(chunk.text[start:end]) == squashed(span.quoted):
            return _citation(source.excerpt, start, end)
    found = find_squashed(span.quoted, chunk.text)
    return _citation(source.excerpt, *found) if found else None


def _citation(excerpt: Excerpt, start: int, end: int) -> Citation:
    text = excerpt.chunk.text[start:end]
    start += len(text) - len(text.lstrip())
    end -= len(text) - len(text.rstrip())
    offset = excerpt.chunk.start
    return Citation(excerpt=excerpt, start=offset + start, end=offset + end)


def squashed(text: str) -> str:
    """NFKC, without white space and Markdown marks: what two copies of a quote must agree on."""
    normal = unicodedata.normalize("NFKC", text)
    return "".join(ch for ch in normal if not ch.isspace() and ch not in "*_`")


def find_squashed(quote: str, text: str) -> tuple[int, int] | None:
    """The span of `text` that equals `quote` once both are squashed."""
    wanted = squashed(quote)
    kept = [(ch, i) for i, raw in enumerate(text) for ch in squashed(raw)]
    at = "".join(ch for ch, _ in kept).find(wanted) if wanted else -1
    if at < 0:
        return None
    return kept[at][1], kept[at + len(wanted) - 1][1] + 1


def cleaned(text: str, kind: StatementKind) -> str:
    """The statement without links, images, HTML, emphasis, list marker and invisible characters."""
    visible = _without_invisible(text)
    if kind is StatementKind.CODE:
        return _code_block(visible)
    visible = visible[list_marker_end(visible) :]
    parts = _split_code(visible)
    return " ".join("".join(p if is_code else _prose(p) for p, is_code in parts).split())


def _code_block(text: str) -> str:
    """The code in a fence of our own: of the opening line only a language is kept."""
    code = _FENCE_LINE.sub("", text).strip("\n")
    if not code.strip():
        return ""
    opening = _OPENING.match(text)
    language = opening[1] if opening else ""
    marks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return f"{marks}{language}\n{code}\n{marks}"


def _prose(text: str) -> str:
    for pattern, replacement in (
        (_IMAGE, r"\1"),
        (_LINK, r"\1"),
        (_AUTOLINK, ""),
        (_TAG, ""),
        (_EMPHASIS, r"\2"),
    ):
        text = pattern.sub(replacement, text)
    return text.lstrip("#> ") if text.startswith(("#", ">")) else text


def _split_code(text: str) -> Iterable[tuple[str, bool]]:
    position = 0
    for span in _CODE_SPAN.finditer(text):
        yield text[position : span.start()], False
        yield span.group(), True
        position = span.end()
    yield text[position:], False


def _without_invisible(text: str) -> str:
    return "".join(
        ch
        for ch in text
        if ch in "\n\t\u200c\u200d"
        or unicodedata.category(ch) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )


def unsupported_details(text: str, kind: StatementKind, excerpts: Iterable[Excerpt]) -> list[str]:
    """Numbers, versions, flags, URLs, identifiers and code that the excerpts don't have."""
    shown = " ".join(" ".join([e.title, *e.chunk.heading_path, e.chunk.text]) for e in excerpts)
    if kind is StatementKind.CODE:
        known = _unspaced(shown)
        return [line for line in details(text, kind) if _unspaced(line) not in known]
    known = unicodedata.normalize("NFKC", shown).casefold()
    return [d for d in details(text, kind) if not _is_known(d, known)]


def _unspaced(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def details(text: str, kind: StatementKind) -> list[str]:
    """What must be copied exactly, in order of appearance."""
    if kind is StatementKind.CODE:
        return [line for line in _FENCE_LINE.sub("", text).splitlines() if line.strip()]
    found: list[str] = []
    for part, is_code in _split_code(text):
        if is_code:
            found += part.strip("`").split()
        else:
            found += _URL.findall(part)
            found += [d.rstrip(".,:") for d in _DETAIL.findall(_URL.sub(" ", part))]
    return found


def _is_known(detail: str, known: str) -> bool:
    """Whether the detail stands in the text by itself: `-p` not in `--prune`, 1.2 not in 11.25."""
    wanted = unicodedata.normalize("NFKC", detail).casefold().strip(".,;:()[]{}\"'`*")
    wanted = _VERSION_MARK.sub("", wanted)
    if _stands_in(wanted, known):
        return True
    small = wanted.isdecimal() and int(wanted) < len(_NUMBER_WORDS)
    return small and _stands_in(_NUMBER_WORDS[int(wanted)], known)


def _stands_in(wanted: str, known: str) -> bool:
    before = r"(?<![\w-])" if wanted.startswith("-") else r"(?<!\w)(?<!\d\.)"
    if _VERSION_DIGIT.match(wanted):
        before = r"(?<![^\W_v])(?<!\d\.)"
    after = r"(?![\w-])" if wanted.startswith("-") else r"(?!\w)(?!\.\d)"
    return re.search(f"{before}{re.escape(wanted)}{after}", known) is not None
