"""Loading questions: every wrong label stops with one sentence that names it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from evals.dataset import DatasetError, find_quote, load_dataset
from service.types import Article
from tests.builders import make_article

ARTICLE = make_article(
    ("", ["An introduction to bread."]),
    ("The dough", ["Knead the dough for ten minutes.\nIt should feel `smooth`.", "Knead again."]),
    slug="bread",
)
OTHER = make_article(("Tyres", ["Take the wheel off."]), slug="bikes")


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "q-1",
        "question": "how long to knead",
        "type": "exact",
        "tags": ["base"],
        "slugs": ["bread"],
        "anchors": [{"slug": "bread", "anchor": "the-dough"}],
        "evidence": [{"slug": "bread", "quote": "the dough for ten minutes"}],
        "source": "authored",
        "split": "dev",
        **changes,
    }


STRANGER = {"id": "q-0", "question": "who won", "type": "no-answer", "split": "dev"}


@pytest.fixture
def load(tmp_path: Path) -> Any:
    path = tmp_path / "questions.yaml"

    def load(*rows: Any, articles: Sequence[Article] = (ARTICLE, OTHER)) -> Any:
        path.write_text(yaml.safe_dump([*rows, STRANGER], allow_unicode=True), "utf-8")
        return load_dataset(path, articles)

    return load


def test_a_good_question_has_its_labels_as_places_in_the_text(load: Any) -> None:
    [question, _] = load(row()).questions
    [span] = question.evidence
    assert ARTICLE.text[span.start : span.end] == "the dough for ten minutes"
    assert span.quote == "the dough for ten minutes"
    assert question.sections[0].anchor == "the-dough"
    assert (question.match, question.split, question.cluster) == ("any", "dev", "bread")


def test_a_section_without_an_anchor_is_the_introduction(load: Any) -> None:
    [question, _] = load(row(anchors=[{"slug": "bread"}])).questions
    assert question.sections[0].anchor == ""


@pytest.mark.parametrize(
    "quote",
    [
        "ten  minutes. It\tshould feel",  # the article has a line break here
        "ten minutes.\n  It should\n  feel",  # wrapped by YAML
        "It should feel smooth",  # without the article's backticks
        "It should `feel` smooth",  # with other ones
    ],
)
def test_white_space_line_wraps_and_backticks_are_no_difference(load: Any, quote: str) -> None:
    [question, _] = load(row(evidence=[{"slug": "bread", "quote": quote}])).questions
    assert "feel" in ARTICLE.text[question.evidence[0].start : question.evidence[0].end]


def test_every_place_of_a_quote_is_found() -> None:
    assert list(find_quote("a b", "a b, ab; a\nb")) == [(0, 3), (5, 7), (9, 12)]
    assert list(find_quote("  ", "a b")) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slugs": ["cakes"]}, "q-1: there is no article 'cakes'"),
        ({"anchors": [{"slug": "cakes"}]}, "q-1: there is no article 'cakes'"),
        ({"evidence": [{"slug": "cakes", "quote": "x"}]}, "q-1: there is no article 'cakes'"),
        (
            {"anchors": [{"slug": "bread", "anchor": "the-oven"}]},
            "q-1: bread has no section 'the-oven'",
        ),
        (
            {"evidence": [{"slug": "bread", "quote": "bake until brown"}]},
            "q-1: this quote occurs 0 times in bread, not once: 'bake until brown'",
        ),
        (
            {"evidence": [{"slug": "bread", "quote": "Knead"}]},
            "q-1: this quote occurs 2 times in bread, not once: 'Knead'",
        ),
        (
            {"evidence": [{"slug": "bikes", "quote": "the dough for ten minutes"}]},
            "q-1: this quote occurs 0 times in bikes, not once",
        ),
        ({"type": "no-answer"}, "q-1: a no-answer question has no slugs"),
        ({"slugs": []}, "q-1: a no-answer question has no slugs, any other has some"),
        ({"type": "riddle"}, "q-1: type:"),
        ({"split": "test"}, "q-1: split:"),
        ({"match": "most"}, "q-1: match:"),
        ({"question": ""}, "q-1: question:"),
        ({"question": "x" * 501}, "q-1: question:"),
        ({"evidence": [{"slug": "bread", "quote": ""}]}, "q-1: evidence.0.quote:"),
    ],
)
def test_a_wrong_label_is_named_with_its_file_and_question(
    load: Any, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        load(row(**changes))
    text = str(caught.value)
    assert "questions.yaml: " in text
    assert message in text
    assert "\n" not in text


def test_an_id_is_used_once(load: Any) -> None:
    with pytest.raises(DatasetError, match="q-1: this id is used twice"):
        load(row(), row(question="another"))


def test_without_a_no_answer_question_nothing_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text(yaml.safe_dump([row()]), "utf-8")
    with pytest.raises(DatasetError, match=r"questions\.yaml: no question of type no-answer"):
        load_dataset(path, [ARTICLE, OTHER])


@pytest.mark.parametrize("content", ["", "[]", "a: 1", "- 3", "{"])
def test_a_file_that_is_no_list_of_questions_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text(content, "utf-8")
    with pytest.raises(DatasetError, match=r"questions\.yaml: "):
        load_dataset(path, [ARTICLE])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere\.yaml: No such file"):
        load_dataset(tmp_path / "nowhere.yaml", [ARTICLE])


def test_splits_are_the_questions_of_their_name(load: Any) -> None:
    dataset = load(row(), row(id="q-2", split="heldout"))
    assert [q.id for q in dataset.split("dev")] == ["q-1", "q-0"]
    assert [q.id for q in dataset.split("heldout")] == ["q-2"]
    assert len(dataset.split("all")) == 3


def test_the_hash_is_of_questions_and_of_articles(load: Any) -> None:
    first = load(row()).sha256
    assert load(row()).sha256 == first
    assert load(row(), articles=[OTHER, ARTICLE]).sha256 == first
    assert load(row(question="other words")).sha256 != first
    changed = make_article(("Tyres", ["Take both wheels off."]), slug="bikes")
    assert load(row(), articles=[ARTICLE, changed]).sha256 != first
