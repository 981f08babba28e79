"""An agent that says only what passes the rules: the best of its candidates that does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from understudy.agents.bank import bank_lines, register_of
from understudy.dialogue import Agent, Candidate, Evidence, Reply, Score, Situation, Turn
from understudy.judging.rules import Rule, judge
from understudy.utterances import APPROVED
from understudy.wording import plain_lines

__all__ = ["FilteredAgent"]

Metrics = Callable[[Situation], Mapping[str, Callable[[Sequence[str]], list[Score]]]]
"""The metrics that the rules need, by name, for the persona of a situation."""


class FilteredAgent:
    """Wraps any agent. A candidate that cannot be judged does not pass."""

    def __init__(self, agent: Agent, rules: Sequence[Rule], metrics: Metrics) -> None:
        self._agent, self._rules, self._metrics = agent, tuple(rules), metrics

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        reply = self._agent.reply(situation, history)
        offered = reply.candidates or (Candidate(reply.text, 0.0),)
        passing = self._passing(situation, [candidate.text for candidate in offered])
        candidates = tuple(candidate for candidate in offered if candidate.text in passing)
        if len(candidates) == len(offered):
            return reply
        stopped = len(offered) - len(candidates)
        notice = Evidence("notice", f"{stopped} of {len(offered)} replies were kept back by the rules")
        if candidates:
            best = candidates[0].text
            evidence = reply.evidence if best == reply.text else ()
            return replace(reply, text=best, candidates=candidates, evidence=(*evidence, notice))
        # Neutral lines reveal nothing, but the rules apply to them as well.
        plain = _plain(situation)
        passing = self._passing(situation, plain)
        harmless = next((line for line in plain if line in passing), "...")
        return Reply(harmless, (), (Evidence("bank", harmless), notice))

    def _passing(self, situation: Situation, texts: Sequence[str]) -> frozenset[str]:
        metrics = self._metrics(situation)
        scores = {rule.metric: metrics[rule.metric](texts) for rule in self._rules}
        return frozenset(
            text
            for index, text in enumerate(texts)
            if judge({name: column[index] for name, column in scores.items()}, self._rules).decision == APPROVED
        )


def _plain(situation: Situation) -> Sequence[str]:
    persona = situation.persona
    if persona.language != "en":
        return tuple(plain_lines(persona.language))
    return bank_lines(register_of(persona.profile))
