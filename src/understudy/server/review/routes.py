"""What can be asked of the utterance database. For authors: no moment limits what is told here."""

from __future__ import annotations

from understudy.server.operations import Call, Operation
from understudy.server.review import desk
from understudy.server.review.answers import (
    Agreement,
    AgreementAsked,
    DecisionAsked,
    QueueAsked,
    UndoAsked,
    Utterance,
    UtteranceQueue,
    told,
)

__all__ = ["OPERATIONS"]


async def _queue(call: Call) -> UtteranceQueue:
    found = await desk.at_desk(call.context, lambda store: desk.look(store, call.query))
    return found.queue


async def _decide(call: Call) -> Utterance:
    asked: DecisionAsked = call.body
    number = call.path("number")
    return told(
        await desk.at_desk(call.context, lambda store: desk.decide(store, number, asked.decision, asked.by, asked.why))
    )


async def _undo(call: Call) -> Utterance:
    asked: UndoAsked = call.body
    number = call.path("number")
    return told(await desk.at_desk(call.context, lambda store: desk.undo(store, number, asked.by)))


async def _agreement(call: Call) -> Agreement:
    asked: AgreementAsked = call.query
    return await desk.at_desk(call.context, lambda store: desk.agreed(store, asked.first, asked.second))


OPERATIONS = (
    Operation(
        "GET", "/api/utterances", _queue, "Lines to be reviewed, those near a bound first; for authors",
        answers=UtteranceQueue, query=QueueAsked, refuses=(404, 507), tag="review",
    ),
    Operation(
        "GET", "/api/utterances/agreement", _agreement, "How far two reviewers agree",
        answers=Agreement, query=AgreementAsked, refuses=(404, 507), tag="review",
    ),
    Operation(
        "POST", "/api/utterances/{number}/decision", _decide, "Let a line be said, or keep it from being said",
        answers=Utterance, body=DecisionAsked, refuses=(404, 507), tag="review",
    ),
    Operation(
        "POST", "/api/utterances/{number}/undo", _undo, "Take one's last decision about a line back",
        answers=Utterance, body=UndoAsked, refuses=(404, 409, 507), tag="review",
    ),
)  # fmt: skip
