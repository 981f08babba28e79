"""Shows to guess speakers in (TVShowGuess): scenes that are judged, and earlier episodes to learn from.

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

from understudy.errors import InputError, UnknownCharacter
from understudy.formats import read
from understudy.formats.tvshowguess import ShowScene, folder_of, show_scenes
from understudy.guessing.scenes import TrainingScenes, split_long_scenes
from understudy.people.names import CharacterNames
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment, Scene
from understudy.text import fold

JUDGED = "dev.jsonl"
TRANSCRIPTS = "transcripts"
RUN = 5  # words
TOO_MUCH_ALIKE, HELD, TOO_MANY = 0.2, 0.5, 0.3
FEWEST_RUNS = 8  # below that a scene is too short to be compared
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
    names: CharacterNames
    first: Moment
    earlier: tuple[Scene, ...]
    file: tuple[JudgedScene, ...]
    left_out: int
    """Scenes of earlier episodes that repeat judged scenes."""
    split: str | None
    """The split that all judged scenes are of, as the file says; None where it says nothing, or several."""

    @property
    def title(self) -> str:
        return self.name.replace("_", " ")


def shows_in(data: Path, judge: Path | None = None, progress: Progress = ignore_progress) -> Iterator[Show]:
    """The shows of the judged file, in the order of the file; `data`, or `tvshowguess/` in it, has `transcripts/`."""
    data = folder_of(data)
    file = judge or data / JUDGED
    if not file.is_file():
        raise InputError(f"holds no {JUDGED}: name the folder of the TVShowGuess data", data)
    by_show: dict[str, list[ShowScene]] = {}
    for scene in show_scenes(file):
        by_show.setdefault(scene.show, []).append(scene)
    if not by_show:
        raise InputError("has no scenes", file)
    for done, (name, scenes) in enumerate(by_show.items()):
        progress(f"Reading {name.replace('_', ' ')}", done, len(by_show))
        scenes.sort(key=lambda scene: (scene.season, scene.episode, scene.number))
        if not any(scene.main_characters for scene in scenes):
            raise InputError(f'says of no scene of {name} who is hidden: a line needs "main_characters"', file)
        yield _show(name, scenes, read(transcript_of(data, name)))


def transcript_of(data: Path, show: str) -> Path:
    """The file or folder of a show's transcripts, however its name is written."""
    folder = data / TRANSCRIPTS
    wanted = fold(show.replace("_", " "))
    paths = [path for path in sorted(folder.glob("*")) if fold(path.stem.replace("_", " ")) == wanted]
    if not paths:
        raise InputError(f"has no transcripts of {show} to learn from: a folder or file named for it", folder)
    return paths[0]


def _show(name: str, scenes: Sequence[ShowScene], story: Story) -> Show:
    marked = any(scene.split for scene in scenes)
    names = _transcript_names(scenes, story)
    main = tuple(dict.fromkeys(names[who] for scene in scenes for who in scene.main_characters if who in names))
    file = tuple(
        JudgedScene(scene_of_show(scene, names), scene.split is not None if marked else len(scene.main_characters) > 1)
        for scene in scenes
    )
    splits = {scene.split for scene in scenes if scene.split is not None}
    first = Moment((scenes[0].season, scenes[0].episode), LEVELS)
    past = [scene for scene in split_long_scenes(_earlier(story, first)) if any(line.speaker for line in scene.lines)]
    judged_runs: dict[Run, list[int]] = {}
    for index, judged in enumerate(file):
        for run in _runs(judged.scene):
            judged_runs.setdefault(run, []).append(index)
    sizes = Counter(index for indices in judged_runs.values() for index in indices)
    duplicate = [_is_duplicate(scene, judged_runs, sizes) for scene in past]
    by_episode = Counter(scene.moment.numbers[:2] for scene in past)
    repeated = Counter(scene.moment.numbers[:2] for scene, is_duplicate in zip(past, duplicate) if is_duplicate)
    whole = {episode for episode, count in repeated.items() if count > TOO_MANY * by_episode[episode]}
    earlier = [
        scene
        for scene, is_duplicate in zip(past, duplicate)
        if not is_duplicate and scene.moment.numbers[:2] not in whole
    ]
    left_out, split = len(past) - len(earlier), splits.pop() if len(splits) == 1 else None
    return Show(name, story, main, _names(story, main), first, tuple(earlier), file, left_out, split)


def _transcript_names(scenes: Sequence[ShowScene], story: Story) -> dict[str, str]:
    """The file's names for the main characters -> the transcripts' names, by the label the file prints most."""
    labels: dict[str, Counter[str]] = {}
    for scene in scenes:
        for who, text in scene.lines:
            if who in scene.main_characters:
                labels.setdefault(who, Counter())[text.partition(":")[0].strip()] += 1
    names: dict[str, str] = {}
    for who, printed in labels.items():
        for name in (printed.most_common(1)[0][0], who):
            try:
                names[who] = story.character(name).name
                break
            except UnknownCharacter:
                names[who] = name.title()
    return names


def scene_of_show(scene: ShowScene, names: dict[str, str]) -> Scene:
    at = (scene.season, scene.episode, scene.number)
    lines = tuple(
        Line(Moment((*at, number), LEVELS), None if who is None else names.get(who, who.title()), text)
        for number, (who, text) in enumerate(scene.said(), 1)
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


def _is_duplicate(scene: Scene, judged_runs: Mapping[Run, Sequence[int]], sizes: Mapping[int, int]) -> bool:
    runs = _runs(scene)
    shared = [judged_runs[run] for run in runs if run in judged_runs]
    if len(runs) >= FEWEST_RUNS and len(shared) > TOO_MUCH_ALIKE * len(runs):
        return True
    in_common = Counter(index for indices in shared for index in indices)
    return any(count > HELD * sizes[index] for index, count in in_common.items() if sizes[index] >= FEWEST_RUNS)


def _names(story: Story, main: Iterable[str]) -> CharacterNames:
    forms: dict[str, tuple[str, ...]] = {}
    for who in main:
        try:
            character = story.character(who)
            forms[who] = character.names
        except UnknownCharacter:
            forms[who] = (who,)
    return CharacterNames(forms, story.language)


def training_scenes_of_shows(
    data: Path, shows: Sequence[str] = (), judge: Path | None = None, progress: Progress = ignore_progress
) -> dict[str, TrainingScenes]:
    """By the title of each show, all that `bench guess` lets a guesser learn from; of the shows named, if any are."""
    wanted = {_plain(name) for name in shows}
    by_title = {show.title: show for show in shows_in(data, judge, progress)}
    unknown = wanted - {_plain(title) for title in by_title}
    if unknown:
        raise InputError(f"has no {', '.join(sorted(unknown))}: choose from {', '.join(by_title)}", data)
    return {
        title: TrainingScenes(show.earlier, show.main, show.names, show.story.language)
        for title, show in by_title.items()
        if not wanted or _plain(title) in wanted
    }


def _plain(name: str) -> str:
    return fold(name.replace("_", " "))
