"""`understudy read`: scripts into one story file, with an account of every source line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.options import FILE, PATH, Options, check_output, lore_in, named_columns, shared, slug
from understudy.cli.progress import find_while_reading, found_document, found_sentence, read_showing, watching
from understudy.cli.show import Screen, clean, heading, indented, print_json, print_table, screen
from understudy.errors import InputError
from understudy.formats import sources_of
from understudy.formats.documents import file_parts, reading_document
from understudy.formats.prose.corrections import Corrections
from understudy.formats.prose.decisions import DoubtfulQuotations
from understudy.story.storyfile import DOUBTFUL, Story

if TYPE_CHECKING:
    from understudy.people.draft import StoryDraft

STOPPED = 130
MAIN_CAST = 8
MOST_PARTS = 8  # named in the report


@click.command()
@click.argument("paths", metavar="PATHS...", nargs=-1, required=True)
@click.option("-o", "--output", type=FILE, help="Story file to write (default: by the title).")
@click.option("--format", "form", metavar="FORMAT", help="Read the files as this format, whatever they look like.")
@click.option("--unread", type=click.IntRange(min=0), metavar="N", help="List the first N lines not read.")
@click.option("--no-people", is_flag=True, help="Do not look in the text for who its people are to each other.")
@click.option("--encode", is_flag=True, help="Encode all lines now, so that no reply waits for it later.")
@click.option(
    "--text", "texts", type=PATH, multiple=True, metavar="FILE",
    help="Your copy of the text that a .positions.jsonl is about; may be repeated, or a folder.",
)  # fmt: skip
@click.option(
    "--bound", type=click.FloatRange(0, 1),
    help="Novels: list quotations whose speaker is less sure than this beside the source (default: 0.6).",
)  # fmt: skip
@click.option(
    "--columns", multiple=True, metavar="KIND=NAME,...",
    help="Columns of a table (keys of JSON lines): speaker=..., text=..., scene=..., episode=... and others.",
)  # fmt: skip
@shared("lore force json")
def read(
    options: Options, paths: tuple[str, ...], form: str | None, unread: int | None, no_people: bool, encode: bool,
    texts: tuple[Path, ...], bound: float | None,
) -> None:  # fmt: skip
    """Read scripts into one story file.

    PATHS are the scripts of one story, or one story folder (scripts and a cast.toml). Formats are recognised by
    content: transcripts as text or HTML, plays in TEI XML, Understudy's own scripts, tables, subtitles, Markdown
    dialogues, Ren'Py, ink, character cards and more.

    Every source line is accounted for: a line of dialogue, a description, a heading, or unread with a reason.

    Facts and ties of its people that the text tells are kept beside the story file, marked as found, as `understudy
    draft` keeps them. In a story of over 10,000 lines or 500 people they are looked for when a persona is first wanted.

    \b
    Examples:
        understudy read friends/*.html -o friends.story
        understudy read my-story/ --unread 20
        understudy read mira.png --lore harbour.json -o mira.story
        understudy read lines.csv --columns speaker=Who,text=Line,scene=Scene
        understudy read emma.positions.jsonl --text emma.txt -o emma.story
    """
    what = paths[0] if len(paths) == 1 else paths
    sources, cast_file, title = sources_of(what)
    into = options.output or Path(f"{slug(title) or 'story'}.story")
    check_output(into, [*sources, cast_file, *options.lore, *texts], options.force)
    entries = lore_in(options.lore)
    try:
        doubtful, named = DoubtfulQuotations(bound), named_columns(options.columns)
        story = read_showing(what, into, entries, form=form, columns=named, texts=texts, quotations=doubtful)
    except KeyboardInterrupt:
        click.echo(f"\nStopped: {into} was not written.", err=True)
        raise click.exceptions.Exit(STOPPED) from None
    lists = _listed(doubtful)
    found = None if no_people else _find_people(story, into)
    if encode:
        _encode(story, into)
    if options.as_json:
        paths_of_lists = [str(corrections.path) for corrections in lists]
        document = reading_document(story, islice(story.unread(), unread))
        people = None if no_people else found_document(story, found)
        print_json(document | {"quotations": paths_of_lists, "found": people})
    else:
        _show(story, into, unread, named=options.output is None)
        _show_doubtful(lists, {file.name for file in story.files()})
        if not no_people:
            screen().print(found_sentence(story, found), soft_wrap=True)


def _find_people(story: Story, into: Path) -> StoryDraft | None:
    try:
        return find_while_reading(story)
    except KeyboardInterrupt:
        click.echo(f"\nStopped: {into} is written, and `understudy draft {into}` goes on to find its people.", err=True)
        raise click.exceptions.Exit(STOPPED) from None


def _listed(doubtful: DoubtfulQuotations) -> list[Corrections]:
    """The lists of doubtful quotations that were written; a folder that cannot be written to is no reason to fail."""
    try:
        return [corrections for corrections in doubtful.write() if corrections.entries]
    except InputError as error:
        click.echo(f"Doubtful quotations could not be listed: {clean(str(error))}", err=True)
        return []


def _show_doubtful(lists: Sequence[Corrections], files: Set[str]) -> None:
    """A list may hold quotations of other files too: novel.txt and novel.epub have one list."""
    for corrections in lists:
        entries = [entry for entry in corrections.entries if not entry.file or entry.file in files]
        waiting = sum(not entry.decision.is_made for entry in entries)
        if waiting:
            click.echo(f"{waiting:,} quotations whose speaker is doubtful are listed in {corrections.path}.")


def _encode(story: Story, into: Path) -> None:
    """Fill the cache of encodings with the story's lines; what is done when somebody stops it is kept."""
    from understudy.language.encoding.encoder import SentenceEncoder

    texts = list({line.text: None for scene in story.scenes() for line in scene.lines if line.speaker is not None})
    try:
        with watching() as progress:
            SentenceEncoder(progress=lambda done, total: progress("Encoding", done, total)).encode(texts)
    except KeyboardInterrupt:
        click.echo(f"\nStopped: {into} is written, its other lines will be encoded when needed.", err=True)
        raise click.exceptions.Exit(STOPPED) from None


def _show(story: Story, into: Path, unread: int | None, named: bool) -> None:
    out = screen()
    files = story.files()
    totals = [sum(getattr(file, count) for file in files) for count in ("lines", "descriptions", "headings", "unread")]
    units = sum(file.units for file in files)
    rows = [
        (file.name, file.format, *(f"{n:,}" for n in (file.lines, file.descriptions, file.headings, file.unread)))
        for file in files
    ]
    if len(rows) > 1:
        rows.append(("all", "", *(f"{n:,}" for n in totals)))
    out.print(heading("Source lines, by what they became"))
    print_table(out, ["file", "<form", ">dialogue", ">descr.", ">headings", ">unread"], rows, indent=0)
    out.print()
    added = " + ".join(f"{n:,}" for n in totals)
    if sum(totals) == units:
        out.print(f"Every source line is accounted for: {added} = {units:,}.")
    else:
        out.print(f"The counts do not add up: {added} is not {units:,} source lines. Please report this.", style="red")
    _show_parts(out, story)
    _show_speakers(out, story)
    _show_unread(out, story, unread)
    _show_cast(out, story)
    scenes, lines = story.count()
    spoken = sum(member.lines for member in story.cast())
    out.print()
    note = " (choose another place with -o)" if named else ""
    size = (
        f"{_counted(scenes, 'scene')} with {_counted(spoken, 'spoken line')} "
        f"and {_counted(lines - spoken, 'description')}"
    )
    out.print(f"'{clean(story.title)}', {size}, is in {into}{note}.", soft_wrap=True)
    out.print(f"Next: understudy cast {into}", soft_wrap=True)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _show_parts(out: Screen, story: Story) -> None:
    parts = list(file_parts(story).items())
    if not parts:
        return
    listed = ", ".join(f"{moment} is {clean(file)}" for file, moment in parts[:MOST_PARTS])
    more = f" and {len(parts) - MOST_PARTS:,} more" if len(parts) > MOST_PARTS else ""
    level = story.levels[0]
    out.print(f"The files count alike or not at all, so each is a {level}, in this order: {listed}{more}.")


def _show_speakers(out: Screen, story: Story) -> None:
    attributed = story.attributed_lines()
    if attributed.confidence is None:
        return
    out.print(
        f"Who speaks is worked out for {attributed.lines:,} lines, {attributed.confidence:.0%} sure on average; "
        f"{attributed.doubtful:,} are doubtful (below {DOUBTFUL:.0%})."
    )


def _show_unread(out: Screen, story: Story, unread: int | None) -> None:
    reasons = Counter(item.reason for item in story.unread())
    if not reasons:
        return
    out.print()
    pieces, units = sum(reasons.values()), sum(file.unread for file in story.files())
    size = "" if pieces == units else f" ({_counted(pieces, 'piece')}; {_counted(units, 'whole source line')})"
    out.print(heading(f"Not read, and why{size}"))
    for reason, number in reasons.most_common():
        out.print(indented(f"{number:,} x {clean(reason)}"))
    if unread is None:
        out.print(indented("(--unread 20 lists the first 20 of them)"))
    for item in islice(story.unread(), unread or 0):
        out.print(indented(f"{item.source}: {clean(item.text)[:200]}  ({clean(item.reason)})"))


def _show_cast(out: Screen, story: Story) -> None:
    cast = story.cast()
    main = ", ".join(f"{member.character.name} ({member.lines:,})" for member in cast[:MAIN_CAST])
    more = f" and {len(cast) - MAIN_CAST:,} more" if len(cast) > MAIN_CAST else ""
    out.print()
    out.print(heading(f"Cast of {len(cast):,}, with what each says"))
    out.print(indented(clean(main + more) or "nobody speaks"))
