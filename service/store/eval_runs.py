"""Results of evals against the live index: written by `evals live`, shown on /metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.store.db import Database

_RECORD = """
insert into rag_eval_runs (site, index_id, dataset_sha256, answerable, recall_at_3, metrics)
values ($1, $2, $3, $4, $5, $6)
"""
_LATEST = """
select recall_at_3 from rag_eval_runs where site = $1 order by ran_at desc, id desc limit 1
"""


class PgEvalRuns:
    """The log of live evals."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def record(
        self,
        *,
        site: str,
        index_id: str,
        dataset_sha256: str,
        answerable: int,
        metrics: Mapping[str, Any],
    ) -> None:
        """Keep one run."""
        async with self._db.connection("recording a live eval") as conn:
            await conn.execute(
                _RECORD,
                *(site, index_id, dataset_sha256, answerable, metrics["recall@3"], dict(metrics)),
            )

    async def latest_recall_at_3(self, *, site: str) -> float | None:
        """Of the last run; None before the first."""
        async with self._db.connection("reading live evals") as conn:
            value = await conn.fetchval(_LATEST, site)
        return None if value is None else float(value)
