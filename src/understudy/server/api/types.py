"""What the project's own routes are asked and answer with. Moments are dotted."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

__all__ = [
    "At",
    "Cast",
    "Health",
    "PersonaAnswer",
    "ReplyAnswer",
    "ReplyRequest",
    "Scenes",
    "Stories",
    "StoryAnswer",
    "Timeline",
    "WhichCard",
    "WhichPersona",
    "WhichScenes",
]

Name = Annotated[str, Meta(min_length=1, max_length=500)]
Text = Annotated[str, Meta(max_length=20_000)]
When = Annotated[str, Meta(description="A moment of the story: 2.3, S03E05, start or end. Nothing after it is told.")]


class At(msgspec.Struct):
    at: When = "end"


class WhichScenes(msgspec.Struct):
    at: When = "end"
    since: Annotated[str, Meta(description="Begin with this moment.")] = "start"
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class WhichPersona(msgspec.Struct):
    at: When = "end"
    facing: Annotated[str, Meta(max_length=500, description="Whom the character stands before.")] | None = None
    last: Annotated[int, Meta(ge=0, le=500, description="How many lines and scenes of the past to tell.")] = 20


class WhichCard(msgspec.Struct):
    at: When = "end"
    facing: Annotated[str, Meta(max_length=500)] | None = None
    spec: Annotated[int, Meta(ge=2, le=3, description="Which version of the card format.")] = 3


class StoryAnswer(msgspec.Struct):
    name: str
    title: str
    language: str
    levels: list[str]


class Stories(msgspec.Struct):
    stories: list[StoryAnswer]


class CastEntry(msgspec.Struct):
    name: str
    aliases: list[str]
    lines: int
    first: str | None
    last: str | None


class Cast(msgspec.Struct):
    story: str
    moment: str
    cast: list[CastEntry]


class StopAnswer(msgspec.Struct):
    moment: str
    reached: bool
    title: str
    setting: str
    lines: int | None


class Timeline(msgspec.Struct):
    story: str
    moment: str
    stops: list[StopAnswer]


class LineAnswer(msgspec.Struct):
    moment: str
    speaker: str | None
    text: str


class SceneAnswer(msgspec.Struct):
    moment: str
    setting: str
    present: list[str]
    lines: list[LineAnswer]


class Scenes(msgspec.Struct):
    """`next` is the moment to ask for the next page with, as `since`; null where this was the last."""

    story: str
    moment: str
    scenes: list[SceneAnswer]
    next: str | None


class OwnLine(msgspec.Struct):
    moment: str
    text: str


class TieAnswer(msgspec.Struct):
    to: str
    kind: str
    level: int | None
    since: str
    sentence: str


class OtherAnswer(msgspec.Struct):
    name: str
    profile: list[str]
    relations: list[TieAnswer]


class PersonaAnswer(msgspec.Struct):
    character: str
    moment: str
    profile: list[str]
    attributes: dict[str, list[str]]
    relations: list[TieAnswer]
    lines: list[OwnLine]
    memory: list[SceneAnswer]
    facing: OtherAnswer | UnsetType = UNSET


class TurnAsked(msgspec.Struct):
    speaker: Name
    text: Text


class ReplyRequest(msgspec.Struct):
    """`history` is what was said before the message, the character's own lines under its name."""

    story: Name
    character: Name
    message: Text
    at: When = "end"
    facing: Annotated[str, Meta(max_length=500)] | None = None
    history: Annotated[list[TurnAsked], Meta(max_length=2000)] = []


class EvidenceAnswer(msgspec.Struct):
    kind: str
    text: str
    moment: str | None
    words: list[str]


class CandidateAnswer(msgspec.Struct):
    text: str
    score: float
    moment: str | None


class ReplyAnswer(msgspec.Struct):
    reply: str
    evidence: list[EvidenceAnswer]
    candidates: list[CandidateAnswer]


class Health(msgspec.Struct):
    status: str
    version: str
