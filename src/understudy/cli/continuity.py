"""`understudy continuity`: lines of a story that do not fit what came before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from understudy.cli.options import FILE, Options, shared
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import Screen, clean, heading, indented, print_json, screen, short, voice
from understudy.errors import InputError, UnderstudyError

if TYPE_CHECKING:
    from understudy.people.continuity import Continuity, Dismissals, Fault
    from understudy.story.storyfile import Story

LONGEST = 300  # characters of a line that is shown
ITEMS = 8  # of a chart


@click.command(short_help="Lines that do not fit what came before them.")
@shared("story")
@click.option("--at", "within", metavar="MOMENT", help="Only lines of this part, chapter or scene.")
@click.option("--who", metavar="NAME", help="Only this person's lines.")
@click.option(
    "--least", type=click.FloatRange(0, 1), default=0.5, show_default=True, metavar="CONFIDENCE",
    help="Leave out what is less sure than this.",
)  # fmt: skip
@click.option("--dismiss", multiple=True, metavar="ID", help="Never list this one again; may be repeated.")
@click.option("--restore", multiple=True, metavar="ID", help="List it again after all; may be repeated.")
@click.option("--all", "show_all", is_flag=True, help="Also list what was dismissed.")
@click.option("--fail", is_flag=True, help="End with status 1 if any line is listed, for a CI job.")
@click.option("--chart", type=FILE, metavar="FILE.svg", help="Draw who learns what when.")
@click.option("--item", "shown", multiple=True, metavar="NAME", help="What the chart shows; may be repeated.")
@shared("json")
@click.pass_context
def continuity(
    ctx: click.Context, options: Options, within: str | None, who: str | None, least: float, dismiss: tuple[str, ...],
    restore: tuple[str, ...], show_all: bool, fail: bool, chart: Path | None, shown: tuple[str, ...],
) -> None:  # fmt: skip
    """Lines in which somebody says what they cannot know yet, has what they gave away, speaks while dead or after
    leaving, or meets somebody for the second time as if for the first.

    It is for the author: it knows the whole story. Each line comes with what it conflicts with and how sure that is.
    A false alarm is dismissed by its id, for good: the list is kept beside the story, in continuity.toml.

    \b
    Examples:
        understudy continuity demo
        understudy continuity my-story/ --at 2.1 --who Zita
        understudy continuity my-story/ --dismiss 3fa2b81c
        understudy continuity my-story/ --chart learning.svg --item "Good Wife"
    """
    from understudy.people.continuity import Dismissals, check_continuity

    if shown and chart is None:
        raise click.UsageError("--item says what a chart shows: give --chart FILE.svg as well")
    opened = read_showing(options.story)
    with watching() as watch:
        findings = check_continuity(opened, watch)
    dismissals = Dismissals(_dismissals_file(options.story))
    _decide(findings, dismissals, dismiss, restore)
    if chart is not None:
        _draw(opened, findings, chart, shown)
    faults = _selected(opened, findings.faults, within, who, least)
    listed = [fault for fault in faults if show_all or fault not in dismissals]
    if options.as_json:
        print_json(_document(opened, findings, listed, dismissals))
    else:
        _print(screen(), opened, listed, dismissals, len(faults) - len(listed))
        if chart is not None:
            click.echo(f"The chart is in {chart}.")
    if fail and any(fault not in dismissals for fault in faults):
        ctx.exit(1)


def _dismissals_file(story: str) -> Path:
    """Beside the story; for one that comes with the program, in the user's data folder."""
    from understudy.formats import EMBEDDED
    from understudy.people.continuity import FILE, dismissals_path
    from understudy.story.user_folders import data_folder

    return data_folder() / f"{story}.{FILE}" if story in EMBEDDED else dismissals_path(Path(story))


def _decide(findings: Continuity, dismissals: Dismissals, dismiss: Sequence[str], restore: Sequence[str]) -> None:
    by_id = {fault.id: fault for fault in findings.faults}
    if unknown := [id_ for id_ in dismiss if id_ not in by_id]:
        raise InputError(f"no line has the id '{unknown[0][:40]}': `continuity` lists them, `--least 0` all of them")
    if dismiss:
        dismissals.dismiss(by_id[id_] for id_ in dismiss)
    if restore:
        dismissals.restore(restore)


def _selected(story: Story, faults: Iterable[Fault], at: str | None, who: str | None, least: float) -> list[Fault]:
    from understudy.story.names import character_at
    from understudy.story.types import Moment

    moment = None if at is None else story.moment(at)
    name = None if who is None else character_at(story, who, Moment.end()).name
    return [
        fault
        for fault in faults
        if fault.confidence >= least
        and (moment is None or fault.line.moment.within(moment))
        and (name is None or fault.who == name)
    ]


def _draw(story: Story, findings: Continuity, path: Path, items: Sequence[str]) -> None:
    from understudy.server.drawing.charts import learning_chart
    from understudy.text import did_you_mean

    if unknown := [item for item in items if item not in findings.learnings]:
        meant = did_you_mean(unknown[0], findings.learnings)
        raise UnderstudyError(
            f"nobody learns of '{unknown[0][:80]}' from another{meant}: leave --item out to see what is"
        )
    chosen = [findings.learnings[item] for item in items] or list(findings.learnings.values())[:ITEMS]
    path.write_text(learning_chart(story, chosen, standalone=True), encoding="utf-8")


def _document(story: Story, findings: Continuity, listed: Iterable[Fault], dismissals: Dismissals) -> dict[str, Any]:
    return {
        "story": story.title,
        "lines": findings.lines,
        "dismissed": len(dismissals),
        "faults": [
            {
                "id": fault.id,
                "kind": fault.kind,
                "moment": fault.line.moment.dotted,
                "who": fault.who,
                "text": fault.line.text,
                "about": fault.about,
                "reason": fault.reason,
                "sources": [moment.dotted for moment in fault.sources],
                "confidence": fault.confidence,
                "dismissed": fault in dismissals,
            }
            for fault in listed
        ],
    }


def _print(out: Screen, story: Story, listed: Sequence[Fault], dismissals: Dismissals, hidden: int) -> None:
    from understudy.people.continuity import KINDS

    out.print(heading(f"{story.title}: continuity"))
    for fault in listed:
        out.print()
        mark = " (dismissed)" if fault in dismissals else ""
        head = Text(f"{fault.line.moment.dotted}  ", style="bold")
        head.append(clean(fault.who), style=voice(fault.who))
        head.append(f" {KINDS[fault.kind]}{mark}")
        out.print(head)
        out.print(indented(Text(short(clean(fault.line.text), LONGEST))))
        sources = ", ".join(moment.dotted for moment in fault.sources)
        out.print(
            indented(
                Text(clean(f"{fault.reason} (see {sources}); {fault.confidence:.0%} sure; id {fault.id}"), style="dim")
            )
        )
    out.print()
    count = f"{len(listed):,} line{'' if len(listed) == 1 else 's'}" if listed else "No lines"
    out.print(f"{count} to look at" + (f"; {hidden:,} dismissed, see --all." if hidden else "."))
    if listed and not hidden and not len(dismissals):
        out.print("A false alarm? --dismiss ID never lists it again.", style="dim")
