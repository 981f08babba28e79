"""How a reply agrees with what is told of people: their attributes, and the speaker's ties to the one faced.

attributes   shared_with_attributes: sqrt of the summed rarity of the words shared with anybody's attributes
             title_fits: 1 where it calls the one faced by a title that their attributes have, -1 by another
relations    tone_fits: tone of the reply times affection / 10, as in the metric `relation_fit`
             address_fits: 1 for 'sir' to a teacher or 'uncle' to family, -1 to anybody else; both at once add up
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from understudy.agents.word_roots import roots
from understudy.bench.hpd.features import Feature, TextFeatures
from understudy.bench.hpd.shared_words import present_names, rarity
from understudy.dialogue import Example
from understudy.lexical.tone import tone_of
from understudy.text import words

__all__ = ["ATTRIBUTES", "RELATIONS"]

STRONGEST = 10  # of affection
TITLES = {
    "en": frozenset("sir madam professor mr mrs miss doctor captain lord lady master headmaster".split()),
    "zh": frozenset("先生 女士 夫人 教授 小姐 医生 校长 大人".split()),
}
TEACHER = {"en": frozenset({"sir", "professor", "headmaster"}), "zh": frozenset({"先生", "教授", "老师", "校长"})}
KIN = {
    "en": frozenset("uncle aunt mom mum dad mother father son brother sister".split()),
    "zh": frozenset("叔叔 阿姨 姨妈 姨父 妈妈 爸爸 母亲 父亲 儿子 哥哥 姐姐".split()),
}
TONED = frozenset({"en", "ja"})  # languages with a list of warm and cold words


def _attributes(example: Example) -> Callable[[str], Sequence[float]]:
    situation, language = example.situation, example.situation.persona.language
    present = frozenset[str]().union(*(roots(name, language) for name in present_names(situation, example.history)))
    sentences = (*situation.persona.profile, *(text for other in situation.present for text in other.profile))
    told = frozenset[str]().union(*(roots(text, language) for text in sentences)) - present
    faced = situation.faced
    titles = set(words(" ".join(faced.profile), language)) if faced is not None else set()
    known_titles = TITLES.get(language, frozenset())

    def values(text: str) -> list[float]:
        shared = roots(text, language) & told
        weight = math.fsum(rarity(root) if language == "en" else 1.0 for root in shared)
        said = known_titles & set(words(text, language)) if titles else frozenset()
        return [math.sqrt(weight), sum(1 if title in titles else -1 for title in said)]

    return values


def _relations(example: Example) -> Callable[[str], Sequence[float]]:
    situation, language = example.situation, example.situation.persona.language
    ties = () if situation.faced is None else situation.faced.relations
    affection = next((tie.level for tie in ties if tie.kind == "affection" and tie.level is not None), 0)
    kinds = {tie.kind for tie in ties}
    teacher, kin = TEACHER.get(language, frozenset()), KIN.get(language, frozenset())

    def values(text: str) -> list[float]:
        tone = tone_of(text, language).value if language in TONED and affection else 0.0
        address = 0
        if ties:
            said = set(words(text, language))
            address += (1 if "teacher" in kinds else -1) if said & teacher else 0
            address += (1 if "family" in kinds else -1) if said & kin else 0
        return [tone * affection / STRONGEST, address]

    return values


ATTRIBUTES = TextFeatures((Feature("shared_with_attributes", 1), Feature("title_fits", 1)), _attributes)
RELATIONS = TextFeatures((Feature("tone_fits", 1), Feature("address_fits", 1)), _relations)
