"""Who is taken for whom, as SVG: a table of squares for each show, coloured by how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["confusions_section"]

WIDTH = 340
LEFT, RIGHT, TOP, FOOT = 84, 38, 84, 6
LARGEST = 40  # of a square, where few are told apart
MOST = 10  # people in a table; those who are masked most come first
LONGEST_NAME = 11
STRONGEST = 0.6  # of a colour behind a number, so that the number can be read
NOTE = (
    "A line for each person, a column for each one they were taken for, with how often. Green is right; red is wrong, "
    "the stronger the larger its share of the line. People can only be confused with those they share scenes with."
)


def confusions_section(confusions: Sequence[Mapping[str, Any]]) -> str:
    """A part for each model, the one that is right most often first and open; nothing where there are none."""
    models: dict[str, list[Mapping[str, Any]]] = {}
    for one in confusions:
        models.setdefault(str(one["model"]), []).append(one)
    parts = []
    for place, model in enumerate(sorted(models, key=lambda name: -_right(models[name]))):
        panels = "".join(_panel(one) for one in models[model])
        opened = " open" if place == 0 else ""
        parts.append(
            f"<details{opened}><summary>{escape(model)}</summary><div class='panels'>{panels}</div></details>\n"
        )
    return f"<section><h2>Who is taken for whom</h2><p>{NOTE}</p>{''.join(parts)}</section>\n" if parts else ""


def _right(confusions: Sequence[Mapping[str, Any]]) -> float:
    hits = sum(line[place] for one in confusions for place, line in enumerate(one["counts"]))
    return float(hits / max(1, sum(sum(line) for one in confusions for line in one["counts"])))


def _panel(confusion: Mapping[str, Any]) -> str:
    names: Sequence[str] = confusion["names"][:MOST]
    totals = [sum(line) for line in confusion["counts"]]  # of the whole line, those left out included
    counts = [line[:MOST] for line in confusion["counts"][:MOST]]
    size = min(LARGEST, (WIDTH - LEFT - RIGHT) / max(1, len(names)))
    shares = [[count / total if total else 0.0 for count in line] for line, total in zip(counts, totals)]
    wrong = max((share for a, line in enumerate(shares) for b, share in enumerate(line) if a != b), default=0.0)
    title = str(confusion["show"]).replace("_", " ")
    heads = "".join(_heads(name, place, size) for place, name in enumerate(names))
    cells = "".join(
        _cell(names, a, b, counts[a][b], totals[a], shares[a][b] / ((wrong or 1.0) if a != b else 1.0), size)
        for a in range(len(names))
        for b in range(len(names))
    )
    told = "; ".join(f"{name} {counts[place][place]} of {totals[place]} right" for place, name in enumerate(names))
    height = round(TOP + size * len(names) + FOOT)
    return (
        f'<svg class="panel" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(f"{title}: {told}")}">'
        f'<text class="title" x="2" y="16">{escape(title)}</text>{heads}{cells}</svg>'
    )


def _heads(name: str, place: int, size: float) -> str:
    shown = escape(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…")
    x, y = round(LEFT + size * (place + 0.5) + 4, 1), round(TOP + size * (place + 0.5) + 4, 1)
    return (
        f'<text class="axis" transform="translate({x} {TOP - 6}) rotate(-45)">{shown}</text>'
        f'<text class="axis" x="{LEFT - 6}" y="{y}" text-anchor="end">{shown}</text>'
    )


def _cell(names: Sequence[str], a: int, b: int, count: int, total: int, strength: float, size: float) -> str:
    x, y = round(LEFT + size * b, 1), round(TOP + size * a, 1)
    colour = "right" if a == b else "wrong"
    told = f"{names[a]} told" if a == b else f"{names[a]} taken for {names[b]}"
    number = (
        f'<text class="count" x="{round(x + size / 2, 1)}" y="{round(y + size / 2 + 4, 1)}" '
        f'text-anchor="middle">{count}</text>'
    )
    return (
        f'<rect class="grid" x="{x}" y="{y}" width="{size:.1f}" height="{size:.1f}" '
        f'style="fill:var(--{colour});fill-opacity:{STRONGEST * strength:.3f}">'
        f"<title>{escape(told)}: {count} of {total}</title></rect>{number if count else ''}"
    )
