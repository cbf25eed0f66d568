"""Faults as RFC 9457 problem details, each with a stable code."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from service.errors import AskBlogError, IndexMismatch, Interrupted, StoreError

logger = logging.getLogger(__name__)

# code -> what a client may take it to mean; the handbook documents each
CODES = {
    "malformed_body": "The body is not what this address takes.",
    "body_too_large": "The body is larger than a question can be.",
    "unsupported_media_type": "Send JSON or a form.",
    "idempotency_conflict": "This Idempotency-Key was used with another body.",
    "not_found": "There is nothing at this address.",
    "method_not_allowed": "This address does not take that method.",
    "question_refused": "A guard refused the question.",
    "store_unavailable": "The database cannot be reached.",
    "index_mismatch": "The articles were indexed with another embedding model.",
    "interrupted": "The answer broke off after its first statement.",
    "internal": "Something is wrong on our side.",
}

_STATUS_CODES = {
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "unsupported_media_type",
}
_FAULT_STATUS = {IndexMismatch: 503, StoreError: 503, Interrupted: 502}


class ProblemError(Exception):
    """A request that cannot be served, with its status and code."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail


async def bounded_body(request: Request, limit_bytes: int) -> bytes:
    """The request's body. Raises ProblemError as soon as it is over the limit."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit_bytes:
            raise ProblemError(413, "body_too_large", f"At most {limit_bytes} bytes are read.")
    return bytes(body)


def problem(status: int, code: str, detail: str) -> JSONResponse:
    """The response for a fault."""
    return JSONResponse(
        {
            "type": f"urn:ask-the-blog:problem:{code}",
            "title": CODES[code],
            "status": status,
            "detail": detail,
            "code": code,
        },
        status_code=status,
        media_type="application/problem+json",
    )


def public_fault(fault: Exception) -> tuple[int, str]:
    """Status and code of a fault; its text stays in the log, since it may name our insides."""
    for kind, status in _FAULT_STATUS.items():
        if isinstance(fault, kind):
            return status, kind.code
    return 500, "internal"


def install(api: FastAPI) -> None:
    """Answer every fault with a problem."""

    @api.exception_handler(ProblemError)
    async def stated(request: Request, fault: ProblemError) -> JSONResponse:
        return problem(fault.status, fault.code, fault.detail)

    @api.exception_handler(RequestValidationError)
    async def invalid(request: Request, fault: RequestValidationError) -> JSONResponse:
        return problem(422, "malformed_body", first_error(fault.errors()))

    @api.exception_handler(HTTPException)
    async def http(request: Request, fault: HTTPException) -> JSONResponse:
        code = _STATUS_CODES.get(fault.status_code, "malformed_body")
        return problem(fault.status_code, code, str(fault.detail))

    @api.exception_handler(AskBlogError)
    async def ours(request: Request, fault: AskBlogError) -> JSONResponse:
        logger.error("request_failed path=%s fault=%s", request.url.path, fault)
        status, code = public_fault(fault)
        return problem(status, code, CODES[code])

    @api.exception_handler(Exception)
    async def unexpected(request: Request, fault: Exception) -> JSONResponse:
        return problem(500, "internal", CODES["internal"])


def first_error(errors: object) -> str:
    """The first of pydantic's errors as `where: what`."""
    if not isinstance(errors, list | tuple) or not errors:
        return "not readable"
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return f"{where}: {first['msg']}" if where else str(first["msg"])
