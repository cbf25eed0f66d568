"""Small plots as inline SVG: numbers in, markup out, the same bytes for the same numbers.

Colours are the style sheet's: series n has the class `s{n}`. Text is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 720
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 14, 40  # room around the drawing
_ROW = 22  # height of one row of an interval plot
_TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A named curve; points in order of x."""

    name: str
    points: tuple[tuple[float, float], ...]
    steps: bool = False  # keeps its value up to the next point


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A vertical line with a word."""

    x: float
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its interval, in a group of rows."""

    group: str
    series: int
    value: float
    low: float
    high: float
    note: str  # at the end of the row


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What is drawn along the two sides."""

    x: str
    y: str
    x_range: tuple[float, float]
    y_range: tuple[float, float] = (0.0, 1.0)


def lines(curves: Sequence[Line], axes: Axes, marks: Sequence[Mark] = (), *, name: str) -> str:
    """Curves over a common axis."""
    height = 260
    x, y = _scales(axes, height)
    drawn = [_grid(axes, x, y, height)]
    for mark in marks:
        at = x(mark.x)
        side = "end" if at > WIDTH - 120 else "start"
        shift = -5 if side == "end" else 5
        drawn.append(
            f'<line class="mark" x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{height - _BOTTOM}"/>'
            + _text(at + shift, 0.75 * (height - _BOTTOM), mark.name, side)
        )
    for n, curve in enumerate(curves):
        drawn.append(
            f'<path class="line s{n}" d="{_path(curve, x, y)}"><title>{escape(curve.name)}</title>'
            "</path>"
        )
    return _svg(height, name, drawn)


def _path(curve: Line, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    parts = []
    for n, (a, b) in enumerate(curve.points):
        if n == 0:
            parts.append(f"M{x(a):.1f} {y(b):.1f}")
        elif curve.steps:
            parts.append(f"H{x(a):.1f}V{y(b):.1f}")
        else:
            parts.append(f"L{x(a):.1f} {y(b):.1f}")
    return "".join(parts)


def intervals(estimates: Sequence[Estimate], *, name: str, axis: str) -> str:
    """A row for each estimate, from 0 to 1: a dot and its 95% interval."""
    left, right = 130, 92
    groups = list(dict.fromkeys(e.group for e in estimates))
    height = _TOP + _ROW * len(estimates) + 10 * len(groups) + _BOTTOM

    def x(value: float) -> float:
        return left + value * (WIDTH - left - right)

    drawn = [
        f'<line class="grid" x1="{x(t / 5):.1f}" y1="{_TOP}" x2="{x(t / 5):.1f}" '
        f'y2="{height - _BOTTOM}"/>' + _text(x(t / 5), height - _BOTTOM + 16, f"{t / 5:.1f}")
        for t in range(6)
    ]
    drawn.append(_text((left + WIDTH - right) / 2, height - 6, axis))
    row = float(_TOP)
    for group in groups:
        members = [e for e in estimates if e.group == group]
        drawn.append(_text(left - 12, row + _ROW * len(members) / 2 + 4, group, "end", "label"))
        for e in members:
            drawn.append(_whisker(e, x, row + _ROW / 2))
            row += _ROW
        row += 10
    return _svg(height, name, drawn)


def _whisker(estimate: Estimate, x: Callable[[float], float], y: float) -> str:
    low, high, value = x(estimate.low), x(estimate.high), x(estimate.value)
    style = f"s{estimate.series}"
    return (
        f'<g class="{style}"><title>{escape(estimate.group)}: {estimate.value:.3f} '
        f"({estimate.low:.3f} to {estimate.high:.3f})</title>"
        f'<line class="whisker" x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}"/>'
        f'<circle class="dot" cx="{value:.1f}" cy="{y:.1f}" r="4.5"/></g>'
        + _text(WIDTH - 80, y + 4, estimate.note, "start")
    )


def slopes(
    moves: Sequence[tuple[str, int, int]], ends: tuple[str, str], *, worst: int, name: str
) -> str:
    """A line for each named move from one rank to another; `worst` stands for not found."""
    height, left, right = 330, 150, WIDTH - 150

    def y(rank: int) -> float:
        return 44 + (rank - 1) / (worst - 1) * (height - 64)

    drawn = [_text(left, 20, ends[0], "end", "label"), _text(right, 20, ends[1], "start", "label")]
    for rank in range(1, worst + 1):
        word = "not in ten" if rank == worst else str(rank)
        drawn += [
            f'<line class="grid" x1="{left}" y1="{y(rank):.1f}" x2="{right}" y2="{y(rank):.1f}"/>',
            _text(left - 10, y(rank) + 4, word, "end"),
            _text(right + 10, y(rank) + 4, word, "start"),
        ]
    counts: dict[tuple[int, int], list[str]] = {}
    for question, old, new in moves:
        counts.setdefault((old, new), []).append(question)
    for (old, new), ids in sorted(counts.items()):
        kind = "same" if old == new else "better" if new < old else "worse"
        width = 1.2 + 1.3 * math.sqrt(len(ids))
        drawn.append(
            f'<path class="slope {kind}" style="stroke-width:{width:.1f}" '
            f'd="M{left} {y(old):.1f}C{left + 140} {y(old):.1f} {right - 140} {y(new):.1f} '
            f'{right} {y(new):.1f}"><title>{escape(_few(ids))}: {old} to {new}</title></path>'
        )
    return _svg(height, name, drawn)


def _few(ids: Sequence[str]) -> str:
    return ", ".join(ids[:8]) + (f" and {len(ids) - 8} more" if len(ids) > 8 else "")


def bars(counts: Sequence[tuple[str, int]], *, name: str, axis: str) -> str:
    """A column for each word, with its count on top."""
    height, top = 220, max(1, *(count for _, count in counts))
    slot = (WIDTH - _LEFT - _RIGHT) / len(counts)
    drawn = []
    for n, (word, count) in enumerate(counts):
        tall = count / top * (height - _TOP - _BOTTOM - 18)
        left = _LEFT + n * slot + slot * 0.15
        middle, base = left + slot * 0.35, height - _BOTTOM
        drawn.append(
            f'<rect class="bar s0" x="{left:.1f}" y="{base - tall:.1f}" '
            f'width="{slot * 0.7:.1f}" height="{tall:.1f}"/>'
            + _text(middle, base - tall - 5, str(count))
            + _text(middle, base + 15, word)
        )
    drawn.append(_text(WIDTH / 2, height - 6, axis))
    return _svg(height, name, drawn)


def _scales(axes: Axes, height: int) -> tuple[Callable[[float], float], Callable[[float], float]]:
    def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
        span = (high - low) or 1.0
        return lambda value: start + (value - low) / span * (end - start)

    return (
        scale(*axes.x_range, _LEFT, WIDTH - _RIGHT),
        scale(*axes.y_range, height - _BOTTOM, _TOP),
    )


def _grid(axes: Axes, x: Callable[[float], float], y: Callable[[float], float], height: int) -> str:
    drawn = []
    for value in _ticks(*axes.y_range):
        drawn.append(
            f'<line class="grid" x1="{_LEFT}" y1="{y(value):.1f}" x2="{WIDTH - _RIGHT}" '
            f'y2="{y(value):.1f}"/>' + _text(_LEFT - 8, y(value) + 4, f"{value:g}", "end")
        )
    for value in _ticks(*axes.x_range):
        drawn.append(_text(x(value), height - _BOTTOM + 16, f"{value:g}"))
    drawn.append(_text((_LEFT + WIDTH - _RIGHT) / 2, height - 6, axes.x))
    turned = f'<text class="axis" transform="rotate(-90)" x="{-(height - _BOTTOM) / 2:.1f}" y="13"'
    drawn.append(f'{turned} text-anchor="middle">{escape(axes.y)}</text>')
    return "".join(drawn)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers within the range: 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / _TICKS or 1.0
    power: float = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _text(x: float, y: float, words: str, anchor: str = "middle", style: str = "axis") -> str:
    return (
        f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def _svg(height: int, name: str, drawn: Sequence[str]) -> str:
    label = escape(name, quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">'
        + "".join(drawn)
        + "</svg>"
    )
