"""Where reviewers work: looks at the queue, and decisions. The database is asked in threads, never on the loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from anyio import to_thread

from understudy.errors import InputError, Unreachable
from understudy.judging import LOWER_IS_CLOSER
from understudy.server.context import AppContext
from understudy.server.problems import Refused
from understudy.server.review.answers import Agreement, QueueAsked, UtteranceQueue, told
from understudy.utterances import FILTER, StoredUtterance, UtteranceStore
from understudy.utterances.review import Near, Review

__all__ = ["Look", "agreed", "at_desk", "decide", "look", "number_of", "reviewer", "undo"]

LATEST = 8  # decisions that can be seen and taken back beside the queue
LONGEST_NUMBER = 18  # digits

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the queue, and at what the reviewer did last."""

    queue: UtteranceQueue
    latest: Sequence[StoredUtterance]
    review: Review


async def at_desk(context: AppContext, work: Callable[[UtteranceStore], Found]) -> Found:
    """Work with the database, where the server has one."""
    store = context.utterances
    if store is None:
        raise Refused("there is nothing to review here: start the server with --store DB", 404)
    try:
        return await to_thread.run_sync(work, store)
    except Unreachable as error:
        raise Refused(str(error), 507) from error


def look(store: UtteranceStore, asked: QueueAsked, skipped: Collection[int] = ()) -> Look:
    if asked.bound is not msgspec.UNSET and not math.isfinite(asked.bound):
        raise Refused("a bound is a number", 400, param="bound")
    review = Review(store, asked.by, asked.character, asked.story)
    metrics = review.metrics()
    near = _near(review, asked, metrics)
    queue = review.queue(asked.show, near, asked.limit, skipped)
    answer = UtteranceQueue(
        utterances=[told(kept) for kept in queue.lines],
        metric=None if near is None else near.metric,
        bound=None if near is None else near.bound,
        left=queue.left,
        done=queue.done,
        metrics=metrics,
        characters=sorted({who for who, _ in store.counts(asked.story)}),
        stories=store.stories(),
        reviewers=review.reviewers(),
    )
    return Look(answer, review.latest(LATEST), review)


def decide(store: UtteranceStore, number: str, decision: str, by: str, why: str = "") -> StoredUtterance:
    return store.decide(_there(store, number), decision, reviewer(by), why)


def undo(store: UtteranceStore, number: str, by: str) -> StoredUtterance:
    found = _there(store, number)
    try:
        return store.undo(found, reviewer(by), own=True)
    except InputError as error:
        raise Refused(str(error), 409) from error


def agreed(store: UtteranceStore, first: str, second: str) -> Agreement:
    return Agreement(first, second, *store.agreement(first, second))


def reviewer(told: str) -> str:
    """A name as it is kept."""
    name = " ".join(told.split())
    if not name or name.casefold() == FILTER:
        raise Refused("a reviewer needs a name of their own", 400, param="by")
    return name


def number_of(told: str) -> int | None:
    """An utterance's number as an address or a form has it."""
    return int(told) if told.isascii() and told.isdecimal() and len(told) <= LONGEST_NUMBER else None


def _there(store: UtteranceStore, told: str) -> int:
    number = number_of(told)
    try:
        if number is not None:
            return store.get(number).number
    except InputError:
        pass
    raise Refused("there is no such utterance here", 404)


def _near(review: Review, asked: QueueAsked, metrics: Sequence[str]) -> Near | None:
    if asked.metric is not None and asked.metric not in metrics:
        raise Refused(f"no line has such a score: there is {', '.join(metrics) or 'none'}", 404, param="metric")
    if not metrics:
        return None
    metric = asked.metric or next((one for one in metrics if one not in LOWER_IS_CLOSER), metrics[0])
    bound = review.bound(metric, metric not in LOWER_IS_CLOSER) if asked.bound is msgspec.UNSET else asked.bound
    return Near(metric, bound)
