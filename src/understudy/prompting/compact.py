"""The form that the shipped writer was trained on: changing a character of it makes the writer worse.

    system      who one is, profile, whom one faces with the ties to them, the scene, own lines that show the voice
    turns       the conversation so far, the other's turns under their name
    last turn   what bears on the message, facts nearest to it, then the message itself

Secrets are left out: a model of this size repeats whatever is in its prompt. For the same reason what was found without
certainty is said plainly, and what the one faced once told of themselves is there only where they speak of themselves:
asked whether it has a dog, the model would have theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from understudy.prompting.contents import PromptContents, PromptMessage
from understudy.prompting.first_person import first_person
from understudy.text import words
from understudy.wording import speaker_words

__all__ = ["compact_contents", "render_compact"]

# what the writer was trained with at most; more of it only costs time
MAX_PROFILE, MAX_FACTS, MAX_OWN, MAX_OTHERS, MAX_VOICE, MAX_REMEMBERED = 8, 3, 3, 2, 4, 3


def compact_contents(contents: PromptContents) -> PromptContents:
    """The contents as far as this style uses them."""

    def plain(text: str) -> str:
        return contents.plain.get(text, text)

    return replace(
        contents,
        name=contents.goes_by or contents.name,
        profile=tuple(
            first_person(plain(text), contents.name)
            for text in contents.profile
            if not contents.goes_by or contents.goes_by not in text
        )[:MAX_PROFILE],
        theirs=tuple(map(plain, contents.theirs)),
        facts=tuple(first_person(plain(text), contents.name) for text in contents.facts[:MAX_FACTS]),
        own=contents.own[:MAX_OWN],
        others=contents.others[:MAX_OTHERS],
        voice=contents.voice[:MAX_VOICE],
        remembered=contents.remembered[:MAX_REMEMBERED] if _is_of_speaker(contents) else (),
        present=(),
        note=(),  # it stands in the setting
        secrets=(),
        directions=(),
    )


def render_compact(contents: PromptContents) -> list[PromptMessage]:
    """The contents as messages, nothing left out."""
    chat = [PromptMessage("system", list(_system(contents)), "\n")]
    for turn in contents.turns:
        role, text = ("assistant", turn.text) if turn.is_own else ("user", _named(contents, turn.speaker, turn.text))
        chat.append(PromptMessage(role, [("turns", text)]))
    remembered = list(_remembered(contents))
    parts = [("memories", "You remember:"), *remembered, ("memories", "")] if remembered else []
    chat.append(
        PromptMessage("user", [*parts, ("message", _named(contents, contents.speaker, contents.message))], "\n")
    )
    return chat


def _system(contents: PromptContents) -> Iterator[tuple[str, str]]:
    yield "character", f"You are {contents.name}."
    if contents.profile:
        yield "profile", "About you: " + " ".join(contents.profile)
    if contents.facing:
        yield "theirs", " ".join((f"You are talking to {contents.facing}.", *contents.theirs))
    for setting in contents.setting:
        yield "setting", f"Scene: {setting}"
    if contents.voice:
        yield "voice", "How you talk:\n" + "\n".join(f"- {line}" for line in contents.voice)


def _is_of_speaker(contents: PromptContents) -> bool:
    """Does the message speak of whoever says it?"""
    return not speaker_words(contents.language).isdisjoint(words(contents.message, contents.language))


def _remembered(contents: PromptContents) -> Iterator[tuple[str, str]]:
    for text in contents.lore:
        yield "lore", f"- {text}"
    for told in contents.remembered:
        yield "remembered", f"- {contents.facing or 'They'}: {told.text}."
    for text in contents.told:
        yield "told", f"- {contents.facing or 'They'}: {text}"
    for line in contents.others:
        yield "others", f"- {line.speaker}: {line.text}"
    for exchange in reversed(contents.own):  # the best next to the message
        heard = f"{exchange.speaker}: {exchange.heard} / " if exchange.heard else ""
        yield "own", f"- {heard}Me: {exchange.said}"
    for fact in reversed(contents.facts):  # what holds now stands nearest
        yield "facts", f"- {fact}"


def _named(contents: PromptContents, speaker: str, text: str) -> str:
    name = speaker or contents.facing
    return f"{name}: {text}" if name else text
