"""What characters answer in a chat: who is spoken to, what they say, and what else they could have said."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from understudy.dialogue import Reply, Situation, Turn
from understudy.names import ShownNames, shown_names_at
from understudy.server.chats.addressing import who_answers
from understudy.server.chats.documents import OWN_NAME, Grounds, Why, why_of
from understudy.server.chats.scene import listeners, situation_in, turns_for
from understudy.server.chats.store import Chat, Said
from understudy.server.executor import AgentExecutor
from understudy.server.outward import reply_as_shown
from understudy.server.problems import Refused
from understudy.server.standing import shown_names
from understudy.server.story_registry import StoryRegistry

__all__ = ["Replying"]

OF_THE_CHOSEN = frozenset({"exchange", "approved", "bank", "script"})
"""Evidence that says where a reply was taken from, and so is wrong of any other."""


class Replying:
    """Asks the agent. Nothing here is kept; what stands in the way of a reply is raised."""

    def __init__(self, registry: StoryRegistry, executor: AgentExecutor) -> None:
        self._stories, self._executor = registry, executor

    async def shown(self, chat: Chat, name: str | None) -> str:
        """The name somebody is shown under at the chat's moment."""
        story = self._stories.story(chat.story)
        names = await asyncio.to_thread(lambda: shown_names(story, story.moment(chat.moment)))
        return OWN_NAME if name is None else names.get(name, name)

    async def spoken_to(self, chat: Chat, path: Sequence[Said]) -> list[str]:
        """Who answers the last message of what was said."""
        story = self._stories.story(chat.story)
        here = await asyncio.to_thread(lambda: listeners(story, chat, story.moment(chat.moment)))
        last = next((one.author for one in reversed(path[:-1]) if one.answers), None)
        return who_answers(path[-1].text, here, last)

    async def reply(self, chat: Chat, name: str, path: Sequence[Said], not_again: Sequence[str] = ()) -> Said:
        """What somebody says to what was said; `not_again` counts as said already."""
        story = self._stories.story(chat.story)

        def prepared() -> tuple[Situation, Sequence[Turn]]:
            situation = situation_in(story, chat, name, path[-1])
            return situation, turns_for(story, situation, path, not_again)

        situation, history = await asyncio.to_thread(prepared)
        reply = await self._executor.reply(situation, history)
        names = await asyncio.to_thread(shown_names_at, story, situation.persona.moment)
        return _said(situation, reply_as_shown(reply, names), names, chat.characters)

    async def another(self, chat: Chat, old: Said, beside: Sequence[Said], path: Sequence[Said]) -> Said:
        """The best that was considered and not tried yet; where all have been, what the agent says once they count as
        said. `beside` are the tries so far, `path` is what they answer, `chat` is as it stood then."""
        tried = {one.text for one in beside}
        first = _why(beside[0])
        for option in first.candidates:
            if option.text not in tried and not any(option.text.startswith(one.text) for one in beside if _cut(one)):
                own = [one for one in first.evidence if one.kind not in OF_THE_CHOSEN]
                why = Why([Grounds("exchange", option.text, option.moment), *own], first.candidates)
                return replace(old, text=option.text, state="whole", why=msgspec.json.encode(why).decode())
        assert old.author is not None
        said = await self.reply(chat, old.author, path, sorted({*tried, *(one.text for one in first.candidates)}))
        if said.text in tried:
            raise Refused("there is no other reply to try: say it differently", 409)
        return replace(said, shown=old.shown)


def _said(situation: Situation, reply: Reply, names: ShownNames, present: tuple[str, ...]) -> Said:
    return Said(
        answers=True,
        author=situation.persona.name,
        shown=names.of(situation.persona.name),
        text=reply.text,
        moment=situation.persona.moment.dotted,
        faced=names.of(situation.faced.name) if situation.faced else None,
        why=msgspec.json.encode(why_of(reply)).decode(),
        present=present,
    )


def _why(said: Said) -> Why:
    return msgspec.json.decode(said.why, type=Why)


def _cut(said: Said) -> bool:
    return said.state == "cut"
