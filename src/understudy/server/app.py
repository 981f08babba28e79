"""The application: every operation and page behind the same doors."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from understudy.errors import UnderstudyError
from understudy.server.house import House
from understudy.server.operations import Operation
from understudy.server.problems import problem_response

__all__ = ["OPERATIONS", "make_app"]

OPERATIONS: tuple[Operation, ...] = ()


def make_app(house: House) -> Starlette:
    app = Starlette(
        routes=[operation.route() for operation in OPERATIONS],
        exception_handlers={UnderstudyError: _told},
    )
    app.state.house = house
    return app


async def _told(_: Request, error: Exception) -> Response:
    assert isinstance(error, UnderstudyError)
    return problem_response(error)
