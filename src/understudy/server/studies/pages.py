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

HOUR_S, DAY_HOURS = 3600, 24


async def take(request: Request) -> Response:
    token = str(request.path_params["token"])
    try:
        view = await use_store(request, participation.view, token)
    except Refused as refused:
        return bare_page("take_unknown.html", refused.status, message=str(refused))
    return bare_page("take.html", title=view.stored.study.title, token=token)


async def studies(request: Request) -> Response:
    listed = await use_store(request, summaries)
    return bare_page("studies.html", studies=listed.studies, request=request)


async def study(request: Request) -> Response:
    name = str(request.path_params["study"])
    try:
        dashboard = await use_store(request, dashboard_of, name, study_context_of(request).agreement)
    except Refused as refused:
        return bare_page("study_unknown.html", refused.status, message=str(refused), request=request)
    pace, now = pace_chart(dashboard.pace), datetime.now(UTC)
    return bare_page("study.html", study=dashboard, pace=pace, since=since, request=request, now=now)


async def front(_: Request) -> Response:
    return RedirectResponse("/studies", 303)


def since(hour: str | None, now: datetime) -> str:
    """How long ago an hour was, in a few words."""
    if hour is None:
        return "never"
    hours = int((now - datetime.fromisoformat(hour)).total_seconds() // HOUR_S)
    if hours < 1:
        return "this hour"
    if hours < DAY_HOURS:
        return f"{hours} hour{'' if hours == 1 else 's'} ago"
    days = hours // DAY_HOURS
    return f"{days} day{'' if days == 1 else 's'} ago"


ROUTES = [
    Route("/", front),
    Route("/take/{token}", take),
    Route("/studies", studies),
    Route("/studies/{study}", study),
]
