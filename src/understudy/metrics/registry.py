"""Line metrics by name, and the context they are made from: a character at a moment, everybody's lines before it.

    context = MetricContext(story, situation_at(story, "Zita", "2.3", "Benedek"))
    context.metric("anachronism")(["The Prior took it."])

Some metrics also look at the whole story, later chapters included, to judge what cannot be known yet. Their reasons
name what is later only where an author asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from understudy.errors import InputError
from understudy.metrics.contradiction import contradiction
from understudy.metrics.knowing import PassageIndex, anachronism, relation_fit, unwitnessed
from understudy.metrics.line_metric import LineMetric, Samples
from understudy.metrics.maxbleu import maxbleu
from understudy.metrics.overlap import copying, p_cover, p_f1
from understudy.metrics.psprob import psprob, weighted_psprob
from understudy.metrics.ptsal import ptsal, ptsal_ends
from understudy.metrics.uppl import uppl
from understudy.metrics.voice import voice
from understudy.registry import Need, RegistryEntry
from understudy.story.chronology import Chronology
from understudy.story.dialogue import Situation
from understudy.story.storyfile import Story
from understudy.text import did_you_mean

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

    @property
    def chronology(self) -> Chronology:
        """One for all contexts of the story."""
        return Chronology.of(self._story)

    def anachronism(self) -> LineMetric:
        passages = PassageIndex.of(self._story)
        return anachronism(self.samples, self.chronology, self.situation.persona, self.author, passages)

    def unwitnessed(self) -> LineMetric:
        return unwitnessed(self.samples, self.chronology, self.situation.persona, self.author)

    def metric(self, name: str) -> LineMetric:
        if name not in METRICS:
            meant = did_you_mean(name, METRICS)
            raise InputError(f"there is no metric '{name}'{meant}: choose from {', '.join(METRICS)}")
        return METRICS[name](self)


def _of_samples(create: Callable[..., LineMetric]) -> Callable[[MetricContext], LineMetric]:
    """A metric of the character's sample lines."""
    return lambda context: create(context.samples, context.situation.persona.name)


def _of_profile(create: Callable[..., LineMetric]) -> Callable[[MetricContext], LineMetric]:
    """A metric of the sentences that the character is described in."""
    return lambda context: create(context.samples, context.situation.persona.profile)


METRICS: dict[str, RegistryEntry[LineMetric]] = {
    entry.name: entry
    for entry in (
        RegistryEntry("psprob", _of_samples(psprob)),
        RegistryEntry("psprob-weighted", _of_samples(weighted_psprob)),
        RegistryEntry("ptsal", _of_samples(ptsal)),
        RegistryEntry("ptsal-ends", _of_samples(ptsal_ends)),
        RegistryEntry("uppl", _of_samples(uppl)),
        RegistryEntry("maxbleu", _of_samples(maxbleu)),
        RegistryEntry("p_f1", _of_profile(p_f1)),
        RegistryEntry("p_cover", _of_profile(p_cover)),
        RegistryEntry("copying", _of_profile(copying)),
        RegistryEntry("voice", _of_samples(voice)),
        RegistryEntry("anachronism", MetricContext.anachronism, Need.CHRONOLOGY),
        RegistryEntry("unwitnessed", MetricContext.unwitnessed, Need.CHRONOLOGY),
        RegistryEntry("contradiction", lambda context: contradiction(context.samples, context.situation.persona)),
        RegistryEntry("relation_fit", lambda context: relation_fit(context.samples, context.situation), Need.LISTENER),
    )
}
"""Every line metric, by name; an entry is called with a MetricContext. Without needs it takes only the samples and the
persona of it."""
