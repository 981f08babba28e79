"""Formats that stories are read from and written to: one a module, recognised by content, all with one contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import InputError, UnknownFormat
from understudy.formats import story_folder
from understudy.formats.assembly import Assembly, FilesCountAlike
from understudy.formats.evidence import measure
from understudy.formats.recognition import FORMATS, TABLES, Format, recognised, recognised_table
from understudy.formats.story_folder import Probe, read_cast, read_probes
from understudy.sources import Reader
from understudy.sources.columns import Columns
from understudy.sources.source import Progress, SourceFile, no_progress
from understudy.story.storyfile import Story, StoryWriter, is_story_file
from understudy.story.storyfile.found import FOUND, found_file_of
from understudy.story.types import LoreEntry
from understudy.story.user_folders import data_folder
from understudy.text import did_you_mean

if TYPE_CHECKING:
    from understudy.formats.prose.decisions import DoubtfulQuotations
    from understudy.story.dialogue import Example

__all__ = [
    "EMBEDDED",
    "FORMATS",
    "embedded",
    "examples",
    "format_named",
    "probes_of",
    "read",
    "reader_of",
    "sources_of",
]

EMBEDDED = ("demo", "demo-ja", "demo-zh")
"""Stories that come with the package, by the name they have on the command line."""


def read(
    what: str | Path | Sequence[str | Path],
    into: Path | None = None,
    progress: Progress | None = None,
    lore: Sequence[LoreEntry] = (),
    annotated: bool = False,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    texts: Sequence[Path] = (),
    quotations: DoubtfulQuotations | None = None,
) -> Story:
    """Read a story: a file, several, a story folder, a story file, or one of the embedded stories by name.

    A file's format is recognised by its content, unless `form` names the reader that is to take it.

    Without `into` the story is in memory. With it, it is one file there, put in place only when all is read. `lore`
    is knowledge that any of its characters may bring up; a story file has its own. What was found in the text (see
    `storyfile.found`) is part of it, unless only what is `annotated` is wanted. `columns` names the columns of a table
    (or the keys of JSON lines) whose names are not the usual ones: `{"speaker": "Sprecher", "text": "Zeile"}`. `texts`
    are one's own copies of what annotations by position are about. `quotations` notes who was taken to say what in
    prose, to list what is doubtful.
    """
    sources, cast_file, title = sources_of(what)
    if len(sources) == 1 and sources[0].is_file() and is_story_file(sources[0]):
        if into is not None:
            raise InputError("is a story file already: there is nothing to read into another", sources[0])
        return Story.open(sources[0], annotated)
    if len(sources) == 1 and _are_positions(sources[0]):
        return _read_positions(sources[0], texts, into, progress, lore)
    if texts:
        raise InputError("holds no annotations by position, so that there is nothing to apply to a text", sources[0])
    folder = Path(what) if isinstance(what, str | Path) and Path(what).is_dir() else None
    source_files = [SourceFile(path, progress or no_progress, story_folder=folder) for path in sources]
    if quotations is not None:
        for source in source_files:
            source.attributed = quotations.noting(source)
    named = Columns.of(columns) if columns else None
    file_readers = [reader_of(source, form, named) for source in source_files]
    source_files, file_readers = _annotations_last(source_files, file_readers)
    _prepare_together(source_files, file_readers)
    found_file = None if annotated or into is not None else found_beside(what)

    def assembled(files: Sequence[SourceFile], are_parts: bool) -> Story:
        with StoryWriter(into) as writer:
            assembly = Assembly(writer, len(files) > 1, are_parts)
            if cast_file is not None:
                assembly.cast(read_cast(cast_file, assembly.levels_of(file_readers[0].events(SourceFile(sources[0])))))
            for source, reader in zip(files, file_readers):
                assembly.add_file(source, reader.name, reader.events(source))
            assembly.add_lore(lore)
            if any(reader.name != "script" for reader in file_readers):  # nothing else is mistaken for a script
                assembly.check_speakers()
            assembly.finish(default_title=title)
            return Story(writer.address, found_file=found_file) if into is None else Story.open(into, annotated)

    try:
        return assembled(source_files, are_parts=False)
    except FilesCountAlike:
        return assembled([replace(source, progress=no_progress) for source in source_files], are_parts=True)


def _annotations_last(
    sources: Sequence[SourceFile], readers: Sequence[Reader]
) -> tuple[list[SourceFile], list[Reader]]:
    """The files in the order they are read in: those that are notes on another come last, and both know of it."""
    pairs = list(zip(sources, readers))
    for source, reader in pairs:
        about = next((other for other, its_reader in pairs if its_reader.name == reader.annotates), None)
        if about is not None:
            source.annotates = about.path
            about.annotations = (*about.annotations, source.path)
    pairs.sort(key=lambda pair: pair[0].annotates is not None)
    return [source for source, _ in pairs], [reader for _, reader in pairs]


def _prepare_together(sources: Sequence[SourceFile], readers: Sequence[Reader]) -> None:
    """Have readers look at all the files that they are to read, where these depend on each other."""
    for reader in {reader.name: reader for reader in readers}.values():
        its_own = [source for source, other in zip(sources, readers) if other is reader]
        if reader.together is not None and len(its_own) > 1:
            reader.together(its_own)


def _are_positions(path: Path) -> bool:
    head = SourceFile(path).head()
    if b"{" not in head[:8]:
        return False
    from understudy.formats.positions import is_positions

    return is_positions(head)


def _read_positions(
    path: Path, texts: Sequence[Path], into: Path | None, progress: Progress | None, lore: Sequence[LoreEntry]
) -> Story:
    from understudy.formats.positions import positioned_files

    title, positioned = positioned_files(
        SourceFile(path, progress or no_progress), texts, lambda form: format_named(form).reader
    )
    with StoryWriter(into) as writer:
        assembly = Assembly(writer)
        for file in positioned:
            assembly.add_file(file.source, file.form, file.events)
        assembly.add_lore(lore)
        assembly.finish(default_title=title)
        return Story(writer.address) if into is None else Story.open(into)


def sources_of(what: str | Path | Sequence[str | Path]) -> tuple[list[Path], Path | None, str]:
    """The files behind a name, a path or several: (scripts in order, cast.toml if there is one, a title)."""
    inputs = [what] if isinstance(what, str | Path) else list(what)
    if not inputs or "" in inputs:
        raise InputError("nothing to read: name a file, a folder, or 'demo'")
    if len(inputs) > 1:
        paths = [Path(item) for item in inputs]
        if folders := [path for path in paths if path.is_dir()]:
            raise InputError("is a folder among files: read a story folder by itself", folders[0])
        return _in_story_order(paths), None, paths[0].absolute().parent.name
    path = embedded(str(inputs[0])) or Path(inputs[0])
    if path.is_dir():
        cast_file = path / story_folder.CAST
        utterances = _corpus_in(path)
        scripts = [utterances] if utterances else _in_story_order(story_folder.scripts_in(path))
        return scripts, cast_file if cast_file.is_file() else None, path.name
    if not path.exists():
        raise InputError(f"no such file; '{EMBEDDED[0]}' is the story that comes with Understudy", path)
    return [path], None, path.stem


def _corpus_in(folder: Path) -> Path | None:
    """The utterances of a folder that is a ConvoKit corpus."""
    if next(folder.glob("utterances.json*"), None) is None:
        return None
    from understudy.formats.convokit import utterances_in

    return utterances_in(folder)


def embedded(name: str) -> Path | None:
    """The folder of a story that comes with the package."""
    return Path(str(files("understudy").joinpath("stories", name))) if name in EMBEDDED else None


def found_beside(what: str | Path | Sequence[str | Path]) -> Path | None:
    """The file of findings of a story that is read into memory; None for several files."""
    inputs = [what] if isinstance(what, str | Path) else list(what)
    if len(inputs) != 1:
        return None
    if embedded(str(inputs[0])) is not None:
        return data_folder() / "found" / f"{inputs[0]}.{FOUND}"
    return found_file_of(Path(inputs[0]))


def reader_of(source: SourceFile, form: str | None = None, columns: Columns | None = None) -> Reader:
    """The reader of a format, or the one for what the content shows; with `columns`, one of tables that have these."""
    if columns is not None:
        return _column_reader(source, form, columns)
    if form is not None:
        return format_named(form).reader
    evidence = measure(source.head(), source.path)
    chosen = recognised(evidence, FORMATS)
    if chosen is None:
        from understudy.formats.unknown import unknown_format

        raise unknown_format(evidence, [known.name for known in FORMATS])
    return chosen.reader


def _column_reader(source: SourceFile, form: str | None, columns: Columns) -> Reader:
    chosen = recognised_table(measure(source.head(), source.path)) if form is None else format_named(form, TABLES)
    make = None if chosen is None else chosen.reader.with_columns
    if make is None:
        raise UnknownFormat("is neither a table nor JSON lines, so that it has no columns to name", source.path)
    return make(columns)


def format_named(form: str, formats: Sequence[Format] = FORMATS) -> Format:
    """A format by its name, or by the beginning of it that no other has: 'tei' for 'TEI drama'."""
    wanted = form.strip().casefold()
    named = [known for known in formats if wanted and known.name.casefold().startswith(wanted)]
    exact = [known for known in named if known.name.casefold() == wanted]
    if len(exact or named) == 1:
        return (exact or named)[0]
    known_names = [known.name for known in formats]
    raise InputError(f"there is no format '{form}'{did_you_mean(form, known_names)}: one of {', '.join(known_names)}")


def examples(path: str | Path) -> Iterator[Example]:
    """The questions a benchmark file puts: PersonaChat dialogues, HPD sessions."""
    source = SourceFile(Path(path))
    reader = reader_of(source)
    if reader.examples is None:
        raise UnknownFormat(
            f"is a {reader.name}: it tells a story, but puts no questions with right answers", source.path
        )
    return reader.examples(source)


def probes_of(folder: str | Path, story: Story) -> tuple[Probe, ...]:
    """The probes that lie in a story folder."""
    return read_probes((embedded(str(folder)) or Path(folder)) / story_folder.PROBES, story)


def _in_story_order(paths: list[Path]) -> list[Path]:
    """By the season and episode that a file's name or first lines give, where all have them; else by name."""
    ordered = story_folder.in_order(paths)
    episodes = {path: measure(SourceFile(path).head(), path).episode for path in ordered}
    if any(numbers is None for numbers in episodes.values()):
        return ordered
    return sorted(ordered, key=lambda path: episodes[path] or ())
