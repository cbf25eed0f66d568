"""Text is cut into citable units that are exact and together are the whole text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.segments import SegmentKind, citable_units, list_marker_end, segments


def units(text: str) -> list[str]:
    return [text[s:e] for s, e in citable_units(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One. Two.", ["One. ", "Two."], id="sentences"),
        pytest.param("Use e.g. uv 0.4.1. Then go.", ["Use e.g. uv 0.4.1. ", "Then go."], id="abbr"),
        pytest.param("A line\nwrapped. Next.", ["A line\nwrapped. ", "Next."], id="wrapped"),
        pytest.param("- one. Two.\n- three", ["- one. ", "Two.\n", "- three"], id="list items"),
        pytest.param("1. First.\n2. Second.", ["1. First.\n", "2. Second."], id="numbered"),
        pytest.param(
            "Do:\n\n```sh\na. b\n\nc\n```\n", ["Do:\n\n", "```sh\na. b\n\nc\n```\n"], id="code"
        ),
        pytest.param("| a. b | c |\n| - | - |", ["| a. b | c |\n", "| - | - |"], id="table rows"),
        pytest.param("## A. B\nText.", ["## A. B\n", "Text."], id="heading"),
        pytest.param("~~~\n```\n~~~\nEnd.", ["~~~\n```\n~~~\n", "End."], id="fence in a fence"),
    ],
)
def test_units(text: str, expected: list[str]) -> None:
    assert units(text) == expected


@given(st.text(alphabet="ab .\n-`#|1)~*é中", max_size=80))
def test_units_joined_with_nothing_between_are_the_text(text: str) -> None:
    assert "".join(units(text)) == text


@given(st.text(min_size=1, max_size=60).filter(lambda t: t.strip()))
def test_no_unit_is_blank_because_the_api_refuses_blank_blocks(text: str) -> None:
    assert all(unit.strip() for unit in units(text.strip()))


def test_a_window_of_code_is_code_until_its_fence_closes() -> None:
    text = "b = 1\n# not a heading\n```\n\nProse."
    spans = citable_units(text, starts_in_code=True)
    assert [text[s:e] for s, e in spans] == ["b = 1\n# not a heading\n```\n\n", "Prose."]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert [s.kind for s in segments("```\na\n\nb. c")] == [SegmentKind.CODE]


@pytest.mark.parametrize(
    ("text", "length"), [("- a", 2), ("12. a", 4), ("  * a", 4), ("-a", 0), ("a", 0), ("1.5 s", 0)]
)
def test_list_markers(text: str, length: int) -> None:
    assert list_marker_end(text) == length
