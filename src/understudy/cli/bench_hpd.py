"""`understudy bench hpd`: agents in Harry's place, with and without scene, attributes and relations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from understudy.cli.bench import deliver, items_option, limit_option, output_option, places_checked, report_option
from understudy.cli.bench_tables import RIGHT, p_value
from understudy.cli.options import json_option, listed, seed_option
from understudy.cli.progress import watching
from understudy.cli.show import Column, Screen, heading, print_table, screen

__all__ = ["hpd"]

Document = dict[str, Any]
RANKING = ("mrr", "p@1", "r10@1", "r10@5")  # map is mrr where one reply is right
SHORT = {"scene": "sce", "attributes": "att", "relations": "rel"}
ADDED = ("mrr", "log_prob_per_word", "f1")  # of what the parts add
GENERATION = ("perplexity", "perplexity_per_token", "delta-p", "dist-1", "f1", "bleu", "mauve", "delta-m")


@click.command()
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
    "--train", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Fit rankers on the sessions of this file, a test or training set of HPD, instead of cross-validating them.",
)  # fmt: skip
@click.option("--generation", is_flag=True, help="Judge also what agents say, and how probable they find replies.")
@click.option(
    "--replies", type=click.IntRange(min=0), metavar="N",
    help="Sessions to answer in words. Default: all of agents that write, none of agents that rank.",
)  # fmt: skip
@limit_option
@seed_option
@items_option
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), help="Keep answers here, to go on later.")
@output_option
@report_option
@json_option
def hpd(
    data: Path, agents: tuple[str, ...], given: tuple[str, ...], train: Path | None, generation: bool,
    replies: int | None, limit: int | None, seed: int, items: Path | None, cache: Path | None, output: Path | None,
    report: Path | None, as_json: bool,
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

    places_checked(items, output, report)
    with watching() as watch:
        document = bench_hpd(
            data, listed(agents) or AGENTS, listed(given) or GIVEN, train, limit, seed, watch, items, cache,
            generation, replies,
        )  # fmt: skip
    deliver(document, "HPD: what would Harry say?", output, report, as_json, print_hpd)


def print_hpd(document: Document) -> None:
    rows, out = document["rows"], screen()
    for file in dict.fromkeys(row["file"] for row in rows if "file" in row):
        of_file = [row for row in rows if row.get("file") == file]
        figures = [row for row in of_file if "adds" not in row]
        n = max(row["n"] for row in figures)
        out.print(heading(f"{file}: finding the right reply, {n:,} sessions"))
        _print_figures(out, [row for row in figures if row["metric"] in RANKING], RANKING)
        if any(row["metric"] in GENERATION for row in figures):
            out.print(heading(f"{file}: saying something, and finding it probable"))
            _print_figures(out, [row for row in figures if row["metric"] in GENERATION], GENERATION)
        for metric in ADDED:
            _print_added(out, [row for row in of_file if "adds" in row and row["metric"] == metric])
    theirs = [row for row in rows if "file" not in row]
    _print_paper(out, [row for row in theirs if row["metric"] not in RANKING])
    paper = {row["metric"]: row["paper"] for row in theirs}
    told = ", ".join(f"{metric} {paper[metric]:.3f}" for metric in RANKING if metric in paper)
    out.print(f"The paper's retrieval model, BERT-FP: {told} ({document['manifest']['settings']['paper']}).")


def _print_figures(out: Screen, rows: Sequence[Document], metrics: Sequence[str]) -> None:
    """A line for each agent and what it is given: the first metric with its interval, and the others."""
    first, *others = [metric for metric in metrics if any(row["metric"] == metric for row in rows)]
    columns: list[Column] = [("given", {"no_wrap": True}), ("agent", {"no_wrap": True}), (first, RIGHT), ("95%", RIGHT)]
    columns += [*((metric, RIGHT) for metric in others)]
    lines, reasons = [], dict[str, None]()
    for given, agent in dict.fromkeys((row["given"], row["agent"]) for row in rows):
        own = {row["metric"]: row for row in rows if (row["given"], row["agent"]) == (given, agent)}
        main = own[first]
        spread = "-" if main["low"] is None else f"{main['low']:.3f}..{main['high']:.3f}"
        lines.append((_short(given), agent, *(_figure(main), spread), *(_figure(own.get(metric)) for metric in others)))
        reasons |= {f"{agent}: {row['reason']}": None for row in own.values() if row.get("reason")}
    print_table(out, columns, lines, keys=2)
    for reason in reasons:
        out.print(f"  {reason}")
    out.print()


def _print_paper(out: Screen, rows: Sequence[Document]) -> None:
    """What the paper tells of its own models, which were not run here: figures of generation, and what people said."""
    told = [row for row in rows if row["metric"] != "map"]
    if not told:
        return
    out.print(heading("The paper's models: saying something"))
    for kind in dict.fromkeys(map(_kind, told)):
        of_kind = [row for row in told if _kind(row) == kind]
        metrics = list(dict.fromkeys(row["metric"] for row in of_kind))
        by_cell = {(row["given"], row["agent"], row["metric"]): row["paper"] for row in of_kind}
        columns: list[Column] = [("given", {"no_wrap": True}), ("agent", {"no_wrap": True})]
        columns += [(metric.replace("_", " "), {"justify": "right"}) for metric in metrics]
        lines = (
            (_short(given), agent, *(_paper_figure(by_cell.get((given, agent, metric))) for metric in metrics))
            for given, agent in dict.fromkeys((row["given"], row["agent"]) for row in of_kind)
        )
        print_table(out, columns, lines, keys=2)
        out.print()


def _kind(row: Document) -> str:
    """Which of the paper's tables a figure stands in."""
    if row["metric"] in GENERATION:
        return "generation"
    return "ChatGPT" if row["metric"].startswith("consistent_") else "ratings"


def _paper_figure(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _short(given: str) -> str:
    """'dialogue+sce+att', so that a line holds it."""
    return "+".join(SHORT.get(part, part) if "+" in given else part for part in given.split("+"))


def _figure(row: Document | None) -> str:
    return "-" if row is None or row["value"] is None else f"{row['value']:.3f}"


def _print_added(out: Screen, rows: Sequence[Document]) -> None:
    if not rows:
        return
    out.print(heading(f"{rows[0]['metric']}: what the parts add (p adjusted after Holm, agent by agent)"))
    columns: list[Column] = [("part", {}), ("to", {}), ("agent", {"no_wrap": True}), ("difference", RIGHT)]
    columns += [("95%", RIGHT), ("p", RIGHT)]
    lines = (
        (_short(row["adds"]), _short(row["to"]), row["agent"], f"{row['value']:+.3f}",
         f"{row['low']:+.3f}..{row['high']:+.3f}", p_value(row))
        for row in rows
    )  # fmt: skip
    print_table(out, columns, lines, keys=3)
    out.print()
