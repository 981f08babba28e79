"""`understudy bench hpd`, `stats` and `questions`: HPD's tables for agents, its figures of a story, a set like it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.bench import measure
from understudy.cli.options import (
    FILE,
    IN_FILE,
    IN_PATH,
    Options,
    agents_option,
    check_output,
    listed,
    load_reply_agent,
    shared,
)
from understudy.cli.progress import read_showing, read_with_people, watching
from understudy.cli.show import (
    Document,
    Figures,
    Screen,
    clean,
    grouped,
    heading,
    indented,
    print_json,
    print_rows,
    print_table,
    screen,
)
from understudy.errors import InputError
from understudy.formats import sources_of
from understudy.story.storyfile import Story

if TYPE_CHECKING:
    from understudy.papers.hpd.questions import WrittenQuestions
    from understudy.papers.hpd.statistics import Annotations, CorpusStatistics, Spread

RANKING = ("mrr", "p@1", "r10@1", "r10@5")  # map is mrr where one reply is right
SHORT = {"scene": "sce", "attributes": "att", "relations": "rel"}
ADDED = ("mrr", "log_prob_per_word", "f1")  # of what the parts add
GENERATION = ("perplexity", "perplexity_per_token", "delta-p", "dist-1", "f1", "bleu", "mauve", "delta-m")
WHO = {"given": "given", "agent": "agent"}
SHOWN = 24  # chapters


@click.command()
@click.option(
    "--data", type=IN_PATH, required=True, metavar="DIR",
    help="The folder of the test sets, or one of them: HPD's, what `questions` made, or a `candidates` study.",
)  # fmt: skip
@agents_option(
    "Whom to judge: fitted, fitted+repeats, the name of an agent, a model folder, or module:factory of your own.",
    shown="tfidf,encoder,fitted,fitted+repeats",
)
@click.option(
    "--given", metavar="PARTS,...", multiple=True,
    help="What agents are given: dialogue, dialogue+scene, ..., dialogue+scene+attributes+relations. Default: six of "
    "them. `fitted` is judged on the candidates alone, too.",
)  # fmt: skip
@click.option(
    "--train", type=IN_FILE, metavar="FILE",
    help="Fit rankers on the sessions of this file, a test or training set of HPD, instead of cross-validating them.",
)  # fmt: skip
@click.option("--generation", is_flag=True, help="Judge also what agents say, and how probable they find replies.")
@click.option(
    "--replies", type=click.IntRange(min=0), metavar="N",
    help="Sessions to answer in words. Default: all of agents that write, none of agents that rank.",
)  # fmt: skip
@shared("limit seed items cache output report json")
def hpd(
    options: Options, agents: tuple[str, ...], given: tuple[str, ...], train: Path | None, generation: bool,
    replies: int | None,
) -> None:  # fmt: skip
    """What would Harry say? Choosing the right reply with HPD's scenes, attributes and relations, and without them.

    Every test set of the folder is judged (en_test_set.json, zh_test_set.json, parts of them). `fitted` learns to
    choose from other sessions than the one it is judged on; its row that is given nothing but the candidates says what
    the figures are to be measured against. Agents that are named are judged, and nobody else.

    \b
    Examples:
        understudy bench hpd --data hpd/ --report out.html
        understudy bench hpd --data hpd/ --agents encoder --given dialogue
        understudy bench hpd --data hpd/ --train en_train_set.json --json
        understudy bench hpd --data hpd/ --agents my-model --generation
        understudy bench hpd --data reviewed.json
    """
    from understudy.papers.hpd.bench import AGENTS, bench_hpd
    from understudy.papers.hpd.sessions import GIVEN

    measure(
        options,
        "HPD: what would Harry say?",
        lambda watch: bench_hpd(
            options.data, listed(agents) or AGENTS, listed(given) or GIVEN, train, options.limit, options.seed, watch,
            options.items, options.cache, generation, replies,
        ),
        _print_hpd,
    )  # fmt: skip


def _print_hpd(document: Document) -> None:
    out = screen()
    rows: list[Document] = [
        {**row, **{key: _short(row[key]) for key in ("given", "adds", "to") if row.get(key)}}
        for row in document["rows"]
    ]
    for file, of_file in grouped(rows, "file").items():
        figures = [row for row in of_file if "adds" not in row]
        n = max(row["n"] for row in figures)
        _print_figures(figures, RANKING, f"{file}: finding the right reply, {n:,} sessions")
        _print_figures(figures, GENERATION, f"{file}: saying something, and finding it probable")
        for metric in ADDED:
            added = [row for row in of_file if "adds" in row and row["metric"] == metric]
            lines = {"part": "adds", "to": "to", "agent": "agent"}
            title = f"{metric}: what the parts add (p adjusted after Holm, agent by agent)"
            print_rows(added, lines, [Figures("difference", show="value 95% p", form="+.3f")], title)
    theirs = [row for row in rows if "file" not in row]
    _print_paper([row for row in theirs if row["metric"] not in (*RANKING, "map")])
    paper = {row["metric"]: row["paper"] for row in theirs}
    told = ", ".join(f"{metric} {paper[metric]:.3f}" for metric in RANKING if metric in paper)
    out.print(f"The paper's retrieval model, BERT-FP: {told} ({document['manifest']['settings']['paper']}).")


def _print_figures(rows: Sequence[Document], metrics: Sequence[str], title: str) -> None:
    """A line for each agent and what it is given: the first metric with its interval, the others, and what lacks."""
    rows = [row for row in rows if row["metric"] in metrics]
    has = {row["metric"] for row in rows}
    columns = [Figures(metric, {"metric": metric}) for metric in metrics if metric in has]
    if columns:
        columns[0] = Figures(columns[0].head, columns[0].where, "value 95%")
        print_rows(rows, WHO, columns, title)
    for reason in dict.fromkeys(f"{row['agent']}: {row['reason']}" for row in rows if row.get("reason")):
        screen().print(f"  {reason}")


def _print_paper(rows: Sequence[Document]) -> None:
    """What the paper tells of its own models, which were not run here: figures of generation, and what people said."""
    for kind in dict.fromkeys(map(_kind, rows)):
        of_kind = [row for row in rows if _kind(row) == kind]
        metrics = dict.fromkeys(row["metric"] for row in of_kind)
        columns = [Figures(metric.replace("_", " "), {"metric": metric}, "paper", "g") for metric in metrics]
        print_rows(of_kind, WHO, columns, f"The paper's models: {kind}")


def _kind(row: Document) -> str:
    """Which of the paper's tables a figure stands in."""
    if row["metric"] in GENERATION:
        return "saying something"
    return "as ChatGPT rates it" if row["metric"].startswith("consistent_") else "as people rate it"


def _short(given: str) -> str:
    """'dialogue+sce+att', so that a line holds it."""
    return "+".join(SHORT.get(part, part) if "+" in given else part for part in given.split("+"))


@click.command(short_help="A story in figures, beside those of HPD.")
@shared("story")
@click.option("--chapters", "all_chapters", is_flag=True, help="Show every chapter, however many there are.")
@shared("json")
def stats(options: Options, all_chapters: bool) -> None:
    """Dialogues, turns, speakers and words of a story, and what its author annotated, beside HPD's own figures.

    A dialogue is a scene with talk. By chapter: how many attributes and ties hold at its end, and how many of them
    have changed since the chapter before.

    \b
    Examples:
        understudy stats demo
        understudy stats friends.story --json
        understudy stats data/hpd/en_test_set.json
    """
    from understudy.papers.hpd.published import HPD_SIZE
    from understudy.papers.hpd.statistics import corpus_statistics

    opened = read_showing(options.story)
    with watching() as progress:
        counted = corpus_statistics(opened, progress)
    if options.as_json:
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
    from understudy.papers.hpd.published import HPD_SIZE

    papers = HPD_SIZE["train"], HPD_SIZE["test"]
    speakers = (f"{paper['least_speakers']}..{paper['most_speakers']}" for paper in papers)
    rows = [
        ("dialogues (scenes with talk)", f"{counted.turns.n:,}", "", *(f"{paper['dialogues']:,}" for paper in papers)),
        ("turns a dialogue", *_spread(counted.turns), *(f"{paper['turns']}" for paper in papers)),
        ("speakers a dialogue", *_spread(counted.speakers), *speakers),
        ("present in a dialogue", *_spread(counted.present), "", ""),
        ("characters", f"{counted.characters:,}", "", *(f"{paper['characters']}" for paper in papers)),
        ("characters who speak", f"{counted.speaking_characters:,}", "", "", ""),
        ("utterances", f"{counted.turns.total:,}", "", "", ""),
        ("words an utterance", *_spread(counted.words), "", ""),
        ("distinct words", "-" if counted.distinct_words is None else f"{counted.distinct_words:,}", "", "", ""),
    ]
    print_table(out, ["<", ">here", ">range", ">HPD train", ">HPD test"], rows)
    if counted.no_words:
        click.echo(f"Words are not counted: {counted.no_words}")


def _spread(spread: Spread) -> tuple[str, str]:
    if not spread.n:
        return "-", ""
    return f"{spread.total / spread.n:,.1f}", f"{spread.least:,}..{spread.most:,}"


def _print_annotations(out: Screen, title: str, counts: dict[str, Annotations]) -> None:
    rows = [(name, f"{each.entries:,}", f"{each.people:,}", f"{each.changes:,}") for name, each in counts.items()]
    print_table(out, [f"<{title}", ">entries", ">people", ">changes"], rows)


def _print_chapters(out: Screen, counted: CorpusStatistics, shown: int | None) -> None:
    chapters = counted.chapters[:shown]
    counts = ("dialogues", "attributes", "attribute_changes", "relations", "relation_changes")
    rows = [(chapter.chapter, *(f"{getattr(chapter, count):,}" for count in counts)) for chapter in chapters]
    print_table(out, ["<chapter", ">dialogues", ">attributes", ">changed", ">ties", ">changed"], rows)
    if more := len(counted.chapters) - len(chapters):
        click.echo(f"  and {more:,} more: --chapters shows all")


@click.command(short_help="Make a test set from a story.")
@shared("story")
@click.option("-o", "--output", "path", type=FILE, required=True, metavar="FILE.json", help="The file to write.")
@click.option(
    "--as", "people", metavar="NAME,...", multiple=True,
    help="Whose lines to ask for (default: the main characters). Commas, or repeated.",
)  # fmt: skip
@click.option(
    "--main", type=click.IntRange(1, 200), default=6, show_default=True, metavar="N",
    help="Without --as: how many main characters, those who speak most.",
)  # fmt: skip
@agents_option("Who proposes replies (default: encoder, tfidf, and writer where its model is on this machine).")
@click.option("--at", "within", metavar="MOMENT", help="Only lines of this part, chapter, episode or scene.")
@click.option("--until", metavar="MOMENT", help="Only lines before this moment.")
@click.option(
    "--turns", type=click.IntRange(min=1), default=2, show_default=True, metavar="N",
    help="Only lines before which the character has heard or said N turns in the scene.",
)  # fmt: skip
@shared("limit seed", limit="A seeded sample of N lines.")
@click.option("--fresh", is_flag=True, help="Forget what a run that was stopped had proposed.")
@shared("force annotated json")
def questions(
    options: Options, path: Path, people: tuple[str, ...], main: int, agents: tuple[str, ...], within: str | None,
    until: str | None, turns: int, fresh: bool,
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

    check_output(path, sources_of(options.story)[0], options.force)
    opened = read_with_people(options.story, options.annotated)
    characters = characters_asked(opened, listed(people), main)
    moments = (opened.moment(within) if within else None, opened.moment(until) if until else None)
    lines = sampled(list(reply_lines(opened, characters, turns, *moments)), options.limit, options.seed)
    if not lines:
        raise InputError(
            f"no line of {', '.join(characters)} answers others there: take other moments, or --turns 1", options.story
        )
    with watching() as progress:
        written = write_questions(
            opened, lines, _proposing_agents(listed(agents), opened), path, options.seed, progress, fresh
        )
    print_json(_questions_document(opened, path, written)) if options.as_json else _print_questions(
        opened, path, written
    )


def _proposing_agents(specs: list[str], story: Story) -> dict[str, object]:
    from understudy.agents import agent_named
    from understudy.judging.loading import SHIPPED_WRITER, can_write, is_guarded

    ready = ["encoder", "tfidf", *([SHIPPED_WRITER] if can_write() and story.language == "en" else [])]
    return {
        spec: load_reply_agent(spec, None, lambda _: [story]) if is_guarded(spec) else agent_named(spec)
        for spec in specs or ready
    }


def _questions_document(story: Story, output: Path, written: WrittenQuestions) -> dict[str, Any]:
    return {
        "story": story.title,
        "output": str(output),
        "questions": written.questions,
        "characters": dict(written.characters),
        "proposed": dict(written.proposed),
        "negatives": dict(written.negatives),
        "left_out": dict(written.left_out),
    }


def _print_questions(story: Story, output: Path, written: WrittenQuestions) -> None:
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
    print_table(out, ["<", f"{clean(speaker)} says", "<proposed by"], rows)
    of_whom = ", ".join(f"{who} {count:,}" for who, count in written.characters.items())
    by_whom = ", ".join(f"{agent} {count:,}" for agent, count in written.negatives.items())
    click.echo(f"\n{written.questions:,} questions are in {output}: {clean(of_whom)}.")
    click.echo(f"Wrong replies by agent: {clean(by_whom)}. Nobody has picked them over yet.")
    for reason, count in written.left_out.items():
        click.echo(f"{count:,} lines were left out: {reason}.")
