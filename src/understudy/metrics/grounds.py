"""What a character's lines are judged on: everybody's lines before the moment, whom it faces, and the whole story.

    grounds = Grounds(story, situation_at(story, "Zita", "2.3", "Benedek"))
    grounds.metric("anachronism")(["The Prior took it."])

The whole story is for judging alone. A reason that would tell of it does so only where an author asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from understudy.chronology import Chronology
from understudy.dialogue import Situation
from understudy.errors import InputError
from understudy.metrics.knowing import anachronism, unwitnessed
from understudy.metrics.measure import LineMetric
from understudy.metrics.personas import LINE_METRICS
from understudy.metrics.relation_fit import relation_fit
from understudy.metrics.samples import Samples
from understudy.storyfile import Story
from understudy.text import did_you_mean

__all__ = ["METRICS", "Grounds"]


class Grounds:
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


SITUATED: Mapping[str, Callable[[Grounds], LineMetric]] = {
    "anachronism": lambda on: anachronism(on.samples, on.chronology, on.situation.persona, on.author),
    "unwitnessed": lambda on: unwitnessed(on.samples, on.chronology, on.situation.persona, on.author),
    "relation_fit": lambda on: relation_fit(on.samples, on.situation),
}
"""Those that need more than sample lines and a profile."""

METRICS = (*LINE_METRICS, *SITUATED)
