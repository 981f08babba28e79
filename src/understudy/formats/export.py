"""A whole story as files: a story folder, or a table with one row a line.

The folder has scripts and a cast.toml that the `script` reader reads back as the same story; the table is JSON lines or
Parquet. Other formats are written by the modules that read them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from understudy.errors import InputError, MissingExtra
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FOUND
from understudy.story.storyfile.toml_tables import toml_value
from understudy.story.types import Moment, Scene, Schema

CAST_FILE = "cast.toml"
KEYWORD = re.compile(r"[+-]|present\b", re.IGNORECASE)
SPECIAL = re.compile(r"[:：\\\[\]()（）#%,&]|\band\b", re.IGNORECASE)


def export_folder(story: Story, folder: Path) -> int:
    """Scripts and a cast.toml that read back as the same story; returns how many lines were written.

    What was found in the text goes with them in a found.toml: it is not what an author wrote.
    """
    if story.count()[0] == 0:
        raise InputError(f"'{story.title}' has no scenes, so there is no script to write", folder)
    with new_folder(folder) as partial:
        _write_scripts(story, partial)
        (partial / CAST_FILE).write_text("\n".join(_cast_lines(story)) + "\n", encoding="utf-8")
        if story.found_file is not None and story.found_file.exists():
            (partial / FOUND).write_bytes(story.found_file.read_bytes())
    return story.count()[1]


def _write_scripts(story: Story, folder: Path) -> None:
    """A script for each of the largest parts, or one."""
    stream: IO[str] | None = None
    try:
        for scene, headings in scenes_with_headings(story):
            if stream is None or (headings and len(headings[0][0]) == 1):
                if stream is not None:
                    stream.close()
                numbers = scene.moment.numbers
                name = f"{story.levels[0]}-{numbers[0]}.txt" if len(numbers) > 1 else "script.txt"
                stream = (folder / name).open("w", encoding="utf-8")
            for numbers, title in headings:
                stream.write(heading_line(story, numbers, title) + "\n")
            _write_scene(story, scene, stream.write)
    finally:
        if stream is not None:
            stream.close()


def _write_scene(story: Story, scene: Scene, write: Callable[[str], Any]) -> None:
    """A scene with who comes and goes noted exactly, so that reading it back need not infer it from directions."""
    write(heading_line(story, scene.moment.numbers, scene.setting) + "\n")
    intervals = story.presence_intervals(scene.moment)
    coming: dict[int, list[str]] = {}
    going: dict[int, list[str]] = {}
    for name, first, last in intervals:
        coming.setdefault(first, []).append(name)
        if last < len(scene.lines):
            going.setdefault(last, []).append(name)
    write(f"Present exactly: {_listed(coming.get(1, []))}".rstrip() + "\n\n")
    for number, line in enumerate(scene.lines, 1):
        if number > 1 and number in coming:
            write(f"+ {_listed(coming[number])}\n")
        write(f"[{line.text}]\n" if line.speaker is None else f"{escaped(line.speaker)}: {line.text}\n")
        if number in going:
            write(f"- {_listed(going[number])}\n")
    write("\n")


def scenes_with_headings(story: Story) -> Iterator[tuple[Scene, list[tuple[tuple[int, ...], str]]]]:
    """Each scene with the (numbers, title) of the parts, chapters or episodes that begin with it."""
    titles = {moment.numbers: title for moment, title in story.headings()}
    last: tuple[int, ...] = ()
    for scene in story.scenes():
        outer = [scene.moment.numbers[:depth] for depth in range(1, len(scene.moment.numbers))]
        yield scene, [(numbers, titles.get(numbers, "")) for numbers in outer if numbers != last[: len(numbers)]]
        last = scene.moment.numbers


def heading_line(story: Story, numbers: tuple[int, ...], title: str) -> str:
    """'## chapter 2: The Keys', by the story's own name for the level."""
    depth = len(numbers)
    return f"{'#' * depth} {story.levels[depth - 1]} {numbers[-1]}{': ' + title if title else ''}"


def write_rows(rows: Iterable[Mapping[str, Any]], stream: IO[str], ascii_only: bool = False) -> None:
    """One JSON object a line."""
    for row in rows:
        stream.write(json.dumps(row, ensure_ascii=ascii_only) + "\n")


def _listed(names: list[str]) -> str:
    return ", ".join(escaped(name) for name in names)


def escaped(name: str) -> str:
    """A name as it can stand in a script: characters and words that mean something there get a backslash."""
    plain = SPECIAL.sub(lambda match: "\\" + match[0], name)
    return "\\" + plain if KEYWORD.match(plain) else plain


def _cast_lines(story: Story) -> Iterator[str]:
    default = Schema()
    yield f"title = {toml_value(story.title)}"
    yield f"language = {toml_value(story.language)}"
    yield f"levels = {toml_value(list(story.levels))}"
    more = {
        "attributes": [name for name in story.schema.attributes if name not in default.attributes],
        "kinds": [name for name in story.schema.kinds if name not in default.kinds],
    }
    if any(more.values()):
        yield "\n[schema]"
        yield from (f"{key} = {toml_value(names)}" for key, names in more.items() if names)
    for member in story.cast():
        yield from _table(
            "character",
            name=member.character.name,
            aliases=list(member.character.aliases) or None,
            profile=list(member.character.profile) or None,
        )
    for fact in story.annotated_facts():
        yield from _table(
            "fact",
            who=fact.who,
            attribute=fact.attribute,
            value=list(fact.values),
            **{"from": fact.since},
            until=fact.until,
            known_to=None if fact.known_to is None else list(fact.known_to),
        )
    for tie in story.annotated_relations():
        level = {"kind": tie.kind} if tie.level is None else {tie.kind: tie.level}
        yield from _table(
            "relation", of=tie.of, to=tie.to, **level, term=tie.term or None, **{"from": tie.since}, until=tie.until
        )


def _table(name: str, /, **entries: object) -> Iterator[str]:
    yield f"\n[[{name}]]"
    for key, value in entries.items():
        if value is not None:
            yield f"{key} = {toml_value(value.dotted if isinstance(value, Moment) else value)}"


BATCH_ROWS = 20_000
DIGITS = 3  # of probabilities


Addressees = Callable[[Scene], Sequence[Mapping[str, float]]]
"""From a scene to the probability, for each of its lines, that it is said to each person present."""


def rows_of(story: Story, addressees: Addressees | None = None) -> Iterator[dict[str, Any]]:
    """One row a line, in story order; with `addressees`, who each is said to."""
    for scene in story.scenes():
        probabilities = None if addressees is None else addressees(scene)
        for index, line in enumerate(scene.lines):
            row: dict[str, Any] = {
                "moment": line.moment.dotted,
                "scene": scene.moment.dotted,
                "speaker": line.speaker,
                "text": line.text,
                "source": str(line.source),
            }
            if probabilities is not None:
                row["to"] = {who: round(p, DIGITS) for who, p in probabilities[index].items() if round(p, DIGITS) > 0}
            yield row


def export_jsonl(story: Story, stream: IO[str], ascii_only: bool = False, addressees: Addressees | None = None) -> int:
    """`{moment, scene, speaker, text, source}`, one object a line, and `to` with `addressees`; returns how many."""
    write_rows(rows_of(story, addressees), stream, ascii_only)
    return story.count()[1]


def export_parquet(story: Story, path: Path) -> int:
    """The same columns as the JSON lines, in row groups, so that memory stays small."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("writing Parquet", "parquet") from error
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("moment", "scene", "speaker", "text", "source")])
    partial = path.with_name(f".{path.name}.partial")
    rows = rows_of(story)
    try:
        with pyarrow.parquet.ParquetWriter(partial, schema) as writer:
            while batch := list(islice(rows, BATCH_ROWS)):
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return story.count()[1]


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder to fill: renamed to `folder`, which must not be there or be empty, unless an error ends it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("is there already and not an empty folder: name a new one", folder)
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    partial.mkdir(parents=True)
    try:
        yield partial
        if folder.exists():
            folder.rmdir()
        os.replace(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_speech(story: Story) -> None:
    """Refuse a story in which nobody speaks: what would be written could not be read back."""
    if story.count()[0] == 0:
        raise InputError(f"'{story.title}' has no scenes, so there is no dialogue to write")
    if not any(line.speaker is not None for scene in story.scenes() for line in scene.lines):
        raise InputError(f"nobody speaks in '{story.title}', so there is no dialogue to write: use --format folder")
