"""The Talk view: who is there, where in the story, and what was said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from understudy.errors import StoryError, UnderstudyError
from understudy.names import shown_names_at
from understudy.server.chats.schemas import ChatDocument, MessageDocument
from understudy.server.context import context_of
from understudy.server.lookup import resolve_name, shown_names, situation_of, speakers_before
from understudy.server.pages import page, problem_page
from understudy.server.pages.leaves import reading_address
from understudy.server.pages.timeline import moment_asked, timeline_at
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["ROUTES"]

INTRODUCED = 3  # sentences a character is introduced with
OPENERS = ("Who are you?", "What has happened so far?", "Whom do you trust?", "What do you want most?")


@dataclass(frozen=True, slots=True)
class Seat:
    """Somebody of the cast, in the scene or not."""

    name: str
    lines: int
    chosen: bool
    alone: str
    """Where one talks with nobody else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message on the page; a new moment is announced, and what is not remembered at the chat's moment is marked."""

    message: MessageDocument
    moved: str
    """'earlier' or 'later' where it was said at another moment than the one before it, 'first' at the beginning."""
    forgotten: bool
    last: bool


async def talk(request: Request) -> Response:
    context, asked = context_of(request), request.query_params
    name = asked.get("story") or next((name for name, _ in context.stories), None)
    if name is None:
        return page(request, "talk_empty.html", "talk")
    story = context.stories.story(name)

    def prepared() -> dict[str, Any]:
        moment = moment_asked(story, asked.get("at"))
        names = shown_names(story, moment)
        wanted = [resolve_name(story, who, moment) for who in asked.getlist("who") if who]
        speaker = resolve_name(story, asked["as"], moment) if asked.get("as") else None
        first = [
            member.character.name for _, member in speakers_before(story, moment) if member.character.name != speaker
        ]
        chosen = [names.get(who, who) for who in wanted or first[:1]]
        shown = None if speaker is None else names.get(speaker, speaker)
        return _scenery(name, story, moment, chosen, shown)

    scenery = await asyncio.to_thread(prepared)
    return page(request, "talk.html", "talk", **scenery, chat=None, entries=[], chats=await _chats(request))


async def chat(request: Request) -> Response:
    context = context_of(request)
    found = await context.chats.get(request.path_params["chat"])
    story = context.stories.story(found.story)

    def prepared() -> dict[str, Any]:
        moment = story.moment(found.at)
        chosen = [character.name for character in found.characters]
        scenery = _scenery(found.story, story, moment, chosen, found.speaker)
        return {**scenery, "entries": list(_entries(found, story, moment))}

    scenery = await asyncio.to_thread(prepared)
    return page(request, "talk.html", "talk", **scenery, chat=found, chats=await _chats(request))


async def _chats(request: Request) -> list[Any]:
    return await context_of(request).chats.list_chats()


def _scenery(name: str, story: Story, moment: Moment, chosen: Sequence[str], speaker: str | None) -> dict[str, Any]:
    """What the page shows around a chat, all of it as of the moment."""
    line = timeline_at(story, moment)
    heard = speakers_before(story, moment)
    cast = [
        Seat(shown, member.lines, shown in chosen, _alone(name, shown, line.at, None if shown == speaker else speaker))
        for shown, member in heard
    ]
    absent = [who for who in chosen if who not in {seat.name for seat in cast}]
    cast += [Seat(who, 0, True, _alone(name, who, line.at, speaker)) for who in absent]
    return {
        "story": name,
        "story_title": story.title,
        "language": story.language,
        "at": line.at,
        "who": chosen[0] if chosen else None,
        "line": line,
        "cast": cast,
        "chosen": list(chosen),
        "speaker": speaker,
        "introduction": _introduction(story, chosen[0], moment) if chosen else [],
        "openers": OPENERS if story.language == "en" else (),
        "portrait": lambda who: f"/api/stories/{quote(name, safe='')}/characters/{quote(who, safe='')}/portrait.svg",
        "source": lambda at, told: reading_address(name, _moment(story, told), _moment(story, at)),
        "keep": [("story", name), *(("who", who) for who in chosen), *([("as", speaker)] if speaker else [])],
    }


def _alone(story: str, who: str, at: str, speaker: str | None) -> str:
    told = {"story": story, "who": who, "at": at, **({"as": speaker} if speaker else {})}
    return "/?" + urlencode(told, quote_via=quote)


def _introduction(story: Story, who: str, moment: Moment) -> list[str]:
    profile = situation_of(story, who, moment).persona.profile[:INTRODUCED]
    return list(map(shown_names_at(story, moment).in_text, profile))


def _entries(chat: ChatDocument, story: Story, moment: Moment) -> Iterator[Entry]:
    before: Moment | None = None
    for message in chat.messages:
        said = _moment(story, message.moment)
        moved = "first" if before is None else "" if said == before else "earlier" if said < before else "later"
        before = said
        yield Entry(message, moved, said > moment, message is chat.messages[-1])


def _moment(story: Story, dotted: str) -> Moment:
    try:
        return story.moment(dotted)
    except StoryError:  # the story was read anew and is shorter now
        return Moment.end(story.levels)


def _told(view: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return await view(request)
        except UnderstudyError as error:
            return problem_page(request, "talk", error)

    return endpoint


ROUTES = [Route("/", _told(talk)), Route("/chats/{chat}", _told(chat))]
