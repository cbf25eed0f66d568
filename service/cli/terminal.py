"""What the commands share for people: a console, a table, a progress bar on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from service.ingest.pipeline import Progress

_PIPED_COLUMNS = 240  # in a pipe a message is one line, for grep


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPED_COLUMNS
    return Console(stderr=stderr, highlight=False, width=width, soft_wrap=width is not None)


console = _console(stderr=False)
notes = _console(stderr=True)  # progress and warnings: never mixed into output


def print_json(value: Any) -> None:
    """One line of JSON."""
    print(json.dumps(value, ensure_ascii=False, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A plain table; the last column takes the room that is left."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console.print(table)


@contextmanager
def progress_bar(task: str) -> Iterator[Progress]:
    """A bar on a terminal, nothing in a pipe or a log."""
    columns = (TextColumn(task), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        shown = bar.add_task(task, total=None)
        yield Progress(
            started=lambda total: bar.update(shown, total=total),
            advanced=lambda done: bar.advance(shown, done),
            waiting=lambda: notes.print("another ingest of this site is running; waiting for it"),
        )
