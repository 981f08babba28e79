"""A bench's document as one HTML file: figures with intervals, significance, mistakes, replies, prompts, manifest.

The file needs nothing from anywhere: plots are inline SVG, styles are inline, there is no script. Whatever came from
data is escaped. It follows the reader's light or dark setting and is made for a phone's width as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from understudy.bench.report.charts import (
    FAMILIES,
    Bar,
    curves_section,
    learning_section,
    panel,
    prompts_section,
    question,
    samples_section,
)
from understudy.bench.report.forest import forest_section
from understudy.bench.report.guessing import confusions_section, flows_section
from understudy.bench.report.page import legend, page, table

__all__ = ["html_report"]

Row = Mapping[str, Any]

FIGURES = ("metric", "value", "low", "high", "n", "paper", "reason")
BESIDES = (
    "agent",
    "scorer",
    "reader",
    "model",
    "measure",
    "without",
    "split",
    "trained_on",
    "judged_by",
    "p",
    "p_adjusted",
    "chance",
)  # they describe the agent, not what it was judged on
UNLABELLED = (
    "condition",
    "set",
    "show",
    "file",
    "character",
    "evidence",
    "coarse_evidence",
)  # shown without their key
SHOWN_FIRST = 1  # metrics whose plot is open; the others are a click away
SIGNIFICANT = 0.05
LARGE = 10  # from which on two digits behind the point tell as much


def html_report(document: Mapping[str, Any], title: str) -> str:
    """The report of a bench's document (`rows` and `manifest`; `curves`, `confusions`, `flows`, `comparisons`,
    `mistakes` and `reply_samples` where it has them)."""
    rows: Sequence[Row] = document["rows"]
    manifest: Mapping[str, Any] = document["manifest"]
    parts = [
        _opening(title, rows, manifest),
        forest_section(rows),
        _plots([row for row in rows if "measure" not in row]),
        curves_section(document.get("curves", ())),
        learning_section(document.get("learning", ())),
        confusions_section(document.get("confusions", ())),
        flows_section(document.get("flows", ())),
        _figures(rows),
        _comparisons(document.get("comparisons", ())),
        _mistakes(document.get("mistakes", ())),
        samples_section(document.get("reply_samples", ())),
        prompts_section(manifest.get("agents") or {}),
        _manifest(manifest),
    ]
    return page(title, parts)


def _opening(title: str, rows: Sequence[Row], manifest: Mapping[str, Any]) -> str:
    settings = manifest.get("settings", {})
    facts = [f"Understudy {manifest.get('version', '')}", f"seed {manifest.get('seed')}"]
    if rows:
        facts.append(f"{max(row['n'] for row in rows):,} items")
    if settings.get("split"):
        facts.append(f"{settings['split']} split")
    line = " · ".join(escape(str(fact)) for fact in facts)
    paper = ""
    if settings.get("paper") and any(row.get("paper") is not None for row in rows):
        paper = (
            f"<p>The paper's figures are of another set than ours: {escape(str(settings['paper']))}. "
            "They stand beside ours to show where a model is at home, not to be matched to the third digit.</p>"
        )
    return f"<header><h1>{escape(title)}</h1><p class='facts'>{line}</p>{paper}</header>\n"


def _plots(rows: Sequence[Row]) -> str:
    """For each metric that has intervals, a panel for each thing judged on."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows if row.get("low") is not None))
    drawn = [row for row in rows if row["value"] is not None and row["metric"] in metrics]
    agents = list(dict.fromkeys(_agent(row) for row in drawn))
    papers = any(row.get("paper") is not None for row in rows)
    tick = '<li><svg viewBox="0 0 12 12" aria-hidden="true"><path class="paper" d="M6 0V12"/></svg>the paper</li>'
    key = legend(agents, tick if papers else "")
    sections = []
    for index, metric in enumerate(metrics):
        ours = [row for row in rows if row["metric"] == metric and row["value"] is not None]
        top = max(max(row["high"] or 0, row["value"], row.get("paper") or 0) for row in ours)
        bottom = min(0.0, *(row["value"] if row["low"] is None else row["low"] for row in ours))
        panels = "".join(
            panel(
                what,
                [
                    Bar(_agent(row), row["value"], row["low"], row["high"], row.get("paper"), agents.index(_agent(row)))
                    for row in group
                ],
                top,
                bottom,
            )
            for what, group in _by(ours, _judged)
        )
        opened = " open" if index < SHOWN_FIRST else ""
        sections.append(
            f"<details{opened}><summary>{escape(metric)}</summary><div class='panels'>{panels}</div></details>\n"
        )
    if not sections:
        return ""
    return f"<section><h2>Figures</h2>{key}{''.join(sections)}</section>"


def _figures(rows: Sequence[Row]) -> str:
    """Tables for each kind of thing judged; a click away where there are several, but for the first."""
    kinds = [(kind, _figures_tables(group)) for kind, group in _by(rows, lambda row: ", ".join(_judged_keys(row)))]
    tables = [
        f"<details{'' if index else ' open'}><summary>by {_text(kind or 'agent')}</summary>{table}</details>"
        if len(kinds) > 1
        else table
        for index, (kind, table) in enumerate(kinds)
    ]
    return f"<section><h2>All figures</h2>{''.join(tables)}</section>\n"


def _figures_tables(rows: Sequence[Row]) -> str:
    """A table for each family of metrics; who has no figure of a family stands below its table, with the reason."""
    tables = []
    for family, of_family in _by(rows, lambda row: FAMILIES.get(str(row["metric"]), "")):
        valued = {_agent(row) for row in of_family if row["value"] is not None or row.get("paper") is not None}
        if not valued and family:
            continue
        shown = [row for row in of_family if not family or _agent(row) in valued]
        reasons = {_agent(row): row.get("reason") for row in of_family if family and _agent(row) not in valued}
        notes = "".join(f"<p class='who'>{_text(agent)}: {_text(reason)}</p>" for agent, reason in reasons.items())
        tables.append(f"{f'<h3>{_text(family)}</h3>' if family else ''}{_figures_table(shown, bool(family))}{notes}")
    return "".join(tables)


def _figures_table(rows: Sequence[Row], below: bool) -> str:
    """A line for each agent on each thing judged, a column for each metric that somebody, or the paper, has a value of.

    The paper's figure stands in a column of its own, or `below` ours where a line has several.
    """
    valued = list(
        dict.fromkeys(str(row["metric"]) for row in rows if row["value"] is not None or row.get("paper") is not None)
    )
    metrics = valued or list(dict.fromkeys(str(row["metric"]) for row in rows))
    groups = [(judged, agent, group) for judged, of_it in _by(rows, _judged) for agent, group in _by(of_it, _agent)]
    papers = [[row for row in group if row.get("paper") is not None] for _, _, group in groups]
    below = below or any(len(with_paper) > 1 for with_paper in papers)
    lines, last = [], ""
    for (judged, agent, group), with_paper in zip(groups, papers):
        by_metric = {row["metric"]: row for row in group}
        notes = dict.fromkeys(str(note) for row in group if (note := row.get("reason") or row.get("judged_by")))
        trained = group[0].get("trained_on")
        line = [
            "" if judged == last else _text(judged),
            _text(agent + (f" (trained on {trained})" if trained else "")),
        ]
        line += [_cell(by_metric.get(metric), below) for metric in metrics]
        theirs = "" if below else ", ".join(_number(row["paper"]) for row in with_paper)
        count = max(row["n"] for row in group)
        lines.append([*line, _text(f"{count:,}"), _text(theirs), _text("; ".join(notes))])
        last = judged
    heads = ("judged on", "agent", *metrics, "items", "paper", "")
    filled = [index for index in range(len(heads)) if any(line[index] for line in lines)]
    numbers = [index for index, column in enumerate(filled) if 1 < column < len(metrics) + 4]
    return table([heads[index] for index in filled], [[line[index] for index in filled] for line in lines], numbers)


def _cell(row: Row | None, with_paper: bool = False) -> str:
    if row is None or row["value"] is None:
        has_paper = row is not None and with_paper and row.get("paper") is not None
        return f"–<br><small>paper {_number(row['paper'])}</small>" if row is not None and has_paper else "–"
    spread = "" if row.get("low") is None else f"<br><small>{_number(row['low'])} – {_number(row['high'])}</small>"
    paper = f"<br><small>paper {_number(row['paper'])}</small>" if with_paper and row.get("paper") is not None else ""
    return f"{_number(row['value'])}{spread}{paper}"


def _comparisons(comparisons: Sequence[Row]) -> str:
    if not comparisons:
        return ""
    tables = []
    for index, (metric, group) in enumerate(_by(comparisons, lambda row: str(row["metric"]))):
        lines = (
            (
                _text(row.get("condition") or row.get("set") or ""),
                _text(f"{row['agents'][0]} – {row['agents'][1]}"),
                f"{row['difference']:+.4f}",
                f"{row['low']:+.4f} – {row['high']:+.4f}",
                _text(_p(row["p_adjusted"])),
                "differ" if row["p_adjusted"] < SIGNIFICANT else "not shown to differ",
            )
            for row in group
        )
        heads = ("judged on", "agents", "difference", "95% interval", "p, adjusted", "")
        opened = " open" if index < SHOWN_FIRST else ""
        shown = table(heads, lines, numbers=(2, 3, 4))
        tables.append(f"<details{opened}><summary>{escape(metric)}</summary>{shown}</details>")
    note = (
        "Agents two by two on the same items: paired randomisation test over dialogues or scenes, p values adjusted "
        "after Holm for all comparisons of a metric."
    )
    return f"<section><h2>Significance</h2><p>{note}</p>{''.join(tables)}</section>\n"


def _mistakes(mistakes: Sequence[Row]) -> str:
    if not mistakes:
        return ""
    agents = []
    for index, (agent, group) in enumerate(_by(mistakes, _agent)):
        opened = " open" if index == 0 else ""
        cards = "".join(_mistake(row) for row in group)
        agents.append(f"<details{opened}><summary>{escape(agent)}</summary><div class='cards'>{cards}</div></details>")
    return f"<section><h2>The worst mistakes</h2>{''.join(agents)}</section>\n"


def _mistake(row: Row) -> str:
    return (
        f"<article><h3>{escape(row['item'])} <small>{escape(row['condition'])}, the right reply came "
        f"{row['gold_rank']} of {row['candidates']}</small></h3>{question(row)}"
        f"<p class='right'><b>right</b> {escape(row['gold'])} <small>{row['gold_score']:.4g}</small></p>"
        f"<p class='wrong'><b>chosen</b> {escape(row['chosen'])} <small>{row['chosen_score']:.4g}</small></p></article>"
    )


def _manifest(manifest: Mapping[str, Any]) -> str:
    """All of it but prompts, which have a section of their own."""
    agents = {
        name: {key: value for key, value in card.items() if key != "prompt"} if isinstance(card, Mapping) else card
        for name, card in (manifest.get("agents") or {}).items()
    }
    shown = table(("what", "value"), _flat({**manifest, **({"agents": agents} if agents else {})}))
    return f"<section class='manifest'><h2>Manifest</h2>{shown}</section>\n"


def _flat(mapping: Mapping[str, Any], before: str = "", depth: int = 2) -> Iterable[tuple[str, str]]:
    for key, value in mapping.items():
        if isinstance(value, Mapping) and value and depth:
            yield from _flat(value, f"{before}{key} / ", depth - 1)
        elif value is not None and value != {}:
            yield _text(f"{before}{key}"), _text(_inline(value))


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {_inline(inner)}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _by(rows: Iterable[Row], key: Any) -> Iterable[tuple[str, list[Row]]]:
    """Rows in groups, in the order in which the groups first appear."""
    order: dict[str, int] = {}
    ordered = sorted(rows, key=lambda row: order.setdefault(key(row), len(order)))
    return [(what, list(group)) for what, group in groupby(ordered, key=key)]


def _text(what: object) -> str:
    return escape(str(what))


def _agent(row: Row) -> str:
    return str(next((row[key] for key in ("agent", "scorer", "reader", "model", "measure") if row.get(key)), ""))


def _judged(row: Row) -> str:
    """What an agent was judged on: whatever a row says that is neither the agent nor a figure."""
    labels = [value if key in UNLABELLED else f"{key} {value}" for key, value in _judged_keys(row).items()]
    return ", ".join(map(str, labels)) or "all"


def _judged_keys(row: Row) -> dict[str, Any]:
    keys = {key: value for key, value in row.items() if key not in (*FIGURES, *BESIDES) and value is not None}
    return keys | ({"show": str(keys["show"]).replace("_", " ")} if "show" in keys else {})


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}" if abs(value) < LARGE else f"{value:.2f}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
