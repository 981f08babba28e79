"""Review: people decide about lines of the utterance database, those near a bound first.

For authors: lines, and the reasons of their scores, may tell of anything in a story, and the page says so. Everything
is a form or a link, and works without scripts; scripts add the keys. What is looked at is in the address; who reviews
is asked once, and kept in a cookie.
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
from understudy.server import reviews
from understudy.server.context import context_of
from understudy.server.pages import page, problem_page
from understudy.server.problems import Refused, status_of
from understudy.server.reviews import Agreement, QueueQuery, UtteranceDocument, utterance_document
from understudy.utterances import APPROVED, FILTER, REJECTED, UtteranceStore
from understudy.utterances.review import MINE, NEW, SECOND

__all__ = ["ROUTES"]

COOKIE = "understudy_reviewer"
A_YEAR = 365 * 24 * 3600
MOST_SKIPPED = 200
SHOWS = {NEW: "not reviewed", SECOND: "second opinion", MINE: "yours"}
START = "0"
SAID = ("story", "character", "metric", "bound", "line", "first", "second")


@dataclass(frozen=True, slots=True)
class State:
    """What is looked at, as the address says it. What an address says wrongly counts as not said."""

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
    def of(cls, query: Mapping[str, str]) -> State:
        told = {name: value.replace("\0", "") for name, value in query.items()}
        skipped = (reviews.parse_number(part) for part in told.get("skip", "").split("."))
        return cls(
            show=told["show"] if told.get("show") in SHOWS else NEW,
            skip=tuple(number for number in skipped if number is not None)[-MOST_SKIPPED:],
            **{name: told.get(name, "") for name in SAID},
        )

    def address(self, path: str = "/review", **changes: object) -> str:
        now = replace(self, **changes)  # type: ignore[arg-type]
        told = {
            "show": "" if now.show == NEW else now.show, "story": now.story, "character": now.character,
            "metric": now.metric, "bound": now.bound, "skip": ".".join(map(str, now.skip)), "first": now.first,
            "second": now.second, "line": now.line,
        }  # fmt: skip
        said = urlencode({name: value for name, value in told.items() if value})
        return f"{path}?{said}" if said else path

    def asked(self, by: str) -> QueueQuery:
        try:
            bound: float | msgspec.UnsetType = float(self.bound)
        except ValueError:
            bound = msgspec.UNSET
        character, metric, story = (told or None for told in (self.character, self.metric, self.story))
        return QueueQuery(by, self.show, character, metric, bound, story=story)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class View:
    """All that the page shows of the database."""

    look: reviews.QueueView
    lines: list[UtteranceDocument]
    place: int
    """Of the line that is looked at, among the lines."""
    agreement: Agreement | None


def _view(store: UtteranceStore, state: State, by: str) -> View:
    try:
        look = reviews.view_queue(store, state.asked(by), state.skip)
    except Refused:  # a score or bound that is not there: then as if none had been asked for
        look = reviews.view_queue(store, replace(state, metric="", bound="").asked(by), state.skip)
    lines = look.queue.utterances
    if (wanted := reviews.parse_number(state.line)) is not None:
        lines = _with(store, look, lines, wanted, state, by)
    place = next((place for place, one in enumerate(lines) if one.number == wanted), 0)
    others = [name for name in (*look.queue.reviewers, FILTER) if name != by]
    first, second = state.first or by, state.second or others[0]
    return View(look, lines, place, reviews.agreement(store, first, second))


def _with(
    store: UtteranceStore, look: reviews.QueueView, lines: list[UtteranceDocument], wanted: int, state: State, by: str
) -> list[UtteranceDocument]:
    """What is looked at is among the lines, also where it is far from the bound: a decision was just taken back."""
    words = look.review.decisions(wanted)
    due = state.show != MINE and by not in words and bool(words) == (state.show == SECOND)
    if not due or any(one.number == wanted for one in lines):
        return lines
    try:
        return [utterance_document(store.get(wanted)), *lines]
    except InputError:
        return lines


async def review(request: Request, problem: UnderstudyError | None = None) -> Response:
    context, by, state = context_of(request), _reviewer(request), State.of(request.query_params)
    try:
        view = await reviews.use_store(context, lambda store: _view(store, state, by)) if by else None
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
        seen=view,
        shows=SHOWS,
        span=span,
        machine=FILTER,
        problem=problem,
    )


async def name(request: Request) -> Response:
    form = await _form(request)
    try:
        by = reviews.parse_reviewer(form.get("name", "")[:80])
    except Refused as refused:
        return await review(request, refused)
    response = RedirectResponse(State.of(request.query_params).address(), 303)
    response.set_cookie(
        COOKIE, quote(by, safe=""), A_YEAR, path="/review", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip
    return response


async def decide(request: Request) -> Response:
    form, by, state = await _form(request), _reviewer(request), State.of(request.query_params)
    number, decision = form.get("number", ""), form.get("decision", "")
    try:
        if decision not in (APPROVED, REJECTED):
            raise Refused("a line is approved or rejected", 400)
        await reviews.use_store(context_of(request), lambda store: reviews.decide(store, number, decision, by))
    except UnderstudyError as error:
        return await review(request, error)
    return RedirectResponse(state.address(line=form.get("next", "")), 303)


async def undo(request: Request) -> Response:
    form, by, state = await _form(request), _reviewer(request), State.of(request.query_params)
    number = form.get("number", "")
    try:
        await reviews.use_store(context_of(request), lambda store: reviews.undo(store, number, by))
    except UnderstudyError as error:
        return await review(request, error)
    return RedirectResponse(state.address(line=number), 303)


def span(one: UtteranceDocument) -> str:
    """When a line may be said."""
    begins = "From the start" if one.since == START else f"From {one.since}"
    return begins + (" on" if one.until == "end" else f" until {one.until}")


def _reviewer(request: Request) -> str:
    """Who reviews; blank where nobody has said."""
    try:
        return reviews.parse_reviewer(unquote(request.cookies.get(COOKIE, ""))[:80])
    except Refused:
        return ""


async def _form(request: Request) -> dict[str, str]:
    async with request.form(max_files=0, max_fields=8, max_part_size=4096) as form:
        return {key: value.replace("\0", "") for key, value in form.items() if isinstance(value, str)}


ROUTES = [
    Route("/review", review),
    Route("/review/name", name, methods=["POST"]),
    Route("/review/decide", decide, methods=["POST"]),
    Route("/review/undo", undo, methods=["POST"]),
]
