"""What can be asked of the utterance database, and what is answered."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from understudy.utterances import StoredUtterance

__all__ = [
    "Agreement",
    "AgreementAsked",
    "DecisionAsked",
    "QueueAsked",
    "UndoAsked",
    "Utterance",
    "UtteranceQueue",
    "UtteranceScore",
    "told",
]

Name = Annotated[str, msgspec.Meta(max_length=80, pattern=r"^[^\u0000-\u001f]*[^\s\u0000-\u001f][^\u0000-\u001f]*$")]
Plain = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\u0000-\u001f]*$")]


class QueueAsked(msgspec.Struct):
    by: Plain = ""
    """Who reviews."""
    show: Literal["new", "second", "mine"] = "new"
    """Lines only the filter has decided about; lines somebody else has; lines the reviewer has, the latest first."""
    character: Plain | None = None
    metric: Plain | None = None
    """Lines come in the order of how near this score is to the bound."""
    bound: float | msgspec.UnsetType = msgspec.UNSET
    """Unless given, where the filter's bound seems to have been."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 20
    story: Plain | None = None
    """The title of the story that lines are of; blank for those that are of none in particular."""


class DecisionAsked(msgspec.Struct, forbid_unknown_fields=True):
    decision: Literal["approved", "rejected"]
    by: Name
    why: Annotated[str, msgspec.Meta(max_length=500, pattern=r"^[^\u0000]*$")] = ""


class UndoAsked(msgspec.Struct, forbid_unknown_fields=True):
    by: Name
    """Only one's own decision can be taken back here, and only while nobody has decided after it."""


class AgreementAsked(msgspec.Struct):
    first: Plain
    second: Plain


class UtteranceScore(msgspec.Struct):
    value: float | None
    reason: str


class Utterance(msgspec.Struct, kw_only=True):
    """A line that may be said from one moment until before another, if it is approved."""

    number: int
    text: str
    story: str
    character: str
    since: str
    until: str
    scores: dict[str, UtteranceScore]
    file: str
    line: int
    decision: Literal["pending", "approved", "rejected"]
    by: str
    at: str


class UtteranceQueue(msgspec.Struct, kw_only=True):
    """It may tell of anything in the story: it is for authors."""

    utterances: list[Utterance]
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
    """Two reviewers' last words on the same lines; share and kappa are missing where there is nothing to compare."""

    first: str
    second: str
    n: int
    share: float | None
    kappa: float | None


def told(kept: StoredUtterance) -> Utterance:
    one = kept.utterance
    return Utterance(
        number=kept.number,
        text=one.text,
        story=one.story,
        character=one.character,
        since=one.since.dotted,
        until=one.until.dotted,
        scores={name: UtteranceScore(score.value, score.reason) for name, score in one.scores.items()},
        file=one.file,
        line=one.line,
        decision=kept.decision,  # type: ignore[arg-type]  # it is one of the three
        by=kept.by,
        at=kept.at,
    )
