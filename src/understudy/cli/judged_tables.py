"""What the benches found, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from understudy.cli.show import Column, heading, print_table, screen

__all__ = ["RIGHT", "p_value", "print_consistency", "print_personachat", "print_profiles"]

Document = dict[str, Any]
RIGHT: dict[str, Any] = {"no_wrap": True, "justify": "right"}


def print_personachat(document: Document) -> None:
    rows, out = document["rows"], screen()
    for agent in dict.fromkeys(row["agent"] for row in rows):
        of_agent = [row for row in rows if row["agent"] == agent]
        trained = of_agent[0]["trained_on"]
        out.print(heading(agent + (f", trained on {trained} personas" if trained else "")))
        if "judged_by" in of_agent[0]:
            out.print(f"  judged by {of_agent[0]['judged_by']}")
        columns: list[Column] = [("condition", {"no_wrap": True}), ("hits@1", RIGHT), ("95%", RIGHT), ("paper", RIGHT)]
        columns += [("hits@5", RIGHT), ("mrr", RIGHT), ("n", RIGHT)]
        lines = []
        for condition in dict.fromkeys(row["condition"] for row in of_agent):
            by_metric = {row["metric"]: row for row in of_agent if row["condition"] == condition}
            first = by_metric["hits@1"]
            figures = (_share(by_metric["hits@5"]["value"]), _share(by_metric["mrr"]["value"]), f"{first['n']:,}")
            lines.append((condition, _share(first["value"]), _range(first), _share(first["paper"]), *figures))
        print_table(out, columns, lines)
        out.print()
    if any(row["paper"] is not None for row in rows):
        settings = document["manifest"]["settings"]
        out.print(f"Ours: {settings['split']} split. The paper's: {settings['paper']}.")
    _print_comparisons(document["comparisons"], "condition")


def _print_comparisons(comparisons: Sequence[Document], on: str) -> None:
    shown = [row for row in comparisons if row["metric"] == comparisons[0]["metric"]]
    if not shown:
        return
    out = screen()
    out.print()
    out.print(heading(f"{shown[0]['metric']}, agents two by two (p adjusted after Holm)"))
    columns: list[Column] = [(on, {}), ("agents", {}), ("difference", RIGHT), ("95%", RIGHT), ("p", RIGHT)]
    lines = (
        (row[on], " - ".join(row["agents"]), f"{row['difference']:+.3f}", _range(row, "+.3f"), p_value(row))
        for row in shown
    )
    print_table(out, columns, lines)


def print_profiles(document: Document) -> None:
    rows, out = document["rows"], screen()
    for scorer in dict.fromkeys(row["scorer"] for row in rows):
        out.print(heading(scorer))
        columns: list[Column] = [("told from", {}), ("whose", {}), ("of what is said", {}), ("error", RIGHT)]
        columns += [("95%", RIGHT), ("paper", RIGHT), ("n", RIGHT)]
        lines: list[tuple[str | Text, ...]] = []
        for row in rows:
            if row["scorer"] == scorer:
                whose = f"{row['profile']} {'profile' if row['unit'] == 'profile' else 'sentences'}"
                span = "the whole" if row["length"] == "whole" else f"the first {row['length']}"
                speaker = {"both": "either", "A": "first speaker", "B": "second speaker"}[row["speaker"]]
                error = (_share(row["value"]), _range(row), _share(row["paper"]))
                lines.append((speaker, whose, span, *error, f"{row['n']:,}"))
        print_table(out, columns, lines)
        out.print()
    settings = document["manifest"]["settings"]
    out.print(f"Ours: {settings['split']} split. The paper's: {settings['paper']}.")


def print_consistency(document: Document) -> None:
    rows, out = document["rows"], screen()
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    for name in dict.fromkeys(row["set"] for row in rows):
        out.print(heading(name))
        lines = []
        for agent in dict.fromkeys(row["agent"] for row in rows):
            by_metric = {row["metric"]: row for row in rows if (row["set"], row["agent"]) == (name, agent)}
            figures = [f"{_share(by_metric[metric]['value'])} ({_range(by_metric[metric])})" for metric in metrics]
            lines.append((agent, *figures))
        print_table(out, [("agent", {}), *((metric, {}) for metric in metrics)], lines)
        out.print()
    _print_comparisons(document["comparisons"], "set")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _range(row: Document, form: str = ".3f") -> str:
    return f"{row['low']:{form}}..{row['high']:{form}}"


def p_value(row: Document) -> str:
    return "<.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"
