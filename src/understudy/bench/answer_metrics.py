"""The figures made of what agents answer.

Of how probable they find the candidates (an agent that gives no log-probabilities has none of these):

    perplexity            of the right replies, per word (a reply's end is a word more)
    perplexity_per_token  the same per token of the model
    hits@1                is the right reply the most probable candidate? ties against the agent
    hits@1_per_token      the same by the mean log-probability of a token, which does not favour short replies
    delta-p               mean over questions of (PPL(wrong) - PPL(right)) / (PPL(wrong) + PPL(right)), per word
    delta-p_of_sets       the same of all right and all wrong replies together

Of what they say themselves:

    f1, bleu            against the right replies of the question
    dist-1, dist-2      how varied all replies together are
    rep, rep_turn       n-grams said twice in a reply; what the speaker has said before, said again
    mauve               how near the replies are as a distribution to the right ones, by the shipped encoder
    p_f1, p_cover       words shared with the persona's profile, as far as the agent was shown one
    contradicts         share of replies whose `contradiction` with that profile is .9 or more, from where on it tells
                        contradictions from right replies (docs/notes/metrics.md)
    errors              share of the questions that the agent failed on, where it did; they are in no other figure

The formulas stand in `metrics`. Words weigh in p_cover by how often they are in the right replies of the set. Figures
of single replies are means over those that have a value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.answers import CandidateLikelihoods, GeneratedReply, JudgedAgent, likelihoods_of, replies_of
from understudy.bench.run import Figure, PaperFigure, Row, figure_row, groups_of, no_paper, sampled
from understudy.metrics.contradiction import contradiction
from understudy.metrics.generation import (
    SetLikelihood,
    corpus_bleu,
    delta_p_by_item,
    delta_p_of_sets,
    distinct,
    perplexity,
    reference_f1,
    repeated_share,
    repeats_turn,
    tokenize_replies,
)
from understudy.metrics.line_metric import Samples
from understudy.metrics.mauve import Encode, mauve
from understudy.metrics.overlap import corpus_ranks, p_cover, p_f1
from understudy.metrics.ranking import gold_ranks
from understudy.metrics.statistics import interval
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example
from understudy.story.persona import Persona

NO_LOG_PROBS = "the agent gives no log-probabilities"
NO_WRONG = "no question has a wrong reply"
NOT_ASKED = "the agent was asked for no replies: --replies N"
LIKELIHOOD_METRICS = ("perplexity", "perplexity_per_token", "hits@1", "hits@1_per_token", "delta-p", "delta-p_of_sets")


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


@dataclass(frozen=True, slots=True)
class Answers:
    """How probable an agent finds the candidates of questions, and what it says to those of them that it was `asked`.

    `likelihoods` and `replies` are None where it gives none.
    """

    questions: Sequence[Example]
    likelihoods: Sequence[CandidateLikelihoods] | None
    asked: Sequence[Example]
    replies: Sequence[GeneratedReply] | None
    reply_marks: Mapping[str, Sequence[float | None]]

    @property
    def replied(self) -> Answered:
        """The questions that were answered in words, and the words."""
        pairs = zip(self.asked, self.replies or ())
        return [(example, reply.text) for example, reply in pairs if reply.text is not None]

    def marks(self, questions: Sequence[Example]) -> dict[str, Sequence[float | None]]:
        """Marks of some of the questions by metric, for `Items`; None where there is none."""
        marks: dict[str, Sequence[float | None]] = {}
        if self.likelihoods is not None:
            marks |= likelihood_items(self.questions, self.likelihoods)
        for metric, values in self.reply_marks.items():
            by_name = dict(zip((example.name for example in self.asked), values))
            marks[metric] = [by_name.get(example.name) for example in questions]
        return marks

    def rows(self, what: Mapping[str, Any], seed: int, paper: PaperFigure, encode: Encode | None = None) -> list[Row]:
        """A row for each metric; `what` says what was judged."""
        reason = NO_REPLIES if self.asked else NOT_ASKED
        return likelihood_rows(what, self.questions, self.likelihoods, seed, paper) + reply_rows(
            what, self.asked, self.replies, self.reply_marks, seed, paper, encode, reason
        )


def answers_of(
    agent: JudgedAgent,
    questions: Sequence[Example],
    count: int | None = None,
    seed: int | None = None,
    progress: Progress = ignore_progress,
    cache: Path | None = None,
    data: Path | None = None,
) -> Answers:
    """Ask an agent for what it can give. It replies to `count` questions, by default to all, and a ranker to none.

    These are a seeded sample, or without a `seed` the first ones.
    """
    likelihoods = likelihoods_of(agent, questions, progress, cache, data)
    if count is None:
        count = 0 if likelihoods is None and agent.judged_by is None else len(questions)
    asked = questions[:count] if seed is None else sampled(questions, count, seed)
    replies = replies_of(agent, asked, progress, cache, data) if asked else None
    return Answers(questions, likelihoods, asked, replies, {} if replies is None else reply_items(asked, replies))


def likelihood_items(examples: Sequence[Example], marks: Sequence[CandidateLikelihoods]) -> dict[str, list[float]]:
    """Marks of each question, for `Items`: what is compared, question by question."""
    right = [mark.summed(_right(example)) for example, mark in zip(examples, marks, strict=True)]
    first = [gold_ranks(mark.per_token, example.gold)[0] == 1 for example, mark in zip(examples, marks)]
    return {
        "hits@1_per_token": [float(hit) for hit in first],
        "log_prob_per_word": [log_prob / words for log_prob, words in right],
    }


def likelihood_rows(
    what: Mapping[str, Any],
    examples: Sequence[Example],
    marks: Sequence[CandidateLikelihoods] | None,
    seed: int = 0,
    paper: PaperFigure = no_paper,
) -> list[Row]:
    """A row for each metric; `what` says what was judged."""
    figures: Mapping[str, Figure] = (
        dict.fromkeys(LIKELIHOOD_METRICS, NO_LOG_PROBS) if marks is None else _likelihood_figures(examples, marks, seed)
    )
    return [figure_row(what, metric, figures.get(metric, NO_WRONG), paper(metric)) for metric in LIKELIHOOD_METRICS]


def _likelihood_figures(
    examples: Sequence[Example], marks: Sequence[CandidateLikelihoods], seed: int
) -> dict[str, Figure]:
    """The figure of each metric that can be had."""
    pairs = list(zip(examples, marks, strict=True))
    groups = groups_of([example.name for example in examples])
    figures: dict[str, Figure] = {}
    for metric, per_token in (("perplexity", False), ("perplexity_per_token", True)):
        right = _set([mark.summed(_right(example), per_token) for example, mark in pairs])
        figures[metric] = perplexity(right, groups, seed), len(pairs)
    for metric, scores in (
        ("hits@1", [mark.log_probs for mark in marks]),
        ("hits@1_per_token", [mark.per_token for mark in marks]),
    ):
        first = [gold_ranks(row, example.gold)[0] == 1 for row, example in zip(scores, examples)]
        figures[metric] = interval(first, groups, seed), len(pairs)
    both = [(example, mark) for example, mark in pairs if wrong_replies(example)]
    if both:
        groups = groups_of([example.name for example, _ in both])
        right = _set([mark.summed(_right(example)) for example, mark in both])
        wrong = _set([mark.summed(wrong_replies(example)) for example, mark in both])
        figures["delta-p"] = interval(delta_p_by_item(right, wrong), groups, seed), len(both)
        figures["delta-p_of_sets"] = delta_p_of_sets(right, wrong, groups, seed), len(both)
    return figures


def _set(sums: Sequence[tuple[float, int]]) -> SetLikelihood:
    columns = np.array(sums, dtype=np.float64)
    return SetLikelihood(columns[:, 0], columns[:, 1])


def _right(example: Example) -> list[int]:
    """The right replies, each once: some data sets list one twice."""
    return list({example.candidates[index]: index for index in sorted(example.gold, reverse=True)}.values())


def wrong_replies(example: Example) -> list[int]:
    """The indices of the other candidates."""
    return [index for index in range(len(example.candidates)) if index not in example.gold]


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
    answered = sampled(answered, most, seed)
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
