"""What the benches of `understudy bench` measured, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from rich.table import Table

from understudy.cli.show import Column, Screen, heading, indented, print_table, screen, table

__all__ = [
    "RIGHT",
    "p_value",
    "print_agreement",
    "print_consistency",
    "print_later_lines",
    "print_overlap",
    "print_personachat",
    "print_profiles",
    "print_readers",
    "print_voice",
    "starred",
]

Document = dict[str, Any]
RIGHT: dict[str, Any] = {"no_wrap": True, "justify": "right"}
FIGURES = ("metric", "value", "low", "high", "n", "paper", "reason")
LEVELS = (0.05, 0.01, 0.001)  # a star each, as in the paper


def print_readers(rows: list[dict[str, Any]]) -> None:
    """A table for each thing judged, with intervals; a missing value shows its reason.

    Rows of single episodes are for the document: on a terminal they would bury the figures.
    """
    apart = sum("episode" in row for row in rows)
    rows = [row for row in rows if "episode" not in row]
    out = screen()
    for judged, group in groupby(rows, key=_judged):
        out.print(heading(", ".join(judged)))
        out.print(indented(_rows_table(list(group))))
        out.print()
    if apart:
        out.print(f"{apart} more rows, one an episode, are in the document: --json, or -o FILE.")


def _judged(row: dict[str, Any]) -> list[str]:
    """What a row is about, whatever was measured of it and on what condition."""
    return [str(value) for key, value in row.items() if key not in (*FIGURES, "condition") and value is not None]


def _rows_table(rows: list[dict[str, Any]]) -> Table:
    columns: list[Column] = [("metric", {"min_width": 19})]
    columns += [(head, {"no_wrap": True, "justify": "right"}) for head in ("value", "95%", "n")]
    papers = any(row.get("paper") is not None for row in rows)
    reasons = any(row.get("reason") for row in rows)
    columns += [("paper", {"no_wrap": True, "justify": "right"})] * papers + [("", {})] * reasons
    return table(
        columns,
        (
            (
                row["metric"] + (f" ({row['condition']})" if row.get("condition") else ""),
                _figure(row["value"]),
                "" if row.get("low") is None else f"{_figure(row['low'])}-{_figure(row['high'])}",
                _figure(row.get("n")),
                *([_figure(row.get("paper"))] * papers),
                *([row.get("reason") or ""] * reasons),
            )
            for row in rows
        ),
    )


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


PERSONACHAT_TABLES = (
    ("hits@1", ("hits@5", "mrr")),
    ("perplexity", ("perplexity_per_token", "hits@1_per_token", "delta-p")),
    ("f1", ("bleu", "dist-1", "dist-2", "rep", "mauve", "p_f1", "contradicts")),
)
"""The metric that has its interval and the paper's figure beside it, and those that have not."""
HEADS = {"perplexity_per_token": "per token", "hits@1_per_token": "hits@1 per token"}


def print_personachat(document: Document) -> None:
    rows, out = document["rows"], screen()
    for agent in dict.fromkeys(row["agent"] for row in rows):
        of_agent = [row for row in rows if row["agent"] == agent]
        trained = of_agent[0]["trained_on"]
        out.print(heading(agent + (f", trained on {trained} personas" if trained else "")))
        if "judged_by" in of_agent[0]:
            out.print(f"  judged by {of_agent[0]['judged_by']}")
        for first, others in PERSONACHAT_TABLES:
            if any(row["metric"] == first and row["value"] is not None for row in of_agent):
                _print_conditions(out, of_agent, first, others)
        for row in of_agent:
            if row["metric"] == "errors":
                out.print(f"  {row['condition']}: no reply to {_share(row['value'])} of {row['n']:,} ({row['reason']})")
    if any(row["paper"] is not None for row in rows):
        settings = document["manifest"]["settings"]
        out.print(f"Ours: {settings['split']} split. The paper's: {settings['paper']}.")
    comparisons = document["comparisons"]
    for metric in ("hits@1", "log_prob_per_word", "f1"):
        _print_comparisons([row for row in comparisons if row["metric"] == metric], "condition")


def _print_conditions(out: Screen, rows: Sequence[Document], first: str, others: Sequence[str]) -> None:
    """A line for each condition: a metric with its interval and the paper's figure, if it has any of it, and others."""
    has_paper = any(row["paper"] is not None for row in rows if row["metric"] == first)
    columns: list[Column] = [("condition", {"no_wrap": True}), (first, RIGHT), ("95%", RIGHT)]
    columns += [
        *([("paper", RIGHT)] if has_paper else []),
        *((HEADS.get(metric, metric), RIGHT) for metric in others),
        ("n", RIGHT),
    ]
    form = ".2f" if first == "perplexity" else ".3f"
    lines = []
    for condition in dict.fromkeys(row["condition"] for row in rows):
        by_metric = {row["metric"]: row for row in rows if row["condition"] == condition}
        main = by_metric[first]
        beside = [_share(by_metric[metric]["value"]) for metric in others]
        line = [condition, _share(main["value"], form), _range(main, form)]
        line += [_share(main["paper"], form)] if has_paper else []
        lines.append((*line, *beside, f"{main['n']:,}"))
    print_table(out, columns, lines)
    out.print()


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
    print_table(out, columns, lines, keys=2)


def print_profiles(document: Document) -> None:
    rows, out = document["rows"], screen()
    spoken = {"both": "either", "A": "first speaker", "B": "second speaker"}
    for scorer in dict.fromkeys(row["scorer"] for row in rows):
        of_scorer = [row for row in rows if row["scorer"] == scorer]
        out.print(heading(scorer))
        dialogues = [row for row in of_scorer if "chats" not in row]
        _print_told(out, "told from", dialogues, lambda row: spoken[row["speaker"]])
        chats = [row for row in of_scorer if "chats" in row and row["length"] == "whole"]
        for source, given in dict.fromkeys((row["chats"], row["given"]) for row in chats):
            out.print(heading(f"{scorer}, {source} (profiles shown: {given})"))
            some = [row for row in chats if (row["chats"], row["given"]) == (source, given)]
            _print_told(out, "words -> profile", some, lambda row: str(row["told"]))
    settings = document["manifest"]["settings"]
    out.print(
        f"error: not first among {settings['others']} others; pairs: another one is before it (chance .5), as the "
        f"paper counts. Ours: {settings['split']} split. The paper's: {settings['paper']}, people chatting with the "
        "Key-Value Profile Memory."
    )


def _print_told(out: Screen, head: str, rows: Sequence[Document], who: Callable[[Document], str]) -> None:
    """A line for each thing told, with both error rates."""
    columns: list[Column] = [(head, {"no_wrap": True}), ("whose", {"no_wrap": True}), ("heard", {"no_wrap": True})]
    columns += [("error", RIGHT), ("95%", RIGHT), ("pairs", RIGHT), ("95%", RIGHT), ("paper", RIGHT), ("n", RIGHT)]
    grouped: dict[tuple[str, str, str], dict[str, Document]] = {}
    for row in rows:
        whose = row["profile"] if row["unit"] == "profile" else f"{row['profile']}, sentences"
        grouped.setdefault((who(row), whose, str(row["length"])), {})[row["metric"]] = row
    lines = []
    for key, by_metric in grouped.items():
        first, pairs = by_metric["error_rate"], by_metric["pairwise_error"]
        cells = [cell for row in (first, pairs) for cell in (_share(row["value"]), _spread_of(row))]
        lines.append((*key, *cells, _share(pairs["paper"]), f"{first['n']:,}"))
    print_table(out, columns, lines, keys=3)
    out.print()


def _spread_of(row: Document) -> str:
    return "-" if row["low"] is None else f"{row['low']:.2f}..{row['high']:.2f}"


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


def print_voice(document: Document) -> None:
    rows, out = document["rows"], screen()
    for metric, said in (("spearman", "r_s with people"), ("aupr", "AUPR of finding the unfit")):
        out.print(heading(said))
        of_metric = [row for row in rows if row["metric"] == metric]
        _print_matrix(out, of_metric)
        out.print(indented(_spread(of_metric)))
        out.print()
    out.print("*** p < .001, ** p < .01, * p < .05 after Holm, over all characters and scorers.")
    for shown in ("spearman", "aupr"):
        compared = [row for row in document["comparisons"] if row["metric"] == shown]
        if compared:
            out.print(heading(f"{shown}: voice and the others (p adjusted after Holm)"))
            lines = [
                (row["agents"][1], f"{row['difference']:+.3f}", f"{row['low']:+.3f}..{row['high']:+.3f}", p_value(row))
                for row in compared
            ]
            print_table(out, ["less", ("difference", RIGHT), ("95%", RIGHT), ("p", RIGHT)], lines)
    out.print("The classifier's precision and recall and uPPL's cross-matrix are in the document: --json, or -o FILE.")


def _print_matrix(out: Screen, rows: Sequence[Document]) -> None:
    """A line for each character, a column for each scorer."""
    scorers = list(dict.fromkeys(row["scorer"] for row in rows))
    columns: list[Column] = ["character", *((scorer, RIGHT) for scorer in scorers)]
    by_cell = {(row["character"], row["scorer"]): row for row in rows}
    characters = list(dict.fromkeys(row["character"] for row in rows))
    lines = ((name, *(starred(by_cell.get((name, scorer))) for scorer in scorers)) for name in characters)
    print_table(out, columns, lines)


def _spread(rows: Sequence[Document]) -> str:
    """How far each scorer varies from character to character: a mean alone hides it."""
    spans: dict[str, list[float]] = {}
    for row in rows:
        if row["value"] is not None and not row["character"].startswith("mean"):
            spans.setdefault(row["scorer"], []).append(row["value"])
    return "by character: " + ", ".join(f"{name} {min(span):.2f} to {max(span):.2f}" for name, span in spans.items())


def starred(row: Document | None) -> str:
    """A correlation with a star for each level that its adjusted p value is below."""
    if row is None or row["value"] is None:
        return "-"
    p = row.get("p_adjusted", 1.0)
    stars = "*" * sum(p < level for level in LEVELS)
    return f"{row['value']:.3f}{stars:<{len(LEVELS)}}"


def print_overlap(document: Document) -> None:
    rows, out = document["rows"], screen()
    columns: list[Column] = [("scorer", {}), ("profiles", {}), ("against", {}), ("r_s", RIGHT), ("95%", RIGHT)]
    columns += [("AUC", RIGHT), ("95%", RIGHT), ("paper's r_s", RIGHT), ("n", RIGHT)]
    grouped: dict[tuple[str, str, str], dict[str, Document]] = {}
    for row in rows:
        grouped.setdefault((row["scorer"], row["wording"], row["reference"]), {})[row["metric"]] = row
    lines = []
    for key, by_metric in grouped.items():
        correlation, area = by_metric["spearman"], by_metric.get("auc")
        areas = ("-", "-") if area is None else (_share(area["value"]), _spread_of(area))
        figures = (starred(correlation), _spread_of(correlation), *areas, _share(correlation["paper"]))
        lines.append((*key, *figures, f"{correlation['n']:,}"))
    print_table(out, columns, lines, keys=3)
    out.print(
        "*** p < .001, ** p < .01, * p < .05 after Holm. The paper's: " + document["manifest"]["settings"]["paper"]
    )


def print_later_lines(document: Document) -> None:
    rows, out = document["rows"], screen()
    accuracy = [row for row in rows if row["metric"] == "accuracy"]
    out.print(heading("Whose line is it? accuracy"))
    _print_matrix(out, accuracy)
    error = next(row for row in rows if row["metric"] == "calibration_error")
    out.print(f"By chance {accuracy[0]['chance']:.3f}. voice's calibration error: {error['value']:.3f}.")
    out.print(heading("Could it be said yet? what anachronism finds"))
    labels = {
        "found": "later lines, said too early",
        "found_pieces": "pieces of them, said too early",
        "false_alarms": "lines at their own time (false alarms)",
    }
    columns: list[Column] = ["of", ("share", RIGHT), ("95%", RIGHT), ("n", RIGHT)]
    print_table(
        out,
        columns,
        (
            (labels[row["metric"]], _share(row["value"]), "-" if row["low"] is None else _range(row), f"{row['n']:,}")
            for row in rows
            if row["metric"] in labels
        ),
    )


def print_agreement(document: Document) -> None:
    columns: list[Column] = ["annotation", ("kappa", RIGHT), ("95%", RIGHT), ("n", RIGHT), ("paper", RIGHT), ""]
    lines = (
        (
            row["annotation"],
            "-" if row["value"] is None else f"{row['value']:.3f}",
            "-" if row["low"] is None else f"{row['low']:.3f}..{row['high']:.3f}",
            f"{row['n']:,}",
            f"{row['paper']:.3f}",
            row.get("reason", ""),
        )
        for row in document["rows"]
    )
    print_table(screen(), columns, lines)


def _share(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


def _range(row: Document, form: str = ".3f") -> str:
    if row["low"] is None:
        return "-"
    return f"{row['low']:{form}}..{row['high']:{form}}"


def p_value(row: Document) -> str:
    return "<.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"
