"""Errors as responses, in the shape that OpenAI's clients read: {"error": {"message", "type", "param", "code"}}.

A story's own errors may mention later things (who else is in it, when somebody is born). The messages sent from here
say only that somebody or something is not there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from understudy import errors

STATUS_MESSAGES = {404: "there is nothing at that address", 405: "that address does not take this method"}
CLIENT_CLOSED = 499  # nginx's status for a client that left before the response began; only the log shows it
NOT_THERE = (errors.UnknownStory, errors.UnknownCharacter, errors.UnknownMoment, errors.Unborn, errors.Dead)
NOT_KNOWN = "nobody of that name, or more than one, is in the story by then: look at the cast, or give the full name"


class ProblemDetail(msgspec.Struct):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ProblemDocument(msgspec.Struct):
    error: ProblemDetail


class Refused(errors.UnderstudyError):
    """A request that is refused, with its HTTP status."""

    def __init__(
        self,
        message: str,
        status: int,
        param: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        self.status, self.param, self.code, self.retry_after = status, param, code, retry_after
        super().__init__(message)


def status_of(error: errors.UnderstudyError) -> int:
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, NOT_THERE):
        return 404
    if isinstance(error, errors.StoryError | errors.InputError):
        return 400
    if isinstance(error, errors.BackendError):
        return 502
    return 503 if isinstance(error, errors.AgentError | errors.Unreachable) else 500


TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


def problem_of(error: errors.UnderstudyError) -> ProblemDetail:
    status = status_of(error)
    error_type = TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    param, code = (error.param, error.code) if isinstance(error, Refused) else (None, None)
    return ProblemDetail(_message(error), error_type, param, code)


def problem_response(error: errors.UnderstudyError) -> Response:
    document = ProblemDocument(problem_of(error))
    response = Response(msgspec.json.encode(document), status_of(error), media_type="application/json")
    if isinstance(error, Refused) and error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _message(error: errors.UnderstudyError) -> str:
    if isinstance(error, errors.Dead):
        return "that character is dead by then: ask for an earlier moment"
    return NOT_KNOWN if isinstance(error, errors.UnknownCharacter | errors.Unborn) else str(error)


async def _on_understudy_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, errors.UnderstudyError)
    return problem_response(error)


async def _on_http_exception(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = problem_response(Refused(STATUS_MESSAGES.get(error.status_code, error.detail), error.status_code))
    response.headers.update(error.headers or {})
    return response


async def _on_disconnect(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED)


async def _on_bug(_: Request, __: Exception) -> Response:
    return problem_response(Refused("something went wrong in the server: its log says where", 500))


EXCEPTION_HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    errors.UnderstudyError: _on_understudy_error,
    HTTPException: _on_http_exception,
    ClientDisconnect: _on_disconnect,
    Exception: _on_bug,
}
"""How an application responds to what its routes raise."""
