"""Article -> chunks: exact slices of the cleaned text, packed to a token budget within a section.

Tokens are counted with the embedding model's own tokenizer, special tokens and the context header
included. No chunk crosses into another section, none is over the hard maximum, and every word of
the article lies in at least one chunk.
"""

from __future__ import annotations

import hashlib
import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from service.errors import ContentError
from service.ports import Span, Tokenizer
from service.types import Article, Block, BlockKind, Chunk, Section

_CHUNKER = "token-1"  # to be raised whenever the same article would give other chunks

_HEADER_SHARE = 3  # the context header may take a third of the budget; chosen, not measured
_OVERLAP_SHARE = 8  # an eighth of a code window repeats the one before; chosen, not measured
_CHARS_PER_UNKNOWN_TOKEN = 4  # a word too long for the tokenizer is one token, whatever its length
_LONGEST_TOKEN_CHARS = 100  # WordPiece gives up on longer words
_CUT_WORD_SLACK = 4  # a word cut in two can have a few more tokens than it had whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRules:
    """Budgets of one embedding model, in tokens of the embedded text."""

    target_tokens: int
    max_tokens: int

    @property
    def id(self) -> str:
        """Names the chunker and its budgets: chunks of another id are cut differently."""
        return f"{_CHUNKER}:{self.target_tokens}/{self.max_tokens}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenChunker:
    """Implements the port Chunker for one embedding model."""

    tokenizer: Tokenizer
    rules: ChunkRules

    @property
    def id(self) -> str:
        """The chunker and its budgets."""
        return self.rules.id

    def chunks(self, article: Article, *, site: str) -> tuple[Chunk, ...]:
        """The article's chunks in order. Raises ContentError if one cannot be made to fit."""
        return chunk_article(article, site=site, tokenizer=self.tokenizer, rules=self.rules)

    def embedded_text(self, chunk: Chunk, title: str) -> str:
        """`title > heading path` and the chunk."""
        return embedded_text(chunk, title, self.tokenizer, self.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """A block, or a part of one that is over the budget."""

    start: int
    end: int
    window: bool = False  # of code: may overlap the unit before, so never packed with it


class _TokenCounter:
    """Tokens of any span of one text, from a single pass of the tokenizer."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._starts = [at for span in tokenizer.spans(text) for at in _token_starts(*span)]

    def count(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)


def _token_starts(start: int, end: int) -> range:
    """Where a token counts; one that stands for a word too long to be known counts by its length,
    since it will be cut."""
    long = end - start > _LONGEST_TOKEN_CHARS
    return range(start, end, _CHARS_PER_UNKNOWN_TOKEN if long else end - start or 1)


def chunk_article(
    article: Article, *, site: str, tokenizer: Tokenizer, rules: ChunkRules
) -> tuple[Chunk, ...]:
    """The article's chunks in order. Raises ContentError if one cannot be made to fit."""
    counter = _TokenCounter(article.text, tokenizer)
    chunks: list[Chunk] = []
    for section, blocks in _sections_with_blocks(article):
        header = context_header(article.title, section.heading_path, tokenizer, rules)
        budget = _Budget(counter, tokenizer.count(header), rules)
        for start, end in _pack(_units(article.text, blocks, budget), budget):
            chunk = _chunk(article, section, (start, end), len(chunks), site=site)
            in_code = any(b.kind is BlockKind.CODE and b.start < start < b.end for b in blocks)
            chunks.append(replace(chunk, starts_in_code=in_code))
    return tuple(_counted(chunk, article.title, tokenizer, rules) for chunk in chunks)


def context_header(
    title: str, heading_path: Sequence[str], tokenizer: Tokenizer, rules: ChunkRules
) -> str:
    """`title > heading path`, without its middle where it would eat too much of the budget."""
    limit = rules.target_tokens // _HEADER_SHARE
    full = header_text(title, heading_path)
    if tokenizer.count(full) <= limit or not heading_path:
        return full if tokenizer.count(full) <= limit else _cut(full, limit, tokenizer)
    return _cut(header_text(title, heading_path[-1:]), limit, tokenizer)


def _cut(header: str, limit: int, tokenizer: Tokenizer) -> str:
    spans = tokenizer.spans(header)
    return header if len(spans) <= limit else header[: spans[limit - 1][1]]


def header_text(title: str, heading_path: Sequence[str]) -> str:
    """The header in full: `title > outer heading > inner heading`."""
    return " > ".join([title, *heading_path])


def embedded_text(chunk: Chunk, title: str, tokenizer: Tokenizer, rules: ChunkRules) -> str:
    """What the model sees of a chunk; the chunk itself stays untouched."""
    return f"{context_header(title, chunk.heading_path, tokenizer, rules)}\n{chunk.text}"


def _counted(chunk: Chunk, title: str, tokenizer: Tokenizer, rules: ChunkRules) -> Chunk:
    tokens = tokenizer.count(embedded_text(chunk, title, tokenizer, rules))
    if tokens > rules.max_tokens:
        raise ContentError(
            f"{chunk.slug}: the chunk at characters {chunk.start}-{chunk.end} has {tokens} tokens, "
            f"over the {rules.max_tokens} of the embedding model"
        )
    return replace(chunk, tokens=tokens)


def _chunk(article: Article, section: Section, span: Span, position: int, *, site: str) -> Chunk:
    start, end = span
    text = article.text[start:end]
    digest = hashlib.sha256(f"{site}\0{article.slug}\0{start}\0{text}".encode())
    return Chunk(
        id=digest.hexdigest()[:24],
        slug=article.slug,
        position=position,
        anchor=section.anchor,
        heading_path=section.heading_path,
        start=start,
        end=end,
        text=text,
        tokens=0,  # counted last, over the embedded text
    )


def _sections_with_blocks(article: Article) -> Iterator[tuple[Section, list[Block]]]:
    """Sections that have text, each with its blocks.

    The heading of a section without text goes before its first subsection, so that it is neither
    lost nor a chunk of its own.
    """
    waiting: list[Block] = []
    blocks = iter(article.blocks)
    block = next(blocks, None)
    for section, following in itertools.zip_longest(article.sections, article.sections[1:]):
        own = waiting
        while block is not None and block.start < section.end:
            own.append(block)
            block = next(blocks, None)
        only_headings = all(b.kind is BlockKind.HEADING for b in own)
        if only_headings and following is not None and following.level > section.level:
            waiting = own
        else:
            waiting = []
            if own:
                yield section, own


@dataclass(frozen=True, slots=True)
class _Budget:
    """Room left for text in a chunk once its header is in."""

    counter: _TokenCounter
    header_tokens: int
    rules: ChunkRules

    def tokens(self, start: int, end: int) -> int:
        return self.counter.count(start, end)

    @property
    def target(self) -> int:
        return self.rules.target_tokens - self.header_tokens

    @property
    def maximum(self) -> int:
        return self.rules.max_tokens - self.header_tokens


def _units(text: str, blocks: Sequence[Block], budget: _Budget) -> Iterator[_Unit]:
    """Blocks that fit, and the parts of those that don't. Headings stay with what follows."""
    start: int | None = None
    for block in blocks:
        unit_start = block.start if start is None else start
        if block.kind is BlockKind.HEADING and block is not blocks[-1]:
            start = unit_start
            continue
        start = None
        if budget.tokens(unit_start, block.end) <= budget.maximum:
            yield _Unit(start=unit_start, end=block.end)
        elif block.kind is BlockKind.CODE:
            yield from _code_windows(text, unit_start, block.end, budget)
        else:
            yield from (
                _Unit(start=s, end=e) for s, e in _split(text, unit_start, block.end, budget)
            )


def _code_windows(text: str, start: int, end: int, budget: _Budget) -> Iterator[_Unit]:
    """Windows on line borders; each repeats the last lines of the one before."""
    lines = list(_pieces(text, start, end, "\n"))
    first = 0
    while first < len(lines):
        last = first + 1
        while last < len(lines) and budget.tokens(lines[first][0], lines[last][1]) <= budget.target:
            last += 1
        window = (lines[first][0], lines[last - 1][1])
        for s, e in _split(text, *window, budget):
            yield _Unit(start=s, end=e, window=True)
        if last == len(lines):
            return
        first = max(first + 1, last - max(1, (last - first) // _OVERLAP_SHARE))


def _split(text: str, start: int, end: int, budget: _Budget) -> Iterator[Span]:
    """Spans within the target, cut at the coarsest border that does: line, sentence, word."""
    if budget.tokens(start, end) <= budget.target:
        yield start, end
        return
    for separator in ("\n", ". ", " "):
        pieces = list(_pieces(text, start, end, separator))
        if len(pieces) > 1:
            for s, e in _merge(pieces, budget):
                yield from _split(text, s, e, budget)
            return
    yield from _cut_word(start, end, budget)


def _cut_word(start: int, end: int, budget: _Budget) -> Iterator[Span]:
    """A run without white space, cut so that even one token per character fits."""
    size = max(1, budget.target - _CUT_WORD_SLACK)
    for s in range(start, end, size):
        yield s, min(end, s + size)


def _pieces(text: str, start: int, end: int, separator: str) -> Iterator[Span]:
    """Non-blank pieces of text[start:end] between separators, white space around them left out."""
    position = start
    while position < end:
        found = text.find(separator, position, end)
        stop = end if found < 0 else found + len(separator)
        piece = text[position:stop]
        if not piece.isspace():
            lead = 0 if separator == "\n" else len(piece) - len(piece.lstrip())
            yield position + lead, position + len(piece.rstrip())
        position = stop


def _merge(pieces: Iterable[Span], budget: _Budget) -> Iterator[Span]:
    """Neighbouring pieces joined while they stay within the target."""
    current: Span | None = None
    for start, end in pieces:
        if current is None:
            current = (start, end)
        elif budget.tokens(current[0], end) <= budget.target:
            current = (current[0], end)
        else:
            yield current
            current = (start, end)
    if current is not None:
        yield current


def _pack(units: Iterable[_Unit], budget: _Budget) -> Iterator[Span]:
    """Units joined up to the target; one that is over it alone stays alone."""
    current: Span | None = None
    for unit in units:
        fits = current is not None and budget.tokens(current[0], unit.end) <= budget.target
        if current is not None and fits and not unit.window:
            current = (current[0], unit.end)
            continue
        if current is not None:
            yield current
        current = (unit.start, unit.end)
    if current is not None:
        yield current
