"""Arguments of every command, and running one so that signals still close everything."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from service.cli import admin, anchors, content, money, question, serve
from service.errors import AskBlogError, ConfigError

Command = Callable[[argparse.Namespace], Coroutine[Any, Any, int]]

OK, FAILED, BAD_USE = 0, 1, 2


def parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    top = argparse.ArgumentParser(
        prog="python -m service",
        description="Answers readers' questions from your own articles, every statement cited.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run: Command, summary: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary)
        sub.set_defaults(run=run)
        return sub

    for name, run, summary in (
        ("run", serve.run, "migrate, ingest the content folder, and serve"),
        ("serve", serve.serve, "serve what is already indexed"),
    ):
        sub = command(name, run, summary)
        sub.add_argument("--host", help="address to listen on")
        sub.add_argument("--port", type=int, help="port to listen on")
    _content_options(commands.choices["run"])

    sub = command("ingest", content.ingest_command, "bring the index in line with a folder")
    _content_options(sub)
    _site_option(sub)
    sub.add_argument("--prune", action="store_true", help="remove articles that are gone")
    sub.add_argument("--watch", action="store_true", help="ingest again on every save")
    _json_option(sub)

    for name, run, summary in (
        ("ask", question.ask_command, "ask a question, without a server"),
        ("search", question.search_command, "show the excerpts for a question"),
    ):
        sub = command(name, run, summary)
        sub.add_argument("question")
        sub.add_argument(
            "--language", type=_language, metavar="xx", help="only articles in this language"
        )
        _site_option(sub)
        _json_option(sub)

    sub.add_argument("--explain", action="store_true", help="show what each excerpt scored")

    sub = command("inspect", content.inspect_command, "show what is read of a file or folder")
    sub.add_argument("path", type=Path)
    _format_options(sub)
    _json_option(sub)

    sub = command(
        "check-anchors",
        anchors.check_anchors_command,
        "compare the anchors of citations with the pages of a built site",
    )
    sub.add_argument("--site-dir", type=Path, metavar="DIR", required=True, help="built site")
    _content_option(sub)
    _json_option(sub)

    sub = command("doctor", admin.doctor_command, "check everything and say how to mend it")
    _json_option(sub)
    sub = command("spend", money.spend_command, "show where the money went")
    sub.add_argument("--days", type=int, default=31, metavar="N")
    _json_option(sub)
    sub = command("replay", money.replay_command, "show the receipt of a stored question")
    sub.add_argument("id", help="the id in the outcome")
    _json_option(sub)
    command("migrate", admin.migrate_command, "create or upgrade the database's tables")

    sub = command("models", admin.models_command, "list embedding models, or fetch one")
    actions = sub.add_subparsers(dest="action", metavar="ACTION")
    fetch = actions.add_parser("fetch", help="download a model, or take it from a folder")
    fetch.add_argument("name")
    fetch.add_argument("--from", dest="from_dir", type=Path, metavar="DIR")
    return top


def _content_options(sub: argparse.ArgumentParser) -> None:
    _content_option(sub)
    _format_options(sub)


def _format_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--format", choices=("markdown", "html"), help="what the folder holds")
    sub.add_argument("--main-selector", metavar="CSS", help="a built page's article")


def _content_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--content", type=Path, metavar="DIR", help="folder of articles")


def _language(text: str) -> str:
    if len(text) == 2 and text.isalpha() and text.islower():
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is not a language tag such as de")


def _site_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--site", metavar="NAME", help="which site's articles")


def _json_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="print JSON instead of a table")


def main(argv: list[str] | None = None) -> int:
    """Run a command; its exit status. Faults become one line on standard error."""
    args = parser().parse_args(argv)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    try:
        return asyncio.run(_until_signalled(args.run(args)))
    except ConfigError as fault:
        return _complain(fault, BAD_USE)
    except AskBlogError as fault:
        return _complain(fault, FAILED)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 128 + signal.SIGINT


def _complain(fault: AskBlogError, status: int) -> int:
    print(f"ask-the-blog: {fault}", file=sys.stderr)
    return status


async def _until_signalled(work: Coroutine[Any, Any, int]) -> int:
    """SIGTERM ends the work as Ctrl-C does, so that embedded Postgres is stopped, too."""
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task
