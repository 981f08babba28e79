"""An agent that says only what passes the rules: the best of its candidates that does.

    stories = lambda identity: [story for story in opened if story.identity == identity]
    FilteredAgent(agent, rules, StoryMetrics((rule.metric for rule in rules), stories))

A rule is judged within the persona's story, which the agent itself cannot see. Where that is not here, nothing can be
judged, and only a neutral line is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from understudy.agents.bank import bank_lines, register_of
from understudy.agents.pools import KeyedCache
from understudy.judging.guard_rules import require_known_metric, rule_metric
from understudy.judging.rules import Rule, judge
from understudy.metrics.registry import MetricContext
from understudy.metrics.utterances.record import APPROVED
from understudy.story.dialogue import Agent, Candidate, Evidence, Reply, Score, Situation, Turn
from understudy.story.storyfile import Story
from understudy.story.wording import plain_lines

__all__ = ["FilteredAgent", "StoryMetrics"]

CACHE_SIZE = 16  # personas: the metrics of each hold what everybody said up to its moment

Metric = Callable[[Sequence[str]], list[Score]]
Metrics = Callable[[Situation], Sequence[Mapping[str, Metric]]]
"""The metrics that the rules need, by name: one mapping for each story that the persona may be of."""


class StoryMetrics:
    """Line metrics by name for the persona of a situation, created once for each persona and story."""

    def __init__(self, names: Iterable[str], stories: Callable[[str], Sequence[Story]]) -> None:
        self._names, self._stories = tuple(dict.fromkeys(names)), stories
        for name in self._names:
            require_known_metric(name)
        self._cache = KeyedCache[Mapping[str, Metric]](CACHE_SIZE)

    def __call__(self, situation: Situation) -> list[Mapping[str, Metric]]:
        return [
            self._cache.get_or_create(
                (id(story), id(situation.persona), id(situation.faced)),
                (story, situation),
                partial(self._create, story, situation),
            )
            for story in self._stories(situation.persona.story_identity)
        ]

    def _create(self, story: Story, situation: Situation) -> dict[str, Metric]:
        grounds = MetricContext(story, situation)  # not for an author: reasons must not tell of the future
        at_end = situation.persona.moment.is_end
        return {
            name: _none_at_the_end if name == "anachronism" and at_end else rule_metric(name, story, grounds)
            for name in self._names
        }


def _none_at_the_end(texts: Sequence[str]) -> list[Score]:
    """At the end of a story nothing is still to come: the metric has no value there, and a rule stops nothing."""
    return [Score("anachronism", 0.0)] * len(texts)


class FilteredAgent:
    """Wraps any agent. A candidate that cannot be judged does not pass."""

    def __init__(self, agent: Agent, rules: Sequence[Rule], metrics: Metrics) -> None:
        self._agent, self._rules, self._metrics = agent, tuple(rules), metrics

    @property
    def waits(self) -> bool:
        """Whether a reply is mostly waiting for a server."""
        return bool(getattr(self._agent, "waits", False))

    @property
    def description(self) -> str:
        """The agent that is wrapped, and the rules: tells one filtered agent from another."""
        return " ".join((type(self._agent).__qualname__, *map(str, self._rules)))

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        reply = self._agent.reply(situation, history)
        # What a guard has kept back is no choice, whatever the rules say of it.
        offered = tuple(candidate for candidate in reply.candidates if not candidate.rejected)
        offered = offered or (Candidate(reply.text, None),)
        stories = self._metrics(situation)
        passing = self._passing(stories, [candidate.text for candidate in offered])
        candidates = tuple(candidate for candidate in offered if candidate.text in passing)
        if len(candidates) == len(offered):
            return reply
        stopped = len(offered) - len(candidates)
        notice = Evidence("notice", f"{stopped} of {len(offered)} replies were kept back by the rules")
        if candidates:
            best = candidates[0].text
            evidence = reply.evidence if best == reply.text else ()
            return replace(reply, text=best, candidates=candidates, evidence=(*evidence, notice))
        # Neutral lines reveal nothing; the rules apply to them too, where there is a story to judge by.
        neutral = _neutral_lines(situation)
        passing = self._passing(stories, neutral) if stories else frozenset(neutral)
        harmless = next((line for line in neutral if line in passing), "...")
        return Reply(harmless, (), (Evidence("bank", harmless), notice))

    def _passing(self, stories: Sequence[Mapping[str, Metric]], texts: Sequence[str]) -> frozenset[str]:
        """The texts that pass all rules in each of the stories; none where there is no story."""
        passing = frozenset(texts if stories else ())
        for metrics in stories:
            scores = {rule.metric: metrics[rule.metric](texts) for rule in self._rules}
            passing &= {
                text
                for index, text in enumerate(texts)
                if judge({name: column[index] for name, column in scores.items()}, self._rules).decision == APPROVED
            }
        return passing


def _neutral_lines(situation: Situation) -> Sequence[str]:
    persona = situation.persona
    if persona.language != "en":
        return tuple(plain_lines(persona.language))
    return bank_lines(register_of(persona.profile))
