"""`understudy bench hpd` and `understudy stats`: HPD's tables for agents, and HPD's figures of a story."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.bench import bench, measure
from understudy.cli.options import IN_FILE, Shared, json_option, listed, shared, story_argument
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import Column, Screen, heading, print_json, print_table, screen
from understudy.cli.tables import RIGHT, Document, Figures, print_rows

if TYPE_CHECKING:
    from understudy.papers.hpd.statistics import Annotations, CorpusStatistics, Spread

__all__ = ["stats"]

RANKING = ("mrr", "p@1", "r10@1", "r10@5")  # map is mrr where one reply is right
SHORT = {"scene": "sce", "attributes": "att", "relations": "rel"}
ADDED = ("mrr", "log_prob_per_word", "f1")  # of what the parts add
GENERATION = ("perplexity", "perplexity_per_token", "delta-p", "dist-1", "f1", "bleu", "mauve", "delta-m")
WHO = {"given": "given", "agent": "agent"}
SHOWN = 24  # chapters


@bench.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), required=True, metavar="DIR",
    help="The folder of the test sets, or one of them: HPD's, what `questions` made, or a `candidates` study.",
)  # fmt: skip
@click.option(
    "--agents", "--agent", metavar="AGENT,...", multiple=True, show_default="tfidf,encoder,fitted,fitted+repeats",
    help="Whom to judge: fitted, fitted+repeats, the name of an agent, a model folder, or module:factory of your own. "
    "Commas, or repeated.",
)  # fmt: skip
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
@shared("limit seed items")
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), help="Keep answers here, to go on later.")
@shared("output report as_json")
def hpd(
    options: Shared, data: Path, agents: tuple[str, ...], given: tuple[str, ...], train: Path | None, generation: bool,
    replies: int | None, cache: Path | None,
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
            data, listed(agents) or AGENTS, listed(given) or GIVEN, train, options.limit, options.seed, watch,
            options.items, cache, generation, replies,
        ),
        _print_hpd,
    )  # fmt: skip


def _print_hpd(document: Document) -> None:
    out = screen()
    rows: list[Document] = [
        {**row, **{key: _short(row[key]) for key in ("given", "adds", "to") if row.get(key)}}
        for row in document["rows"]
    ]
    for file in dict.fromkeys(row["file"] for row in rows if "file" in row):
        of_file = [row for row in rows if row.get("file") == file]
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
    from understudy.papers.hpd.published import HPD_SIZE
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
    from understudy.papers.hpd.published import HPD_SIZE

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
