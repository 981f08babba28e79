"""A person's gender, by the first of these that tells it.

titles that have one (Mrs.) > many pronouns after the names > first names > some clear pronouns > titles that men
bear more often (Captain) > any pronouns
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from understudy.quotations.lexicon import Lexicon, given_names
from understudy.quotations.names import NameForm
from understudy.quotations.usage import NameUsages

__all__ = ["gender_of"]

CLEAR, LIKELY = 0.75, 0.55  # share of the pronouns that are of one gender
LEAST_SHARE = 0.4  # of the pronouns after a name that must be of the likelier gender
MANY, SOME = 12, 4  # pronouns that outweigh a first name, and a title


def gender_of(forms: Collection[NameForm], usage: NameUsages, lexicon: Lexicon, least: int = 1) -> str:
    """'m', 'f' or '' where nothing tells it, or fewer than the `least` pronouns.

    Pronouns are weighed by how rare they are after names of this text: where a heroine is on every page, 'he' after a
    name tells more than 'she'.
    """
    titles: Counter[str] = Counter()
    names: Counter[str] = Counter()
    pronouns: Counter[str] = Counter()
    for form in forms:
        counts = usage.forms.get(form)
        count = counts.count if counts else 1
        if form.title:
            titles[lexicon.titles[form.title.removesuffix(".")]] += count
        if not form.title or len(form.words) > 1:
            names[given_names().genders.get(form.words[0], "")] += count
        if counts:
            pronouns.update(counts.pronouns)
    total = pronouns["m"] + pronouns["f"]
    male, female = (pronouns[gender] / usage.pronouns[gender] for gender in "mf")
    share = max(male, female) / ((male + female) or 1)
    likelier = "m" if male > female else "f"
    if pronouns[likelier] < LEAST_SHARE * total:  # rare as it is, it is still the rarer after these names
        likelier = ""
    is_mens = any(form.title.removesuffix(".") in lexicon.mens_titles for form in forms)
    votes = (
        _majority(titles),
        likelier if total >= MANY and share >= CLEAR else "",
        _majority(names),
        likelier if total >= SOME and share >= CLEAR else "",
        "m" if is_mens else "",
        likelier if total >= least and share >= LIKELY else "",
    )
    return next(filter(None, votes), "")


def _majority(votes: Counter[str]) -> str:
    if votes["m"] == votes["f"]:
        return ""
    return "m" if votes["m"] > votes["f"] else "f"
