"""Whether a name is a person's, from how the text uses it (see `usage` for the scores)."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.quotations.lexicon import Lexicon, given_names
from understudy.quotations.names import NameForm
from understudy.quotations.namesakes import Namesakes
from understudy.quotations.usage import ACTS, AFTER_ARTICLE, OWNS, SAYS, VOCATIVE, NameUsage

__all__ = ["is_person", "may_be_name"]

LEAST_MENTIONS = 2
LEAST_SHOWN = 2  # signs of a person that somebody without a title must show; to speak counts twice
LEAST_SCORE = 0.3
CLEARLY = 3  # times that what is usually no person must speak
SHORTEST = 2  # letters
PLURAL = 0.3  # of the uses of a name that ends in s, after an article: 'the Westons'


def may_be_name(form: NameForm, usage: NameUsage, lexicon: Lexicon) -> bool:
    """Is it worth asking whose name it is: no street, month, family or word that merely opens a sentence?"""
    last = form.words[-1]
    is_place = last.lower() in lexicon.place_nouns and (len(form.words) > 1 or not form.title)
    if is_place or len(last.rstrip(".")) < SHORTEST:
        return False
    if last.endswith("s") and usage.roles[AFTER_ARTICLE] >= PLURAL * usage.count:
        return False
    if form.title:
        return True
    if len(form.words) == 1:
        if last in lexicon.titles and (last not in lexicon.kin or usage.roles[SAYS] < CLEARLY):
            return False
        if last.endswith(".") or (last.lower() in lexicon.openers and last not in given_names().genders):
            return False
        if lexicon.nouns_have_capitals and not usage.roles[SAYS]:
            return False
    return not any(word.lower() in lexicon.never_people for word in form.words) or usage.roles[SAYS] >= CLEARLY


def is_person(person: Namesakes, lower: Mapping[str, int]) -> bool:
    """Does the text use these names as a person's? `lower` is how often it has each word without a capital."""
    usage = person.usage
    if any(form.title for form in person.forms):
        return usage.count >= LEAST_MENTIONS or usage.roles[SAYS] > 0
    if usage.count < LEAST_MENTIONS and person.given not in given_names().genders:
        return False
    says = usage.roles[SAYS]
    shown = 2 * says + usage.roles[ACTS] + usage.roles[VOCATIVE] + usage.roles[OWNS]
    if shown < LEAST_SHOWN or (usage.openers == usage.count and not says and usage.roles[ACTS] < CLEARLY):
        return False
    if all(lower[form.words[0].lower()] > usage.count for form in person.forms) and says < CLEARLY:
        return False
    return usage.person_score > max(usage.place_score, LEAST_SCORE)
