"""What a reader of the file would miss is found and named."""

from __future__ import annotations

from service.ingest.chunk import ChunkRules, chunk_article
from service.ingest.coverage import coverage, covered_share, duplicate_paragraphs, source_words
from tests.builders import make_article
from tests.fakes import WordTokenizer

SOURCE = """
import Tabs from './tabs'

# Title

Some **bold** text with a [link](https://example.com/a_b "tip") and `code`.

<Tabs values={[{a: 1}]} label="x">
Inside a tab.
</Tabs>

{/* a comment */} <!-- another -->

```js title="a.js"
const x = 1
```
"""
SEEN = [
    "title",
    "some",
    "bold",
    "text",
    "with",
    "a",
    "link",
    "and",
    "code",
    "inside",
    "a",
    "tab",
    "const",
    "x",
    "1",
]


def test_only_what_readers_see_counts() -> None:
    assert [word for _, word in source_words(SOURCE, mdx=True)] == SEEN


def test_a_whole_reading_has_full_coverage() -> None:
    found = coverage(SOURCE, " ".join(SEEN), mdx=True)
    assert (found.words, found.missing, found.first_missing, found.share) == (15, 0, None, 1.0)


def test_a_lost_block_is_named_by_its_line_and_word() -> None:
    cleaned = " ".join(word for word in SEEN if word not in ("inside", "tab"))
    found = coverage(SOURCE, cleaned, mdx=True)
    assert (found.missing, found.first_missing) == (2, (9, "inside"))
    assert found.share == 13 / 15


def test_a_word_read_once_but_written_twice_is_missing_once() -> None:
    assert coverage("again and again", "and again", mdx=False).missing == 1


def test_an_empty_source_is_fully_covered() -> None:
    assert coverage("", "", mdx=False).share == 1.0


def test_words_outside_every_chunk_count_as_uncovered() -> None:
    article = make_article(("One", ["alpha beta."]), ("Two", ["gamma delta."]))
    rules = ChunkRules(target_tokens=40, max_tokens=60)
    chunks = chunk_article(article, site="s", tokenizer=WordTokenizer(), rules=rules)
    assert covered_share(article, chunks) == 1.0
    assert covered_share(article, chunks[:1]) == 0.5


def test_paragraphs_that_repeat_across_articles_are_found() -> None:
    long = "This paragraph has more than a dozen words and stands in two of the articles."
    articles = [
        make_article(("One", [long, "Short one."]), slug="a"),
        make_article(("Two", ["Short one.", long]), slug="b"),
        make_article(("Three", [long + " Not quite."]), slug="c"),
    ]
    assert duplicate_paragraphs(articles) == [(long, ("a", "b"))]
