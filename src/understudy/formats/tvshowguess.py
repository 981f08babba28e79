"""TVShowGuess scenes: JSON Lines, one scene a line, several shows in one file.

    {"show": "...", "season": 9, "episode_id": "09x01", "scene_id": 2500, "title": "[Scene: ...]",
     "lines": [["name", "Name: text"], ["background", "..."]], "main_characters": [...]}

Shows are counted in the order in which they first appear, as the outermost level of time. A first pass notes where
each scene stands; scenes come out by season, episode and scene, however the file is ordered.

A unit is a scene's title, or an item of its lines. A title is the setting, unless it only marks a break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from understudy.formats.transcript.headings import is_boilerplate
from understudy.formats.transcript.labels import Label, TranscriptStatistics, speaker_label
from understudy.sources import Description, Event, Heading, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.directions import comings_and_goings
from understudy.sources.jsonstream import RecordLocation, json_lines, read_records_at
from understudy.sources.source import SourceFile
from understudy.story.types import Source

FOLDER = "tvshowguess"

LEVELS = ("show", "season", "episode", "scene", "line")
EPISODE = re.compile(r"(\d{1,4})x(\d{1,4})(?:\s*[/&,+-]\s*(?:\d{1,4}x)?\d{1,4})*", re.IGNORECASE)
"""'09x22/23' is one recording of two episodes, and counts as the first of them."""

BREAK = re.compile(r"\W*SCENE_BREAK\W*")
SCENE_LABEL = re.compile(r"(?:act \w+\W+)?scene\b(?:\s*:|(?: \w+)?\s*(?:[:–-]|$))\s*", re.IGNORECASE)
BACKGROUND = "background"


class ShowScene(NamedTuple):
    """A record that has been checked; `lines` are (speaker, text)."""

    show: str
    season: int
    episode: int
    number: int
    title: str
    lines: tuple[tuple[str, str], ...]
    main_characters: tuple[str, ...] = ()
    split: str | None = None

    @property
    def setting(self) -> str:
        return _setting(self.title)

    def said(self) -> Iterator[tuple[str | None, str]]:
        """Who says what, by the file's own names for them; descriptions have no speaker."""
        for speaker, text, label in self.turns():
            if label is not None and label.text.strip():
                yield speaker, label.text.strip()
            elif label is None and not BREAK.fullmatch(text):
                yield None, text.strip()

    def turns(self) -> Iterator[tuple[str, str, Label | None]]:
        """(speaker, line, label) of the lines that are not blank; of a description there is no label."""
        for speaker, text in self.lines:
            if text.strip():  # the set's own splitting takes '[Time: 3' for a name
                yield speaker, text, None if speaker == BACKGROUND else speaker_label(text)


def folder_of(data: Path) -> Path:
    """Where the shows are in a data folder: in its folder for them, or in itself."""
    return data / FOLDER if (data / FOLDER).is_dir() else data


def show_scenes(path: Path) -> Iterator[ShowScene]:
    """The scenes of a file as they come, with what is known of them besides their lines."""
    source = SourceFile(path)
    for location, record in json_lines(source):
        yield _scene(source, location, record)


def events(source: SourceFile) -> Iterator[Event]:
    shows: dict[str, int] = {}
    locations: list[tuple[tuple[int, int, int, int], RecordLocation]] = []
    for location, record in json_lines(source):
        scene = _scene(source, location, record)
        show = shows.setdefault(scene.show, len(shows) + 1)
        locations.append(((show, scene.season, scene.episode, scene.number), location))
        source.units += sum(bool(text.strip()) for text in (scene.title, *(text for _, text in scene.lines)))
    yield Opening(LEVELS)
    position: tuple[int, ...] = ()
    for location, record in read_records_at(source, [location for _, location in sorted(locations)]):
        scene = _scene(source, location, record)
        here = (shows[scene.show], scene.season, scene.episode)
        names = (scene.show.replace("_", " "), f"Season {scene.season}", f"Episode {scene.episode}")
        for depth, name in enumerate(names, 1):
            if here[:depth] != position[:depth]:
                yield Heading(source.at(location.line), name, here[:depth], units=0)
        position = here
        yield from _scene_events(source, location.line, scene)


def _scene_events(source: SourceFile, line: int, scene: ShowScene) -> Iterator[Event]:
    at = source.at(line)
    yield SceneStart(at, _setting(scene.title), units=int(bool(scene.title.strip())))
    for _, text, label in scene.turns():
        if label is None:
            yield _background(at, text.strip())
        elif label.text.strip():
            speakers = TranscriptStatistics().speakers(label.name)
            if sum(map(len, speakers)) + 4 * len(speakers) < len(label.head):  # 'Joey (entering)' comes and says
                yield Description(at, label.head, comings_and_goings(label.head), units=0)
            yield Speech(at, speakers, label.text.strip())
        else:
            yield Unread(at, text, "a label with nothing said")


def _background(at: Source, text: str) -> Event:
    if BREAK.fullmatch(text) or is_boilerplate(text):
        return Heading(at, text)
    return Description(at, text, comings_and_goings(text))


def _setting(title: str) -> str:
    """'[Scene: The pub]' and 'Scene 3 - The pub' are set in the pub; '[SCENE_BREAK]' is set nowhere."""
    text = title.strip()
    if BREAK.fullmatch(text) or is_boilerplate(text):
        return ""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
    return SCENE_LABEL.sub("", text, count=1) if SCENE_LABEL.match(text) else text


def _scene(source: SourceFile, location: RecordLocation, record: Any) -> ShowScene:
    def problem(message: str) -> Exception:
        return source.error(f"is no TVShowGuess scene: {message}", location.line)

    if not isinstance(record, dict):
        raise problem("a line should be a JSON object")
    show, season, episode = record.get("show"), record.get("season"), record.get("episode_id")
    if not isinstance(show, str) or not show.strip():
        raise problem('"show" should be the name of a show')
    match = EPISODE.fullmatch(episode.strip()) if isinstance(episode, str) else None
    if match is None:
        raise problem('"episode_id" should look like "09x01", or "09x22/23" for two in one')
    if season is not None and (isinstance(season, bool) or season != int(match[1])):
        raise problem(f'"season" is {season!r:.20}, but "episode_id" is {episode!r}')
    number, title, lines = record.get("scene_id", 0), record.get("title") or "", record.get("lines")
    if not isinstance(number, int) or not isinstance(title, str):
        raise problem('"scene_id" should be a number and "title" a text')
    if not isinstance(lines, list) or not all(_is_line(item) for item in lines):
        raise problem('"lines" should be a list of [speaker, text]')
    main, split = record.get("main_characters") or [], record.get("tvsg_split")
    if not isinstance(main, list) or not all(isinstance(name, str) for name in main):
        raise problem('"main_characters" should be a list of names')
    if split is not None and not isinstance(split, str):
        raise problem('"tvsg_split" should be a name, or null')
    said = tuple((who, text) for who, text in lines)
    return ShowScene(show.strip(), int(match[1]), int(match[2]), number, title, said, tuple(main), split)


def _is_line(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item)


READER = Reader("TVShowGuess scenes", events)
