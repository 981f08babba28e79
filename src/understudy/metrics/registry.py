"""Line metrics by name, and the context they are made from: a character at a moment, everybody's lines before it.

    context = MetricContext(story, situation_at(story, "Zita", "2.3", "Benedek"))
    context.metric("anachronism")(["The Prior took it."])

Some metrics also look at the whole story, later chapters included, to judge what cannot be known yet. Their reasons
name what is later only where an author asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial

from understudy.chronology import Chronology
from understudy.dialogue import Situation
from understudy.errors import InputError
from understudy.metrics.knowing import anachronism, unwitnessed
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.maxbleu import maxbleu
from understudy.metrics.overlap import copying, p_cover, p_f1
from understudy.metrics.psprob import psprob
from understudy.metrics.ptsal import ptsal
from understudy.metrics.relation_fit import relation_fit
from understudy.metrics.samples import Samples
from understudy.metrics.uppl import uppl
from understudy.metrics.voice import voice
from understudy.persona import Persona
from understudy.storyfile import Story
from understudy.text import did_you_mean

__all__ = ["DEFAULT_METRICS", "LINE_METRICS", "METRICS", "MetricContext"]

LINE_METRICS: Mapping[str, Callable[[Samples, Persona], LineMetric]] = {
    "psprob": lambda samples, persona: psprob(samples, persona.name),
    "ptsal": lambda samples, persona: ptsal(samples, persona.name),
    "uppl": lambda samples, persona: uppl(samples, persona.name),
    "maxbleu": lambda samples, persona: maxbleu(samples, persona.name),
    **{f"maxbleu-{order}": partial(lambda order, samples, persona: maxbleu(samples, persona.name, order), order)
       for order in (1, 2, 4)},
    "p_f1": lambda samples, persona: p_f1(samples, persona.profile),
    "p_cover": lambda samples, persona: p_cover(samples, persona.profile),
    "copying": lambda samples, persona: copying(samples, persona.profile),
    "voice": lambda samples, persona: voice(samples, persona.name),
}  # fmt: skip

DEFAULT_METRICS = ("psprob", "ptsal", "uppl", "maxbleu", "p_f1", "p_cover", "copying")
"""The metrics of `understudy score` by default."""


class MetricContext:
    """One character at one moment of a story, ready to have lines judged; costly parts are made when first needed."""

    def __init__(self, story: Story, situation: Situation, author: bool = False) -> None:
        self.situation, self.author = situation, author
        self._story = story

    @cached_property
    def samples(self) -> Samples:
        return Samples.of_story(self._story, self.situation.persona.moment)

    @cached_property
    def chronology(self) -> Chronology:
        return Chronology(self._story)

    def metric(self, name: str) -> LineMetric:
        if name in LINE_METRICS:
            return LINE_METRICS[name](self.samples, self.situation.persona)
        if name not in SITUATED:
            meant = did_you_mean(name, METRICS)
            raise InputError(f"there is no metric '{name}'{meant}: choose from {', '.join(METRICS)}")
        return SITUATED[name](self)


SITUATED: Mapping[str, Callable[[MetricContext], LineMetric]] = {
    "anachronism": lambda context: anachronism(
        context.samples, context.chronology, context.situation.persona, context.author
    ),
    "unwitnessed": lambda context: unwitnessed(
        context.samples, context.chronology, context.situation.persona, context.author
    ),
    "relation_fit": lambda context: relation_fit(context.samples, context.situation),
}
"""Metrics that need more than sample lines and a profile."""

METRICS = (*LINE_METRICS, *SITUATED)
