"""A person's gender: from titles, else from the pronouns that follow their names, else from a first name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from understudy.quotations.lexicon import Lexicon, given_names
from understudy.quotations.names import NameForm
from understudy.quotations.usage import Usage

__all__ = ["gender_of"]

MANY, CLEAR = 12, 0.75  # pronouns, and their share of one gender, that outweigh what a first name usually tells
LIKELY = 0.55  # share that decides where no first name tells


def gender_of(forms: Iterable[NameForm], usage: Usage, lexicon: Lexicon, least: int = 1) -> str:
    """'m', 'f' or '' where nothing tells, or fewer than the `least` pronouns.

    Pronouns are weighed by how rare they are after names of this text: where a heroine is on every page, 'he' after a
    name tells more than 'she'.
    """
    titles: Counter[str] = Counter()
    pronouns: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for form in forms:
        counts = usage.forms.get(form)
        if form.title:
            titles[lexicon.titles[form.title.removesuffix(".")]] += counts.count if counts else 1
        else:
            names[given_names().genders.get(form.words[0], "")] += counts.count if counts else 1
        if counts:
            pronouns.update(counts.pronouns)
    total = pronouns["m"] + pronouns["f"]
    male = pronouns["m"] / usage.pronouns["m"]
    female = pronouns["f"] / usage.pronouns["f"]
    likelier, share = ("m", male) if male > female else ("f", female)
    share = share / ((male + female) or 1)
    if titles["m"] != titles["f"]:
        return "m" if titles["m"] > titles["f"] else "f"
    if total >= MANY and share >= CLEAR:
        return likelier
    if names["m"] != names["f"]:
        return "m" if names["m"] > names["f"] else "f"
    return likelier if total >= least and share >= LIKELY else ""
