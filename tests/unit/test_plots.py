"""Plots: numbers in, well-formed markup out."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from evals.plots import Axes, Estimate, Line, Mark, bars, intervals, lines, slopes

AXES = Axes(x="x", y="y", x_range=(0.0, 1.0))


def test_a_curve_goes_through_its_points_from_the_bottom_left_up() -> None:
    plot = lines([Line(name="c", points=((0, 0), (1, 1)))], AXES, name="p")
    assert 'd="M52.0 220.0L704.0 14.0"' in plot


def test_a_stepped_curve_keeps_its_value_until_the_next_point() -> None:
    plot = lines([Line(name="c", points=((0, 0), (1, 1)), steps=True)], AXES, name="p")
    assert 'd="M52.0 220.0H704.0V14.0"' in plot


def test_names_in_plots_are_escaped() -> None:
    plots = [
        lines([Line(name="<b>", points=((0, 0),))], AXES, [Mark(x=0.5, name="<b>")], name='"<b>"'),
        intervals(
            [Estimate(group="<b>", series=0, value=0.5, low=0.1, high=0.9, note="<b>")],
            name="<b>",
            axis="<b>",
        ),
        slopes([("<b>", 1, 2)], ("<b>", "<b>"), worst=11, name="<b>"),
        bars([("<b>", 1)], name="<b>", axis="<b>"),
    ]
    for plot in plots:
        assert "<b>" not in plot
        ElementTree.fromstring(plot)


@pytest.mark.parametrize("points", [(), ((0.5, 0.5),)])
def test_a_curve_of_no_points_or_one_is_drawn_without_an_error(points: tuple[Any, ...]) -> None:
    flat = Axes(x="x", y="y", x_range=(0.5, 0.5))
    ElementTree.fromstring(lines([Line(name="c", points=points)], flat, name="p"))
    ElementTree.fromstring(intervals([], name="p", axis="x"))


def test_better_worse_and_equal_ranks_look_different_and_share_a_line() -> None:
    moves = [("q1", 1, 3), ("q2", 3, 1), ("q3", 2, 2), ("q4", 2, 2)]
    plot = slopes(moves, ("old", "new"), worst=11, name="p")
    assert [k for k in ("worse", "better", "same") if f'class="slope {k}"' in plot] == [
        "worse",
        "better",
        "same",
    ]
    assert "q3, q4: 2 to 2" in plot
