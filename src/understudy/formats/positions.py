"""A story's annotations by position, without a word of its text, for texts that may not be passed on.

    {"positions": 1, "title": ..., "language": ..., "levels": [...], "files": [{"file", "form", "sha256", "length"}]}
    {"character": "Odile", "aliases": ["Mrs. Marchand"]}
    {"heading": "1", "file": "novel.txt", "line": 3, "part": 1}
    {"scene": "1.1", "file": "novel.txt", "line": 5, "part": null}
    {"moment": "1.1.1", "scene": "1.1", "file": "novel.txt", "line": 5, "part": 1, "spans": [[120, 141]], "chars": 21,
     "speaker": "Odile", "confidence": 0.93, "present": ["Odile", "Bastien"]}

`sha256` and `length` (characters) are those of each source's text. A line of running text stands at its spans; any
other is the `part`-th that was read from a source line. `chars` is the length of what is said. Names are annotation,
and are written; titles, settings and lines are text, and are not.

Whoever reads them applies them to a copy of their own. It must be the text they were made for, to the letter: another
edition has other positions, and nothing in the file tells where its lines went. It is compared by length and SHA-256,
over its characters with line ends as one character and no byte order mark, so that a copy with other line ends is the
same text.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any, Literal, NamedTuple

from understudy.errors import InputError
from understudy.formats.docx import docx_text
from understudy.formats.epub import epub_text
from understudy.formats.export import scenes_with_headings
from understudy.formats.prose import ExtractedText
from understudy.formats.prose.narrator import narration_text, spoken_text, unattributed_text
from understudy.sources import CastEntry, Description, Event, Heading, Movement, Opening, Reader, SceneStart, Speech
from understudy.sources.jsonstream import parsed_json
from understudy.sources.source import SourceFile
from understudy.story.storyfile import LineSpans, Spans, Story
from understudy.story.types import Character, Scene, Source
from understudy.text import one_line

VERSION = 1
MARK = b'{"positions":'
EXTRACTED = {"epub": epub_text, "docx": docx_text}


def is_positions(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().replace(b" ", b"").startswith(MARK)


def text_of(source: SourceFile, form: str) -> ExtractedText | None:
    """The text that positions in a source are offsets into; None where it is no text but data."""
    if form in EXTRACTED:
        return EXTRACTED[form](source)
    if source.head().startswith((b"PK\x03\x04", b"\x89PNG", b"PAR1")):
        return None
    return ExtractedText("\n".join(line for _, line in source.lines(lost=" ")))


def digest_of(source: SourceFile, form: str) -> tuple[str, int]:
    """(SHA-256, length in characters) of a source's text; of what is no text, those of its bytes."""
    extracted = text_of(source, form)
    content = b"".join(source.reopened().chunks()) if extracted is None else extracted.text.encode()
    return hashlib.sha256(content).hexdigest(), len(content) if extracted is None else len(extracted.text)


class PositionedFile(NamedTuple):
    """A text to which annotations apply: its source, the name of its format, and its events."""

    source: SourceFile
    form: str
    events: Iterator[Event]


Kind = Literal["line", "heading", "scene"]
SourceTexts = Mapping[tuple[Kind, int], Sequence[str]]
"""What a reader finds in a text, in order: lines, titles, settings, each by the source line it begins on."""


def positioned_files(
    positions: SourceFile, texts: Sequence[Path], reader_named: Callable[[str], Reader]
) -> tuple[str, list[PositionedFile]]:
    """(title of the story, the texts with the events that annotations make of them).

    `texts` are the files; one that is not given is looked for beside the annotations, by its name.
    """
    return _PositionsReader(positions, texts, reader_named).read()


class _PositionsReader:
    def __init__(self, positions: SourceFile, texts: Sequence[Path], reader_named: Callable[[str], Reader]) -> None:
        self.positions, self.texts, self.reader_named = positions, texts, reader_named

    def read(self) -> tuple[str, list[PositionedFile]]:
        rows = _read_rows(self.positions)
        header = next(rows, None)
        if header is None or header.values.get("positions") != VERSION:
            raise self.positions.error(f"is not a file of positions of version {VERSION}: export it again", 1)
        opening = Opening(header.texts("levels"), header.text("title"), header.text("language"))
        if len(opening.levels) < 2:
            raise header.error("its 'levels' are not those of a story")
        declared = {row.text("file"): row for row in header.rows("files")}
        cast, by_file = list[PositionRow](), defaultdict[str, list[PositionRow]](list)
        for row in rows:
            if "character" in row:
                cast.append(row)
            elif (file := row.text("file")) in declared:
                by_file[file].append(row)
            else:
                raise row.error(f"is about '{file[:100]}', a text that the first row does not declare")
        files = []
        for name, of_file in by_file.items():
            source, form = self._source(declared[name]), declared[name].text("form")
            source.units = len(of_file) + len(cast)
            files.append(PositionedFile(source, form, self._events(source, form, opening, cast, of_file)))
            cast = []  # they are declared once
        if not files:
            raise header.error("holds no lines: there is nothing to read")
        return header.text("title"), files

    def _source(self, declared: PositionRow) -> SourceFile:
        """The text that a name stands for, if it is the one that the positions were made for."""
        form, expected, expected_length = declared.text("form"), declared.text("sha256"), declared.number("length")
        self.reader_named(form)  # an unknown one is an error before anything is read
        path = self._path(declared)
        sha256, length = digest_of(SourceFile(path), form)
        if (sha256, length) == (expected, expected_length):
            return SourceFile(path, self.positions.progress)
        differs = f"it has {length:,} characters and not {expected_length:,}"
        if length == expected_length:
            differs = f"it is as long, but says something else (SHA-256 {sha256[:12]}, not {expected[:12]})"
        raise InputError(
            f"is not the text that {self.positions.path.name} was made for: {differs}. Positions fit one edition only: "
            "get that file, or ask whoever made the annotations which edition it is",
            path,
        )

    def _path(self, declared: PositionRow) -> Path:
        name = declared.text("file")
        plain = Path(name).name  # a path in the file leads nowhere
        paths = [path / plain if path.is_dir() else path for path in self.texts]
        if same := [path for path in paths if path.name == plain and path.is_file()]:
            return same[0]
        if len(paths) == 1 and not self.texts[0].is_dir():
            return paths[0]  # a copy of another name
        beside = self.positions.path.parent / plain
        if not self.texts and beside.is_file():
            return beside
        raise declared.error(f"is about '{name[:100]}', whose text is not here: give your copy with --text FILE")

    def _events(
        self,
        source: SourceFile,
        form: str,
        opening: Opening,
        cast: Sequence[PositionRow],
        rows: Sequence[PositionRow],
    ) -> Iterator[Event]:
        yield opening
        for row in cast:
            yield CastEntry(source.at(1), Character(row.text("character"), row.texts("aliases")), units=1)
        extracted = text_of(SourceFile(source.path), form) or ExtractedText("")
        text = extracted.text
        source.reach(1.0)
        if all("spans" in row for row in rows if "moment" in row):
            texts = _chapter_titles(extracted)
        else:
            texts = self._texts_by_line(source, form)
        scene: PositionRow | None = None
        present: tuple[str, ...] = ()
        for row in rows:
            if scene is not None:  # who is there stands in its first line
                present = row.texts("present")
                yield _scene(source, scene, texts, present)
                scene = None
            if "heading" in row:
                yield _heading(source, row, texts)
            elif "moment" in row:
                there = row.texts("present")
                if there != present:
                    came = tuple(name for name in there if name not in present)
                    went = tuple(name for name in present if name not in there)
                    yield Movement(source.at(row.number("line")), came, went, units=0)
                present = there
                yield _line(source, row, text, texts)
            else:
                scene = row
        if scene is not None:
            yield _scene(source, scene, texts, ())

    def _texts_by_line(self, source: SourceFile, form: str) -> SourceTexts:
        """What the reader of a format finds in a text."""
        texts = defaultdict[tuple[Kind, int], list[str]](list)
        for event in self.reader_named(form).events(SourceFile(source.path)):
            if isinstance(event, Speech):
                texts["line", event.source.line] += [one_line(event.text)] * len(event.speakers)
            elif isinstance(event, Description):
                texts["line", event.source.line].append(one_line(event.text))
            elif isinstance(event, Heading) and event.numbers is not None and one_line(event.title):
                texts["heading", event.source.line].append(one_line(event.title))
            elif isinstance(event, SceneStart) and one_line(event.setting):
                texts["scene", event.source.line].append(one_line(event.setting))
        return texts


def _chapter_titles(extracted: ExtractedText) -> SourceTexts:
    """What is not at a span of running text: its headings. Nobody's lines have to be worked out for that."""
    texts = defaultdict[tuple[Kind, int], list[str]](list)
    for chapter in extracted.parsed().chapters:
        if title := one_line(chapter.title):
            texts["heading", extracted.text.count("\n", 0, chapter.span.start) + 1].append(title)
    return texts


def _heading(source: SourceFile, row: PositionRow, texts: SourceTexts) -> Heading:
    numbers = row.numbers("heading")
    if row.values.get("named") == "file":
        return Heading(source.at(1), source.path.stem, numbers)
    if "part" not in row:
        return Heading(source.at(1), "", numbers)
    return Heading(source.at(row.number("line")), _at(row, "heading", texts), numbers)


def _scene(source: SourceFile, row: PositionRow, texts: SourceTexts, present: tuple[str, ...]) -> SceneStart:
    setting = _at(row, "scene", texts) if "part" in row else ""
    return SceneStart(source.at(row.number("line")), setting, present, row.numbers("scene")[-1])


def _line(source: SourceFile, row: PositionRow, text: str, texts: SourceTexts) -> Speech | Description:
    spans = row.spans(len(text))
    if not spans:
        said = _at(row, "line", texts)
    elif "speaker" in row:
        said = spoken_text(text, spans)
    else:
        said = narration_text(text, spans)
        if len(said) != row.number("chars"):
            said = unattributed_text(text, spans)
    if len(said) != row.number("chars"):
        raise row.error("what stands at this position is of another length: another version of Understudy wrote it")
    at = source.at(row.number("line"))
    if "speaker" not in row:
        return Description(at, said, spans=spans)
    return Speech(at, (row.text("speaker"),), said, spans=spans, confidence=row.share("confidence"))


def _at(row: PositionRow, kind: Kind, texts: SourceTexts) -> str:
    line, part = row.number("line"), row.number("part")
    if not 1 <= part <= len(texts.get((kind, line), ())):
        raise row.error(f"the text has no part {part} on line {line}: another version of Understudy wrote it")
    return texts[kind, line][part - 1]


# The rows of a file of positions, checked as they are asked: whatever is wrong is an error with its line.

LARGEST_NUMBER, LONGEST_NUMBER = 2**31, 9


@dataclass(frozen=True, slots=True)
class PositionRow:
    """One object of JSON, and the line it stands on."""

    source: SourceFile
    line: int
    values: Mapping[str, Any]

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"'{key}' is missing or not a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.error(f"'{key}' is not a list of texts")
        return tuple(value)

    def rows(self, key: str) -> tuple[PositionRow, ...]:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(f"'{key}' is not a list of objects")
        return tuple(PositionRow(self.source, self.line, item) for item in value)

    def number(self, key: str) -> int:
        value = self.values.get(key)
        if type(value) is not int or not 0 <= value < LARGEST_NUMBER:
            raise self.error(f"'{key}' is not a whole number")
        return value

    def numbers(self, key: str) -> tuple[int, ...]:
        """The numbers of a moment in dotted form."""
        parts = self.text(key).split(".")
        if not all(part.isascii() and part.isdigit() and len(part) <= LONGEST_NUMBER for part in parts):
            raise self.error(f"'{key}' is no moment of a story")
        return tuple(map(int, parts))

    def share(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
            raise self.error(f"'{key}' is not a number from 0 to 1")
        return None if value is None else float(value)

    def spans(self, length: int) -> Spans:
        """Pairs of offsets into a text of a length; none where the row has none."""
        value = self.values.get("spans") or []
        if not isinstance(value, list):
            raise self.error("'spans' is not a list of pairs")
        for span in value:
            is_pair = isinstance(span, list) and len(span) == 2 and all(type(offset) is int for offset in span)
            if not is_pair or not 0 <= span[0] <= span[1] <= length:
                raise self.error("'spans' are not pairs of offsets into the text")
        return tuple((start, end) for start, end in value)

    def error(self, message: str) -> InputError:
        return self.source.error(message, self.line)


def _read_rows(source: SourceFile) -> Iterator[PositionRow]:
    for number, line in source.lines():
        if line.strip():
            values = parsed_json(source, line, number)
            if not isinstance(values, dict):
                raise source.error("is JSON, but not an object: the file is damaged", number)
            yield PositionRow(source, number, values)


# Writing.


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
        titled = dict(zip((moment.numbers for moment, _ in self.story.headings()), self._headings()))
        for (scene, headings), (_, source) in zip(scenes_with_headings(self.story), self.story.scene_sources()):
            for numbers, _ in headings:
                yield titled.get(numbers, {"heading": ".".join(map(str, numbers)), "file": source.file})
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

    def _part(self, kind: Kind, source: Source) -> int:
        """How many of a kind were read from a source line so far."""
        if source.file not in self.digests:
            raise InputError(f"the text of its source '{source.file}' is not at hand: give it with --text")
        self.seen[kind, source.file, source.line] += 1
        return self.seen[kind, source.file, source.line]
