"""Studies over HTTP: the participant's page behind a token, the organiser's dashboard behind the key.

`make_study_app` makes the application of `understudy study serve`: studies alone, behind the same guard as stories.
"""

from __future__ import annotations

from dataclasses import replace

from understudy.server import application
from understudy.server.access import AccessPolicy, DatabaseSessions
from understudy.server.middleware import GuardMiddleware, RequestLimits
from understudy.server.operations import Operation
from understudy.server.studies import routes
from understudy.server.studies.context import LoginDatabase, StudyContext

OPERATIONS: tuple[Operation, ...] = (*routes.OPERATIONS, *application.OPERATIONS)
TOKEN_PREFIXES = ("/take/", "/api/take/")
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
    return application.make_application(
        context, OPERATIONS, routes.ROUTES, policy, limits, about=ABOUT, summary=SUMMARY, token_prefixes=TOKEN_PREFIXES
    )
