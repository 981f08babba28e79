"""The ASGI application of `understudy serve`: every operation and page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Route

from understudy.server import api, application, openai
from understudy.server.access import AccessPolicy, Sessions
from understudy.server.chats import routes as chats
from understudy.server.context import AppContext
from understudy.server.drawing import pictures
from understudy.server.middleware import GuardMiddleware, RequestLimits
from understudy.server.operations import Operation
from understudy.server.pages import character, findings, review, stories, story, talk
from understudy.server.uploads import routes as uploads

OPERATIONS: tuple[Operation, ...] = (
    *openai.OPERATIONS,
    *api.OPERATIONS,
    *story.OPERATIONS,
    *pictures.OPERATIONS,
    *chats.OPERATIONS,
    *uploads.OPERATIONS,
    *review.OPERATIONS,
    *application.OPERATIONS,
)
PAGES: tuple[Route, ...] = (
    *talk.ROUTES,
    *character.ROUTES,
    *story.ROUTES,
    *stories.ROUTES,
    *findings.ROUTES,
    *review.ROUTES,
    *application.ROUTES,
)


def make_app(
    context: AppContext, policy: AccessPolicy | None = None, limits: RequestLimits | None = None
) -> GuardMiddleware:
    """The default `policy` serves this machine only, without a key."""
    return application.make_application(
        context, OPERATIONS, PAGES, Sessions(context.database, policy or AccessPolicy()), limits, lifespan=_lifespan
    )


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: AppContext = app.state.context
    await context.uploads.open()
    try:
        yield
    finally:
        await context.chats.close()
        await context.uploads.close()
