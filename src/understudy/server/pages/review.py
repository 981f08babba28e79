"""Reviewing lines of the utterance database: its operations, and the page on which people approve or reject lines.

Lines near a score's bound come first. All of it is for authors: no moment limits what is shown, and lines and the
reasons of their scores may give away anything in a story, as the page says. On the page everything is a form or a link
and works without scripts, which add keyboard shortcuts. The state of the page is in its URL; the reviewer's name is
asked once and stored in a cookie. The database is used in threads, never on the event loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal, TypeVar
from urllib.parse import quote, unquote

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.errors import InputError, UnderstudyError, Unreachable
from understudy.judging import LOWER_IS_CLOSER
from understudy.metrics.utterances import UtteranceStore
from understudy.metrics.utterances.record import APPROVED, FILTER, REJECTED, StoredUtterance
from understudy.metrics.utterances.review import MINE, NEW, SECOND, Near, Review
from understudy.server.context import AppContext, context_of
from understudy.server.operations import Call, Operations
from understudy.server.pages import form_fields, page, problem_page, redirected, with_query
from understudy.server.problems import Refused

LATEST = 8  # decisions shown beside the queue, to be undone
MAX_DIGITS = 18  # of an utterance's number
COOKIE = "understudy_reviewer"
YEAR_S = 365 * 24 * 3600
MAX_SKIPPED = 200
SHOWS = {NEW: "not reviewed", SECOND: "second opinion", MINE: "yours"}
START = "0"
TEXT_FIELDS = ("story", "character", "metric", "bound", "line", "first", "second")
OPERATIONS = Operations("review")

Result = TypeVar("Result")
Name = Annotated[str, msgspec.Meta(max_length=80, pattern=r"^[^\u0000-\u001f]*[^\s\u0000-\u001f][^\u0000-\u001f]*$")]
Plain = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\u0000-\u001f]*$")]


class QueueQuery(msgspec.Struct):
    by: Plain = ""
    """Who reviews."""
    show: Literal["new", "second", "mine"] = "new"
    """Lines only the filter has decided about; lines somebody else has; lines the reviewer has, the latest first."""
    character: Plain | None = None
    metric: Plain | None = None
    """Lines are sorted by the distance of this score from the bound."""
    bound: float | msgspec.UnsetType = msgspec.UNSET
    """By default, an estimate of the bound that the filter used."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 20
    story: Plain | None = None
    """The title of the lines' story; blank for lines of no story in particular."""


class DecisionRequest(msgspec.Struct, forbid_unknown_fields=True):
    decision: Literal["approved", "rejected"]
    by: Name
    why: Annotated[str, msgspec.Meta(max_length=500, pattern=r"^[^\u0000]*$")] = ""


class UndoRequest(msgspec.Struct, forbid_unknown_fields=True):
    by: Name
    """Reviewers can undo only their own decision, and only while nobody has decided after it."""


class AgreementQuery(msgspec.Struct):
    first: Plain
    second: Plain


class ScoreDocument(msgspec.Struct):
    value: float | None
    reason: str


class UtteranceDocument(msgspec.Struct, kw_only=True):
    """A line that may be said from one moment until before another, if it is approved."""

    number: int
    text: str
    story: str
    character: str
    since: str
    until: str
    scores: dict[str, ScoreDocument]
    file: str
    line: int
    decision: Literal["pending", "approved", "rejected"]
    by: str
    at: str


class UtteranceQueue(msgspec.Struct, kw_only=True):
    """For authors: it may show anything in the story."""

    utterances: list[UtteranceDocument]
    metric: str | None
    bound: float | None
    left: int
    done: int
    """How many the reviewer has decided about."""
    metrics: list[str]
    characters: list[str]
    stories: list[str]
    reviewers: list[str]


class Agreement(msgspec.Struct):
    """Two reviewers' last decisions on the same lines; share and kappa are null where there is nothing to compare."""

    first: str
    second: str
    n: int
    share: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class QueueView:
    """The queue as a reviewer sees it, and their latest decisions."""

    queue: UtteranceQueue
    latest: Sequence[StoredUtterance]
    review: Review


def _document(row: StoredUtterance) -> UtteranceDocument:
    utterance = row.utterance
    return UtteranceDocument(
        number=row.number,
        text=utterance.text,
        story=utterance.story,
        character=utterance.character,
        since=utterance.since.dotted,
        until=utterance.until.dotted,
        scores={name: ScoreDocument(score.value, score.reason) for name, score in utterance.scores.items()},
        file=utterance.file,
        line=utterance.line,
        decision=row.decision,  # type: ignore[arg-type]  # one of the three
        by=row.by,
        at=row.at,
    )


async def _use_store(context: AppContext, work: Callable[[UtteranceStore], Result]) -> Result:
    """Run `work` on the utterance database in a thread, where the server has one."""
    store = context.utterances
    if store is None:
        raise Refused("there is nothing to review here: start the server with --store DB", 404)
    try:
        return await to_thread.run_sync(work, store)
    except Unreachable as error:
        raise Refused(str(error), 507) from error


def _view_queue(store: UtteranceStore, query: QueueQuery, skipped: Collection[int] = ()) -> QueueView:
    if query.bound is not msgspec.UNSET and not math.isfinite(query.bound):
        raise Refused("a bound is a number", 400, param="bound")
    review = Review(store, query.by, query.character, query.story)
    metrics = review.metrics()
    near = _sort_order(review, query, metrics)
    queue = review.queue(query.show, near, query.limit, skipped)
    document = UtteranceQueue(
        utterances=[_document(row) for row in queue.lines],
        metric=None if near is None else near.metric,
        bound=None if near is None else near.bound,
        left=queue.left,
        done=queue.done,
        metrics=metrics,
        characters=sorted({character for character, _ in store.counts(query.story)}),
        stories=store.stories(),
        reviewers=review.reviewers(),
    )
    return QueueView(document, review.latest(LATEST), review)


def _decided(store: UtteranceStore, number: str, decision: str, by: str, why: str = "") -> UtteranceDocument:
    return _document(store.decide(_existing_number(store, number), decision, _parse_reviewer(by), why))


def _undone(store: UtteranceStore, number: str, by: str) -> UtteranceDocument:
    existing = _existing_number(store, number)
    try:
        return _document(store.undo(existing, _parse_reviewer(by), own=True))
    except InputError as error:
        raise Refused(str(error), 409) from error


def _agreement(store: UtteranceStore, first: str, second: str) -> Agreement:
    return Agreement(first, second, *store.agreement(first, second))


def _parse_reviewer(text: str) -> str:
    """A reviewer's name with its spaces normalized."""
    name = " ".join(text.split())
    if not name or name.casefold() == FILTER:
        raise Refused("a reviewer needs a name of their own", 400, param="by")
    return name


def _parse_number(text: str) -> int | None:
    """An utterance's number in a URL or a form; None where the text is no such number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def _existing_number(store: UtteranceStore, text: str) -> int:
    number = _parse_number(text)
    try:
        if number is not None:
            return store.get(number).number
    except InputError:
        pass
    raise Refused("there is no such utterance here", 404)


def _sort_order(review: Review, query: QueueQuery, metrics: Sequence[str]) -> Near | None:
    if query.metric is not None and query.metric not in metrics:
        raise Refused(f"no line has such a score: there is {', '.join(metrics) or 'none'}", 404, param="metric")
    if not metrics:
        return None
    metric = query.metric or next((name for name in metrics if name not in LOWER_IS_CLOSER), metrics[0])
    bound = review.bound(metric, metric not in LOWER_IS_CLOSER) if query.bound is msgspec.UNSET else query.bound
    return Near(metric, bound)


@OPERATIONS("GET", "/api/utterances", "Lines to be reviewed, those near a bound first; for authors", refuses=(507,))
async def _get_queue(call: Call, query: QueueQuery) -> UtteranceQueue:
    view = await _use_store(call.context, lambda store: _view_queue(store, query))
    return view.queue


@OPERATIONS(
    "POST", "/api/utterances/{number}/decision", "Let a line be said, or keep it from being said", refuses=(507,)
)
async def _post_decision(call: Call, body: DecisionRequest) -> UtteranceDocument:
    number = call.path("number")
    return await _use_store(call.context, lambda store: _decided(store, number, body.decision, body.by, body.why))


@OPERATIONS("POST", "/api/utterances/{number}/undo", "Take one's last decision about a line back", refuses=(409, 507))
async def _post_undo(call: Call, body: UndoRequest) -> UtteranceDocument:
    number = call.path("number")
    return await _use_store(call.context, lambda store: _undone(store, number, body.by))


@OPERATIONS("GET", "/api/utterances/agreement", "How far two reviewers agree", refuses=(507,))
async def _get_agreement(call: Call, query: AgreementQuery) -> Agreement:
    return await _use_store(call.context, lambda store: _agreement(store, query.first, query.second))


@dataclass(frozen=True, slots=True)
class ReviewState:
    """The page's URL parameters; invalid ones count as missing."""

    show: str = NEW
    story: str = ""
    character: str = ""
    metric: str = ""
    bound: str = ""
    line: str = ""
    skip: tuple[int, ...] = ()
    first: str = ""
    second: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> ReviewState:
        values = {name: value.replace("\0", "") for name, value in query.items()}
        skipped = (_parse_number(part) for part in values.get("skip", "").split("."))
        return cls(
            show=values["show"] if values.get("show") in SHOWS else NEW,
            skip=tuple(number for number in skipped if number is not None)[-MAX_SKIPPED:],
            **{name: values.get(name, "") for name in TEXT_FIELDS},
        )

    def address(self, path: str = "/review", **changes: object) -> str:
        state = replace(self, **changes)  # type: ignore[arg-type]
        parameters = {
            "show": "" if state.show == NEW else state.show, "story": state.story, "character": state.character,
            "metric": state.metric, "bound": state.bound, "skip": ".".join(map(str, state.skip)),
            "first": state.first, "second": state.second, "line": state.line,
        }  # fmt: skip
        return with_query(path, parameters)

    def queue_query(self, by: str) -> QueueQuery:
        try:
            bound: float | msgspec.UnsetType = float(self.bound)
        except ValueError:
            bound = msgspec.UNSET
        character, metric, story = (value or None for value in (self.character, self.metric, self.story))
        return QueueQuery(by, self.show, character, metric, bound, story=story)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ReviewContent:
    """Everything the page shows of the database."""

    look: QueueView
    lines: list[UtteranceDocument]
    index: int
    """Of the current line among `lines`."""
    agreement: Agreement | None


def _content(store: UtteranceStore, state: ReviewState, by: str) -> ReviewContent:
    try:
        look = _view_queue(store, state.queue_query(by), state.skip)
    except Refused:  # an unknown score or bound counts as missing
        look = _view_queue(store, replace(state, metric="", bound="").queue_query(by), state.skip)
    lines = look.queue.utterances
    if (number := _parse_number(state.line)) is not None:
        lines = _with_line(store, look, lines, number, state, by)
    index = next((index for index, line in enumerate(lines) if line.number == number), 0)
    others = [name for name in (*look.queue.reviewers, FILTER) if name != by]
    first, second = state.first or by, state.second or others[0]
    return ReviewContent(look, lines, index, _agreement(store, first, second))


def _with_line(
    store: UtteranceStore, look: QueueView, lines: list[UtteranceDocument], number: int, state: ReviewState, by: str
) -> list[UtteranceDocument]:
    """The lines with the current one added, if its decision was just undone and it is too far from the bound."""
    words = look.review.decisions(number)
    is_due = state.show != MINE and by not in words and bool(words) == (state.show == SECOND)
    if not is_due or any(line.number == number for line in lines):
        return lines
    try:
        return [_document(store.get(number)), *lines]
    except InputError:
        return lines


async def review(request: Request, problem: UnderstudyError | None = None) -> Response:
    context, by, state = context_of(request), _reviewer(request), ReviewState.from_query(request.query_params)
    try:
        content = await _use_store(context, lambda store: _content(store, state, by)) if by else None
        await _use_store(context, lambda _: None)
    except UnderstudyError as error:
        return problem_page(request, "review", error)
    renaming = not by or "rename" in request.query_params
    return page(
        request, "review.html", "review", problem=problem, by=by, renaming=renaming, state=state, content=content,
        shows=SHOWS, span=span, machine=FILTER,
    )  # fmt: skip


async def name(request: Request) -> Response:
    form = await form_fields(request)
    try:
        by = _parse_reviewer(form.get("name", "")[:80])
    except Refused as refused:
        return await review(request, refused)
    response = RedirectResponse(ReviewState.from_query(request.query_params).address(), 303)
    response.set_cookie(
        COOKIE, quote(by, safe=""), YEAR_S, path="/review", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip
    return response


async def decide(request: Request) -> Response:
    form, by, state = await form_fields(request), _reviewer(request), ReviewState.from_query(request.query_params)
    number, decision = form.get("number", ""), form.get("decision", "")

    def work(store: UtteranceStore) -> None:
        if decision not in (APPROVED, REJECTED):
            raise Refused("a line is approved or rejected", 400)
        _decided(store, number, decision, by)

    target = state.address(line=form.get("next", ""))
    return await redirected(_use_store(context_of(request), work), target, partial(review, request))


async def undo(request: Request) -> Response:
    form, by, state = await form_fields(request), _reviewer(request), ReviewState.from_query(request.query_params)
    number = form.get("number", "")
    work = _use_store(context_of(request), lambda store: _undone(store, number, by))
    return await redirected(work, state.address(line=number), partial(review, request))


def span(line: UtteranceDocument) -> str:
    """The moments at which a line may be said."""
    begins = "From the start" if line.since == START else f"From {line.since}"
    return begins + (" on" if line.until == "end" else f" until {line.until}")


def _reviewer(request: Request) -> str:
    """The reviewer's name; blank if none was entered."""
    try:
        return _parse_reviewer(unquote(request.cookies.get(COOKIE, ""))[:80])
    except Refused:
        return ""


ROUTES = [
    Route("/review", review),
    Route("/review/name", name, methods=["POST"]),
    Route("/review/decide", decide, methods=["POST"]),
    Route("/review/undo", undo, methods=["POST"]),
]
