"""spend and replay: where the money went, and what happened to one question."""

from __future__ import annotations

import argparse
from typing import Any

from service.app import open_postgres
from service.cli.terminal import console, print_json, print_table
from service.errors import StoreError
from service.settings import load_settings
from service.store.asks import PgAsks, StoredAsk
from service.store.db import open_database
from service.store.ledger import SpendRow, spend_by_day


async def spend_command(args: argparse.Namespace) -> int:
    """Dollars by day, purpose and model; open reservations count in full."""
    async with open_postgres(load_settings()) as url:
        db = await open_database(url)
        try:
            rows = await spend_by_day(db, days=args.days)
        finally:
            await db.close()
    if args.json:
        print_json([_row_json(row) for row in rows])
        return 0
    print_table(
        ("day", "account", "purpose", "model", "calls", "open", "tokens in", "out", "USD"),
        [
            (
                *(r.day, r.account, r.purpose, r.model, r.calls, r.open_calls),
                *(r.input_tokens, r.output_tokens, f"{r.usd:.4f}"),
            )
            for r in rows
        ],
    )
    console.print(f"{sum(r.usd for r in rows):.4f} USD in {args.days} days")
    return 0


def _row_json(row: SpendRow) -> dict[str, Any]:
    return {
        "day": str(row.day),
        "account": row.account,
        "purpose": row.purpose,
        "model": row.model,
        "calls": row.calls,
        "open_calls": row.open_calls,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "usd": float(row.usd),
    }


async def replay_command(args: argparse.Namespace) -> int:
    """The receipt of a stored question. Raises StoreError for an unknown id."""
    async with open_postgres(load_settings()) as url:
        db = await open_database(url)
        try:
            stored = await PgAsks(db).find(args.id)
        finally:
            await db.close()
    if stored is None:
        raise StoreError(f"no question with the id {args.id!r} is stored; retention may have ended")
    if args.json:
        print_json(
            {
                "id": args.id,
                "question": stored.question,
                "asked_at": stored.asked_at.isoformat(),
                "receipt": stored.receipt,
                "response": stored.response,
            }
        )
    else:
        _print_receipt(stored)
    return 0


def _print_receipt(stored: StoredAsk) -> None:
    response, receipt = stored.response, stored.receipt
    ending = " ".join(filter(None, [response["outcome"], response["written_by"], response["why"]]))
    console.print(f"{stored.asked_at:%Y-%m-%d %H:%M} UTC  {stored.question}", markup=False)
    console.print(f"{ending}; prompts {receipt['prompts']}, floor {receipt['floor']}", markup=False)
    print_table(
        ("relevance", "cosine", "score", "excerpt"),
        [
            (
                "-" if e["relevance"] is None else e["relevance"],
                *(e["cosine"], e["score"] or "-"),
                f"{e['slug']}#{e['anchor']} {e['start']}-{e['end']}",
            )
            for e in receipt["excerpts"]
        ],
    )
    for statement in response["statements"]:
        numbers = "".join(f"[{c['n']}]" for c in statement["citations"])
        console.print(f"kept {numbers} {statement['text']}", markup=False)
    for dropped in receipt["dropped"]:
        console.print(f"dropped ({dropped['reason']}) {dropped['text']}", markup=False)
    cost = response["usage"]["cost_usd"]
    seconds = ", ".join(f"{stage} {s:.2f} s" for stage, s in response["seconds"].items())
    console.print(f"{cost:.4f} USD; {seconds}", markup=False)
