"""The Talk view: a chat with characters at a moment, the cast to choose from, and the timeline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from understudy.errors import StoryError, UnderstudyError
from understudy.formats.cards import greetings_for
from understudy.server.chats.scene import MemoryDocument
from understudy.server.chats.schemas import ChatDocument, MessageDocument, SpeakerPersona
from understudy.server.context import context_of
from understudy.server.pages import page, portrait_address, problem_page, requested_moment, slider_at, with_query
from understudy.server.pages.story import story_address
from understudy.server.story_registry import resolve_name, situation_as_shown, situation_of, speakers_before, tones
from understudy.story.dialogue import USER_NAME, Situation, StreamingAgent
from understudy.story.names import people_at, shown_names, shown_names_at
from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from understudy.story.types import LoreEntry, Moment
from understudy.story.wording import fill_macros

INTRODUCTION_LENGTH = 3  # sentences of the profile
MAX_OPENERS = 4
MAX_LORE_ENTRIES = 200
MAX_ABOUT_OTHERS = 2
BY_ATTRIBUTE = (
    (("hobby",), "What do you enjoy most?"),
    (("belongings",), "What do you carry with you?"),
    (("talents", "export"), "What are you good at?"),
    (("affiliation", "title"), "What is your place here?"),
    (("lineage",), "Whose child are you?"),
)


@dataclass(frozen=True, slots=True)
class CastChoice:
    """A character that can be chosen for the scene."""

    name: str
    lines: int
    is_chosen: bool
    address: str
    """The URL of a talk with this character alone."""


@dataclass(frozen=True, slots=True)
class ShownLore:
    """The lorebook of a character, with the names that are shown at the moment."""

    character: str
    count: int
    entries: tuple[LoreEntry, ...]
    """The first of them."""


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A message on the page. A change of moment is shown, and a message from after the chat's moment is marked."""

    message: MessageDocument
    moved: str
    """'earlier' or 'later' if its moment differs from that of the message before, 'first' for the first message."""
    is_forgotten: bool
    is_last: bool


async def talk(request: Request) -> Response:
    context, query = context_of(request), request.query_params
    name = query.get("story") or next((name for name, _ in context.stories), None)
    if name is None:
        return page(request, "talk_empty.html", "talk")
    story = context.stories.story(name)

    def prepare() -> dict[str, Any]:
        moment = requested_moment(story, query.get("at"))
        names = shown_names(story, moment)
        requested = [resolve_name(story, who, moment) for who in query.getlist("who") if who]
        speaker = resolve_name(story, query["as"], moment) if query.get("as") else None
        speakers = [member.character.name for _, member in speakers_before(story, moment)]
        if story.is_of_cards:  # they need not have said anything to be talked with
            speakers += [person.name for person in people_at(story, moment)]
        others = [who for who in speakers if who != speaker]
        chosen = [names.get(who, who) for who in requested or others[:1]]
        shown = None if speaker is None else names.get(speaker, speaker)
        return _values(name, story, moment, chosen, shown, query.get("agent"), _is_author(request))

    values = {**await asyncio.to_thread(prepare), **await _speaking(request, query.get("agent"), None)}
    values |= await _chats(request)
    values["memory"] = MemoryDocument(None) if _is_author(request) else None
    return page(request, "talk.html", "talk", **values, chat=None, entries=[], sampling={})


async def chat(request: Request) -> Response:
    context = context_of(request)
    document = await context.chats.get(request.path_params["chat"])
    story = context.stories.story(document.story)

    def prepare() -> dict[str, Any]:
        moment = story.moment(document.at)
        chosen = [character.name for character in document.characters]
        speaker = document.speaker if document.persona is None else None
        values = _values(document.story, story, moment, chosen, speaker, document.agent, _is_author(request))
        return {**values, "entries": list(_entries(document, story, moment))}

    values = {**await asyncio.to_thread(prepare), **await _speaking(request, document.agent, document.persona)}
    values["memory"] = await context.memory.get(document.id) if _is_author(request) else None
    values |= await _chats(request)
    values["chat_ids"] = {chat.id for chat in values["chats"]}
    return page(request, "talk.html", "talk", **values, chat=document, sampling=msgspec.to_builtins(document.sampling))


def _is_author(request: Request) -> bool:
    return bool(request.state.role != "reader")


async def _speaking(request: Request, agent: str | None, persona: SpeakerPersona | None) -> dict[str, Any]:
    """The reply agents, and the users' own personas. Readers share a server: each sees only the one they speak as."""
    context = context_of(request)
    stored = [] if request.state.role == "reader" else await context.chats.list_personas()
    personas = {own.name: own.description for own in stored}
    if persona is not None:
        personas[persona.name] = persona.description
    agents = list(context.executor.agents)
    chosen = agent or agents[0]
    return {
        "agents": agents if chosen in agents else [*agents, chosen],
        "agent": chosen,
        "writes": isinstance(context.executor.agents.get(chosen), StreamingAgent),
        "personas": personas,
        "persona": persona,
    }


async def _chats(request: Request) -> dict[str, Any]:
    service = context_of(request).chats
    deleted = await service.list_chats(deleted=True) if _is_author(request) else []
    return {"chats": await service.list_chats(), "deleted": deleted}


def _values(
    name: str,
    story: Story,
    moment: Moment,
    chosen: Sequence[str],
    speaker: str | None,
    agent: str | None,
    is_author: bool,
) -> dict[str, Any]:
    """The template's values besides the chat itself, all as of the moment; lorebooks are shown to authors."""
    slider, in_order = slider_at(story, moment), tones(story, moment)
    lines = {shown: member.lines for shown, member in speakers_before(story, moment)}
    lines |= {who: 0 for who in chosen if who not in lines}
    cast = [
        CastChoice(who, count, who in chosen, _talk_address(name, who, slider.at, None if who == speaker else speaker))
        for who, count in lines.items()
    ]
    return {
        "story": name,
        "story_title": story.title,
        "language": story.language,
        "at": slider.at,
        "who": chosen[0] if chosen else None,
        "slider": slider,
        "has_time": len(slider.stops) > 1 and not story.is_of_cards,
        "cast": cast,
        "chosen": list(chosen),
        "speaker": speaker,
        "lore": [book for who in chosen if (book := _lore(story, who, moment, speaker)).count] if is_author else [],
        **_opening(story, chosen, moment, speaker),
        "portrait": lambda who: portrait_address(name, who, in_order.get(who)),
        "source": lambda line_at, message_at: story_address(name, _moment(story, message_at), _moment(story, line_at)),
        "keep": [
            ("story", name),
            *(("who", who) for who in chosen),
            *([("as", speaker)] if speaker else []),
            *([("agent", agent)] if agent else []),
        ],
    }


def _lore(story: Story, who: str, moment: Moment, speaker: str | None) -> ShownLore:
    names, entries = shown_names_at(story, moment), story.lore(resolve_name(story, who, moment))

    def shown(text: str) -> str:
        return names.in_text(fill_macros(text, who, speaker or USER_NAME, story.language))

    first = [
        replace(entry, content=shown(entry.content), keys=tuple(map(shown, entry.keys)))
        for entry in entries[:MAX_LORE_ENTRIES]
    ]
    return ShownLore(who, len(entries), tuple(first))


def _talk_address(story: str, who: str, at: str, speaker: str | None) -> str:
    return with_query("/", {"story": story, "who": who, "at": at, "as": speaker})


def _opening(story: Story, chosen: Sequence[str], moment: Moment, speaker: str | None) -> dict[str, list[str]]:
    """What is shown before anything was said; a chat with the character of a card alone begins with a greeting."""
    if not chosen:
        return {"introduction": [], "openers": [], "greetings": []}
    who = chosen[0]
    facing = None if speaker == who else speaker
    situation = situation_as_shown(situation_of(story, who, moment, facing), shown_names_at(story, moment))
    known = {person.shown for person in people_at(story, moment)}
    return {
        "introduction": list(situation.persona.profile[:INTRODUCTION_LENGTH]),
        "openers": openers(situation, known),
        "greetings": list(greetings_for(situation)) if len(chosen) == 1 else [],
    }


def openers(situation: Situation, known: Set[str]) -> list[str]:
    """At most four questions to begin a chat with, which the character has something to say to.

    `situation` has the names that a reader is shown; `known` are those a reader has come across.
    """
    if situation.persona.language != "en":
        return []
    return list(islice(dict.fromkeys(_opening_questions(situation, known)), MAX_OPENERS))


def _opening_questions(situation: Situation, known: Set[str]) -> Iterator[str]:
    persona = situation.persona
    faced = None if situation.faced is None else situation.faced.name
    ties = _strongest_ties(persona)
    if faced in ties:
        yield "What do you think of me?"
    elif persona.profile:
        yield "Who are you?"
    acquaintances = [name for name in ties if name in known and name != faced]
    for name in acquaintances[:MAX_ABOUT_OTHERS]:
        yield f"What do you think of {name}?"
    if len(persona.past):
        yield "What happened last?"
    for attributes, question in BY_ATTRIBUTE:
        if any(persona.attributes.get(attribute) for attribute in attributes):
            yield question


def _strongest_ties(persona: Persona) -> list[str]:
    """Those the character has ties to, the strongest feelings first."""
    strength: dict[str, int] = {}
    for tie in persona.relations:
        strength[tie.to] = max(strength.get(tie.to, 0), abs(tie.level or 0) if tie.kind == "affection" else 0)
    return sorted(strength, key=lambda name: -strength[name])


def _entries(chat: ChatDocument, story: Story, moment: Moment) -> Iterator[ChatEntry]:
    before: Moment | None = None
    for message in chat.messages:
        said_at = _moment(story, message.moment)
        if story.is_of_cards:
            before = said_at
        moved = "first" if before is None else "" if said_at == before else "earlier" if said_at < before else "later"
        before = said_at
        yield ChatEntry(message, moved, said_at > moment, message is chat.messages[-1])


def _moment(story: Story, dotted: str) -> Moment:
    try:
        return story.moment(dotted)
    except StoryError:  # the story was read again and is shorter now
        return Moment.end(story.levels)


def _with_problem_page(view: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return await view(request)
        except UnderstudyError as error:
            return problem_page(request, "talk", error)

    return endpoint


ROUTES = [Route("/", _with_problem_page(talk)), Route("/chats/{chat}", _with_problem_page(chat))]
