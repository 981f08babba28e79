"""API operations: one declaration makes the route, the validation of its input and its entry in the OpenAPI document.

    OPERATIONS = Operations("stories")

    @OPERATIONS("GET", "/api/stories/{story}/cast", "Who has spoken before a moment")
    async def get_cast(call: Call, query: MomentQuery) -> CastDocument: ...

A handler gets `query` and `body` decoded and checked against the types of these parameters, where it has them, and
returns a struct, or a response of its own (a stream, a picture).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from understudy.errors import UnknownStory
from understudy.server.context import AppContext, context_of
from understudy.server.problems import Refused

ENCODER = msgspec.json.Encoder()
EVENTS = "text/event-stream"
JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;|$)", re.IGNORECASE)
FLOAT_FOR_INT = "got `float`"
FIELD = re.compile(r"at `\$(?:\.)?([^`]*)`")

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])


@dataclass(frozen=True, slots=True)
class Call:
    """A request to an operation."""

    request: Request

    @property
    def context(self) -> AppContext:
        return context_of(self.request)

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    async def disconnected(self) -> None:
        """Returns when the client has disconnected. Call it only after the body was read."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass


@dataclass(frozen=True, slots=True)
class Operation:
    """An endpoint: method and path, the types it takes and returns, and how it is documented."""

    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]
    summary: str
    answers: Any = None
    """The type of the response body; None where the handler makes the response itself."""
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    media: str = "application/json"
    form: dict[str, Any] | None = None
    """The JSON schema of a multipart/form-data body, where that is the body."""
    status: int = 200
    refuses: tuple[int, ...] = ()
    """Error statuses beyond those that every operation can return."""
    tag: str = "stories"
    streams: bool = False
    """Whether it can also respond with server-sent events."""

    def route(self) -> Route:
        decoder = None if self.body is None else msgspec.json.Decoder(self.body)

        async def endpoint(request: Request) -> Response:
            call, decoded = Call(request), dict[str, Any]()
            if self.query is not None:
                decoded["query"] = _decode_query(request, self.query)
            if decoder is not None:
                decoded["body"] = await _decode_body(request, decoder)
            try:
                result = await self.handler(call, **decoded)
            except UnknownStory:
                if not await call.context.uploads.has_more_stories():
                    raise
                result = await self.handler(call, **decoded)
            if isinstance(result, Response):
                return result
            return Response(ENCODER.encode(result), self.status, media_type=self.media)

        return Route(self.path, endpoint, methods=[self.method])


class Operations(list[Operation]):
    """The operations of a module; called with how one is documented, it decorates the handler of a further one."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self._tag = tag

    def __call__(
        self, method: str, path: str, summary: str, answers: Any = None, **documented: Any
    ) -> Callable[[Handler], Handler]:
        """`answers` is the type of the response body, where the handler's annotation does not say it."""

        def add(handler: Handler) -> Handler:
            types = get_type_hints(handler)
            returned, query, body = types["return"], types.get("query"), types.get("body")
            is_response = isinstance(returned, type) and issubclass(returned, Response)
            body_type = answers or (None if is_response else returned)
            options = {"tag": self._tag, **documented}
            self.append(Operation(method, path, handler, summary, body_type, query, body, **options))
            return handler

        return add


def attachment(filename: str) -> dict[str, str]:
    """The header of a response that is downloaded and never displayed as a page of this server."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename, safe='')}"}


def _decode_query(request: Request, query_type: type[msgspec.Struct]) -> msgspec.Struct:
    try:
        return msgspec.convert(dict(request.query_params), query_type, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(f"the query is not as expected: {error}", 400, param=_field(error)) from error


async def _decode_body(request: Request, decoder: msgspec.json.Decoder[Any]) -> Any:
    if not JSON.match(request.headers.get("content-type", "")):
        raise Refused("the body must be JSON, and say so: Content-Type: application/json", 415, code="content_type")
    raw = await request.body()
    try:
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError as error:
            if FLOAT_FOR_INT not in str(error):
                raise
            return msgspec.convert(_integral(msgspec.json.decode(raw)), decoder.type)
    except msgspec.ValidationError as error:
        raise Refused(f"the body is not as expected: {error}", 400, param=_field(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"the body is not JSON: {error}", 400) from error


def _integral(value: Any) -> Any:
    """A JSON value with 5.0 read as 5, since JSON has one number type and msgspec takes no float for an int."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_integral(item) for item in value]
    return {name: _integral(item) for name, item in value.items()} if isinstance(value, dict) else value


def _field(error: msgspec.ValidationError) -> str | None:
    """The field that is wrong, which ends the error's message: `$.messages[0].role`."""
    match = FIELD.search(str(error))
    return match[1] or None if match else None
