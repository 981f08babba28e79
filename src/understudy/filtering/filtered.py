"""An agent that says only what passes the rules: the best of its candidates that does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from understudy.agents.bank import bank_lines, register_of
from understudy.dialogue import Agent, Candidate, Evidence, Reply, Score, Situation, Turn
from understudy.filtering.rules import Rule, judged
from understudy.utterances import APPROVED
from understudy.wording import plain_lines

__all__ = ["Filtered"]

Metrics = Callable[[Situation], Mapping[str, Callable[[Sequence[str]], list[Score]]]]
"""The rules' metrics, made for whoever is asked."""


class Filtered:
    """Composes over any agent. What cannot be judged does not pass: a filter lets nothing through unseen."""

    def __init__(self, agent: Agent, rules: Sequence[Rule], metrics: Metrics) -> None:
        self._agent, self._rules, self._metrics = agent, tuple(rules), metrics

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        told = self._agent.reply(situation, history)
        offered = told.candidates or (Candidate(told.text, 0.0),)
        passed = self._passing(situation, [candidate.text for candidate in offered])
        kept = tuple(candidate for candidate in offered if candidate.text in passed)
        if len(kept) == len(offered):
            return told
        stopped = len(offered) - len(kept)
        notice = Evidence("notice", f"{stopped} of {len(offered)} replies were kept back by the rules")
        if kept:
            evidence = told.evidence if kept[0].text == told.text else ()
            return replace(told, text=kept[0].text, candidates=kept, evidence=(*evidence, notice))
        # Saying nothing in particular tells nothing; the rules have the last word even on that.
        plain = _plain(situation)
        passing = self._passing(situation, plain)
        harmless = next((line for line in plain if line in passing), "...")
        return Reply(harmless, (), (Evidence("bank", harmless), notice))

    def _passing(self, situation: Situation, texts: Sequence[str]) -> frozenset[str]:
        metrics = self._metrics(situation)
        scores = {rule.metric: metrics[rule.metric](texts) for rule in self._rules}
        return frozenset(
            text
            for place, text in enumerate(texts)
            if judged({name: found[place] for name, found in scores.items()}, self._rules).decision == APPROVED
        )


def _plain(situation: Situation) -> Sequence[str]:
    persona = situation.persona
    if persona.language != "en":
        return tuple(plain_lines(persona.language))
    return bank_lines(register_of(persona.profile))
