"""Views of what was found in a story, for its author to decide about: its people, and lines that do not fit.

The People view has what was found in the text, by person, to be taken, rejected or changed. The Continuity view has
lines that do not fit what came before, to be dismissed, and who learns what when.

Both are for authors and show the whole story, its end included; the pages say so, and readers are refused. Everything
is a form or a link and works without scripts; the state of a page is in its URL. Decisions are kept where the command
line keeps them: in the found.toml of the story, one writer at a time, where they hold at once wherever the story is
shown; dismissals beside a story that lies on this machine, else in the server's data folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
from understudy.people.continuity import FILE, KINDS, Continuity, Dismissals, Fault, check_continuity, dismissals_path
from understudy.people.draft import StoryDraft, accept, change, draft, read_draft, reject, undecided_of_kind
from understudy.server.context import AppContext, context_of
from understudy.server.drawing.charts import COLOURS, learning_chart
from understudy.server.pages import form_fields, page, problem_page, redirected, with_query
from understudy.server.pages.story import story_address
from understudy.server.problems import Refused
from understudy.server.story_registry import tones
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import ACCEPTED, CHANGED, REJECTED, FoundFile, PlacedEntry, read_found
from understudy.story.types import Fact, Moment
from understudy.svg import Markup

SHOWS = {"open": "not decided", "taken": "taken", "rejected": "rejected", "all": "all"}
MOST_ENTRIES = 100  # of one person on a page
DECIDE_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry with its lines, each with the address at which it can be read."""

    placed: PlacedEntry
    what: str
    value: str
    """What a change begins with."""
    lines: tuple[tuple[str, str, str], ...]
    """(moment, quote, address)"""


@dataclass(frozen=True, slots=True)
class PeopleContent:
    """What was found of one person, and how much of the others."""

    people: tuple[tuple[str, int], ...]
    who: str
    show: str
    entries: tuple[ShownEntry, ...]
    more: int
    kinds: tuple[tuple[str, int], ...]
    """Kinds of which entries are undecided, of everybody."""
    can_undo: bool
    used: int
    total: int
    bound: float
    tones: Mapping[str, int]


def people_address(story: str, who: str = "", show: str = "open", action: str = "") -> str:
    path = f"/people/{quote(story, safe='')}" + (f"/{action}" if action else "")
    return with_query(path, {"who": who, "show": "" if show == "open" else show})


async def people(request: Request, problem: UnderstudyError | None = None) -> Response:
    name = request.path_params["story"]
    story = context_of(request).stories.story(name)
    who, show = _state(request)
    content: PeopleContent | None = None
    try:
        content = await to_thread.run_sync(_people_content, story, name, who, show)
    except UnderstudyError as error:
        problem = problem or error
    return page(
        request, "people.html", "people", story=name, problem=problem, title=story.title, content=content,
        shows=SHOWS, people_address=people_address, language=story.language,
    )  # fmt: skip


def _state(request: Request) -> tuple[str, str]:
    show = request.query_params.get("show", "open")
    return request.query_params.get("who", "").replace("\0", ""), show if show in SHOWS else "open"


def _people_content(story: Story, name: str, who: str, show: str) -> PeopleContent | None:
    """None where nobody has looked yet."""
    if story.found_file is None or not story.found_file.exists():
        return None
    found = read_draft(story)
    of_person: dict[str, list[PlacedEntry]] = {}
    for placed in found.entries:
        of_person.setdefault(_owner(placed), []).append(placed)
    counts = {person: sum(_is_shown(placed, show) for placed in entries) for person, entries in of_person.items()}
    people = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    chosen = who if who in of_person else (people[0][0] if people else "")
    shown = [placed for placed in of_person.get(chosen, ()) if _is_shown(placed, show)]
    shown.sort(key=lambda placed: (isinstance(placed.claim, Fact), -placed.entry.finding.confidence))
    kinds = Counter(placed.entry.kind for placed in found.entries if not placed.entry.decision.verdict)
    return PeopleContent(
        tuple(people), chosen, show,
        tuple(_shown_entry(name, placed) for placed in shown[:MOST_ENTRIES]), max(len(shown) - MOST_ENTRIES, 0),
        tuple(sorted(kinds.items())), bool(found.file.undo), len(found.used), len(found.entries), found.file.bound,
        tones(story, Moment.end(story.levels)),
    )  # fmt: skip


def _owner(placed: PlacedEntry) -> str:
    return placed.claim.who if isinstance(placed.claim, Fact) else placed.claim.of


def _is_shown(placed: PlacedEntry, show: str) -> bool:
    verdict = placed.entry.decision.verdict
    verdicts = {"open": ("",), "taken": (ACCEPTED, CHANGED), "rejected": (REJECTED,)}
    return show == "all" or verdict in verdicts[show]


def _shown_entry(name: str, placed: PlacedEntry) -> ShownEntry:
    claim, end = placed.claim, Moment.end()
    assert claim.found is not None
    if isinstance(claim, Fact):
        what = value = ", ".join(claim.values)
    else:
        value = claim.kind if claim.level is None else str(claim.level)
        what = claim.to
    lines = tuple(
        (source.dotted, quoted, story_address(name, end, source))
        for source, quoted in zip(claim.found.sources, placed.entry.quotes)
    )
    return ShownEntry(placed, what, value, lines)


async def find(request: Request) -> Response:
    """Look for people in the text now; what was decided before stays."""
    return await _changed(request, lambda story, _: draft(story))


async def decide(request: Request) -> Response:
    form = await form_fields(request)
    entry, decision, value = form.get("entry", ""), form.get("decision", ""), form.get("value", "")

    def decided(story: Story, found: FoundFile) -> FoundFile:
        if decision == CHANGED:
            return change(found, entry, value, story.schema)
        return _verdict(decision)(found, [entry])

    return await _changed(request, decided)


async def decide_all(request: Request) -> Response:
    form = await form_fields(request)
    kind, decision = form.get("kind", ""), form.get("decision", "")
    return await _changed(request, lambda _, found: _verdict(decision)(found, undecided_of_kind(found, kind)))


async def take_back(request: Request) -> Response:
    return await _changed(request, lambda _, found: found.undone())


def _verdict(decision: str) -> Callable[[FoundFile, Sequence[str]], FoundFile]:
    if decision not in (ACCEPTED, REJECTED):
        raise Refused("an entry is accepted, rejected or changed", 400)
    return accept if decision == ACCEPTED else reject


async def _changed(request: Request, work: Callable[[Story, FoundFile], FoundFile | StoryDraft]) -> Response:
    """Change what is kept of a story, then show the page anew."""
    name = request.path_params["story"]
    stories = context_of(request).stories
    story = stories.story(name)

    def run() -> None:
        with DECIDE_LOCK:
            changed = work(story, _kept(story))
            if isinstance(changed, FoundFile):
                changed.write()
        stories.put(name, story)  # characters that were made before are made anew

    target = people_address(name, *_state(request))
    return await redirected(to_thread.run_sync(run), target, partial(people, request))


def _kept(story: Story) -> FoundFile:
    if story.found_file is None:
        raise Refused("what was found in this story is left out here, or has no place beside it", 409)
    return read_found(story.found_file, story.levels, story.schema)


LEAST = 0.5
BOUNDS = (0.3, LEAST, 0.7, 0.9)
MAX_FAULTS = 300
MAX_OFFERED = 200  # items that can be chosen for the chart

_CHECKED: WeakKeyDictionary[Story, Continuity] = WeakKeyDictionary()
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


def _continuity_of(story: Story) -> Continuity:
    """What was found in a story, looked for once for as long as it is open."""
    with _CHECKING:
        if story not in _CHECKED:
            _CHECKED[story] = check_continuity(story)
        return _CHECKED[story]


def _continuity_content(context: AppContext, state: ContinuityState) -> ContinuityContent:
    story = context.stories.story(state.story)
    end = Moment.end(story.levels)
    findings, dismissals = _continuity_of(story), _dismissals(context, state.story)
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
        content = await to_thread.run_sync(_continuity_content, context, state)
    except UnderstudyError as error:
        return problem_page(request, "continuity", error)
    story = context.stories.story(state.story)
    return page(
        request, "continuity.html", "continuity", story=state.story, problem=problem, title=story.title,
        language=story.language, state=state, content=content, kinds=KINDS, bounds=BOUNDS,
    )  # fmt: skip


async def decide_fault(request: Request, action: str) -> Response:
    context, state, form = context_of(request), ContinuityState.from_request(request), await form_fields(request)
    work = to_thread.run_sync(_change_dismissals, context, state.story, action, form.get("id", ""))
    return await redirected(work, f"{state.address()}#lines", partial(continuity, request))


def _change_dismissals(context: AppContext, name: str, action: str, id_: str) -> None:
    findings = _continuity_of(context.stories.story(name))
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
    Route("/people/{story}", people),
    Route("/people/{story}/find", find, methods=["POST"]),
    Route("/people/{story}/decide", decide, methods=["POST"]),
    Route("/people/{story}/all", decide_all, methods=["POST"]),
    Route("/people/{story}/undo", take_back, methods=["POST"]),
    Route("/continuity/{story}", continuity),
    Route("/continuity/{story}/dismiss", partial(decide_fault, action="dismiss"), methods=["POST"]),
    Route("/continuity/{story}/restore", partial(decide_fault, action="restore"), methods=["POST"]),
]
