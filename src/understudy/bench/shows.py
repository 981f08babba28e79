"""Shows to guess speakers in: scenes that are judged, and the transcripts' earlier episodes to learn from.

Transcripts may contain what is judged. Left out are episodes at or after the first judged one of their show; scenes
that share more than a fifth of their runs of five words with judged scenes, or that hold half of a judged scene's; and
whole episodes of which three scenes in ten do: a file that is named for another episode is found by what it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.bench.manifest import Watch, unwatched
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
TOO_MUCH_ALIKE, HELD, TOO_MANY = 0.2, 0.5, 0.3
FEWEST_RUNS = 8  # below that a scene is too short to be told
WORD = re.compile(r"[^\W\d_]+")
Run = tuple[str, ...]
LEVELS = ("season", "episode", "scene", "line")


@dataclass(frozen=True, slots=True)
class JudgedScene:
    """A scene of the judged file; those that are not `judged` are history for what comes after them.

    Judged are the scenes that the file puts in a split or, where it has none, those with two main characters or more.
    """

    scene: Scene
    judged: bool


@dataclass(frozen=True, slots=True)
class Show:
    name: str
    story: Story
    """All transcripts, the judged episodes too: only what comes before `first` may be learned from."""
    main: tuple[str, ...]
    names: Names
    first: Moment
    earlier: tuple[Scene, ...]
    file: tuple[JudgedScene, ...]
    left_out: int
    """Scenes of earlier episodes that are judged scenes told again."""
    split: str | None
    """The split that all judged scenes are of, as the file says; None where it says nothing, or several."""

    @property
    def title(self) -> str:
        return self.name.replace("_", " ")


def shows_in(data: Path, judge: Path | None = None, progress: Watch = unwatched) -> Iterator[Show]:
    """The shows of the judged file, in the order of the file; `data` has `transcripts/` to learn from."""
    file = judge or data / JUDGED
    if not file.is_file():
        raise InputError(f"holds no {JUDGED}: name the folder of the TVShowGuess data", data)
    by_show: dict[str, list[ShowScene]] = {}
    for scene in show_scenes(file):
        by_show.setdefault(scene.show, []).append(scene)
    if not by_show:
        raise InputError("has no scenes", file)
    for place, (name, scenes) in enumerate(by_show.items()):
        progress(f"Reading {name.replace('_', ' ')}", place, len(by_show))
        scenes.sort(key=lambda scene: (scene.season, scene.episode, scene.number))
        if not any(scene.main_characters for scene in scenes):
            raise InputError(f'says of no scene of {name} who is hidden: a line needs "main_characters"', file)
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
    main = tuple(dict.fromkeys(called[who] for scene in scenes for who in scene.main_characters if who in called))
    file = tuple(
        JudgedScene(_as_scene(scene, called), scene.split is not None if marked else len(scene.main_characters) > 1)
        for scene in scenes
    )
    splits = {scene.split for scene in scenes if scene.split is not None}
    first = Moment((scenes[0].season, scenes[0].episode), LEVELS)
    told = [scene for scene in stretches(_earlier(story, first)) if any(line.speaker for line in scene.lines)]
    known: dict[Run, list[int]] = {}
    for place, one in enumerate(file):
        for run in _runs(one.scene):
            known.setdefault(run, []).append(place)
    sizes = Counter(place for places in known.values() for place in places)
    again = [_is_again(scene, known, sizes) for scene in told]
    by_episode = Counter(scene.moment.numbers[:2] for scene in told)
    repeated = Counter(scene.moment.numbers[:2] for scene, one in zip(told, again) if one)
    whole = {episode for episode, count in repeated.items() if count > TOO_MANY * by_episode[episode]}
    earlier = [scene for scene, one in zip(told, again) if not one and scene.moment.numbers[:2] not in whole]
    left_out, split = len(told) - len(earlier), splits.pop() if len(splits) == 1 else None
    return Show(name, story, main, _names(story, main), first, tuple(earlier), file, left_out, split)


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


def _earlier(story: Story, first: Moment) -> Iterator[Scene]:
    for scene in story.scenes(before=first):
        yield replace(scene, lines=tuple(replace(line, source=None) for line in scene.lines))


def _runs(scene: Scene) -> set[Run]:
    words = [
        word
        for line in scene.lines
        if line.speaker is not None
        for word in WORD.findall(line.text.lower().replace("'", "").replace("’", ""))
    ]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def _is_again(scene: Scene, known: Mapping[Run, Sequence[int]], sizes: Mapping[int, int]) -> bool:
    runs = _runs(scene)
    shared = [known[run] for run in runs if run in known]
    if len(runs) >= FEWEST_RUNS and len(shared) > TOO_MUCH_ALIKE * len(runs):
        return True
    held = Counter(place for places in shared for place in places)
    return any(count > HELD * sizes[place] for place, count in held.items() if sizes[place] >= FEWEST_RUNS)


def _names(story: Story, main: Iterable[str]) -> Names:
    forms: dict[str, tuple[str, ...]] = {}
    for who in main:
        try:
            character = story.character(who)
            forms[who] = (character.name, *character.aliases)
        except UnknownCharacter:
            forms[who] = (who,)
    return Names(forms, story.language)
