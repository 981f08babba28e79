"""A story's annotations by position, without a word of its text, for texts that may not be passed on.

    {"positions": 1, "title": ..., "language": ..., "levels": [...], "files": [{"file", "form", "sha256", "length"}]}
    {"character": "Odile", "aliases": ["Mrs. Marchand"]}
    {"heading": "1", "file": "novel.txt", "line": 3, "part": 1}
    {"scene": "1.1", "file": "novel.txt", "line": 5, "part": null}
    {"moment": "1.1.1", "scene": "1.1", "file": "novel.txt", "line": 5, "part": 1, "spans": [[120, 141]], "chars": 21,
     "speaker": "Odile", "confidence": 0.93, "present": ["Odile", "Bastien"]}

`sha256` and `length` (characters) are those of each source's text. A line of running text stands at its spans; any
other is the `part`-th that was read from a source line. `chars` is the length of what is said. Names are annotation,
and are written; titles, settings and lines are text, and are not. `formats.positions` reads it back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import IO, Any

from understudy.errors import InputError
from understudy.story.storyfile import LineSpans, Story
from understudy.story.types import Scene, Source

__all__ = ["VERSION", "export_positions", "position_rows"]

VERSION = 1


def export_positions(story: Story, stream: IO[str], digests: Mapping[str, tuple[str, int]]) -> int:
    """One row a line, as JSON lines; returns how many lines were written.

    `digests` is what is known of the text of each source, by file name: (sha256, length in characters).
    """
    for row in position_rows(story, digests):
        stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    return story.count()[1]


def position_rows(story: Story, digests: Mapping[str, tuple[str, int]]) -> Iterator[dict[str, Any]]:
    """The rows of a story; an error where its lines have no positions that could be shared."""
    files = [file for file in story.files() if file.name in digests]
    names = Counter(file.name for file in story.files())
    for name, number in names.items():
        if number > 1:
            raise InputError(f"{number} of its sources are called '{name}': positions in them cannot be told apart")
    if story.count()[0] == 0:
        raise InputError(f"'{story.title}' has no scenes, so there are no positions to write")
    yield {
        "positions": VERSION,
        "title": story.title,
        "language": story.language,
        "levels": list(story.levels),
        "files": [
            {"file": file.name, "form": file.format, "sha256": digests[file.name][0], "length": digests[file.name][1]}
            for file in files
        ],
    }
    for member in story.cast():
        yield {"character": member.character.name, "aliases": list(member.character.aliases)}
    yield from _PositionRows(story, digests).rows()


class _PositionRows:
    def __init__(self, story: Story, digests: Mapping[str, tuple[str, int]]) -> None:
        self.story, self.digests = story, digests
        self.spans: dict[tuple[int, ...], LineSpans] = {item.line.moment.numbers: item for item in story.spans()}
        self.seen = Counter[tuple[str, str, int]]()

    def rows(self) -> Iterator[dict[str, Any]]:
        outer = len(self.story.levels) - 2
        titles = dict(zip((moment.numbers for moment, _ in self.story.headings()), self._headings()))
        last: tuple[int, ...] = ()
        for scene, (_, source) in zip(self.story.scenes(), self.story.scene_sources()):
            position = scene.moment.numbers
            for depth in range(1, outer + 1):
                if position[:depth] != last[:depth]:
                    untitled = {"heading": ".".join(map(str, position[:depth])), "file": source.file}
                    yield titles.get(position[:depth], untitled)
            last = position
            yield {
                "scene": scene.moment.dotted,
                "file": source.file,
                "line": source.line,
                "part": self._part("scene", source) if scene.setting else None,
            }
            yield from self._lines(scene)

    def _headings(self) -> Iterator[dict[str, Any]]:
        """A row for each heading; where files are counted as parts, their names are the titles."""
        for (moment, title), (_, source) in zip(self.story.headings(), self.story.heading_sources()):
            row: dict[str, Any] = {"heading": moment.dotted, "file": source.file}
            if self.story.levels[0] == "part" and title == PurePath(source.file).stem:
                yield row | {"named": "file"}
            else:
                yield row | {"line": source.line, "part": self._part("heading", source)}

    def _lines(self, scene: Scene) -> Iterator[dict[str, Any]]:
        intervals = self.story.presence_intervals(scene.moment)
        for number, line in enumerate(scene.lines, 1):
            assert line.source is not None, "a line of a story comes from a source"
            row: dict[str, Any] = {"moment": line.moment.dotted, "scene": scene.moment.dotted}
            row |= {"file": line.source.file, "line": line.source.line, "part": self._part("line", line.source)}
            if (item := self.spans.get(line.moment.numbers)) is not None:
                row |= {"spans": [list(span) for span in item.spans], "confidence": item.confidence}
            row |= {"chars": len(line.text), "speaker": line.speaker}
            yield row | {"present": [name for name, first, last in intervals if first <= number <= last]}

    def _part(self, kind: str, source: Source) -> int:
        """How many of a kind were read from a source line so far."""
        if source.file not in self.digests:
            raise InputError(f"the text of its source '{source.file}' is not at hand: give it with --text")
        self.seen[kind, source.file, source.line] += 1
        return self.seen[kind, source.file, source.line]
