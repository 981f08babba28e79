"""Requests and responses of the project's own API. Moments are dotted."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

__all__ = [
    "CardQuery",
    "CastDocument",
    "Health",
    "MomentQuery",
    "PersonaDocument",
    "PersonaQuery",
    "ReplyRequest",
    "ScenePage",
    "ScenesQuery",
    "StoryDocument",
    "StoryList",
    "TimelineDocument",
]

Name = Annotated[str, Meta(min_length=1, max_length=500)]
Text = Annotated[str, Meta(max_length=20_000)]
When = Annotated[
    str, Meta(description="A moment of the story: 2.3, S03E05, start or end. Nothing after it is returned.")
]


class MomentQuery(msgspec.Struct):
    at: When = "end"


class ScenesQuery(msgspec.Struct):
    at: When = "end"
    since: Annotated[str, Meta(description="Begin with this moment.")] = "start"
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class PersonaQuery(msgspec.Struct):
    at: When = "end"
    facing: Annotated[str, Meta(max_length=500, description="Whom the character stands before.")] | None = None
    last: Annotated[int, Meta(ge=0, le=500, description="How many of the last lines and scenes to return.")] = 20


class CardQuery(msgspec.Struct):
    at: When = "end"
    facing: Annotated[str, Meta(max_length=500)] | None = None
    spec: Annotated[int, Meta(ge=2, le=3, description="Which version of the card format.")] = 3


class StoryDocument(msgspec.Struct):
    name: str
    title: str
    language: str
    levels: list[str]


class StoryList(msgspec.Struct):
    stories: list[StoryDocument]


class CastMemberDocument(msgspec.Struct):
    name: str
    aliases: list[str]
    lines: int
    first: str | None
    last: str | None


class CastDocument(msgspec.Struct):
    story: str
    moment: str
    cast: list[CastMemberDocument]


class StopDocument(msgspec.Struct):
    moment: str
    reached: bool
    title: str
    setting: str
    lines: int | None


class TimelineDocument(msgspec.Struct):
    story: str
    moment: str
    stops: list[StopDocument]


class LineDocument(msgspec.Struct):
    moment: str
    speaker: str | None
    text: str


class SceneDocument(msgspec.Struct):
    moment: str
    setting: str
    present: list[str]
    lines: list[LineDocument]


class ScenePage(msgspec.Struct):
    """`next` is the `since` of the next page; null on the last page."""

    story: str
    moment: str
    scenes: list[SceneDocument]
    next: str | None


class OwnLineDocument(msgspec.Struct):
    moment: str
    text: str


class TieDocument(msgspec.Struct):
    to: str
    kind: str
    level: int | None
    since: str
    sentence: str


class OtherDocument(msgspec.Struct):
    name: str
    profile: list[str]
    relations: list[TieDocument]


class PersonaDocument(msgspec.Struct):
    character: str
    moment: str
    profile: list[str]
    attributes: dict[str, list[str]]
    relations: list[TieDocument]
    lines: list[OwnLineDocument]
    memory: list[SceneDocument]
    facing: OtherDocument | UnsetType = UNSET


class TurnDocument(msgspec.Struct):
    speaker: Name
    text: Text


class ReplyRequest(msgspec.Struct):
    """`history` is what was said before the message, the character's own lines under its name."""

    story: Name
    character: Name
    message: Text
    at: When = "end"
    facing: Annotated[str, Meta(max_length=500)] | None = None
    history: Annotated[list[TurnDocument], Meta(max_length=2000)] = []


class Health(msgspec.Struct):
    status: str
    version: str
