"""Shows to guess speakers in: scenes that are judged, and the transcripts' earlier episodes to learn from.

Transcripts may contain what is judged. Left out are episodes at or after the first judged one of their show, scenes
that share more than a fifth of their runs of five words with judged scenes, and whole episodes of which three scenes
in ten do: a file that is named for another episode is found by what it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.errors import InputError, UnknownCharacter
from understudy.guessing import Names, stretches
from understudy.readers import read
from understudy.readers.tvshowguess import ShowScene, show_scenes
from understudy.story import Line, Moment, Scene
from understudy.storyfile import Story
from understudy.text import fold

__all__ = ["JUDGED", "JudgedScene", "Show", "shows_in"]

JUDGED = "dev.jsonl"
TRANSCRIPTS = "transcripts"
RUN = 5  # words
TOO_MUCH_ALIKE, TOO_MANY = 0.2, 0.3
FEWEST_RUNS = 8  # below that a scene is too short to be told
WORD = re.compile(r"[a-z]+")
LEVELS = ("season", "episode", "scene", "line")


@dataclass(frozen=True, slots=True)
class JudgedScene:
    """A scene of the judged file; those that are not `judged` are history for what comes after them."""

    scene: Scene
    judged: bool


@dataclass(frozen=True, slots=True)
class Show:
    name: str
    main: tuple[str, ...]
    names: Names
    earlier: tuple[Scene, ...]
    file: tuple[JudgedScene, ...]
    left_out: int
    """Scenes of earlier episodes that are judged scenes told again."""


def shows_in(data: Path, judge: Path | None = None) -> Iterator[Show]:
    """The shows of the judged file, in the order of the file; `data` has `transcripts/` to learn from."""
    file = judge or data / JUDGED
    if not file.is_file():
        raise InputError(f"holds no {JUDGED}: name the folder of the TVShowGuess data", data)
    by_show: dict[str, list[ShowScene]] = {}
    for scene in show_scenes(file):
        by_show.setdefault(scene.show, []).append(scene)
    if not by_show:
        raise InputError("has no scenes", file)
    for name, scenes in by_show.items():
        scenes.sort(key=lambda scene: (scene.season, scene.episode, scene.number))
        yield _show(name, scenes, read(transcript_of(data, name)))


def transcript_of(data: Path, show: str) -> Path:
    """The file or folder of a show's transcripts, however its name is written."""
    folder = data / TRANSCRIPTS
    wanted = fold(show.replace("_", " "))
    found = [path for path in sorted(folder.glob("*")) if fold(path.stem.replace("_", " ")) == wanted]
    if not found:
        raise InputError(f"has no transcripts of {show} to learn from: a folder or file named for it", folder)
    return found[0]


def _show(name: str, scenes: Sequence[ShowScene], story: Story) -> Show:
    marked = any(scene.split for scene in scenes)
    called = _called(scenes, story)
    main = tuple(dict.fromkeys(called[who] for scene in scenes for who in scene.main_characters))
    file = tuple(JudgedScene(_as_scene(scene, called), not marked or scene.split is not None) for scene in scenes)
    told = [scene for scene in stretches(_earlier(story, scenes[0])) if any(line.speaker for line in scene.lines)]
    known = {run for one in file for run in _runs(one.scene)}
    again = [_is_again(scene, known) for scene in told]
    by_episode = Counter(scene.moment.numbers[:2] for scene in told)
    repeated = Counter(scene.moment.numbers[:2] for scene, one in zip(told, again) if one)
    whole = {episode for episode, count in repeated.items() if count > TOO_MANY * by_episode[episode]}
    earlier = [scene for scene, one in zip(told, again) if not one and scene.moment.numbers[:2] not in whole]
    return Show(name, main, _names(story, main), tuple(earlier), file, len(told) - len(earlier))


def _called(scenes: Sequence[ShowScene], story: Story) -> dict[str, str]:
    """The file's names for the main characters -> the transcripts' names, by the label the file prints most."""
    labels: dict[str, Counter[str]] = {}
    for scene in scenes:
        for who, text in scene.lines:
            if who in scene.main_characters:
                labels.setdefault(who, Counter())[text.partition(":")[0].strip()] += 1
    found: dict[str, str] = {}
    for who, printed in labels.items():
        for name in (printed.most_common(1)[0][0], who):
            try:
                found[who] = story.character(name).name
                break
            except UnknownCharacter:
                found[who] = name.title()
    return found


def _as_scene(scene: ShowScene, called: dict[str, str]) -> Scene:
    at = (scene.season, scene.episode, scene.number)
    lines = tuple(
        Line(Moment((*at, place), LEVELS), None if who is None else called.get(who, who.title()), text)
        for place, (who, text) in enumerate(scene.said(), 1)
    )
    present = tuple(dict.fromkeys(line.speaker for line in lines if line.speaker is not None))
    return Scene(Moment(at, LEVELS), scene.setting, present, lines)


def _earlier(story: Story, first: ShowScene) -> Iterator[Scene]:
    """Scenes of the episodes before the first judged one, counted by season and episode."""
    for scene in story.scenes(before=Moment((first.season, first.episode))):
        yield replace(scene, lines=tuple(replace(line, source=None) for line in scene.lines))


def _runs(scene: Scene) -> set[tuple[str, ...]]:
    words = [
        word
        for line in scene.lines
        if line.speaker is not None
        for word in WORD.findall(line.text.lower().replace("'", "").replace("’", ""))
    ]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def _is_again(scene: Scene, known: set[tuple[str, ...]]) -> bool:
    runs = _runs(scene)
    return len(runs) >= FEWEST_RUNS and len(runs & known) > TOO_MUCH_ALIKE * len(runs)


def _names(story: Story, main: Iterable[str]) -> Names:
    forms: dict[str, tuple[str, ...]] = {}
    for who in main:
        try:
            character = story.character(who)
            forms[who] = (character.name, *character.aliases)
        except UnknownCharacter:
            forms[who] = (who,)
    return Names(forms, story.language)
