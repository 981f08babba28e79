"""An ASGI application of operations and pages, with login, static files and its OpenAPI document, behind the guard.

The document is generated from the types that operations take and return; there is a page that shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from understudy import __version__
from understudy.server.access import ABOUT, Sessions, login_routes
from understudy.server.middleware import GuardMiddleware, RequestLimits
from understudy.server.operations import EVENTS, Call, Operation, Operations
from understudy.server.pages import page
from understudy.server.problems import EXCEPTION_HANDLERS, ProblemDocument
from understudy.server.telemetry import Telemetry

STATIC = Path(__file__).parent / "static"
OPERATIONS = Operations("server")

Schema = dict[str, Any]
VERSION = "3.1.0"
REFERENCE = "#/components/schemas/{name}"
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
COMMON_ERRORS = {
    400: "The request is not as expected.",
    401: "The server's key is missing or wrong.",
    403: "It came from another site's page.",
    404: "There is no such story, character, moment or thing.",
    413: "The body is too long.",
    415: "The body is of another type than is taken.",
    421: "The server does not go by that name.",
    429: "Too many requests.",
}
OTHER_ERRORS = {
    409: "It does not fit the state of things.",
    422: "An answer is not accepted; `problems` says why.",
    500: "Something went wrong in the server.",
    503: "No reply can be made now.",
    507: "The disk is full; nothing was lost.",
}
SUMMARY = "Characters of stories, each as of any moment, and no route that tells what comes after it."


class ApplicationContext(Protocol):
    """What requests can reach: `request.app.state.context`."""

    @property
    def telemetry(self) -> Telemetry: ...


def make_application(
    context: ApplicationContext,
    operations: Sequence[Operation],
    pages: Sequence[Route],
    sessions: Sessions,
    limits: RequestLimits | None,
    *,
    about: str = ABOUT,
    summary: str = SUMMARY,
    token_prefixes: tuple[str, ...] = (),
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None,
) -> GuardMiddleware:
    """`about` is what the login page says of the server, `summary` what its OpenAPI document says.

    Paths that begin with one of `token_prefixes` need no key.
    """
    files = StaticFiles(directory=STATIC)
    routes: list[BaseRoute] = [operation.route() for operation in operations]
    routes += [*pages, *login_routes(sessions, about), Mount("/static", files)]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=dict(EXCEPTION_HANDLERS))
    app.router.redirect_slashes = False
    app.state.context = context
    app.state.openapi = cache(partial(document_of, operations, sessions.policy.key is not None, summary))
    templates: dict[Any, str] = {route.endpoint: route.path for route in routes if isinstance(route, Route)}
    templates[files] = "/static"
    return GuardMiddleware(
        app, sessions, limits or RequestLimits(), context.telemetry, templates, routes, token_prefixes
    )


def document_of(operations: Iterable[Operation], keyed: bool, summary: str = SUMMARY) -> bytes:
    """The whole document, as JSON; `keyed` says whether the server needs a key."""
    operations = list(operations)
    types = _types(operations)
    schemas, components = msgspec.json.schema_components(types, ref_template=REFERENCE)
    schema_of = dict(zip(types, schemas))
    paths: dict[str, Schema] = {}
    for operation in operations:
        path = PARAMETER.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, schema_of, components)
    document: Schema = {
        "openapi": VERSION,
        "info": {"title": "Understudy", "version": __version__, "summary": summary},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": components},
    }
    if keyed:
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}]
    return msgspec.json.encode(document)


def _types(operations: Sequence[Operation]) -> list[Any]:
    types: list[Any] = [ProblemDocument]
    for operation in operations:
        types += filter(None, (operation.answers, operation.body, operation.query))
    return list(dict.fromkeys(types))


def _operation(operation: Operation, schema_of: dict[Any, Schema], components: Schema) -> Schema:
    entry: Schema = {
        "summary": operation.summary,
        "tags": [operation.tag],
        "operationId": _operation_id(operation),
        "parameters": [*_path_parameters(operation), *_query_parameters(operation, schema_of, components)],
        "responses": _responses(operation, schema_of),
    }
    if operation.body is not None:
        content = {"application/json": {"schema": schema_of[operation.body]}}
        entry["requestBody"] = {"required": True, "content": content}
    elif operation.form is not None:
        entry["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": operation.form}}}
    return entry


def _operation_id(operation: Operation) -> str:
    words = re.findall(r"\w+", PARAMETER.sub(r"by_\1", operation.path))
    return "_".join((operation.method.lower(), *words))


def _path_parameters(operation: Operation) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in PARAMETER.findall(operation.path)
    ]


def _query_parameters(operation: Operation, schema_of: dict[Any, Schema], components: Schema) -> list[Schema]:
    if operation.query is None:
        return []
    shape = components[schema_of[operation.query]["$ref"].rpartition("/")[2]]
    required = shape.get("required", ())
    return [
        {
            "name": name, "in": "query", "required": name in required, "description": schema.get("description", ""),
            "schema": _without_null(schema),
        }
        for name, schema in shape["properties"].items()
    ]  # fmt: skip


def _without_null(schema: Schema) -> Schema:
    """The schema of a query parameter: null is expressed by leaving the parameter out."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if not kinds:
        return schema
    keywords = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**kinds[0], **keywords} if len(kinds) == 1 else {"anyOf": kinds, **keywords}


def _responses(operation: Operation, schema_of: dict[Any, Schema]) -> Schema:
    content: Schema = {}
    if operation.status != 204:
        content[operation.media] = {"schema": _response_schema(operation, schema_of)}
    if operation.streams:
        content[EVENTS] = {"schema": {}}
    success: Schema = {"description": operation.summary}
    if content:
        success["content"] = content
    problem = {"application/json": {"schema": schema_of[ProblemDocument]}}
    errors = COMMON_ERRORS | {
        status: OTHER_ERRORS.get(status, COMMON_ERRORS.get(status, "")) for status in operation.refuses
    }
    return {
        str(operation.status): success,
        **{str(status): {"description": text, "content": problem} for status, text in sorted(errors.items())},
    }


def _response_schema(operation: Operation, schema_of: dict[Any, Schema]) -> Schema:
    if operation.answers is not None:
        return schema_of[operation.answers]
    return {"type": "string"} if operation.media.startswith("text/") and operation.media != EVENTS else {}


@OPERATIONS("GET", "/openapi.json", "This document", dict[str, Any])
async def _document(call: Call) -> Response:
    return Response(call.request.app.state.openapi(), media_type="application/json")


async def _docs(request: Request) -> Response:
    document = msgspec.json.decode(request.app.state.openapi())
    schemas = document["components"]["schemas"]
    return page(request, "docs.html", "docs", operations_by_tag=_by_tag(document), schemas=schemas)


def _by_tag(document: Schema) -> dict[str, list[Schema]]:
    """The operations of each tag, as the page shows them."""
    by_tag: dict[str, list[Schema]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append({**operation, "path": path, "method": method.upper()})
    return by_tag


ROUTES = [Route("/docs", _docs)]
