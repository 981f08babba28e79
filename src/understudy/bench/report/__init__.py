"""A bench's document as one HTML file: figures with intervals, significance, mistakes, replies, prompts, manifest.

The file needs nothing from anywhere: plots are inline SVG, styles are inline, there is no script. Whatever came from
data is escaped. It follows the reader's light or dark setting and is made for a phone's width as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from understudy.bench.report.charts import (
    Bar,
    confusions_section,
    curves_section,
    flows_section,
    forest_section,
    learning_section,
    panel,
)
from understudy.bench.report.page import foldable, legend, page, section, table

Row = Mapping[str, Any]

FIGURES = ("metric", "value", "low", "high", "n", "paper", "reason")
AGENTS = ("agent", "scorer", "reader", "model", "measure")
BESIDES = (*AGENTS, "without", "split", "trained_on", "judged_by", "p", "p_adjusted", "chance")
"""They describe the agent, not what it was judged on."""
UNLABELLED = ("condition", "set", "show", "file", "character", "evidence", "coarse_evidence")
"""Shown without their key."""
FAMILIES = {
    **dict.fromkeys(
        ("perplexity", "perplexity_per_token", "hits@1_per_token", "delta-p", "delta-p_of_sets"),
        "How probable the right reply is",
    ),
    **dict.fromkeys(
        ("f1", "bleu", "dist-1", "dist-2", "rep", "mauve", "delta-m", "errors"), "What the replies are like"
    ),
    **dict.fromkeys(("rep_turn", "p_f1", "p_cover", "contradicts"), "How the replies fit the talk and the persona"),
}
"""Metrics that stand in a table of their own, which has this title: together they would be too wide."""
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
        _cards("The worst mistakes", document.get("mistakes", ()), _mistake),
        _cards("Replies in their own words", document.get("reply_samples", ()), _sample),
        _prompts(manifest.get("agents") or {}),
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
    parts = []
    for metric in metrics:
        ours = [row for row in rows if row["metric"] == metric and row["value"] is not None]
        top = max(max(row["high"] or 0, row["value"], row.get("paper") or 0) for row in ours)
        bottom = min(0.0, *(row["value"] if row["low"] is None else row["low"] for row in ours))
        panels = (panel(what, [_bar(row, agents) for row in group], top, bottom) for what, group in _by(ours, _judged))
        parts.append((metric, "".join(panels)))
    return section("Figures", key, foldable(parts, "panels")) if parts else ""


def _bar(row: Row, agents: Sequence[str]) -> Bar:
    agent = _agent(row)
    return Bar(agent, row["value"], row["low"], row["high"], row.get("paper"), agents.index(agent))


def _figures(rows: Sequence[Row]) -> str:
    """Tables for each kind of thing judged; a click away where there are several, but for the first."""
    kinds = [(f"by {kind or 'agent'}", _figures_tables(group)) for kind, group in _by(rows, _kind)]
    return section("All figures", kinds[0][1] if len(kinds) == 1 else foldable(kinds))


def _kind(row: Row) -> str:
    return ", ".join(_judged_keys(row))


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
        line = ["" if judged == last else _text(judged), _text(agent + (f" (trained on {trained})" if trained else ""))]
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
    note = (
        "Agents two by two on the same items: paired randomisation test over dialogues or scenes, p values adjusted "
        "after Holm for all comparisons of a metric."
    )
    heads = ("judged on", "agents", "difference", "95% interval", "p, adjusted", "")
    tables = (
        (metric, table(heads, map(_comparison, group), numbers=(2, 3, 4)))
        for metric, group in _by(comparisons, lambda row: str(row["metric"]))
    )
    return section("Significance", foldable(tables), note=note)


def _comparison(row: Row) -> tuple[str, ...]:
    return (
        _text(row.get("condition") or row.get("set") or ""),
        _text(f"{row['agents'][0]} – {row['agents'][1]}"),
        f"{row['difference']:+.4f}",
        f"{row['low']:+.4f} – {row['high']:+.4f}",
        _text(_p(row["p_adjusted"])),
        "differ" if row["p_adjusted"] < SIGNIFICANT else "not shown to differ",
    )


def _cards(title: str, rows: Sequence[Row], card: Callable[[Row], str]) -> str:
    """A card for each row, agent by agent."""
    return section(title, foldable(((agent, "".join(map(card, group))) for agent, group in _by(rows, _agent)), "cards"))


def _mistake(row: Row) -> str:
    head = f"{row['condition']}, the right reply came {row['gold_rank']} of {row['candidates']}"
    return _card(
        row, head,
        f"<p class='right'><b>right</b> {escape(row['gold'])} <small>{row['gold_score']:.4g}</small></p>"
        f"<p class='wrong'><b>chosen</b> {escape(row['chosen'])} <small>{row['chosen_score']:.4g}</small></p>",
    )  # fmt: skip


def _sample(row: Row) -> str:
    """What a generative agent said, beside what was right."""
    return _card(
        row, f"{row['condition']}, F1 {row['f1']:.3f}",
        f"<p class='right'><b>right</b> {escape(row['gold'])}</p>"
        f"<p class='said'><b>said</b> {escape(row['reply'])}</p>",
    )  # fmt: skip


def _card(row: Row, head: str, answers: str) -> str:
    """Who is asked, what they were told of themselves and the other, what was said so far, and what was answered."""
    profiles = "".join(
        f"<p class='who'>{escape(who)}</p><ul>{''.join(f'<li>{escape(text)}</li>' for text in row[key])}</ul>"
        for who, key in ((f"{row['speaker']} is told to be", "persona"), ("and faces somebody who is", "partner"))
        if row.get(key)
    )
    turns = "".join(
        f"<p class='{'own' if speaker == row['speaker'] else 'turn'}'><b>{escape(speaker)}</b> {escape(text)}</p>"
        for speaker, text in row["history"]
    )
    talk = f"<div class='talk'>{turns or '<p class=turn><i>nothing has been said yet</i></p>'}</div>"
    title = f"<h3>{escape(row['item'])} <small>{escape(head)}</small></h3>"
    return f"<article>{title}{profiles}{talk}{answers}</article>"


def _prompts(agents: Mapping[str, Row | None]) -> str:
    """What agents that write were told for the first question; nothing where none writes."""
    details = "".join(
        f"<details><summary>{escape(name)}</summary>{''.join(map(_message, card['prompt']))}</details>"
        for name, card in agents.items()
        if card and card.get("prompt")
    )
    return section("Prompts", details, note="What was sent to the language model for the first question.")


def _message(message: Mapping[str, str]) -> str:
    return f"<p class='who'>{escape(message['role'])}</p><pre>{escape(message['content'])}</pre>"


def _manifest(manifest: Mapping[str, Any]) -> str:
    """All of it but prompts, which have a section of their own."""
    agents = {
        name: {key: value for key, value in card.items() if key != "prompt"} if isinstance(card, Mapping) else card
        for name, card in (manifest.get("agents") or {}).items()
    }
    shown = table(("what", "value"), _flat({**manifest, **({"agents": agents} if agents else {})}))
    return section("Manifest", shown, class_="manifest")


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
    return str(next((row[key] for key in AGENTS if row.get(key)), ""))


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
