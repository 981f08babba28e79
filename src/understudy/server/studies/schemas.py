"""Wire types of the study API. What is shown of an item are the dataclasses of `studies.item`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from understudy.server.problems import ProblemDetail
from understudy.studies.item import Block, Problem, Question
from understudy.studies.status import PersonStatus
from understudy.studies.store import MOST_LINKS

__all__ = [
    "AnswerBody",
    "AnswerProblems",
    "AnswerRefusal",
    "ChatBody",
    "ChatQuery",
    "CheckBody",
    "ConsentBody",
    "EmptyBody",
    "LinkCount",
    "LinkList",
    "ParticipantView",
    "SaidMessage",
    "StudyChatDocument",
    "StudyCounts",
    "StudyDashboard",
    "StudyList",
    "StudySummary",
    "WithdrawalDocument",
]

MOST_ASKED = 20

AssignmentId = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""As databases have it: 64 bits."""


class EmptyBody(msgspec.Struct):
    pass


class ConsentBody(msgspec.Struct):
    asked: Annotated[dict[str, str], msgspec.Meta(max_length=MOST_ASKED)] = {}
    """What the study asks of a person themselves, by question."""


class CheckBody(msgspec.Struct):
    assignment: AssignmentId
    answer: dict[str, Any]


class AnswerBody(msgspec.Struct):
    assignment: AssignmentId
    answer: dict[str, Any]
    comment: str = ""
    seconds: float = 0.0
    """How long the item was on the screen."""


class AnswerProblems(msgspec.Struct):
    problems: list[Problem]


class AnswerRefusal(msgspec.Struct):
    """Why an answer was not accepted."""

    error: ProblemDetail
    problems: list[Problem]


class StudyTexts(msgspec.Struct):
    kind: str
    title: str
    instructions: str
    example: str
    consent: str
    ask: list[str]
    comments: bool


class ShownItem(msgspec.Struct):
    blocks: list[Block]
    questions: list[Question]


class AnsweredShare(msgspec.Struct):
    answered: int
    of: int


class ParticipantView(msgspec.Struct):
    """What a participant sees now."""

    study: StudyTexts
    state: Literal["consent", "item", "waiting", "chat", "done", "closed"]
    assignment: int | None
    item: ShownItem | None
    draft: dict[str, Any] | None
    """The answer that was taken back."""
    comment: str
    """The comment that stood with it."""
    progress: AnsweredShare
    can_undo: bool


class WithdrawalDocument(msgspec.Struct):
    withdrawn: bool


class StudyCounts(msgspec.Struct):
    name: str
    title: str
    kind: str
    closed: str | None
    items: int
    complete: int
    answers: int
    wanted: int


class StudySummary(StudyCounts):
    people: int


class StudyList(msgspec.Struct):
    studies: list[StudySummary]


class StudyDashboard(StudyCounts):
    """How far a study is. Comments come without the code of who wrote them."""

    people: list[PersonStatus]
    pace: list[tuple[str, int]]
    """Answers in each hour (UTC) that had some: ['2026-01-01T07', 12]."""
    seconds: float | None
    """The median time for an answer."""
    comments: list[tuple[str, str]]
    """Item and comment, the newest first."""
    agreement: list[dict[str, Any]] = []
    """Rows {question, metric, value, low, high, n}."""
    agreement_answers: int = 0
    """How many answers the agreement was worked out from."""


class LinkCount(msgspec.Struct):
    count: Annotated[int, msgspec.Meta(ge=1, le=MOST_LINKS)] = 1


class LinkList(msgspec.Struct):
    links: list[str]
    """Each can be shown this once: the database has only hashes of the tokens."""


class ChatQuery(msgspec.Struct):
    after: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    """The number of the last message that was seen."""
    state: str = ""
    """The state that was seen: the answer comes once there is another one, or a message."""


class ChatBody(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(max_length=2_000)]
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    """Drawn for each message: the same one sent again is said once."""


class SaidMessage(msgspec.Struct):
    number: int
    mine: bool
    text: str


class StudyChatDocument(msgspec.Struct):
    """A chat as one of its two sees it: state is 'waiting', 'talking' or 'over'."""

    state: str
    messages: list[SaidMessage]
    turn: str | None
    """'mine' or 'theirs'."""
    turns_left: int
    persona: list[str]
    most_words: int
    reason: str
