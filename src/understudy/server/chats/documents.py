"""Chats as they are sent: names as they are shown at the moment, never the true ones behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from understudy.dialogue import Reply
from understudy.documents import reply_document
from understudy.errors import StoryError
from understudy.server.chats.store import Chat, Said
from understudy.server.standing import heard_so_far, shown_names
from understudy.storyfile import Story

__all__ = [
    "OWN_NAME", "Billing", "Character", "ChatDocument", "ChatList", "ChatSummary", "Difference", "Grounds",
    "MessageDocument", "Why", "billing_at", "chat_document", "chat_summary", "message_document", "why_of",
    "written_moment",
]  # fmt: skip

OWN_NAME = "You"  # who speaks where it is nobody of the story


class Grounds(msgspec.Struct):
    """One thing that made a reply."""

    kind: str
    text: str
    moment: str | None = None
    words: list[str] = []


class Option(msgspec.Struct):
    """A reply that was considered."""

    text: str
    score: float
    moment: str | None = None


class Why(msgspec.Struct):
    evidence: list[Grounds] = []
    candidates: list[Option] = []


class MessageDocument(msgspec.Struct):
    id: int
    parent: int | None
    by: Annotated[str, msgspec.Meta(description="'user' or 'character'")]
    author: str
    text: str
    moment: str
    when: Annotated[str, msgspec.Meta(description="the moment in the story's own words")]
    faced: str | None
    state: Annotated[str, msgspec.Meta(description="'whole', or 'cut': stopped, and only what was seen is kept")]
    created: str
    siblings: Annotated[list[int], msgspec.Meta(description="this message and those that stand in its place elsewhere")]
    why: Why
    unanswered: Annotated[
        bool,
        msgspec.Meta(description="a reply is owed: one is under way, or failed, or was lost when the server stopped"),
    ] = False


class Character(msgspec.Struct):
    name: str
    heard: Annotated[bool, msgspec.Meta(description="has spoken in the story before the moment")]


class Difference(msgspec.Struct):
    """What is otherwise for a character since the chat was moved."""

    character: str
    now: Annotated[list[str], msgspec.Meta(description="what holds here and did not where the chat stood before")]
    no_longer: Annotated[list[str], msgspec.Meta(description="what held before and is over; empty on a move back")]
    later: Annotated[int, msgspec.Meta(description="how many things that held there are still to come here")]
    lines: Annotated[int, msgspec.Meta(description="how many lines it has said in the story by now")]


class ChatSummary(msgspec.Struct):
    id: str
    title: str
    story: str
    characters: list[Character]
    speaker: Annotated[str | None, msgspec.Meta(description="who of the story one speaks as; null is oneself")]
    at: str
    when: str
    version: int
    created: str
    changed: str


class ChatDocument(ChatSummary):
    messages: list[MessageDocument]
    difference: list[Difference] = []


class ChatList(msgspec.Struct):
    chats: list[ChatSummary]


def why_of(reply: Reply) -> Why:
    document = reply_document(reply)
    return msgspec.convert({"evidence": document["evidence"], "candidates": document["candidates"]}, Why)


def message_document(said: Said, siblings: Sequence[int], story: Story | None) -> MessageDocument:
    return MessageDocument(
        id=said.id,
        parent=said.parent,
        by="character" if said.answers else "user",
        author=said.shown,
        text=said.text,
        moment=said.moment,
        when=written_moment(said.moment, story),
        faced=said.faced,
        state=said.state,
        created=said.created,
        siblings=list(siblings) or [said.id],
        why=msgspec.json.decode(said.why, type=Why),
        unanswered=said.unanswered,
    )


@dataclass(frozen=True, slots=True)
class Billing:
    """The names people are shown by at a moment, by their true ones, and who has spoken before it."""

    shown: Mapping[str, str]
    heard: frozenset[str]


def billing_at(story: Story | None, moment: str) -> Billing:
    """Where the story has been taken off, or is shorter now, names are as they were kept."""
    try:
        at = None if story is None else story.moment(moment)
    except StoryError:
        at = None
    if story is None or at is None:
        return Billing({}, frozenset())
    heard = frozenset(member.character.name for _, member in heard_so_far(story, at))
    return Billing(shown_names(story, at), heard)


def chat_summary(chat: Chat, story: Story | None, billing: Billing | None = None) -> ChatSummary:
    """A chat without its messages."""
    billing = billing or billing_at(story, chat.moment)
    names, heard = billing.shown, billing.heard
    return ChatSummary(
        id=chat.id,
        title=chat.title,
        story=chat.story,
        characters=[Character(names.get(name, name), name in heard) for name in chat.characters],
        speaker=None if chat.speaker is None else names.get(chat.speaker, chat.speaker),
        at=chat.moment,
        when=written_moment(chat.moment, story),
        version=chat.version,
        created=chat.created,
        changed=chat.changed,
    )


def chat_document(
    chat: Chat, path: Sequence[Said], following: dict[int | None, list[int]], story: Story | None
) -> ChatDocument:
    summary = chat_summary(chat, story)
    messages = [message_document(said, following.get(said.parent, ()), story) for said in path]
    return ChatDocument(**msgspec.structs.asdict(summary), messages=messages)


def written_moment(moment: str, story: Story | None) -> str:
    """A dotted moment in its story's own words: 'Part 2, chapter 3'."""
    if moment == "end":
        return "The end"
    if story is None:
        return moment
    try:
        words = str(story.moment(moment))
    except StoryError:  # the story was read anew and is shorter now
        return moment
    return words[:1].upper() + words[1:]
