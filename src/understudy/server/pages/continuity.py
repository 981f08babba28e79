"""The Continuity view: lines of a story that do not fit what came before, to be dismissed, and who learns what when.

It is for the author and shows the whole story, its end included; the page says so, and readers are refused. Every form
works without scripts. Dismissals are kept where the command line keeps them: beside a story that lies on this machine,
else in the server's data folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from urllib.parse import quote
from weakref import WeakKeyDictionary

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
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
from understudy.server.pages import form_fields, page, problem_page, redirected, with_query
from understudy.server.pages.story import story_address
from understudy.server.problems import Refused
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.svg import Markup

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
        path = f"/continuity/{quote(self.story, safe='')}" + (f"/{action}" if action else "")
        least = "" if self.least == LEAST else str(self.least)
        return with_query(path, {"least": least, "all": "1" if self.show_all else "", "item": self.items})


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


def _dismissals(context: AppContext, name: str) -> Dismissals:
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
    end = Moment.end(story.levels)
    findings, dismissals = _found(story), _dismissals(context, state.story)
    sure = [fault for fault in findings.faults if fault.confidence >= state.least]
    listed = [fault for fault in sure if state.show_all or fault not in dismissals]
    items = [item for item in state.items if item in findings.learnings] or list(findings.learnings)[:COLOURS]

    def link(moment: Moment) -> str:
        return story_address(state.story, end, moment)

    def shown(fault: Fault) -> ShownFault:
        sources = tuple((moment.dotted, link(moment)) for moment in fault.sources)
        return ShownFault(fault, fault in dismissals, link(fault.line.moment), sources)

    return ContinuityContent(
        tuple(map(shown, listed[:MAX_FAULTS])),
        len(listed),
        sum(fault in dismissals for fault in sure),
        findings.lines,
        tuple(list(findings.learnings)[:MAX_OFFERED]),
        tuple(items),
        learning_chart(story, [findings.learnings[item] for item in items], link) if items else None,
    )


async def continuity(request: Request, problem: UnderstudyError | None = None) -> Response:
    context, state = context_of(request), ContinuityState.from_request(request)
    try:
        content = await to_thread.run_sync(_content, context, state)
    except UnderstudyError as error:
        return problem_page(request, "continuity", error)
    story = context.stories.story(state.story)
    return page(
        request, "continuity.html", "continuity", story=state.story, problem=problem, title=story.title,
        language=story.language, state=state, content=content, kinds=KINDS, bounds=BOUNDS,
    )  # fmt: skip


async def decide(request: Request, action: str) -> Response:
    context, state, form = context_of(request), ContinuityState.from_request(request), await form_fields(request)
    work = to_thread.run_sync(_change, context, state.story, action, form.get("id", ""))
    return await redirected(work, f"{state.address()}#lines", partial(continuity, request))


def _change(context: AppContext, name: str, action: str, id_: str) -> None:
    findings = _found(context.stories.story(name))
    with _DECIDING:  # the file is read, changed and written whole
        dismissals = _dismissals(context, name)
        if action == "restore":
            dismissals.restore([id_])
            return
        faults = [fault for fault in findings.faults if fault.id == id_]
        if not faults:
            raise Refused("that line is not listed any more: the story was read again", 404)
        dismissals.dismiss(faults)


ROUTES = [
    Route("/continuity/{story}", continuity),
    Route("/continuity/{story}/dismiss", partial(decide, action="dismiss"), methods=["POST"]),
    Route("/continuity/{story}/restore", partial(decide, action="restore"), methods=["POST"]),
]
