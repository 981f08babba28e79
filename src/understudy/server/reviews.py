"""The review queue of the utterance database: lines near a bound first, people's decisions, and their agreement.

For authors: no moment limits what is shown here. The database is used in threads, never on the event loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

import msgspec
from anyio import to_thread

from understudy.errors import InputError, Unreachable
from understudy.judging import LOWER_IS_CLOSER
from understudy.metrics.utterances.record import FILTER, StoredUtterance
from understudy.metrics.utterances.review import Near, Review
from understudy.metrics.utterances.store import UtteranceStore
from understudy.server.context import AppContext
from understudy.server.operations import Call, Operation
from understudy.server.problems import Refused

__all__ = [
    "OPERATIONS", "Agreement", "QueueQuery", "QueueView", "UtteranceDocument", "agreement", "decide", "parse_number",
    "parse_reviewer", "undo", "use_store", "utterance_document", "view_queue",
]  # fmt: skip

LATEST = 8  # decisions shown beside the queue, to be undone
MAX_DIGITS = 18  # of an utterance's number

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


def utterance_document(row: StoredUtterance) -> UtteranceDocument:
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


async def use_store(context: AppContext, work: Callable[[UtteranceStore], Result]) -> Result:
    """Run `work` on the utterance database in a thread, where the server has one."""
    store = context.utterances
    if store is None:
        raise Refused("there is nothing to review here: start the server with --store DB", 404)
    try:
        return await to_thread.run_sync(work, store)
    except Unreachable as error:
        raise Refused(str(error), 507) from error


def view_queue(store: UtteranceStore, query: QueueQuery, skipped: Collection[int] = ()) -> QueueView:
    if query.bound is not msgspec.UNSET and not math.isfinite(query.bound):
        raise Refused("a bound is a number", 400, param="bound")
    review = Review(store, query.by, query.character, query.story)
    metrics = review.metrics()
    near = _sort_order(review, query, metrics)
    queue = review.queue(query.show, near, query.limit, skipped)
    document = UtteranceQueue(
        utterances=[utterance_document(row) for row in queue.lines],
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


def decide(store: UtteranceStore, number: str, decision: str, by: str, why: str = "") -> StoredUtterance:
    return store.decide(_existing_number(store, number), decision, parse_reviewer(by), why)


def undo(store: UtteranceStore, number: str, by: str) -> StoredUtterance:
    existing = _existing_number(store, number)
    try:
        return store.undo(existing, parse_reviewer(by), own=True)
    except InputError as error:
        raise Refused(str(error), 409) from error


def agreement(store: UtteranceStore, first: str, second: str) -> Agreement:
    return Agreement(first, second, *store.agreement(first, second))


def parse_reviewer(text: str) -> str:
    """A reviewer's name with its spaces normalized."""
    name = " ".join(text.split())
    if not name or name.casefold() == FILTER:
        raise Refused("a reviewer needs a name of their own", 400, param="by")
    return name


def parse_number(text: str) -> int | None:
    """An utterance's number in a URL or a form; None where the text is no such number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def _existing_number(store: UtteranceStore, text: str) -> int:
    number = parse_number(text)
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


async def _get_queue(call: Call) -> UtteranceQueue:
    view = await use_store(call.context, lambda store: view_queue(store, call.query))
    return view.queue


async def _post_decision(call: Call) -> UtteranceDocument:
    request: DecisionRequest = call.body
    number = call.path("number")
    return utterance_document(
        await use_store(call.context, lambda store: decide(store, number, request.decision, request.by, request.why))
    )


async def _post_undo(call: Call) -> UtteranceDocument:
    request: UndoRequest = call.body
    number = call.path("number")
    return utterance_document(await use_store(call.context, lambda store: undo(store, number, request.by)))


async def _get_agreement(call: Call) -> Agreement:
    query: AgreementQuery = call.query
    return await use_store(call.context, lambda store: agreement(store, query.first, query.second))


OPERATIONS = (
    Operation(
        "GET", "/api/utterances", _get_queue, "Lines to be reviewed, those near a bound first; for authors",
        answers=UtteranceQueue, query=QueueQuery, refuses=(404, 507), tag="review",
    ),
    Operation(
        "GET", "/api/utterances/agreement", _get_agreement, "How far two reviewers agree",
        answers=Agreement, query=AgreementQuery, refuses=(404, 507), tag="review",
    ),
    Operation(
        "POST", "/api/utterances/{number}/decision", _post_decision, "Let a line be said, or keep it from being said",
        answers=UtteranceDocument, body=DecisionRequest, refuses=(404, 507), tag="review",
    ),
    Operation(
        "POST", "/api/utterances/{number}/undo", _post_undo, "Take one's last decision about a line back",
        answers=UtteranceDocument, body=UndoRequest, refuses=(404, 409, 507), tag="review",
    ),
)  # fmt: skip
