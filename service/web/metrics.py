"""What GET /metrics tells: outcomes, seconds and cost. Never a reader's text, and few labels."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from service.types import Abstention, Answer, Refusal, Trace

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """One registry for each service process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._questions = Counter(
            "ask_blog_questions",
            "Questions by how they ended.",
            ("outcome", "why"),
            registry=self._registry,
        )
        self._stage_seconds = Histogram(
            "ask_blog_stage_seconds",
            "Seconds spent in a stage.",
            ("stage",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._cost = Counter(
            "ask_blog_cost_usd", "USD billed for answers.", ("model",), registry=self._registry
        )
        self._dropped = Counter(
            "ask_blog_statements_dropped",
            "Statements kept from readers.",
            ("reason",),
            registry=self._registry,
        )
        self._faults = Counter(
            "ask_blog_faults", "What went wrong, by code.", ("code",), registry=self._registry
        )

        self._live_recall = Gauge(
            "ask_blog_rag_eval_recall_at_3",
            "Recall@3 of the last live eval; NaN before the first.",
            registry=self._registry,
        )
        self._live_recall.set(float("nan"))

    def live_eval(self, recall_at_3: float | None) -> None:
        """Show the last live eval."""
        self._live_recall.set(float("nan") if recall_at_3 is None else recall_at_3)

    def asked(self, trace: Trace) -> None:
        """Count a question that ended."""
        self._questions.labels(*_ending(trace)).inc()
        for stage, seconds in trace.seconds.items():
            self._stage_seconds.labels(stage).observe(seconds)
        for usage in trace.usage:
            self._cost.labels(usage.model).inc(usage.cost_usd)
        for dropped in trace.dropped:
            self._dropped.labels(dropped.reason.value).inc()

    def broke(self, code: str) -> None:
        """Count a fault."""
        self._faults.labels(code).inc()

    def text(self) -> bytes:
        """The exposition format."""
        return generate_latest(self._registry)


def _ending(trace: Trace) -> tuple[str, str]:
    match trace.outcome:
        case Answer(written_by=written_by, why=why):
            return "answer", why or written_by
        case Abstention(why=abstained):
            return "abstention", abstained
        case Refusal(rule=rule):
            return "refusal", rule
