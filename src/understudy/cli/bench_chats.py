"""`understudy bench judged-chats`: what can be counted of a chat, against what the people who had it said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from understudy.cli.bench import deliver, items_option, limit_option, output_option, places_checked, report_option
from understudy.cli.bench_tables import RIGHT, starred
from understudy.cli.options import json_option, listed, seed_option
from understudy.cli.progress import watching
from understudy.cli.show import Column, heading, print_table, screen

__all__ = ["judged_chats"]

Document = dict[str, Any]


@click.command("judged-chats")
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), required=True,
    help="The folder with ConvAI2's chats of volunteers (*volunteers*.json), or such a file.",
)  # fmt: skip
@click.option("--scorers", metavar="NAME,...", multiple=True, help="tfidf, words, links, encoder, or some joined by +.")
@click.option(
    "--model", metavar="MODEL",
    help="Measure perplexity too: a generative agent's folder, or a language model (folder, .gguf file, name).",
)  # fmt: skip
@limit_option
@seed_option
@items_option
@output_option
@report_option
@json_option
def judged_chats(
    data: Path, scorers: tuple[str, ...], model: str | None, limit: int | None, seed: int, items: Path | None,
    output: Path | None, report: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Which automatic measures agree with people who scored whole chats, and who tells a bot's profile?

    Beside PersonaChat's training files, n-grams and profile scorers learn from them.

    \b
    Examples:
        understudy bench judged-chats --data data/personachat --report out.html
        understudy bench judged-chats --data data/personachat --model SmolLM2/
    """
    from understudy.papers.personachat.judged_chats import bench_judged_chats, open_language_model

    places_checked(items, output, report)
    language_model = None if model is None else open_language_model(model)
    with watching() as watch:
        document = bench_judged_chats(data, listed(scorers) or None, language_model, limit, seed, watch, items)
    deliver(document, "Chats that people have judged", output, report, as_json, print_judged_chats)


def print_judged_chats(document: Document) -> None:
    rows, out = document["rows"], screen()
    measured = [row for row in rows if "measure" in row]
    if measured:
        _print_measures(measured)
        out.print("*** p < .001, ** p < .01, * p < .05 after Holm, over all measures of the same chats.")
        out.print()
    chosen = [row for row in rows if "scorer" in row]
    for which in dict.fromkeys(row["chats"] for row in chosen):
        _print_choices(which, [row for row in chosen if row["chats"] == which])
    settings = document["manifest"]["settings"]
    out.print(f"'both talk': each side said at least {settings['least_turns']} things. Paper: {settings['paper']}.")


def _print_measures(rows: list[Document]) -> None:
    """A line for each measure, a pair of columns for each set of chats; the strongest agreement first."""
    out = screen()
    sets = list(dict.fromkeys(row["chats"] for row in rows))
    by_cell = {(row["measure"], row["of"], row["chats"]): row for row in rows}
    keys = list(dict.fromkeys((row["measure"], row["of"]) for row in rows))
    keys.sort(key=lambda key: -abs(by_cell[(*key, sets[-1])]["value"] or 0))
    out.print(heading("r_s with the score that people gave the chat"))
    columns: list[Column] = [("measure", {"no_wrap": True}), ("of", {"no_wrap": True})]
    for which in sets:
        columns += [(which, RIGHT), ("95%", RIGHT), ("n", RIGHT)]
    lines = []
    for key in keys:
        cells: list[str] = []
        for which in sets:
            row = by_cell[(*key, which)]
            spread = "-" if row["low"] is None else f"{row['low']:+.2f}..{row['high']:+.2f}"
            cells += [starred(row), spread, f"{row['n']:,}"]
        lines.append((*key, *cells))
    print_table(out, columns, lines, keys=2)


def _print_choices(which: str, rows: list[Document]) -> None:
    out = screen()
    out.print(heading(f"Which of two profiles was the bot's? ({which}, {rows[0]['n']:,} chats)"))
    by_cell = {(row["scorer"], row["told_from"], row["target"], row["metric"]): row for row in rows}
    targets = (("true profile", "accuracy"), ("person's choice", "accuracy"), ("person's choice", "auc"))
    columns: list[Column] = [("chosen by", {"no_wrap": True}), ("told from", {"no_wrap": True})]
    columns += [("right", RIGHT), ("95%", RIGHT), ("as people", RIGHT), ("95%", RIGHT), ("AUC", RIGHT), ("95%", RIGHT)]
    lines = []
    for scorer, told_from in dict.fromkeys((row["scorer"], row["told_from"]) for row in rows):
        cells: list[str] = []
        for target, metric in targets:
            row = by_cell.get((scorer, told_from, target, metric))
            known = row is not None and row["value"] is not None
            cells += [f"{row['value']:.3f}", f"{row['low']:.2f}..{row['high']:.2f}"] if row and known else ["-", "-"]
        lines.append((scorer, told_from, *cells))
    print_table(out, columns, lines, keys=2)
    out.print()
