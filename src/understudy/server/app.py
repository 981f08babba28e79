"""The ASGI application: every operation and page, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from understudy.server import api, openai, openapi, reviews
from understudy.server.chats import routes as chats
from understudy.server.context import AppContext
from understudy.server.drawing import routes as drawing
from understudy.server.guard import AccessPolicy, GuardMiddleware, RequestLimits
from understudy.server.guard.access import login_routes
from understudy.server.openapi import document_of
from understudy.server.operations import Operation
from understudy.server.pages import character, continuity, people, review, search, stories, story, talk
from understudy.server.problems import EXCEPTION_HANDLERS
from understudy.server.uploads import routes as uploads

__all__ = ["OPERATIONS", "PAGES", "make_app"]

OPERATIONS: tuple[Operation, ...] = (
    *openai.OPERATIONS,
    *api.OPERATIONS,
    *search.OPERATIONS,
    *drawing.OPERATIONS,
    *chats.OPERATIONS,
    *uploads.OPERATIONS,
    *reviews.OPERATIONS,
    *openapi.OPERATIONS,
)
PAGES: tuple[Route, ...] = (
    *talk.ROUTES,
    *character.ROUTES,
    *story.ROUTES,
    *stories.ROUTES,
    *people.ROUTES,
    *review.ROUTES,
    *continuity.ROUTES,
    *openapi.ROUTES,
)
STATIC = Path(__file__).parent / "static"


def make_app(
    context: AppContext, policy: AccessPolicy | None = None, limits: RequestLimits | None = None
) -> GuardMiddleware:
    """The default `policy` serves this machine only, without a key."""
    policy = policy or AccessPolicy()
    files = StaticFiles(directory=STATIC)
    routes: list[BaseRoute] = [operation.route() for operation in OPERATIONS]
    routes += [*PAGES, *login_routes(policy), Mount("/static", files)]
    app = Starlette(
        routes=routes,
        lifespan=_lifespan,
        exception_handlers=dict(EXCEPTION_HANDLERS),
    )
    app.router.redirect_slashes = False
    app.state.context = context
    app.state.openapi = cache(partial(document_of, OPERATIONS, policy.key is not None))
    templates: dict[Any, str] = {route.endpoint: route.path for route in routes if isinstance(route, Route)}
    templates[files] = "/static"
    return GuardMiddleware(app, policy, limits or RequestLimits(), context.telemetry, templates, routes)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: AppContext = app.state.context
    await context.uploads.open()
    try:
        yield
    finally:
        await context.chats.close()
        await context.uploads.close()
