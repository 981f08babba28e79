"""What a language model is given: a situation and the conversation so far as chat messages.

    compact        the form that the shipped writer was trained on, about 400 tokens
    instructions   for models that follow instructions: the same sections with directions, in the second person

What does not change in a chat stands first, so that a cached prefix holds; what bears on one message comes last. Where
a prompt is longer than its budget, sections give way in the order of `GIVES_WAY`, the oldest turns first; the
character's name and the message always stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from understudy.agents.dialogue_context import first_person
from understudy.agents.prompt_contents import PromptContents, PromptMessage, Recalled, contents_of, with_circumstances
from understudy.agents.prompt_instructions import instructions_contents, render_instructions
from understudy.errors import InputError
from understudy.formats.cards.lorebook import lore_for
from understudy.language.backends import estimate_tokens
from understudy.story.dialogue import ChatMessage, Situation, Turn
from understudy.story.wording import speaker_words
from understudy.text import words

# The form that the shipped writer was trained on: changing a character of it makes the writer worse.
#
#   system      who one is, profile, whom one faces with the ties to them, the scene, own lines that show the voice
#   turns       the conversation so far, the other's turns under their name
#   last turn   what bears on the message, facts nearest to it, then the message itself
#
# Secrets are left out: a model of this size repeats whatever is in its prompt. For the same reason what was found
# without certainty is said plainly, and what the one faced once told of themselves is there only where they speak of
# themselves: asked whether it has a dog, the model would have theirs.

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


BUDGET = {"compact": 600, "instructions": 3000}
"""The default length of a prompt in tokens, by style."""

STYLES = tuple(BUDGET)
LORE_SHARE = 0.25  # of the budget; SillyTavern's default

NOTHING = Recalled()

Prepare = Callable[[PromptContents], PromptContents]
Render = Callable[[PromptContents], list[PromptMessage]]

FORMS: Mapping[str, tuple[Prepare, Render]] = {
    "compact": (compact_contents, render_compact),
    "instructions": (instructions_contents, render_instructions),
}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a prompt: how many tokens it has, and how many items of it gave way to the budget."""

    name: str
    tokens: int
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages for a language model, the sections they are made of, and what of recall and lorebooks is in them."""

    messages: tuple[ChatMessage, ...]
    sections: tuple[Section, ...]
    tokens: int
    recalled: Recalled = NOTHING
    lore: tuple[str, ...] = ()


def build_prompt(
    situation: Situation,
    history: Sequence[Turn],
    recalled: Recalled = NOTHING,
    budget: int | None = None,
    count_tokens: Callable[[str], int] = estimate_tokens,
    style: str = "instructions",
    lore: Sequence[str] | None = None,
    has_title: bool = False,
) -> Prompt:
    """The prompt for a language model to answer the last turn of the history as the situation's character.

    `recalled` is what of the character's past bears on that turn, `lore` what is known of its world (None: what the
    turns bring up of the persona's lorebooks); `budget` the tokens that the prompt may have. A story's title invites a
    model to recite it, so it is left out unless the prompt is to have it (`has_title`).
    """
    if style not in FORMS:
        raise InputError(f"there is no style of prompt '{style}': choose from {', '.join(STYLES)}")
    prepare, render = FORMS[style]
    count = cache(count_tokens)
    most = BUDGET[style] if budget is None else budget
    if lore is None:
        lore = _brought_up(situation, history, count, most)
    contents = contents_of(situation, history, recalled, lore)
    whole = prepare(contents if style == "compact" else with_circumstances(contents, situation, has_title))

    def rendered(contents: PromptContents) -> list[PromptMessage]:
        return render(replace(contents, told=_untold(contents)))

    trimmed = trim(whole, rendered, count, most)
    messages = rendered(trimmed)
    return Prompt(
        tuple(ChatMessage(message.role, message.content) for message in messages),
        tuple(_sections(messages, whole, trimmed, count)),
        message_tokens(messages, count),
        Recalled(trimmed.facts, trimmed.own, trimmed.others, trimmed.voice, trimmed.remembered),
        tuple(trimmed.lore),
    )


def _brought_up(
    situation: Situation, history: Sequence[Turn], count: Callable[[str], int], budget: int
) -> tuple[str, ...]:
    """What the turns bring up of the persona's lorebooks, in a part of the prompt's budget."""
    persona = situation.persona
    if not persona.lore:
        return ()
    return lore_for(
        persona.lore, history, count,
        char=persona.name, user=situation.faced.name if situation.faced else "", language=persona.language,
        budget=int(LORE_SHARE * budget),
    )  # fmt: skip


def _untold(contents: PromptContents) -> tuple[str, ...]:
    """What the one faced said of themselves in turns that were dropped."""
    shown = "\n".join(turn.text for turn in contents.turns if not turn.is_own)
    return tuple(text for text in contents.told if text not in shown)


def _sections(
    messages: Sequence[PromptMessage], whole: PromptContents, trimmed: PromptContents, count: Callable[[str], int]
) -> list[Section]:
    """In the order of the prompt; one that was dropped altogether comes last."""
    tokens: dict[str, int] = {}
    for message in messages:
        for name, text in message.parts:
            tokens[name] = tokens.get(name, 0) + (count(text) if text.strip() else 0)
    dropped = {name: len(getattr(whole, name)) - len(getattr(trimmed, name)) for name in GIVES_WAY}
    gone = [name for name in GIVES_WAY if dropped[name] and name not in tokens]
    return [Section(name, tokens.get(name, 0), dropped.get(name, 0)) for name in (*tokens, *gone)]


# Making a prompt fit its budget of tokens.
#
# Sections lose items in the order of `GIVES_WAY`, each down to what is worth keeping of it, then all of them again down
# to nothing; of the turns and the scene the oldest go first, of everything else what matters least. What remains is the
# character's name and the message, which loses its middle where even that is too long.


EVERYTHING = 1 << 30
MINIMUM = {
    "turns": 2, "scene": 4, "voice": 3, "lore": 1, "others": 1, "own": 2, "thoughts": 1, "impressions": 1,
    "present": 1, "dealings": 1, "theirs": 1, "remembered": 2, "told": 2, "profile": 4, "facts": 2, "setting": 1,
    "note": 1, "secrets": EVERYTHING, "directions": 3,
}  # fmt: skip
"""What is worth keeping of each section, in the order in which they give way."""

GIVES_WAY = tuple(MINIMUM)
OLDEST_FIRST = ("turns", "scene")  # the oldest of these gives way first
MESSAGE_OVERHEAD = 5  # tokens of a chat template around each message
PROMPT_OVERHEAD = 3  # tokens that open the reply
SHORTEST = 16  # characters of a message that are kept


def message_tokens(messages: Sequence[PromptMessage], count: Callable[[str], int]) -> int:
    """How long a prompt is, with what a chat template adds."""
    return sum(count(message.content) + MESSAGE_OVERHEAD for message in messages) + PROMPT_OVERHEAD


def trim(contents: PromptContents, render: Render, count: Callable[[str], int], budget: int) -> PromptContents:
    """The contents, shortened until they fit."""

    def fits(candidate: PromptContents) -> bool:
        return message_tokens(render(candidate), count) <= budget

    if fits(contents):
        return contents
    for least in (MINIMUM, dict.fromkeys(GIVES_WAY, 0)):
        for section in GIVES_WAY:
            if len(getattr(contents, section)) > least[section]:
                contents = _trimmed(contents, section, least[section], fits)
                if fits(contents):
                    return contents
    return _with_shorter_message(contents, fits)


def _trimmed(
    contents: PromptContents, section: str, least: int, fits: Callable[[PromptContents], bool]
) -> PromptContents:
    """The contents with as many items of a section as fit."""
    items = len(getattr(contents, section))
    return _shortened(contents, section, _largest(least, items, lambda n: fits(_shortened(contents, section, n))))


def _shortened(contents: PromptContents, section: str, items: int) -> PromptContents:
    """The contents with so many items of a section."""
    now: tuple[Any, ...] = getattr(contents, section)
    remaining = now[len(now) - items :] if section in OLDEST_FIRST else now[:items]
    changed: dict[str, Any] = {section: remaining}
    return replace(contents, **changed)


def _with_shorter_message(contents: PromptContents, fits: Callable[[PromptContents], bool]) -> PromptContents:
    """Beginning and end of the message, as much of it as fits."""
    whole = contents.message

    def cut(length: int) -> PromptContents:
        return replace(contents, message=f"{whole[: length // 2]} ... {whole[len(whole) - length // 2 :]}")

    low, high = min(SHORTEST, len(whole)), len(whole)
    if low == high:
        return contents
    return cut(_largest(low, high, lambda length: fits(cut(length))))


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `high` that fits, at least `low`: a prompt grows with it, so bisection finds it."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
