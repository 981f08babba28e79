"""The ASGI application of `understudy study serve`: studies alone, behind the same guard as stories."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from understudy.server import openapi
from understudy.server.guard import AccessPolicy, GuardMiddleware, RequestLimits
from understudy.server.guard.access import DatabaseSessions, login_routes
from understudy.server.openapi import document_of
from understudy.server.operations import Operation
from understudy.server.problems import EXCEPTION_HANDLERS
from understudy.server.studies import chat_routes, pages, routes
from understudy.server.studies.context import LoginDatabase, StudyContext

__all__ = ["OPERATIONS", "TOKEN_PREFIXES", "make_study_app"]

OPERATIONS: tuple[Operation, ...] = (*routes.OPERATIONS, *chat_routes.OPERATIONS, *openapi.OPERATIONS)
TOKEN_PREFIXES = ("/take/", "/api/take/")
STATIC = Path(__file__).parents[1] / "static"
ABOUT = "Here studies are run: people answer questions about stories and their characters."
SUMMARY = "Studies: what participants do with a token of theirs, and what the organiser sees."


def make_study_app(
    context: StudyContext, policy: AccessPolicy | None = None, limits: RequestLimits | None = None
) -> GuardMiddleware:
    """Participants need no key, only the token of their link; everything else is the organiser's.

    The default `policy` serves this machine only, without a key.
    """
    policy = policy or AccessPolicy()
    policy = replace(policy, sessions=DatabaseSessions(LoginDatabase(context.store), policy))
    files = StaticFiles(directory=STATIC)
    all_routes: list[BaseRoute] = [operation.route() for operation in OPERATIONS]
    all_routes += [*pages.ROUTES, *login_routes(policy, ABOUT), Mount("/static", files)]
    app = Starlette(routes=all_routes, exception_handlers=dict(EXCEPTION_HANDLERS))
    app.router.redirect_slashes = False
    app.state.context = context
    app.state.openapi = cache(partial(document_of, OPERATIONS, policy.key is not None, SUMMARY))
    templates: dict[Any, str] = {route.endpoint: route.path for route in all_routes if isinstance(route, Route)}
    templates[files] = "/static"
    return GuardMiddleware(
        app, policy, limits or RequestLimits(), context.telemetry, templates, all_routes, TOKEN_PREFIXES
    )
