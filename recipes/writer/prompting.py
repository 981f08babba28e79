"""What a writer is told: from a `Situation`, or from plain values, to chat messages. Training and running share it.

    system     who one is, profile, whom one faces with the ties to them, the scene, own lines that show the voice
    turns      the conversation so far, the other's turns under their name
    last turn  what bears on the message (facts, own earlier answers, what others said), then the message itself

What does not change in a chat comes first, so that a cached prefix holds for the whole of it; what is brought back for
one message comes last, next to what it is for. Sections give way to a budget of tokens in the order of `GIVES_WAY`:
the oldest turns first, the character's name and the message never.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

__all__ = ["BUDGET", "GIVES_WAY", "Recalled", "Scene", "messages", "rendered", "scene_of"]

BUDGET = 600
GIVES_WAY = ("turns", "voice", "others", "own", "theirs", "profile", "facts", "setting")
"""The section that loses an item first, each down to what `KEPT` says, then again down to nothing."""

KEPT = {"turns": 2, "voice": 3, "others": 1, "own": 2, "theirs": 1, "profile": 4, "facts": 2, "setting": 1}

THEIRS = 5  # sentences about the one faced, the own ties first

Message = dict[str, str]


@dataclass(frozen=True)
class Recalled:
    """What bears on one message, best first in each: sentences of profile and ties, own exchanges, others' lines."""

    facts: tuple[str, ...] = ()
    own: tuple[tuple[str, str, str], ...] = ()
    """(who had spoken, what they had said, what one said then); the first two may be blank."""
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Scene:
    """Everything a prompt is made of, as plain values."""

    name: str
    profile: tuple[str, ...] = ()
    facing: str = ""
    theirs: tuple[str, ...] = ()
    """What is known of the one faced, and the own ties to them."""
    setting: str = ""
    voice: tuple[str, ...] = ()
    turns: tuple[tuple[bool, str], ...] = ()
    """(is it the character's own?, text), without the message."""
    message: str = ""
    recalled: Recalled = Recalled()


def scene_of(
    situation: object,
    history: Sequence[object],
    recalled: Recalled = Recalled(),
    voice: Sequence[str] = (),
    ties: Sequence[str] | None = None,
) -> Scene:
    """From understudy's own nouns. `ties` are sentences about the one faced where the caller has worded them."""
    persona, faced = situation.persona, situation.faced  # type: ignore[attr-defined]
    facing = "" if faced is None else faced.name
    if ties is None:
        from understudy.wording import tie_sentence

        ties = () if faced is None else tuple(tie_sentence(tie, persona.language) for tie in faced.relations)
    own = persona.name.casefold()
    spoken = [(turn.speaker.casefold() == own, turn.text) for turn in history]  # type: ignore[attr-defined]
    last = max((place for place, (mine, _) in enumerate(spoken) if not mine), default=-1)
    return Scene(
        name=persona.name,
        profile=tuple(first_person(sentence, persona.name) for sentence in persona.profile),
        facing=facing,
        theirs=(*ties, *(() if faced is None else faced.profile))[:THEIRS],
        setting=situation.setting,  # type: ignore[attr-defined]
        voice=tuple(voice),
        turns=tuple(spoken[:last]) if last >= 0 else (),
        message=spoken[last][1] if last >= 0 else "",
        recalled=recalled,
    )


IRREGULAR = {"is": "am", "has": "have", "does": "do", "was": "was", "goes": "go"}
PRONOUNS = {"his": "my", "himself": "myself", "herself": "myself", "hers": "mine", "him": "me"}


def first_person(sentence: str, name: str) -> str:
    """'He keeps bees.' as the one it is said of would put it: cards tell of their character in the third person."""
    names = "|".join(re.escape(n) for n in dict.fromkeys((name, name.split()[0], name.split()[-1])))
    match = re.match(rf"(?:{names}|He|She)\s+(\w+)(.*)$", sentence, re.S)
    if match is None:
        return sentence
    verb, rest = match[1], match[2]
    if verb in IRREGULAR:
        verb = IRREGULAR[verb]
    elif verb.endswith(("ches", "shes", "sses", "xes")):
        verb = verb[:-2]
    elif verb.endswith("ies"):
        verb = verb[:-3] + "y"
    elif verb.endswith("s") and not verb.endswith("ss"):
        verb = verb[:-1]
    her = sentence.startswith("She")
    rest = re.sub(r"\b(his|himself|herself|hers|him)\b", lambda m: PRONOUNS[m[1]], rest)
    if her:
        rest = re.sub(r"\bher\b", "my", rest)
    rest = re.sub(r"\b(and|but|or) (has|is|does)\b", lambda m: f"{m[1]} {IRREGULAR[m[2]]}", rest)
    rest = re.sub(r"\b(?:and|but|,) (?:he|she)\b", lambda m: m[0].rsplit(" ", 1)[0] + " I", rest)
    return f"I {verb}{rest}"


def messages(scene: Scene, count: Callable[[str], int] | None = None, budget: int = BUDGET) -> list[Message]:
    """The chat messages of a scene; `count` tells a text's tokens, four characters to one unless told."""
    count = count or (lambda text: len(text) // 4 + 1)
    chat = rendered(scene)
    for least in (KEPT, dict.fromkeys(GIVES_WAY, 0)):
        for section in GIVES_WAY:
            while _size(chat, count) > budget and (fewer := _without_last(scene, section, least[section])) is not None:
                scene = fewer
                chat = rendered(scene)
    return chat


def rendered(scene: Scene) -> list[Message]:
    """A scene as it is, nothing left out."""
    told = [f"You are {scene.name}."]
    if scene.profile:
        told.append("About you: " + " ".join(scene.profile))
    if scene.facing:
        told.append(" ".join((f"You are talking to {scene.facing}.", *scene.theirs)))
    if scene.setting:
        told.append(f"Scene: {scene.setting}")
    if scene.voice:
        told.append("How you talk:\n" + "\n".join(f"- {line}" for line in scene.voice))
    chat = [{"role": "system", "content": "\n".join(told)}]
    for mine, text in scene.turns:
        chat.append({"role": "assistant", "content": text} if mine else {"role": "user", "content": _named(scene, text)})
    chat.append({"role": "user", "content": "\n".join((*_memory(scene.recalled), _named(scene, scene.message)))})
    return chat


def _named(scene: Scene, text: str) -> str:
    return f"{scene.facing}: {text}" if scene.facing else text


def _memory(recalled: Recalled) -> list[str]:
    lines = [f"- {speaker}: {text}" for speaker, text in recalled.others]
    for speaker, heard, said in reversed(recalled.own):  # the best next to the message
        lines.append(f"- {speaker}: {heard} / Me: {said}" if heard else f"- Me: {said}")
    lines += [f"- {fact}" for fact in reversed(recalled.facts)]  # what holds now stands nearest
    return ["You remember:", *lines, ""] if lines else []


def _size(chat: Sequence[Message], count: Callable[[str], int]) -> int:
    return sum(count(message["content"]) + 5 for message in chat) + 3


def _without_last(scene: Scene, section: str, least: int) -> Scene | None:
    """The scene with one item less of a section (of turns the oldest), or None where no more may go."""
    recalled = scene.recalled
    if section == "setting":
        return replace(scene, setting="") if scene.setting and not least else None
    if section in ("facts", "own", "others"):
        items = getattr(recalled, section)
        return replace(scene, recalled=replace(recalled, **{section: items[:-1]})) if len(items) > least else None
    items = getattr(scene, section)
    if len(items) <= least:
        return None
    return replace(scene, **{section: items[1:] if section == "turns" else items[:-1]})
