"""`understudy stats`: a story in the figures with which HPD describes its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from understudy.cli.bench_tables import RIGHT
from understudy.cli.options import json_option, story_argument
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import Column, Screen, heading, print_json, print_table, screen

if TYPE_CHECKING:
    from understudy.papers.hpd.statistics import Annotations, CorpusStatistics, Spread

__all__ = ["stats"]

SHOWN = 24  # chapters


@click.command(short_help="A story in figures, beside those of HPD.")
@story_argument
@click.option("--chapters", "all_chapters", is_flag=True, help="Show every chapter, however many there are.")
@json_option
def stats(story: str, all_chapters: bool, as_json: bool) -> None:
    """Dialogues, turns, speakers and words of a story, and what its author annotated, beside HPD's own figures.

    A dialogue is a scene with talk. By chapter: how many attributes and ties hold at its end, and how many of them
    have changed since the chapter before.

    \b
    Examples:
        understudy stats demo
        understudy stats friends.story --json
        understudy stats data/hpd/en_test_set.json
    """
    from understudy.bench.published import HPD_SIZE
    from understudy.papers.hpd.statistics import corpus_statistics

    opened = read_showing(story)
    with watching() as progress:
        counted = corpus_statistics(opened, progress)
    if as_json:
        paper = {split: dict(figures) for split, figures in HPD_SIZE.items()}
        print_json(counted.document() | {"paper": paper})
        return
    out = screen()
    out.print(heading(counted.title))
    _print_talk(out, counted)
    for title, counts in (("attribute", counted.attributes), ("tie", counted.relations)):
        if counts:
            out.print()
            _print_annotations(out, title, counts)
    if counted.attributes or counted.relations:
        out.print()
        _print_chapters(out, counted, None if all_chapters else SHOWN)
    if any(counted.found):
        facts, ties = counted.found
        click.echo(f"\nBeside these {facts:,} attributes and {ties:,} ties were found in the text.")


def _print_talk(out: Screen, counted: CorpusStatistics) -> None:
    from understudy.bench.published import HPD_SIZE

    train, test = HPD_SIZE["train"], HPD_SIZE["test"]
    utterances = counted.turns.total
    rows = [
        (
            "dialogues (scenes with talk)",
            f"{counted.turns.n:,}",
            "",
            *(f"{paper['dialogues']:,}" for paper in (train, test)),
        ),
        ("turns a dialogue", *_spread(counted.turns), *(f"{paper['turns']}" for paper in (train, test))),
        (
            "speakers a dialogue",
            *_spread(counted.speakers),
            *(f"{paper['least_speakers']}..{paper['most_speakers']}" for paper in (train, test)),
        ),
        ("present in a dialogue", *_spread(counted.present), "", ""),
        ("characters", f"{counted.characters:,}", "", *(f"{paper['characters']}" for paper in (train, test))),
        ("characters who speak", f"{counted.speaking_characters:,}", "", "", ""),
        ("utterances", f"{utterances:,}", "", "", ""),
        ("words an utterance", *_spread(counted.words), "", ""),
        ("distinct words", "-" if counted.distinct_words is None else f"{counted.distinct_words:,}", "", "", ""),
    ]
    columns: list[Column] = [("", {"no_wrap": True}), ("here", RIGHT), ("range", RIGHT)]
    print_table(out, [*columns, ("HPD train", RIGHT), ("HPD test", RIGHT)], rows)
    if counted.no_words:
        click.echo(f"Words are not counted: {counted.no_words}")


def _spread(spread: Spread) -> tuple[str, str]:
    if not spread.n:
        return "-", ""
    return f"{spread.total / spread.n:,.1f}", f"{spread.least:,}..{spread.most:,}"


def _print_annotations(out: Screen, title: str, counts: dict[str, Annotations]) -> None:
    rows = [(name, f"{each.entries:,}", f"{each.people:,}", f"{each.changes:,}") for name, each in counts.items()]
    columns: list[Column] = [(title, {"no_wrap": True}), ("entries", RIGHT), ("people", RIGHT), ("changes", RIGHT)]
    print_table(out, columns, rows)


def _print_chapters(out: Screen, counted: CorpusStatistics, shown: int | None) -> None:
    chapters = counted.chapters[:shown]
    rows = [
        (
            chapter.chapter,
            f"{chapter.dialogues:,}",
            f"{chapter.attributes:,}",
            f"{chapter.attribute_changes:,}",
            f"{chapter.relations:,}",
            f"{chapter.relation_changes:,}",
        )
        for chapter in chapters
    ]
    columns: list[Column] = [("chapter", {"no_wrap": True})]
    columns += [(head, RIGHT) for head in ("dialogues", "attributes", "changed", "ties", "changed")]
    print_table(out, columns, rows)
    if more := len(counted.chapters) - len(chapters):
        click.echo(f"  and {more:,} more: --chapters shows all")
