"""The pages of studies: the participant's, which its script fills, and the organiser's with charts of their pace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.server.drawing.svg import PlotArea, bar, drawing, label
from understudy.server.pages import bare_page
from understudy.server.problems import Refused
from understudy.server.studies.context import study_context_of, use_store
from understudy.server.studies.routes import dashboard_of, summaries
from understudy.studies import participation

__all__ = ["ROUTES", "pace_bars", "pace_chart", "since"]

HOUR_S, DAY_HOURS = 3600, 24
PACE = PlotArea(640.0, 132.0, left=34.0, right=6.0, top=8.0, bottom=22.0)
MOST_HOURS = 48
MOST_BARS = 60
MOST_LABELS = 10  # so that they do not touch
MOST_BAR_WIDTH = 40.0


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


def pace_bars(pace: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """A label and a count for each hour, or day, from the first answer to the last; at most the latest `MOST_BARS`."""
    if not pace:
        return []
    counts = Counter({datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC): count for hour, count in pace})
    step, form = timedelta(hours=1), "%H:00"
    if max(counts) - min(counts) >= timedelta(hours=MOST_HOURS):
        days = Counter[datetime]()
        for hour, count in counts.items():
            days[hour.replace(hour=0)] += count
        counts, step, form = days, timedelta(days=1), "%d %b"
    first, last = min(counts), max(counts)
    bars = [first + number * step for number in range((last - first) // step + 1)]
    return [(time.strftime(form), counts[time]) for time in bars[-MOST_BARS:]]


def pace_chart(pace: Sequence[tuple[str, int]]) -> Markup:
    """How many answers came when, as bars: by the hour, or by the day where a study has run for longer."""
    bars = pace_bars(pace)
    most = max((count for _, count in bars), default=0)
    unit = "day" if bars and ":" not in bars[0][0] else "hour"
    bottom, share = PACE.y(1), 1 / max(len(bars), 1)
    width = min((PACE.x(share) - PACE.x(0)) * 0.8, MOST_BAR_WIDTH)
    every = max(-(-len(bars) // MOST_LABELS), 1)
    drawn = []
    for number, (time, count) in enumerate(bars):
        middle = PACE.x(share * (number + 0.5))
        drawn.append(bar(middle, bottom, width, bottom - PACE.y(1 - count / most), f"{time}: {count}"))
        if number % every == 0:
            drawn.append(label(time, (middle, PACE.height - 6), "middle", class_="bar-label"))
    return drawing(
        f"Answers by the {unit}, {most} at most",
        (0, 0, PACE.width, PACE.height),
        PACE.horizontal("rule", bottom),
        label(str(most), (PACE.left - 6, PACE.top + 10), "end", class_="bar-label"),
        label("0", (PACE.left - 6, bottom), "end", class_="bar-label"),
        *drawn,
        class_="pace",
        standalone=False,
    )


ROUTES = [
    Route("/", front),
    Route("/take/{token}", take),
    Route("/studies", studies),
    Route("/studies/{study}", study),
]
