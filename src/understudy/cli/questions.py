"""`understudy questions`: a test set from a story, in HPD's form, for people to pick over and benches to put."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.options import (
    annotated_option,
    existing_refused,
    force_option,
    json_option,
    listed,
    load_reply_agent,
    seed_option,
    story_argument,
)
from understudy.cli.progress import read_with_people, watching
from understudy.cli.show import Column, clean, heading, indented, print_json, print_table, screen
from understudy.errors import InputError
from understudy.formats import sources_of
from understudy.story.storyfile import Story

if TYPE_CHECKING:
    from understudy.papers.hpd.questions import WrittenQuestions

__all__ = ["questions"]


@click.command(short_help="Make a test set from a story.")
@story_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE.json",
    help="The file to write.",
)  # fmt: skip
@click.option(
    "--as", "names", metavar="NAME,...", multiple=True,
    help="Whose lines to ask for (default: the main characters). Commas, or repeated.",
)  # fmt: skip
@click.option(
    "--main", "most", type=click.IntRange(1, 200), default=6, show_default=True, metavar="N",
    help="Without --as: how many main characters, those who speak most.",
)  # fmt: skip
@click.option(
    "--agents", "--agent", metavar="AGENT,...", multiple=True,
    help="Who proposes replies (default: encoder, tfidf, and writer where its model is on this machine).",
)  # fmt: skip
@click.option("--at", "within", metavar="MOMENT", help="Only lines of this part, chapter, episode or scene.")
@click.option("--until", metavar="MOMENT", help="Only lines before this moment.")
@click.option(
    "--turns", type=click.IntRange(min=1), default=2, show_default=True, metavar="N",
    help="Only lines before which the character has heard or said N turns in the scene.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="A seeded sample of N lines.")
@seed_option
@click.option("--fresh", is_flag=True, help="Forget what a run that was stopped had proposed.")
@force_option
@annotated_option
@json_option
def questions(
    story: str, output: Path, names: tuple[str, ...], most: int, agents: tuple[str, ...], within: str | None,
    until: str | None, turns: int, limit: int | None, seed: int, fresh: bool, force: bool, annotated: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Make a test set from a story, the way HPD was made and in its form.

    Each question is a line with which a character answers others: the scene so far, the attributes and ties of that
    moment, the story's own reply as the right one. Several agents, who see nothing of the reply or of what comes later,
    propose ten replies each; at least nine of these are the wrong ones until people have picked them over ("reviewed":
    false). A run that is stopped goes on where it was.

    \b
    Examples:
        understudy questions demo -o set.json --limit 20
        understudy questions demo -o zita.json --as Zita --until 2.3
        understudy questions my-story/ -o set.json --agents encoder,llm
    """
    from understudy.agents.reply_lines import characters_asked, reply_lines, sampled
    from understudy.papers.hpd.questions import write_questions

    existing_refused(output, force, sources_of(story)[0])
    if not output.absolute().parent.is_dir():
        raise InputError("cannot be written: there is no such folder", output)
    opened = read_with_people(story, annotated)
    characters = characters_asked(opened, listed(names), most)
    moments = (opened.moment(within) if within else None, opened.moment(until) if until else None)
    lines = sampled(list(reply_lines(opened, characters, turns, *moments)), limit, seed)
    if not lines:
        raise InputError(
            f"no line of {', '.join(characters)} answers others there: take other moments, or --turns 1", story
        )
    with watching() as progress:
        written = write_questions(opened, lines, _agents(listed(agents), opened), output, seed, progress, fresh)
    if as_json:
        print_json(_document(opened, output, written))
    else:
        _print(opened, output, written)


def _agents(specs: list[str], story: Story) -> dict[str, object]:
    from understudy.agents import agent_named
    from understudy.judging.loading import SHIPPED_WRITER, can_write, is_guarded

    ready = ["encoder", "tfidf", *([SHIPPED_WRITER] if can_write() and story.language == "en" else [])]
    return {
        spec: load_reply_agent(spec, None, lambda _: [story]) if is_guarded(spec) else agent_named(spec)
        for spec in specs or ready
    }


def _document(story: Story, output: Path, written: WrittenQuestions) -> dict[str, Any]:
    return {
        "story": story.title,
        "output": str(output),
        "questions": written.questions,
        "characters": dict(written.characters),
        "proposed": dict(written.proposed),
        "negatives": dict(written.negatives),
        "left_out": dict(written.left_out),
    }


def _print(story: Story, output: Path, written: WrittenQuestions) -> None:
    out = screen()
    name, session = next(iter(written.sessions.items()))
    out.print(heading(f"{story.title}: {name}, {session['position']}"))
    if session["scene"]:
        out.print(indented(session["scene"]), style="italic")
    for line in session["dialogue"][-4:]:
        out.print(indented(line))
    speaker = next(iter(session["attributes"]))
    agents = {proposal["text"]: proposal["agent"] for proposal in session["proposed"]}
    rows = [("+", session["positive_response"], "the story")]
    rows += [("-", text, agents[text]) for text in session["negative_response"]]
    columns: list[Column] = [("", {"no_wrap": True}), f"{clean(speaker)} says", ("proposed by", {"no_wrap": True})]
    print_table(out, columns, rows)
    of_whom = ", ".join(f"{who} {count:,}" for who, count in written.characters.items())
    by_whom = ", ".join(f"{agent} {count:,}" for agent, count in written.negatives.items())
    click.echo(f"\n{written.questions:,} questions are in {output}: {clean(of_whom)}.")
    click.echo(f"Wrong replies by agent: {clean(by_whom)}. Nobody has picked them over yet.")
    for reason, count in written.left_out.items():
        click.echo(f"{count:,} lines were left out: {reason}.")
