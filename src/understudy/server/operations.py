"""The door between HTTP and typed functions: one declaration makes the route, its checks and its page in the schema.

    Operation("GET", "/api/stories/{story}/cast", cast, "Who has spoken so far", answers=Cast, query=At)

A handler gets a `Call` whose query and body were decoded and checked against their types, and returns a struct of the
type it answers with, or a response of its own (a stream, a picture).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from understudy.server.context import AppContext, context_of
from understudy.server.problems import Refused

__all__ = ["Call", "Operation"]

ENCODER = msgspec.json.Encoder()
JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;|$)", re.IGNORECASE)
NOT_WHOLE = "got `float`"
PLACE = re.compile(r"at `\$(?:\.)?([^`]*)`")


@dataclass(frozen=True, slots=True)
class Call:
    """One request, its query and body decoded."""

    request: Request
    context: AppContext
    query: Any = None
    body: Any = None

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    async def gone(self) -> None:
        """Comes back when the client has gone away. Only after the body was read."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass


@dataclass(frozen=True, slots=True)
class Operation:
    """What can be asked of the server, in one line."""

    method: str
    path: str
    handler: Callable[[Call], Awaitable[Any]]
    summary: str
    answers: Any = None
    """The type of the answer; None where the handler makes the response itself."""
    media: str = "application/json"
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    form: dict[str, Any] | None = None
    """What a form (multipart/form-data) may hold, as a JSON schema, where that is the body."""
    status: int = 200
    refuses: tuple[int, ...] = ()
    """Statuses of the errors it can end in, beyond those every operation can."""
    tag: str = "stories"
    streams: bool = False
    """Can it also answer with server-sent events?"""

    def route(self) -> Route:
        decoder = None if self.body is None else msgspec.json.Decoder(self.body)

        async def endpoint(request: Request) -> Response:
            query = None if self.query is None else _query(request, self.query)
            body = None if decoder is None else await _body(request, decoder)
            answer = await self.handler(Call(request, context_of(request), query, body))
            if isinstance(answer, Response):
                return answer
            return Response(ENCODER.encode(answer), self.status, media_type=self.media)

        return Route(self.path, endpoint, methods=[self.method])


def _query(request: Request, wanted: type[msgspec.Struct]) -> msgspec.Struct:
    try:
        return msgspec.convert(dict(request.query_params), wanted, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(f"the query is not as expected: {error}", 400, param=_place(error)) from error


async def _body(request: Request, decoder: msgspec.json.Decoder[Any]) -> Any:
    if not JSON.match(request.headers.get("content-type", "")):
        raise Refused("the body must be JSON, and say so: Content-Type: application/json", 415, code="content_type")
    raw = await request.body()
    try:
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError as error:
            if NOT_WHOLE not in str(error):
                raise
            return msgspec.convert(_whole(msgspec.json.decode(raw)), decoder.type)
    except msgspec.ValidationError as error:
        raise Refused(f"the body is not as expected: {error}", 400, param=_place(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"the body is not JSON: {error}", 400) from error


def _whole(told: Any) -> Any:
    """To JSON 5.0 is as whole a number as 5."""
    if isinstance(told, float) and told.is_integer():
        return int(told)
    if isinstance(told, list):
        return [_whole(one) for one in told]
    return {name: _whole(one) for name, one in told.items()} if isinstance(told, dict) else told


def _place(error: msgspec.ValidationError) -> str | None:
    """Where in the request it went wrong, as the error's message ends with: `$.messages[0].role`."""
    found = PLACE.search(str(error))
    return found[1] or None if found else None
