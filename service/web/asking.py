"""POST /v1/ask: one question in, its outcome as JSON, as server-sent events or as a page."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import ValidationError

from service.app import App
from service.ask.pipeline import Event, Listener, ask
from service.ask.receipt import receipt
from service.errors import AskBlogError, StoreError
from service.store.asks import StoredResponse
from service.types import Stage
from service.web import problems
from service.web.metrics import Metrics
from service.web.pages import outcome_page
from service.web.problems import ProblemError, bounded_body
from service.web.schemas import AskRequest, OutcomeOut, Presenter, outcome_out
from service.web.sse import Emit, EventStream

logger = logging.getLogger(__name__)

_FORM = "application/x-www-form-urlencoded"
_CLIENT_GONE = 499  # nobody reads it; named as nginx names it, for the log
MAX_BODY_BYTES = 16_384  # a question of 500 four-byte characters, escaped, with room to spare
_MAX_KEY_CHARS = 200  # chosen, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A readable request."""

    question: str
    language: str | None
    is_form: bool
    key: str | None  # Idempotency-Key

    @property
    def digest(self) -> str:
        """Of what must be the same for a repeated request."""
        asked = f"{self.language or ''}\0{self.question}"
        return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()


class Asking:
    """The handler of POST /v1/ask."""

    def __init__(self, app: App, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, request: Request) -> Response:
        """Answer in the form the request accepts. Raises ProblemError and AskBlogError."""
        asked = read_asked(
            await bounded_body(request, MAX_BODY_BYTES),
            content_type=request.headers.get("content-type", ""),
            key=request.headers.get("idempotency-key"),
        )
        stored = await self._stored(asked)
        if "text/event-stream" in request.headers.get("accept", ""):
            if stored is not None:
                return EventStream(lambda emit: _replay(stored.response, emit))
            return EventStream(lambda emit: self._stream(asked, emit))
        if stored is not None:
            outcome: OutcomeOut | None = OutcomeOut.model_validate(stored.response)
        else:
            outcome = await self._while_connected(asked, request)
        if outcome is None:
            return Response(status_code=_CLIENT_GONE)
        if asked.is_form:
            return HTMLResponse(outcome_page(asked.question, outcome))
        return JSONResponse(outcome.model_dump())

    async def _while_connected(self, asked: Asked, request: Request) -> OutcomeOut | None:
        """The outcome, or None if the reader left first; then nothing more is spent on it."""
        running = asyncio.create_task(self._outcome(asked, None))
        leaving = asyncio.create_task(_left(request))
        try:
            await asyncio.wait((running, leaving), return_when=asyncio.FIRST_COMPLETED)
            return running.result() if running.done() else None
        finally:
            running.cancel()
            leaving.cancel()
            await asyncio.gather(running, leaving, return_exceptions=True)

    async def _stream(self, asked: Asked, emit: Emit) -> None:
        presenter = Presenter(self._app.settings.url_template)

        async def listener(event: Event) -> None:
            if isinstance(event, Stage):
                await emit("stage", {"name": event.value})
            else:
                await emit("statement", presenter.statement(event).model_dump())

        try:
            outcome = await self._outcome(asked, listener)
        except AskBlogError as fault:
            logger.error("question_failed fault=%s", fault)
            code = problems.public_fault(fault)[1]
            await emit("error", {"code": code, "detail": problems.CODES[code]})
        except Exception:  # the 200 is out: whatever broke can only be told as an event
            logger.exception("question_broke")
            self._metrics.broke("internal")
            await emit("error", {"code": "internal", "detail": problems.CODES["internal"]})
        else:
            await emit("done", outcome.model_dump())

    async def _outcome(self, asked: Asked, listener: Listener | None) -> OutcomeOut:
        app, site = self._app, self._app.settings.site
        try:
            config = app.ask_config.in_language(asked.language)
            trace = await ask(
                asked.question, site=site, deps=app.deps, config=config, listener=listener
            )
        except AskBlogError as fault:
            self._metrics.broke(problems.public_fault(fault)[1])
            raise
        self._metrics.asked(trace)
        outcome = outcome_out(trace, app.settings.url_template)
        response = outcome.model_dump()
        try:
            await app.asks.record(trace, site=site, response=response, receipt=receipt(trace))
            if asked.key is not None:
                await app.asks.store_response(
                    site=site, key=asked.key, body_sha256=asked.digest, response=response
                )
        except StoreError as fault:
            # the reader has waited for this answer; only its record is lost, and that is counted
            logger.error("record_failed fault=%s", fault)
            self._metrics.broke("record_lost")
        return outcome

    async def _stored(self, asked: Asked) -> StoredResponse | None:
        if asked.key is None:
            return None
        stored = await self._app.asks.stored_response(site=self._app.settings.site, key=asked.key)
        if stored is not None and stored.body_sha256 != asked.digest:
            raise ProblemError(
                409, "idempotency_conflict", "This Idempotency-Key came with another question."
            )
        return stored


def read_asked(body: bytes, *, content_type: str, key: str | None) -> Asked:
    """The question in a JSON or form body. Raises ProblemError."""
    media_type = content_type.partition(";")[0].strip().lower()
    if key is not None and not 0 < len(key) <= _MAX_KEY_CHARS:
        raise ProblemError(422, "malformed_body", "Idempotency-Key: 1 to 200 characters.")
    if media_type == _FORM:
        return Asked(question=_form_question(body), language=None, is_form=True, key=key)
    if media_type != "application/json":
        raise ProblemError(415, "unsupported_media_type", "Send application/json or a plain form.")
    try:
        # json's own decoder: it alone lets a lone surrogate through to guard_input's clear answer
        payload = json.loads(body)
        asked = AskRequest.model_validate(payload)
    except ValidationError as fault:
        raise ProblemError(422, "malformed_body", problems.first_error(fault.errors())) from fault
    except ValueError as fault:
        raise ProblemError(422, "malformed_body", f"The body is not JSON: {fault}") from fault
    return Asked(question=asked.question, language=asked.language, is_form=False, key=key)


def _form_question(body: bytes) -> str:
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=10)
        [question] = fields.get("question", [])
    except ValueError as fault:
        raise ProblemError(
            422, "malformed_body", "The form needs exactly one field named question."
        ) from fault
    return question


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _replay(response: Mapping[str, Any], emit: Emit) -> None:
    for statement in response["statements"]:
        await emit("statement", statement)
    await emit("done", response)
