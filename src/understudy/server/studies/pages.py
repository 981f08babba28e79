"""The pages of studies: the participant's, which its script fills, and the organiser's dashboards."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.server.pages import bare_page
from understudy.server.problems import Refused
from understudy.server.studies.context import study_context_of, use_store
from understudy.server.studies.pace_chart import pace_chart
from understudy.server.studies.routes import dashboard_of, summaries
from understudy.studies import participation

__all__ = ["ROUTES", "since"]

RECENT_S, HOUR_S, DAY_S = 10 * 60, 3600, 24 * 3600


async def take(request: Request) -> Response:
    token = str(request.path_params["token"])
    try:
        view = await use_store(request, participation.view, token)
    except Refused as refused:
        return bare_page("take_unknown.html", refused.status, message=str(refused))
    return bare_page("take.html", title=view.stored.study.title, token=token)


async def studies(request: Request) -> Response:
    found = await use_store(request, summaries)
    return bare_page("studies.html", studies=found.studies, request=request)


async def study(request: Request) -> Response:
    name = str(request.path_params["study"])
    try:
        found = await use_store(request, dashboard_of, name, study_context_of(request).agreement)
    except Refused as refused:
        return bare_page("study_unknown.html", refused.status, message=str(refused), request=request)
    return bare_page(
        "study.html", study=found, pace=pace_chart(found.pace), since=since, request=request, now=datetime.now(UTC)
    )


async def front(_: Request) -> Response:
    return RedirectResponse("/studies", 303)


def since(time: str | None, now: datetime) -> str:
    """How long ago something was, in a few words; coarse, so that it does not tell who wrote the latest comment."""
    if time is None:
        return "never"
    seconds = (now - datetime.fromisoformat(time)).total_seconds()
    for unit, length in (("day", DAY_S), ("hour", HOUR_S)):
        if count := int(seconds // length):
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now" if seconds < RECENT_S else "within the hour"


ROUTES = [
    Route("/", front),
    Route("/take/{token}", take),
    Route("/studies", studies),
    Route("/studies/{study}", study),
]
