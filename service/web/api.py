"""The HTTP surface: routes, and nothing that decides what an answer says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from pydantic import ValidationError

from service.app import App
from service.ask.guard_input import guard_input
from service.ask.prompts import REFUSAL_MESSAGES
from service.ask.retrieve import related_sections, retrieve
from service.errors import StoreError
from service.types import Refusal
from service.web import problems
from service.web.asking import MAX_BODY_BYTES, Asking
from service.web.metrics import CONTENT_TYPE, Metrics
from service.web.pages import article_page
from service.web.problems import ProblemError, bounded_body, first_error
from service.web.schemas import (
    AskRequest,
    FeedbackRequest,
    OutcomeOut,
    Problem,
    RelatedOut,
    SearchOut,
    excerpt_out,
    related_out,
)
from service.web.security import SecurityHeaders

WIDGET_DIR = Path(__file__).with_name("widget")
_RELATED = 5  # chosen, not measured
_RELATED_DEPTH = 40  # chunks looked at to find that many sections
_WIDGET_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "content": {"application/problem+json": {}}}
    for status in (409, 413, 415, 422, 503)
}
_FEEDBACK_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": FeedbackRequest.model_json_schema()}},
    }
}
_ASK_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": AskRequest.model_json_schema()},
            "application/x-www-form-urlencoded": {"schema": AskRequest.model_json_schema()},
        },
    }
}


def create_api(app: App) -> FastAPI:
    """The whole HTTP service around an open App."""
    api = FastAPI(
        title="Ask the Blog",
        summary="Answers readers' questions from the blog's own articles, every statement cited.",
        docs_url=None,  # its page loads scripts from a stranger's server
        redoc_url=None,
    )
    metrics = Metrics()
    problems.install(api)
    api.include_router(questions(app, metrics))
    api.include_router(operations(app, metrics))
    api.include_router(pages(app))
    api.add_middleware(
        CORSMiddleware,
        allow_origins=list(app.settings.allowed_origins),
        allow_methods=["GET", "POST"],
        allow_headers=["content-type", "accept", "idempotency-key"],
    )
    api.add_middleware(SecurityHeaders)
    return api


def questions(app: App, metrics: Metrics) -> APIRouter:
    """What readers use."""
    router = APIRouter(prefix="/v1", responses=_PROBLEMS)
    asking = Asking(app, metrics)
    template, site = app.settings.url_template, app.settings.site

    @router.post(
        "/ask",
        response_model=OutcomeOut,
        responses={200: {"content": {"text/event-stream": {}, "text/html": {}}}},
        openapi_extra=_ASK_BODY,
    )
    async def post_ask(request: Request) -> Response:
        """Answer a question from the articles: JSON, or events where Accept asks for them."""
        return await asking(request)

    @router.get("/search")
    async def get_search(
        q: Annotated[str, Query(max_length=2000)],
        language: Annotated[str | None, Query(pattern="^[a-z]{2}$")] = None,
    ) -> SearchOut:
        """Excerpts on a question. No model is asked, nothing is spent."""
        admitted = guard_input(q, app.ask_config.guard_input)
        if isinstance(admitted, Refusal):
            raise ProblemError(422, "question_refused", REFUSAL_MESSAGES[admitted.rule])
        found = await retrieve(
            admitted,
            site=site,
            embedder=app.deps.embedder,
            corpus=app.deps.corpus,
            config=app.ask_config.in_language(language).retrieve,
        )
        return SearchOut(
            floor=found.floor, excerpts=[excerpt_out(e, template) for e in found.excerpts]
        )

    @router.get("/related/{slug:path}")
    async def get_related(slug: str) -> list[RelatedOut]:
        """Sections of other articles on the same subject."""
        found = await app.index.corpus.related(site=site, slug=slug, limit=_RELATED_DEPTH)
        if found is None:
            raise ProblemError(404, "not_found", f"There is no article {slug!r}.")
        return [related_out(e, template) for e in related_sections(found, _RELATED)]

    @router.post("/feedback", status_code=204, openapi_extra=_FEEDBACK_BODY)
    async def post_feedback(request: Request) -> None:
        """What a reader thinks of an answer; the last vote counts."""
        body = read_feedback(await bounded_body(request, MAX_BODY_BYTES))
        known = await app.asks.feedback(
            body.id, vote=body.vote, reasons=body.reasons, note=body.note
        )
        if not known:
            raise ProblemError(404, "not_found", "There is no answer with this id.")

    return router


def read_feedback(body: bytes) -> FeedbackRequest:
    """The vote in a JSON body. Raises ProblemError."""
    try:
        return FeedbackRequest.model_validate_json(body)
    except ValidationError as fault:
        raise ProblemError(422, "malformed_body", first_error(fault.errors())) from fault


def operations(app: App, metrics: Metrics) -> APIRouter:
    """What operators use."""
    router = APIRouter(include_in_schema=False)

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        try:
            stats = await app.index.corpus.stats(site=app.settings.site)
        except StoreError:
            return JSONResponse({"status": "database unreachable"}, status_code=503)
        if stats.chunks == 0:
            return JSONResponse({"status": "no articles indexed"}, status_code=503)
        if stats.embedder_id != app.deps.embedder.id:
            return JSONResponse({"status": "index made by another model"}, status_code=503)
        return JSONResponse({"status": "ready", "articles": stats.articles})

    @router.get("/metrics")
    async def get_metrics() -> Response:
        metrics.live_eval(await app.eval_runs.latest_recall_at_3(site=app.settings.site))
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    return router


def pages(app: App) -> APIRouter:
    """What browsers load."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def demo() -> FileResponse:
        return FileResponse(WIDGET_DIR / "demo.html", media_type="text/html")

    @router.get("/widget/{name}")
    async def widget(name: str) -> FileResponse:
        path = WIDGET_DIR / name
        if path.suffix not in _WIDGET_TYPES or path.parent != WIDGET_DIR or not path.is_file():
            raise ProblemError(404, "not_found", "There is no such file.")
        return FileResponse(
            path,
            media_type=_WIDGET_TYPES[path.suffix],
            # a module script of another origin is only run with leave
            headers={"access-control-allow-origin": "*", "cache-control": "max-age=300"},
        )

    @router.get("/blog/{slug:path}")
    async def article(slug: str) -> HTMLResponse:
        found = await app.index.corpus.article(site=app.settings.site, slug=slug.strip("/"))
        if found is None:
            raise ProblemError(404, "not_found", f"There is no article {slug!r}.")
        return HTMLResponse(article_page(found.title, found.text, found.sections, found.language))

    return router
