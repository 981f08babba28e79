"""Requests and responses of the chat API, and what other APIs share with it: what a reply was made from.

Names are those shown at the moment, never the true ones behind them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from understudy.errors import StoryError
from understudy.formats.documents import reply_document
from understudy.server.chats.store import Chat, Message, title_from
from understudy.server.story_registry import speakers_before
from understudy.story.dialogue import MAX_DESCRIPTION, MAX_NAME, Reply, Sampling
from understudy.story.names import shown_names
from understudy.story.storyfile import Story

MAX_TEXT = 4000
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Cast = Annotated[list[Name], msgspec.Meta(min_length=1, max_length=20)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
ExportFormat = Literal["jsonl", "sillytavern", "markdown"]


class SpeakerPersona(msgspec.Struct, forbid_unknown_fields=True):
    """Somebody of one's own to speak as, who is not in the story."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]
    description: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_DESCRIPTION)]


class SamplingSettings(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How an agent that writes is to write; what is left out is its own choice."""

    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=4096)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] | None = None

    @classmethod
    def of(cls, sampling: Sampling) -> SamplingSettings:
        return cls(sampling.temperature, sampling.top_p, sampling.max_tokens, sampling.seed)

    def sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_p, self.max_tokens, seed=self.seed)


Speaker = Annotated[
    Name | SpeakerPersona | None,
    msgspec.Meta(description="who of the story one speaks as, or somebody of one's own; null is oneself"),
]
AgentName = Annotated[Name | None, msgspec.Meta(description="the reply agent; null for the server's default")]


class NewChat(msgspec.Struct, forbid_unknown_fields=True):
    story: Name
    characters: Cast
    at: Name = "end"
    speaker: Speaker = None
    agent: AgentName = None
    sampling: SamplingSettings = msgspec.field(default_factory=SamplingSettings)
    greeting: Annotated[
        Number,
        msgspec.Meta(description="which greeting of the character's card opens the chat, if it has one; 0: none"),
    ] = 1


class ChatChanges(msgspec.Struct, forbid_unknown_fields=True):
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    at: Name | None = None
    characters: Cast | None = None
    speaker: Name | SpeakerPersona | msgspec.UnsetType | None = msgspec.UNSET
    agent: Name | msgspec.UnsetType | None = msgspec.UNSET
    sampling: SamplingSettings | None = None
    shown: Annotated[Number | None, msgspec.Meta(description="a message whose branch is to be shown")] = None


class EditedMessage(msgspec.Struct, forbid_unknown_fields=True):
    text: Text


class NewMessage(EditedMessage, forbid_unknown_fields=True):
    answerers: Annotated[
        Cast | None,
        msgspec.Meta(
            description="who of the scene answers, in this order; null: whoever is spoken to, else the next in turn"
        ),
    ] = None


class NewTurn(msgspec.Struct, forbid_unknown_fields=True):
    characters: Annotated[
        Cast | None, msgspec.Meta(description="who of the scene speaks, in this order; null: the next in turn")
    ] = None


class StopRequest(msgspec.Struct, forbid_unknown_fields=True):
    message: Annotated[Number | None, msgspec.Meta(description="the reply that was being streamed, if any")] = None
    seen: Annotated[Number, msgspec.Meta(description="how many of its tokens were seen")] = 0
    after: Annotated[Number | None, msgspec.Meta(description="the last message that was said, or done")] = None


class ChatsQuery(msgspec.Struct):
    deleted: Annotated[
        bool, msgspec.Meta(description="those that are deleted and can be restored, the last deleted first")
    ] = False


class ExportQuery(msgspec.Struct):
    format: ExportFormat = "jsonl"


class Why(msgspec.Struct):
    """What a reply was made from, and what else was considered; empty for a message of the user."""

    evidence: list[EvidenceDocument] = []
    candidates: list[CandidateDocument] = []


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
    siblings: Annotated[list[int], msgspec.Meta(description="this message and the alternatives to it, by id")]
    why: Why
    unanswered: Annotated[
        bool,
        msgspec.Meta(description="a reply is owed: one is under way, or failed, or was lost when the server stopped"),
    ] = False


class ChatCharacter(msgspec.Struct):
    name: str
    heard: Annotated[bool, msgspec.Meta(description="has spoken in the story before the moment")]


class Difference(msgspec.Struct):
    """What has changed for a character since the chat was moved."""

    character: str
    now: Annotated[list[str], msgspec.Meta(description="what holds here and did not where the chat stood before")]
    no_longer: Annotated[list[str], msgspec.Meta(description="what held before and is over; empty on a move back")]
    later: Annotated[int, msgspec.Meta(description="how many things that held there are still to come here")]
    lines: Annotated[int, msgspec.Meta(description="how many lines it has said in the story by now")]


class ChatSummary(msgspec.Struct):
    id: str
    title: str
    story: str
    characters: list[ChatCharacter]
    speaker: Annotated[str | None, msgspec.Meta(description="whom one speaks as; null is oneself")]
    at: str
    when: str
    version: int
    created: str
    changed: str
    persona: Annotated[SpeakerPersona | None, msgspec.Meta(description="set where the speaker is of one's own")]
    agent: AgentName
    sampling: SamplingSettings
    last_said: Annotated[str, msgspec.Meta(description="in a list: the first words of what the user said last")]


class ChatDocument(ChatSummary):
    messages: list[MessageDocument]
    writing: Annotated[bool, msgspec.Meta(description="a request to the chat is under way, such as a reply")] = False
    difference: list[Difference] = []


class ChatList(msgspec.Struct):
    chats: list[ChatSummary]


class AgentDocument(msgspec.Struct):
    name: str
    writes: Annotated[bool, msgspec.Meta(description="whether its replies come piece by piece")]


class AgentList(msgspec.Struct):
    agents: Annotated[list[AgentDocument], msgspec.Meta(description="the default first")]


class PersonaList(msgspec.Struct):
    personas: list[SpeakerPersona]


def why_of(reply: Reply) -> Why:
    document = reply_struct(reply)
    return Why(document.evidence, document.candidates)


def message_document(message: Message, siblings: Sequence[int], story: Story | None) -> MessageDocument:
    return MessageDocument(
        id=message.id,
        parent=message.parent,
        by="character" if message.is_reply else "user",
        author=message.shown_name,
        text=message.text,
        moment=message.moment,
        when=moment_in_words(message.moment, story),
        faced=message.faced,
        state=message.state,
        created=message.created,
        siblings=list(siblings) or [message.id],
        why=msgspec.json.decode(message.why, type=Why),
        unanswered=message.unanswered,
    )


@dataclass(frozen=True, slots=True)
class ShownCast:
    """People at a moment by the story's own names: the names they are shown by, and who has spoken before it."""

    names: Mapping[str, str]
    speakers: frozenset[str]


def shown_cast_at(story: Story | None, moment: str) -> ShownCast:
    """Empty where the story was removed, or was read again and no longer has the moment: names are shown as stored."""
    if story is None:
        return ShownCast({}, frozenset())
    try:
        at = story.moment(moment)
    except StoryError:
        return ShownCast({}, frozenset())
    speakers = frozenset(member.character.name for _, member in speakers_before(story, at))
    return ShownCast(shown_names(story, at), speakers)


def chat_summary(chat: Chat, story: Story | None, cast: ShownCast | None = None) -> ChatSummary:
    """A chat without its messages."""
    cast = cast or shown_cast_at(story, chat.moment)
    persona = None if chat.persona is None else SpeakerPersona(chat.persona.name, chat.persona.description)
    speaker = None if chat.speaker is None else cast.names.get(chat.speaker, chat.speaker)
    return ChatSummary(
        id=chat.id,
        title=chat.title,
        story=chat.story,
        characters=[ChatCharacter(cast.names.get(name, name), name in cast.speakers) for name in chat.characters],
        speaker=speaker if persona is None else persona.name,
        at=chat.moment,
        when=moment_in_words(chat.moment, story),
        version=chat.version,
        created=chat.created,
        changed=chat.changed,
        persona=persona,
        agent=chat.agent,
        sampling=SamplingSettings.of(chat.sampling),
        last_said=title_from(chat.last_said),
    )


def chat_document(
    chat: Chat, path: Sequence[Message], children: dict[int | None, list[int]], story: Story | None
) -> ChatDocument:
    summary = chat_summary(chat, story)
    messages = [message_document(message, children.get(message.parent, ()), story) for message in path]
    return ChatDocument(**msgspec.structs.asdict(summary), messages=messages)


def moment_in_words(moment: str, story: Story | None) -> str:
    """A dotted moment in its story's own words: 'Part 2, chapter 3'."""
    if moment == "end":
        return "The end"
    if story is None:
        return moment
    try:
        words = str(story.moment(moment))
    except StoryError:  # the story was read again and is shorter now
        return moment
    return words[:1].upper() + words[1:]


class FindingDocument(msgspec.Struct):
    """Where in the text something was found that nobody wrote, and how surely."""

    confidence: float
    sources: list[str]


class EvidenceDocument(msgspec.Struct):
    """Something that a reply was made from: a profile sentence, a tie, a memory, an exchange."""

    kind: str
    text: str
    moment: str | None
    words: list[str]
    found: FindingDocument | msgspec.UnsetType = msgspec.UNSET


class CandidateDocument(msgspec.Struct):
    """A reply that was considered; `text` is blank where it tells what is not known yet."""

    text: str
    score: Annotated[float | None, msgspec.Meta(description="higher is better; null where nothing was compared")]
    moment: str | None
    source: Annotated[str, msgspec.Meta(description="'writer', or the kind of evidence it was taken from")] = ""
    rejected: Annotated[str, msgspec.Meta(description="why it was kept back; blank where it was not")] = ""


class UsageDocument(msgspec.Struct):
    """What a reply cost in a language model."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class ReplyDocument(msgspec.Struct):
    reply: str
    evidence: list[EvidenceDocument]
    candidates: list[CandidateDocument]
    usage: UsageDocument | None = None


def reply_struct(reply: Reply) -> ReplyDocument:
    return msgspec.convert(reply_document(reply), ReplyDocument)
