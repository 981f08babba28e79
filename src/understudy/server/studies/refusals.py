"""An answer or a message that is not accepted, as a response: everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from starlette.responses import Response

from understudy.server.problems import ProblemDetail
from understudy.server.studies.schemas import AnswerRefusal
from understudy.studies.item import Problem

__all__ = ["refusal"]


def refusal(problems: Sequence[Problem]) -> Response:
    message = "; ".join(problem.message for problem in problems)
    detail = ProblemDetail(message, "invalid_request_error", code="answer_refused")
    return Response(msgspec.json.encode(AnswerRefusal(detail, list(problems))), 422, media_type="application/json")
