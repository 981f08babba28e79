"""The figures made of an agent's replies.

    f1, bleu            against the right replies of the question
    dist-1, dist-2      how varied all replies together are
    rep, rep_turn       n-grams said twice in a reply; what the speaker has said before, said again
    mauve               how near the replies are as a distribution to the right ones, by the shipped encoder
    p_f1, p_cover       words shared with the persona's profile, as far as the agent was shown one
    contradicts         share of replies whose `contradiction` with that profile is .9 or more, from where on it tells
                        contradictions from right replies (docs/metrics.md)
    errors              share of the questions that the agent failed on, where it did; they are in no other figure

The formulas stand in `metrics.generation`, `metrics.mauve`, `metrics.overlap` and `metrics.contradiction`. Words weigh
in p_cover by how often they are in the right replies of the set. Figures of single replies are means over those that
have a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from understudy.bench.generation.replies import GeneratedReply
from understudy.bench.items import groups_of
from understudy.metrics.contradiction import contradiction
from understudy.metrics.generation import (
    corpus_bleu,
    distinct,
    reference_f1,
    repeated_share,
    repeats_turn,
    tokenize_replies,
)
from understudy.metrics.mauve import Encode, mauve
from understudy.metrics.overlap import corpus_ranks, p_cover, p_f1
from understudy.metrics.samples import Samples
from understudy.metrics.statistics import Interval, interval
from understudy.story.dialogue import Example
from understudy.story.persona import Persona

__all__ = [
    "NO_REPLIES",
    "REPLY_METRICS",
    "Figure",
    "PaperFigure",
    "Row",
    "figure_row",
    "no_paper",
    "reply_items",
    "reply_rows",
    "right_replies",
]

# A row of a bench: a figure with its interval, or the reason why there is none.

Row = dict[str, Any]
Figure = tuple[Interval, int] | str
"""A value with its interval and of how many items it is; or the reason why it cannot be had."""
PaperFigure = Callable[[str], float | None]
"""The paper's figure for a metric, None where it has none."""


def no_paper(metric: str) -> None:
    """For what no paper has figures of."""


def figure_row(what: Mapping[str, Any], metric: str, figure: Figure, paper: float | None = None) -> Row:
    """`what` says what was judged: agent, condition and so on."""
    if isinstance(figure, str):
        cells: Row = {"value": None, "low": None, "high": None, "n": 0, "paper": paper, "reason": figure}
    else:
        cells = {**figure[0]._asdict(), "n": figure[1], "paper": paper}
    return {**what, "metric": metric, **cells}


Marks = dict[str, list[float | None]]
Answered = Sequence[tuple[Example, str]]

REPLY_METRICS = ("f1", "bleu", "dist-1", "dist-2", "rep", "rep_turn", "mauve", "p_f1", "p_cover", "contradicts")
OF_TEXT = ("f1", "rep", "rep_turn")
OF_PROFILE = ("p_f1", "p_cover", "contradicts")
CONTRADICTION = 0.9
MAUVE_TEXTS = (20, 2000)  # fewer have no distribution; of more a seeded sample is taken

NO_REPLIES = "the agent only ranks: it replies nothing"
NO_PROFILE = "the agent was shown no profile that a reply could be held against"
TOO_FEW = f"fewer than {MAUVE_TEXTS[0]} replies: too few for a distribution"


def reply_items(examples: Sequence[Example], replies: Sequence[GeneratedReply]) -> Marks:
    """Marks of each question by metric, for `Items`; None where there is none."""
    marks: Marks = {metric: [None] * len(replies) for metric in (*OF_TEXT, *OF_PROFILE)}
    answered = [(index, text) for index, reply in enumerate(replies) if (text := reply.text) is not None]
    words = _tokenized([(examples[index], text) for index, text in answered])
    for (index, text), tokens in zip(answered, words):
        example, persona = examples[index], examples[index].situation.persona
        earlier = (turn.text for turn in example.history if turn.speaker == persona.name)
        marks["f1"][index] = reference_f1(text, right_replies(example), persona.language)
        marks["rep"][index] = repeated_share(tokens)
        marks["rep_turn"][index] = float(repeats_turn(text, earlier, persona.language))
    _mark_by_profile(marks, examples, answered)
    return marks


def _mark_by_profile(marks: Marks, examples: Sequence[Example], answered: Sequence[tuple[int, str]]) -> None:
    """Adds the marks of a profile, persona by persona."""
    by_persona: dict[tuple[str, tuple[str, ...]], tuple[Persona, list[tuple[int, str]]]] = {}
    for index, text in answered:
        persona = examples[index].situation.persona
        if persona.profile:
            by_persona.setdefault((persona.language, persona.profile), (persona, []))[1].append((index, text))
    right = list(dict.fromkeys(text for example in examples for text in right_replies(example)))
    samples = {language: Samples({}, language, right) for language in {language for language, _ in by_persona}}
    ranks = {language: corpus_ranks(known) for language, known in samples.items()}
    for persona, said in by_persona.values():
        known = samples[persona.language]
        lines = known.tokenize([text for _, text in said])
        against = contradiction(known, persona).values(lines)
        values_by_metric = {
            "p_f1": p_f1(known, persona.profile).values(lines),
            "p_cover": p_cover(known, persona.profile, ranks[persona.language]).values(lines),
            "contradicts": np.where(np.isnan(against), np.nan, against >= CONTRADICTION),
        }
        for metric, values in values_by_metric.items():
            for (index, _), value in zip(said, values.tolist()):
                marks[metric][index] = None if math.isnan(value) else value


def reply_rows(
    what: Mapping[str, Any],
    examples: Sequence[Example],
    replies: Sequence[GeneratedReply] | None,
    marks: Mapping[str, Sequence[float | None]] | None = None,
    seed: int = 0,
    paper: PaperFigure = no_paper,
    encode: Encode | None = None,
    reason: str = NO_REPLIES,
) -> list[Row]:
    """A row for each metric; `what` says what was judged.

    `marks` are what `reply_items` gave; `encode` is the encoder of MAUVE; `reason` says why there are no `replies`.
    """
    if replies is None:
        return [figure_row(what, metric, reason, paper(metric)) for metric in REPLY_METRICS]
    marks = reply_items(examples, replies) if marks is None else marks
    answered = [(example, reply.text) for example, reply in zip(examples, replies) if reply.text is not None]
    groups = groups_of([example.name for example, _ in answered])
    words = _tokenized(answered)
    figures: dict[str, Figure] = {
        "bleu": (corpus_bleu(words, _tokenized_references(answered), groups=groups, seed=seed), len(answered)),
        "mauve": _mauve(answered, encode, seed),
    }
    for n in (1, 2):
        enough = any(len(tokens) >= n for tokens in words)
        figures[f"dist-{n}"] = (distinct(words, n, groups), len(answered)) if enough else f"no reply has {n} words"
    for metric in (*OF_TEXT, *OF_PROFILE):
        figures[metric] = _mean(examples, marks[metric], seed)
    rows = [figure_row(what, metric, figures[metric], paper(metric)) for metric in REPLY_METRICS]
    if len(answered) < len(replies):
        failed = [float(reply.text is None) for reply in replies]
        first = next(reply.reason for reply in replies if reply.text is None)
        rows.append({**figure_row(what, "errors", _mean(examples, failed, seed)), "reason": first})
    return rows


def _mean(examples: Sequence[Example], marks: Sequence[float | None], seed: int) -> Figure:
    known = [(example.name, mark) for example, mark in zip(examples, marks, strict=True) if mark is not None]
    if not known:
        return NO_PROFILE
    return interval([mark for _, mark in known], groups_of([name for name, _ in known]), seed), len(known)


def _mauve(answered: Answered, encode: Encode | None, seed: int) -> Figure:
    fewest, most = MAUVE_TEXTS
    if len(answered) < fewest:
        return TOO_FEW
    if len(answered) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(answered), most, replace=False))
        answered = [answered[index] for index in chosen]
    right = [right_replies(example)[0] for example, _ in answered]
    return mauve([text for _, text in answered], right, encode, seed), len(answered)


def right_replies(example: Example) -> list[str]:
    """The right replies of a question, each once."""
    return list(dict.fromkeys(example.candidates[index] for index in sorted(example.gold)))


def _tokenized(answered: Answered) -> list[list[str]]:
    """The words of each reply; all replies of a set are in one language."""
    language = answered[0][0].situation.persona.language if answered else "en"
    return tokenize_replies([text for _, text in answered], language)


def _tokenized_references(answered: Answered) -> list[list[list[str]]]:
    references = [(example, right_replies(example)) for example, _ in answered]
    words = iter(_tokenized([(example, text) for example, texts in references for text in texts]))
    return [[next(words) for _ in texts] for _, texts in references]
