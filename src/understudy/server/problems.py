"""Every error as the one shape that OpenAI's clients read: {"error": {"message", "type", "param", "code"}}."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from understudy.errors import AgentError, InputError, StoryError, UnderstudyError, UnknownCharacter, UnknownStory

__all__ = ["Problem", "Refused", "problem_response", "status_of"]


class Problem(msgspec.Struct):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ProblemDocument(msgspec.Struct):
    error: Problem


class Refused(UnderstudyError):
    """A request that is turned away, with the status to say so."""

    def __init__(self, message: str, status: int, param: str | None = None, code: str | None = None) -> None:
        self.status, self.param, self.code = status, param, code
        super().__init__(message)


def status_of(error: UnderstudyError) -> int:
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, UnknownStory | UnknownCharacter):
        return 404
    if isinstance(error, StoryError | InputError):
        return 400
    return 503 if isinstance(error, AgentError) else 500


def problem_response(error: UnderstudyError) -> Response:
    status = status_of(error)
    kind = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}.get(
        status, "invalid_request_error" if status < 500 else "server_error"
    )
    param, code = (error.param, error.code) if isinstance(error, Refused) else (None, None)
    document = ProblemDocument(Problem(str(error), kind, param, code))
    return Response(msgspec.json.encode(document), status, media_type="application/json")
