"""Whom a reply names, and how: nobody calls out their own name, or speaks of those before them as if they were not.

A name is called where it stands between marks or greetings ('Well, Ron, ...'), else somebody is spoken of. In English a
capital inside a sentence is taken for a name: one that neither dialogue nor scene has is a stranger's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from understudy.bench.hpd.features import Feature, TextFeatures
from understudy.bench.hpd.shared_words import present_names
from understudy.dialogue import Example
from understudy.people.mentions import mention
from understudy.people.names import CharacterNames
from understudy.text import fold

__all__ = ["NAMES_SAID"]

FEATURES = (
    Feature("own_name", -1),
    Feature("calls_present", 1),
    Feature("speaks_of_present", -1),
    Feature("known_names", 1),
    Feature("strange_names", -1),
)
CAPITAL = re.compile(r"[A-Z][a-z]+")
INSIDE = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")


def _prepare(example: Example) -> Callable[[str], Sequence[float]]:
    situation = example.situation
    own, *others = present_names(situation, example.history)
    others = [name for name in others if fold(name) != fold(own)]
    forms = {name: (name, *name.split()) for name in (own, *others) if name.strip()}
    names = CharacterNames(forms, situation.persona.language)
    told = " ".join((situation.setting, *(f"{turn.speaker} {turn.text}" for turn in example.history)))
    known = set(CAPITAL.findall(told)) - set(own.split())
    has_context = bool(example.history or situation.setting)

    def values(text: str) -> list[float]:
        calls = speaks_of = own_name = 0
        for match in names.calls(text):
            if match.who == own:
                own_name += mention(text, match.start, match.end).kind != "introduced"
            elif mention(text, match.start, match.end).kind == "called":
                calls += 1
            else:
                speaks_of += 1
        inside = set(INSIDE.findall(text)) if has_context else set()
        return [own_name > 0, calls > 0, speaks_of, len(inside & known), len(inside - known - set(own.split()))]

    return values


NAMES_SAID = TextFeatures(FEATURES, _prepare)
