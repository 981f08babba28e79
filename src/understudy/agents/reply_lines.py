"""The lines of a story that answer others, each as a question: what does the character say next?

    a line answers   iff  the last one to speak before it, of those the character was there for, is somebody else,
                          and at least so many turns of its scene have been heard

A question holds what the character has before the line and nothing of the line itself or later: the situation of the
line's moment, with the setting and what was described so far as its scene, and the turns of the scene so far under the
names that the character knows. What the character remembers ends where the scene begins, since its turns are there:
whoever answers from memory would only repeat them. Directions in brackets are left out of turns and reply: whoever
proposes replies writes none, so they would tell which reply is the story's own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from understudy.agents.word_tokens import plain_line
from understudy.errors import InputError, StoryError
from understudy.story.dialogue import Situation, Turn, situation_at
from understudy.story.persona import false_names
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment, Scene

MAIN = 6
WORD = re.compile(r"\w")
ENDS_SENTENCE = re.compile(r"[.!?。！？…:;,\"'”’)]$")


@dataclass(frozen=True, slots=True)
class ReplyLine:
    """A line that answers somebody: who says it, in which scene, and whom it answers."""

    scene: Moment
    moment: Moment
    who: str
    text: str
    answers: str

    @property
    def name(self) -> str:
        """The scene, a dot, the line: results are grouped by what stands before the dot."""
        return f"Session-{'-'.join(map(str, self.scene.numbers))}.{self.moment.numbers[-1]}"


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """What a character has before a line of its own, and the line."""

    line: ReplyLine
    situation: Situation
    history: tuple[Turn, ...]

    @property
    def reply(self) -> str:
        return self.line.text


def characters_asked(story: Story, names: Sequence[str] = (), most: int = MAIN) -> tuple[str, ...]:
    """The characters named, by the story's own names; where none are, those who speak most."""
    if names:
        return tuple(dict.fromkeys(story.character(name).name for name in names))
    main = tuple(member.character.name for member in story.cast() if member.lines)[:most]
    if not main:
        raise InputError(f"in '{story.title}' nobody speaks: there is nothing to ask")
    return main


def reply_lines(
    story: Story, characters: Collection[str], turns: int = 1, within: Moment | None = None, until: Moment | None = None
) -> Iterator[ReplyLine]:
    """The lines of these characters that answer others, in story order: within a part or chapter, before a moment."""
    for scene in story.scenes(before=until):
        if within is not None and not (scene.moment.within(within) or within.within(scene.moment)):
            continue
        for line in _answering(scene, story.presence_intervals(scene.moment), characters, turns):
            if (within is None or line.moment.within(within)) and (until is None or line.moment < until):
                yield line


def _answering(
    scene: Scene, presence: Sequence[tuple[str, int, int]], characters: Collection[str], turns: int
) -> Iterator[ReplyLine]:
    heard: dict[str, int] = dict.fromkeys(characters, 0)
    last: dict[str, str] = {}
    for number, line in enumerate(scene.lines, 1):
        text = plain_line(line.text)
        if line.speaker is None or not WORD.search(text):
            continue
        who = line.speaker
        if who in heard and heard[who] >= turns and last.get(who, who) != who:
            yield ReplyLine(scene.moment, line.moment, who, text, last[who])
        for name, first, leaves in presence:
            if name in heard and first <= number <= leaves:
                heard[name] += 1
                last[name] = who


def sampled(lines: Sequence[ReplyLine], limit: int | None, seed: int) -> list[ReplyLine]:
    """All of them, or a seeded sample in story order."""
    if limit is None or limit >= len(lines):
        return list(lines)
    indices = random.Random(seed).sample(range(len(lines)), limit)  # noqa: S311
    return [lines[index] for index in sorted(indices)]


def question_at(story: Story, line: ReplyLine) -> StoryQuestion:
    """The question that a line answers; a `StoryError` where the story has nobody who could be asked or faced."""
    situation = situation_at(story, line.who, line.moment, line.answers)
    scene = next(iter(situation.persona.past.scenes(last=1)), None)
    if scene is None or scene.moment != line.scene:
        raise StoryError(f"{line.who} was not there for the turns before {line.moment.dotted}")
    history = tuple(_turns(scene.lines))
    if not history:
        raise StoryError(f"nothing was said to {line.who} before {line.moment.dotted}")
    shown_as = false_names(story, line.who, line.moment)
    persona = replace(situation.persona, past=story.past(line.who, line.scene, shown_as))
    setting = _scene_text(scene, persona.language)  # its lines are the history
    return StoryQuestion(
        line, replace(situation, persona=persona, setting=setting, scene=None, is_in_scene=False), history
    )


def _turns(lines: Sequence[Line]) -> Iterator[Turn]:
    for line in lines:
        if line.speaker is not None and WORD.search(text := plain_line(line.text)):
            yield Turn(line.speaker, text)


def _scene_text(scene: Scene, language: str) -> str:
    """The setting, then what was described so far."""
    described = (line.text for line in scene.lines if line.speaker is None)
    parts = [" ".join(text.split()) for text in (scene.setting, *described)]
    full_stop, blank = (".", " ") if language == "en" else ("。", "")
    return blank.join(part if ENDS_SENTENCE.search(part) else f"{part}{full_stop}" for part in parts if part)
