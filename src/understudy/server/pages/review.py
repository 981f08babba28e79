"""The Review view: people approve or reject lines of the utterance database, those near a score's bound first.

It is for authors: lines, and the reasons of their scores, may give away anything in a story, and the page says so.
Everything is a form or a link and works without scripts, which add keyboard shortcuts. The state of the page is in its
URL; the reviewer's name is asked once and stored in a cookie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote, urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.errors import InputError, UnderstudyError
from understudy.metrics.utterances.record import APPROVED, FILTER, REJECTED
from understudy.metrics.utterances.review import MINE, NEW, SECOND
from understudy.metrics.utterances.store import UtteranceStore
from understudy.server import reviews
from understudy.server.context import context_of
from understudy.server.pages import form_fields, page, problem_page
from understudy.server.problems import Refused, status_of
from understudy.server.reviews import Agreement, QueueQuery, UtteranceDocument, utterance_document

__all__ = ["ROUTES"]

COOKIE = "understudy_reviewer"
YEAR_S = 365 * 24 * 3600
MAX_SKIPPED = 200
SHOWS = {NEW: "not reviewed", SECOND: "second opinion", MINE: "yours"}
START = "0"
TEXT_FIELDS = ("story", "character", "metric", "bound", "line", "first", "second")


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
        skipped = (reviews.parse_number(part) for part in values.get("skip", "").split("."))
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
        query = urlencode({name: value for name, value in parameters.items() if value})
        return f"{path}?{query}" if query else path

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

    look: reviews.QueueView
    lines: list[UtteranceDocument]
    index: int
    """Of the current line among `lines`."""
    agreement: Agreement | None


def _content(store: UtteranceStore, state: ReviewState, by: str) -> ReviewContent:
    try:
        look = reviews.view_queue(store, state.queue_query(by), state.skip)
    except Refused:  # an unknown score or bound counts as missing
        look = reviews.view_queue(store, replace(state, metric="", bound="").queue_query(by), state.skip)
    lines = look.queue.utterances
    if (number := reviews.parse_number(state.line)) is not None:
        lines = _with_line(store, look, lines, number, state, by)
    index = next((index for index, line in enumerate(lines) if line.number == number), 0)
    others = [name for name in (*look.queue.reviewers, FILTER) if name != by]
    first, second = state.first or by, state.second or others[0]
    return ReviewContent(look, lines, index, reviews.agreement(store, first, second))


def _with_line(
    store: UtteranceStore,
    look: reviews.QueueView,
    lines: list[UtteranceDocument],
    number: int,
    state: ReviewState,
    by: str,
) -> list[UtteranceDocument]:
    """The lines with the current one added, if its decision was just undone and it is too far from the bound."""
    words = look.review.decisions(number)
    is_due = state.show != MINE and by not in words and bool(words) == (state.show == SECOND)
    if not is_due or any(line.number == number for line in lines):
        return lines
    try:
        return [utterance_document(store.get(number)), *lines]
    except InputError:
        return lines


async def review(request: Request, problem: UnderstudyError | None = None) -> Response:
    context, by, state = context_of(request), _reviewer(request), ReviewState.from_query(request.query_params)
    try:
        content = await reviews.use_store(context, lambda store: _content(store, state, by)) if by else None
        await reviews.use_store(context, lambda _: None)
    except UnderstudyError as error:
        return problem_page(request, "review", error)
    return page(
        request,
        "review.html",
        "review",
        200 if problem is None else status_of(problem),
        by=by,
        renaming=not by or "rename" in request.query_params,
        state=state,
        content=content,
        shows=SHOWS,
        span=span,
        machine=FILTER,
        problem=problem,
    )


async def name(request: Request) -> Response:
    form = await form_fields(request)
    try:
        by = reviews.parse_reviewer(form.get("name", "")[:80])
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
    try:
        if decision not in (APPROVED, REJECTED):
            raise Refused("a line is approved or rejected", 400)
        await reviews.use_store(context_of(request), lambda store: reviews.decide(store, number, decision, by))
    except UnderstudyError as error:
        return await review(request, error)
    return RedirectResponse(state.address(line=form.get("next", "")), 303)


async def undo(request: Request) -> Response:
    form, by, state = await form_fields(request), _reviewer(request), ReviewState.from_query(request.query_params)
    number = form.get("number", "")
    try:
        await reviews.use_store(context_of(request), lambda store: reviews.undo(store, number, by))
    except UnderstudyError as error:
        return await review(request, error)
    return RedirectResponse(state.address(line=number), 303)


def span(line: UtteranceDocument) -> str:
    """The moments at which a line may be said."""
    begins = "From the start" if line.since == START else f"From {line.since}"
    return begins + (" on" if line.until == "end" else f" until {line.until}")


def _reviewer(request: Request) -> str:
    """The reviewer's name; blank if none was entered."""
    try:
        return reviews.parse_reviewer(unquote(request.cookies.get(COOKIE, ""))[:80])
    except Refused:
        return ""


ROUTES = [
    Route("/review", review),
    Route("/review/name", name, methods=["POST"]),
    Route("/review/decide", decide, methods=["POST"]),
    Route("/review/undo", undo, methods=["POST"]),
]
