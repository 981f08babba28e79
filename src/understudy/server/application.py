"""An ASGI application of operations and pages, with login, static files and its OpenAPI document, behind the guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from understudy.server.access import ABOUT, AccessPolicy, login_routes
from understudy.server.middleware import GuardMiddleware, RequestLimits
from understudy.server.openapi import SUMMARY, document_of
from understudy.server.operations import Operation
from understudy.server.problems import EXCEPTION_HANDLERS
from understudy.server.telemetry import Telemetry

__all__ = ["make_application"]

STATIC = Path(__file__).parent / "static"


class ApplicationContext(Protocol):
    """What requests can reach: `request.app.state.context`."""

    @property
    def telemetry(self) -> Telemetry: ...


def make_application(
    context: ApplicationContext,
    operations: Sequence[Operation],
    pages: Sequence[Route],
    policy: AccessPolicy,
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
    routes += [*pages, *login_routes(policy, about), Mount("/static", files)]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=dict(EXCEPTION_HANDLERS))
    app.router.redirect_slashes = False
    app.state.context = context
    app.state.openapi = cache(partial(document_of, operations, policy.key is not None, summary))
    templates: dict[Any, str] = {route.endpoint: route.path for route in routes if isinstance(route, Route)}
    templates[files] = "/static"
    return GuardMiddleware(app, policy, limits or RequestLimits(), context.telemetry, templates, routes, token_prefixes)
