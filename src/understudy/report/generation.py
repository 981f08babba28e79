"""What generative agents said, beside what was right, and the prompts of those that write with a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["FAMILIES", "prompts_section", "question", "samples_section"]

Row = Mapping[str, Any]

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


def question(row: Row) -> str:
    """Who is asked, what they were told of themselves and the other, and what was said so far."""
    profiles = "".join(
        f"<p class='who'>{escape(who)}</p><ul>{''.join(f'<li>{escape(text)}</li>' for text in row[key])}</ul>"
        for who, key in ((f"{row['speaker']} is told to be", "persona"), ("and faces somebody who is", "partner"))
        if row.get(key)
    )
    turns = "".join(
        f"<p class='{'own' if speaker == row['speaker'] else 'turn'}'><b>{escape(speaker)}</b> {escape(text)}</p>"
        for speaker, text in row["history"]
    )
    return f"{profiles}<div class='talk'>{turns or '<p class=turn><i>nothing has been said yet</i></p>'}</div>"


def samples_section(samples: Sequence[Row]) -> str:
    """The first replies of each agent; nothing where none replied."""
    if not samples:
        return ""
    agents = []
    for index, agent in enumerate(dict.fromkeys(str(row["agent"]) for row in samples)):
        cards = "".join(_sample(row) for row in samples if row["agent"] == agent)
        opened = "" if index else " open"
        agents.append(f"<details{opened}><summary>{escape(agent)}</summary><div class='cards'>{cards}</div></details>")
    return f"<section><h2>Replies in their own words</h2>{''.join(agents)}</section>\n"


def _sample(row: Row) -> str:
    return (
        f"<article><h3>{escape(row['item'])} <small>{escape(row['condition'])}, F1 {row['f1']:.3f}</small></h3>"
        f"{question(row)}<p class='right'><b>right</b> {escape(row['gold'])}</p>"
        f"<p class='said'><b>said</b> {escape(row['reply'])}</p></article>"
    )


def prompts_section(agents: Mapping[str, Row | None]) -> str:
    """What agents that write were told for the first question; nothing where none writes."""
    prompts = {name: card["prompt"] for name, card in agents.items() if card and card.get("prompt")}
    if not prompts:
        return ""
    details = "".join(
        f"<details><summary>{escape(name)}</summary>{''.join(_message(message) for message in messages)}</details>"
        for name, messages in prompts.items()
    )
    note = "What was sent to the language model for the first question."
    return f"<section><h2>Prompts</h2><p>{note}</p>{details}</section>\n"


def _message(message: Mapping[str, str]) -> str:
    return f"<p class='who'>{escape(message['role'])}</p><pre>{escape(message['content'])}</pre>"
