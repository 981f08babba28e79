"""The results of `guess`, `bench guess` and `voices`, as tables on a terminal of any width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from understudy.cli.bench_tables import RIGHT, p_value
from understudy.cli.show import Column, bar, clean, heading, indented, print_table, screen, short

__all__ = ["print_guess", "print_voices"]

Document = dict[str, Any]
ALL = "all"
PEOPLE = "people"  # the row of those who were asked: no model
LONGEST = 9  # letters of a name at the head of a column
WIDE = 24
MOST = 8  # people in a table of who is taken for whom
CUTS = (
    ("coarse_evidence", "evidence, when people told them"),
    ("evidence", "evidence, more finely"),
    ("history", "what history it took"),
    ("reasoning", "what reasoning it took"),
)
SHOWN = 110  # letters of a line
CLUES = {"joint": "all clues", "words alone": "their words alone"}


def print_guess(document: Document) -> None:
    """By show for all models; the rest for the one that is right most often."""
    rows, out = document["rows"], screen()
    overall = [
        row
        for row in rows
        if (row["metric"], row.get("show")) == ("accuracy", ALL) and row["model"] != PEOPLE and row["value"] is not None
    ]
    best = max(overall, key=lambda row: row["value"])["model"] if overall else None
    _by_show(rows)
    _by_speakers(rows)
    ours = [row for row in rows if row["model"] == best]
    _by_character(ours)
    for name, said in CUTS:
        _by_cut([row for row in ours if row["metric"] == f"accuracy_by_{name}"], name, f"{best}: {said}")
    _confusions([confusion for confusion in document["confusions"] if confusion["model"] == best])
    _comparisons(document["comparisons"], best)
    _history(rows)
    out.print("Intervals draw whole scenes. All models, counts and flows are in the document: --json, or -o FILE.")


def _by_show(rows: Sequence[Document]) -> None:
    """A line for each model, a column for each show; beneath it the paper's, where it has such a model."""
    accuracies = [row for row in rows if row["metric"] == "accuracy"]
    shows = [*dict.fromkeys(row["show"] for row in accuracies if row["show"] != ALL), ALL]
    lines: list[tuple[str, ...]] = []
    for model in dict.fromkeys(row["model"] for row in accuracies):
        of_model = {row["show"]: row for row in accuracies if row["model"] == model}
        judged = any(row["value"] is not None for row in of_model.values())
        if judged:
            lines.append((short(model, WIDE), *_cells(of_model, shows, "value"), _range(of_model.get(ALL))))
        if any(row["paper"] is not None for row in of_model.values()):
            named = "  the paper's" if judged else f"{short(model, WIDE)}, paper"
            lines.append((named, *_cells(of_model, shows, "paper"), ""))
    counts = {row["show"]: row["n"] for row in reversed(accuracies) if row["value"] is not None}
    if lines:
        lines.append(("speakers", *(f"{counts.get(show, 0):,}" for show in shows), ""))
    columns: list[Column] = [("model", {}), *((_head(show), RIGHT) for show in shows), ("95%", RIGHT)]
    _print("Accuracy by show", columns, lines)


def _by_speakers(rows: Sequence[Document]) -> None:
    by_crowd = [row for row in rows if row["metric"] == "accuracy_by_speakers" and row["show"] == ALL]
    crowds = sorted({row["speakers"] for row in by_crowd})
    scenes = [row for row in rows if row["metric"] == "scene_accuracy" and row["show"] == ALL]
    lines = []
    for row in scenes:
        of_model = {cell["speakers"]: cell for cell in by_crowd if cell["model"] == row["model"]}
        lines.append((short(row["model"], WIDE), _share(row["value"]), *_cells(of_model, crowds, "value")))
    columns: list[Column] = [("model", {}), ("of scenes", RIGHT), *((f"{crowd} speak", RIGHT) for crowd in crowds)]
    _print("Mean over scenes, and accuracy by number of speakers", columns, lines)


def _by_character(rows: Sequence[Document]) -> None:
    """For each show a line of its people, those told best first."""
    accuracies = [row for row in rows if row["metric"] == "accuracy_by_character"]
    lines = []
    for show in dict.fromkeys(row["show"] for row in accuracies):
        people = sorted((row for row in accuracies if row["show"] == show), key=lambda row: -row["value"])
        lines.append((_plain(show), ", ".join(f"{row['character']} {_share(row['value'])}" for row in people)))
    if lines:
        _print(f"{rows[0]['model']}: by character", [("show", {"no_wrap": True}), ("accuracy", {})], lines)


def _by_cut(rows: Sequence[Document], name: str, title: str) -> None:
    """A line for each group, a column for each show that has annotations."""
    shows = [*dict.fromkeys(row["show"] for row in rows if row["show"] != ALL), ALL]
    by_label = {(row[name], row["show"]): row for row in rows}
    lines = []
    for label in dict.fromkeys(row[name] for row in rows):
        overall = by_label[label, ALL]
        cells = _cells({show: by_label.get((label, show)) for show in shows}, shows, "value")
        lines.append((label, *cells, _range(overall), f"{overall['n']:,}"))
    columns: list[Column] = [(name.replace("_", " "), {}), *((_head(show), RIGHT) for show in shows)]
    _print(title, [*columns, ("95%", RIGHT), ("n", RIGHT)], lines)


def _confusions(confusions: Sequence[Document]) -> None:
    """Who they were by line, whom they were taken for by column."""
    for confusion in confusions:
        names = confusion["names"][:MOST]
        columns: list[Column] = [("who", {}), *((short(name, LONGEST), RIGHT) for name in names)]
        lines = [
            (short(name, WIDE), *(str(count or "-") for count in counts[:MOST]))
            for name, counts in zip(names, confusion["counts"])
        ]
        cut = f", the {MOST} masked most" if len(confusion["names"]) > MOST else ""
        _print(f"{confusion['model']}: who is taken for whom in {_plain(confusion['show'])}{cut}", columns, lines)


def _comparisons(comparisons: Sequence[Document], best: str | None) -> None:
    lines = []
    for row in comparisons:
        first, second = row["agents"]
        if best in (first, second):
            sign = 1 if first == best else -1
            low, high = sorted((sign * row["low"], sign * row["high"]))
            rival = second if first == best else first
            lines.append((rival, f"{sign * row['difference']:+.3f}", f"{low:+.3f}..{high:+.3f}", p_value(row)))
    columns: list[Column] = [("less", {}), ("difference", RIGHT), ("95%", RIGHT), ("p", RIGHT)]
    _print(f"{best} and the others, paired over scenes (p adjusted after Holm)", columns, lines)


def _history(rows: Sequence[Document]) -> None:
    gains = [row for row in rows if row["metric"] == "history_gain"]
    lines = [
        (row["history"], _share(row["value"], "+.3f"), _range(row, "+.3f"), _p(row), f"{row['n']:,}") for row in gains
    ]
    columns: list[Column] = [("history", {}), ("gain", RIGHT), ("95%", RIGHT), ("p", RIGHT), ("n", RIGHT)]
    if gains:
        _print(f"What history adds: {gains[0]['model']} less {gains[0]['without']}", columns, lines)
    recalls = [row for row in rows if row["metric"].startswith("history_recall@")]
    if recalls:
        cells = (
            (row["metric"], row["model"], _share(row["value"]), _range(row), row.get("reason", "")) for row in recalls
        )
        _print("Earlier scenes found", ["", "found by", ("recall", RIGHT), ("95%", RIGHT), ""], cells, keys=2)


def print_voices(document: Document, most: int) -> None:
    out = screen()
    by_model = {row["model"]: row for row in document["rows"] if row["metric"] == "accuracy" and row["show"] != "all"}
    out.print(heading(f"{document['story']}: who can be told apart"))
    for model, row in by_model.items():
        by = CLUES.get(model, model)
        if row["value"] is None:
            out.print(indented(f"no figure for {by}: {row.get('reason') or 'nothing was asked'}"))
            continue
        low = "" if row["low"] is None else f" ({row['low']:.2f}-{row['high']:.2f})"
        out.print(indented(f"{row['value']:.2f}{low} of {row['n']} parts told right by {by}"))
    rows = [
        (f"{pair['pair'][0]}, {pair['pair'][1]}", bar(min(2 * pair["alike"], 1.0), 12), f"{pair['alike']:.2f}",
         f"{pair['told_apart']:.2f}")
        for pair in document["pairs"][:most] if pair["alike"] is not None
    ]  # fmt: skip
    unheard = [pair for pair in document["pairs"][:most] if pair["alike"] is None]
    out.print(heading("\nThe most alike (0.5: nobody could tell)"))
    print_table(out, ["pair", "", ("alike", RIGHT), ("told apart", RIGHT)], rows)
    for pair in unheard:
        out.print(indented(f"{', '.join(pair['pair'])}: {pair['reason']}"))
    for pair in document["pairs"][:most]:
        if not pair["lines"]:
            continue
        out.print(heading(f"\n{pair['pair'][0]} and {pair['pair'][1]}"))
        for line in pair["lines"]:
            out.print(indented(f"{line['moment']} {line['who']}, taken for {line['taken_for']} ({line['share']:.2f}): "
                               f"{clean(short(line['text'], SHOWN))}"))  # fmt: skip
        for who, terms in pair["terms"].items():
            if terms:
                out.print(indented(Text(f"only {who}: {', '.join(terms)}", "dim")))


def _print(title: str, columns: Sequence[Column], lines: Iterable[Sequence[str]], keys: int = 1) -> None:
    lines = list(lines)
    if lines:
        out = screen()
        out.print(heading(title))
        print_table(out, columns, lines, keys=keys)
        out.print()


def _cells(rows: Mapping[Any, Document | None], keys: Sequence[Any], what: str) -> list[str]:
    return [_share(row[what]) if (row := rows.get(key)) else "-" for key in keys]


def _share(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


def _range(row: Document | None, form: str = ".3f") -> str:
    if row is None or row["low"] is None:
        return "-"
    return f"{row['low']:{form}}..{row['high']:{form}}"


def _p(row: Document) -> str:
    return p_value(row) if "p_adjusted" in row else "-"


def _plain(show: str) -> str:
    return show.replace("_", " ")


def _head(show: str) -> str:
    """A show's name where there is room for a few letters: its initials if it is long."""
    words = _plain(show).split()
    return _plain(show) if len(show) <= LONGEST else "".join(word[0].upper() for word in words)
