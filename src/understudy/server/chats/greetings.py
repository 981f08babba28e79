"""The greetings of a card as the first messages of a chat: alternatives to each other, as the tries of a reply are."""

from __future__ import annotations

import msgspec

from understudy.cards import greetings_for
from understudy.dialogue import Evidence, Reply
from understudy.names import shown_names_at
from understudy.server.chats.scene import situation_in
from understudy.server.chats.schemas import why_of
from understudy.server.chats.store import Chat, Message
from understudy.server.names import reply_as_shown
from understudy.storyfile import Story

__all__ = ["greeting_messages"]


def greeting_messages(story: Story, chat: Chat) -> list[Message]:
    """What the character of a chat opens with; nothing where there are several, or it has no card."""
    if len(chat.characters) != 1:
        return []
    (name,) = chat.characters
    blank = Message(True, name, name, "", chat.moment)
    situation = situation_in(story, chat, name, blank)
    names = shown_names_at(story, situation.persona.moment)
    messages = []
    for number, text in enumerate(greetings_for(situation), 1):
        evidence = Evidence("script", f"greeting {number} of the card")
        reply = reply_as_shown(Reply(text, evidence=(evidence,)), names)
        messages.append(
            Message(
                True,
                name,
                names.of(name),
                reply.text,
                chat.moment,
                faced=names.of(situation.faced.name) if situation.faced else None,
                why=msgspec.json.encode(why_of(reply)).decode(),
                present=chat.characters,
            )
        )
    return messages
