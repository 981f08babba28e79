"""The Continuity view: lines of a story that do not fit what came before, to be dismissed, and who learns what when.

It is for the author and shows the whole story, its end included; the page says so, and readers are refused. Every form
works without scripts. Dismissals are kept where the command line keeps them: beside a story that lies on this machine,
else in the server's data folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from anyio import to_thread
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.errors import UnderstudyError
from understudy.people.continuity import (
    FILE,
    KINDS,
    Continuity,
    Dismissals,
    Fault,
    check_continuity,
    dismissals_path,
)
from understudy.server.context import AppContext, context_of
from understudy.server.drawing.charts import COLOURS, learning_chart
from understudy.server.pages import page, problem_page
from understudy.server.pages.story import story_address
from understudy.server.problems import Refused, status_of
from understudy.story.storyfile import Story
from understudy.story.types import Moment

__all__ = ["ROUTES", "dismissals_of"]

LEAST = 0.5
BOUNDS = (0.3, LEAST, 0.7, 0.9)
MAX_FAULTS = 300
MAX_OFFERED = 200  # items that can be chosen for the chart

_FOUND: WeakKeyDictionary[Story, Continuity] = WeakKeyDictionary()
_CHECKING, _DECIDING = Lock(), Lock()


@dataclass(frozen=True, slots=True)
class ContinuityState:
    """The page's URL parameters; invalid ones count as missing."""

    story: str
    least: float = LEAST
    show_all: bool = False
    items: tuple[str, ...] = ()

    @classmethod
    def from_request(cls, request: Request) -> ContinuityState:
        query = request.query_params
        least = next((bound for bound in BOUNDS if query.get("least") == str(bound)), LEAST)
        items = tuple(dict.fromkeys(item for item in query.getlist("item") if item))[:COLOURS]
        return cls(request.path_params["story"], least, query.get("all") == "1", items)

    def address(self, action: str = "") -> str:
        parameters = [("least", str(self.least))] if self.least != LEAST else []
        parameters += [("all", "1")] if self.show_all else []
        parameters += [("item", item) for item in self.items]
        path = f"/continuity/{quote(self.story, safe='')}" + (f"/{action}" if action else "")
        return f"{path}?{urlencode(parameters)}" if parameters else path


@dataclass(frozen=True, slots=True)
class ShownFault:
    fault: Fault
    is_dismissed: bool
    address: str
    """Of the line in the Story view."""
    sources: tuple[tuple[str, str], ...]
    """What it conflicts with: moments, and their addresses."""


@dataclass(frozen=True, slots=True)
class ContinuityContent:
    faults: tuple[ShownFault, ...]
    total: int
    dismissed: int
    """How many of those that are sure enough."""
    lines: int
    items: tuple[str, ...]
    """What the chart can show, and shows."""
    shown_items: tuple[str, ...]
    chart: Markup | None


def dismissals_of(context: AppContext, name: str) -> Dismissals:
    source = context.story_paths.get(name)
    return Dismissals(
        dismissals_path(source) if source is not None else Path(context.folder.path) / f"{quote(name, safe='')}.{FILE}"
    )


def _found(story: Story) -> Continuity:
    """What was found in a story, looked for once for as long as it is open."""
    with _CHECKING:
        if story not in _FOUND:
            _FOUND[story] = check_continuity(story)
        return _FOUND[story]


def _content(context: AppContext, state: ContinuityState) -> ContinuityContent:
    story = context.stories.story(state.story)
    found, dismissals = _found(story), dismissals_of(context, state.story)
    sure = [fault for fault in found.faults if fault.confidence >= state.least]
    listed = [fault for fault in sure if state.show_all or fault not in dismissals]
    items = [item for item in state.items if item in found.learnings] or list(found.learnings)[:COLOURS]

    def link(moment: Moment) -> str:
        return story_address(state.story, Moment.end(story.levels), moment)

    return ContinuityContent(
        tuple(_shown(fault, fault in dismissals, state.story, story) for fault in listed[:MAX_FAULTS]),
        len(listed),
        sum(fault in dismissals for fault in sure),
        found.lines,
        tuple(list(found.learnings)[:MAX_OFFERED]),
        tuple(items),
        learning_chart(story, [found.learnings[item] for item in items], link) if items else None,
    )


def _shown(fault: Fault, is_dismissed: bool, name: str, story: Story) -> ShownFault:
    end = Moment.end(story.levels)
    sources = tuple((moment.dotted, story_address(name, end, moment)) for moment in fault.sources)
    return ShownFault(fault, is_dismissed, story_address(name, end, fault.line.moment), sources)


async def continuity(request: Request, problem: UnderstudyError | None = None) -> Response:
    context, state = context_of(request), ContinuityState.from_request(request)
    try:
        content = await to_thread.run_sync(_content, context, state)
    except UnderstudyError as error:
        return problem_page(request, "continuity", error)
    story = context.stories.story(state.story)
    return page(
        request, "continuity.html", "continuity", 200 if problem is None else status_of(problem), story=state.story,
        title=story.title, language=story.language, state=state, content=content, kinds=KINDS, bounds=BOUNDS,
        problem=problem,
    )  # fmt: skip


async def dismiss(request: Request) -> Response:
    return await _decide(request, "dismiss")


async def restore(request: Request) -> Response:
    return await _decide(request, "restore")


async def _decide(request: Request, action: str) -> Response:
    context, state = context_of(request), ContinuityState.from_request(request)
    async with request.form(max_files=0, max_fields=4, max_part_size=4096) as form:
        id_ = str(form.get("id", ""))
    try:
        await to_thread.run_sync(_change, context, state.story, action, [id_])
    except UnderstudyError as error:
        return await continuity(request, error)
    return RedirectResponse(f"{state.address()}#lines", 303)


def _change(context: AppContext, name: str, action: str, ids: Sequence[str]) -> None:
    found = _found(context.stories.story(name))
    with _DECIDING:  # the file is read, changed and written whole
        dismissals = dismissals_of(context, name)
        if action == "restore":
            dismissals.restore(ids)
            return
        faults = [fault for fault in found.faults if fault.id in ids]
        if not faults:
            raise Refused("that line is not listed any more: the story was read again", 404)
        dismissals.dismiss(faults)


ROUTES = [
    Route("/continuity/{story}", continuity),
    Route("/continuity/{story}/dismiss", dismiss, methods=["POST"]),
    Route("/continuity/{story}/restore", restore, methods=["POST"]),
]
