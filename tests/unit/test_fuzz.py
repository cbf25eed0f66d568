"""Articles as nobody would write them: whatever the file, it is read or refused with a reason.

TEST_FUZZ=10000 makes a long run of it.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

from service.ingest.articles import Draft, read_article
from service.ingest.chunk import ChunkRules, chunk_article
from service.ingest.coverage import covered_share
from tests.fakes import WordTokenizer

MUTANTS = int(os.environ.get("TEST_FUZZ", "150"))
HANDBOOK = sorted((Path(__file__).parents[2] / "content" / "articles").glob("*.mdx"))
SYNTAX = [
    *("```", "~~~", "`", "{", "}", "<", ">", "</", "/>", "<Tabs>", "</Tabs>", "{/*", "*/}"),
    *("<!--", "-->", "|", "---", "===", "# ", ":::", "!!! note", "    ", "\t", "[", "](", "\\"),
    *("import x from", "export const", "{{<", "%}", "[^1]:", "\u202e", "\ufeff", "\0", "$$", "* "),
]

Mutation = Callable[[str, random.Random], str]


def _drop(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text))
    return text[:start] + text[start + rng.randrange(1, 400) :]


def _repeat(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text))
    piece = text[start : start + rng.randrange(1, 400)]
    return text[:start] + piece * rng.randrange(2, 5) + text[start:]


def _insert(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(SYNTAX) * rng.randrange(1, 4) + text[at:]


def _shuffle(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    part = lines[start : start + 12]
    rng.shuffle(part)
    return "\n".join([*lines[:start], *part, *lines[start + 12 :]])


def _indent(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    for i in range(start, min(len(lines), start + 10)):
        lines[i] = rng.choice(["  ", "    ", "> ", "- "]) + lines[i]
    return "\n".join(lines)


MUTATIONS: list[Mutation] = [_drop, _repeat, _insert, _insert, _shuffle, _indent]


def test_no_mutated_article_raises_and_every_word_read_lands_in_a_chunk(tmp_path: Path) -> None:
    rng = random.Random(7)
    rules = ChunkRules(target_tokens=200, max_tokens=256)
    texts = [path.read_text("utf-8") for path in HANDBOOK]
    for number in range(MUTANTS):
        text = rng.choice(texts)
        front, body = re.match(r"(?s)(---\n.*?\n---\n)(.*)", text).groups()
        for _ in range(rng.randrange(1, 8)):
            body = rng.choice(MUTATIONS)(body or " ", rng)
        path = tmp_path / rng.choice(["a.md", "a.mdx"])
        path.write_text(front + body, "utf-8")
        article = read_article(path, tmp_path)
        assert not isinstance(article, Draft)
        chunks = chunk_article(article, site="s", tokenizer=WordTokenizer(), rules=rules)
        assert covered_share(article, chunks) == 1.0, number
        assert all(c.text == article.text[c.start : c.end] for c in chunks)
        assert all(c.tokens <= rules.max_tokens for c in chunks)
