"""Evidence for and against that a name is somebody's: gender, titles, names side by side, who is named by narration."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from understudy.quotations.gender import gender_of
from understudy.quotations.lexicon import Lexicon, given_names
from understudy.quotations.names import NameForm
from understudy.quotations.usage import NameUsage, NameUsages, sorted_pair

__all__ = ["AliasEvidence", "Namesakes", "bare_title", "core"]

SIDE_BY_SIDE = 2  # times that a name and a fuller form of it stand side by side before they are two people's
CERTAIN = 4  # pronouns that must tell a gender before it clashes with another
SHORT_FORM_NARRATED = 0.2  # of the narrator's uses of the commoner form: more, and the other is another person
SHORT_FORM_QUOTED = 0.5  # of the uses of a form that narration hardly has, at least
FEW = 3  # uses that show nothing
RARE = 0.25  # of the uses of a title: another title of the same person
OFTEN_NARRATED = 15  # uses in narration by which names of one person would take turns
TALKED = 0.3  # of the uses of a name: if narration has no more, it is for talk
SHARED_SENTENCES = 0.11  # of these that stand in one sentence with another name: more, and it is another's


@dataclass(eq=False, slots=True)
class Namesakes:
    """Names that are one person's. A wife is called by her husband's name: 'Mrs. John Knightley'."""

    given: str = ""
    surname: str = ""
    is_wife: bool = False
    forms: list[NameForm] = field(default_factory=list)
    usage: NameUsage = field(default_factory=NameUsage)


def core(form: NameForm, lexicon: Lexicon) -> tuple[str, ...]:
    """The words of a name without particles: Catherine and Bourgh."""
    return tuple(word for word in form.words if word.lower() not in lexicon.particles) or form.words[-1:]


def bare_title(form: NameForm) -> str:
    return form.title.removesuffix(".")


class AliasEvidence:
    def __init__(self, usage: NameUsages, lexicon: Lexicon) -> None:
        self._usage = usage
        self._lexicon = lexicon
        self._names = given_names()
        self._misses = {
            core(form, lexicon)[-1] for form in usage.forms if form.title and bare_title(form) in lexicon.maiden
        }

    def gender(self, forms: Collection[NameForm]) -> str:
        return gender_of(forms, self._usage, self._lexicon, CERTAIN)

    def given_gender(self, given: str) -> str:
        return self._names.genders.get(given) or self.gender([NameForm("", (given,))])

    def may_be(self, person: Namesakes, form: NameForm) -> bool:
        """May a name be somebody's, going by gender, and by whether both stand side by side?"""
        if self._genders_clash(person.forms, [form]):
            return False
        is_fuller = any(form.words[0] == other.words[0] for other in person.forms)
        return self._side_by_side(person, form) < (SIDE_BY_SIDE if is_fuller else 1)

    def has_title(self, person: Namesakes, title: str) -> bool:
        """May somebody have a title? A general is no captain, a Miss no Mrs.; who is Mr. at times may be either."""
        titled = [form for form in person.forms if form.title]
        count = sum(self._usage.forms[form].count for form in titled)
        for form in titled:
            kinds = {self.kind(bare_title(form)), self.kind(title)}
            clash = len(kinds) > 1 and (self._lexicon.titles[title] != "f" or kinds == {"maiden", "married"})
            if clash and self._usage.forms[form].count > RARE * count:
                return False
        return True

    def kind(self, title: str) -> str:
        """Titles of one kind stand for one another: Mr. and Monsieur, Dr. and Doctor."""
        for kind in ("civil", "maiden", "married"):
            if title in getattr(self._lexicon, kind):
                return kind
        return self._lexicon.title_words.get(title, title.lower())

    def is_daughter(self, person: Namesakes, title: str) -> bool:
        """Is 'Mrs. Bennet' another, as there is a Miss Bennet?"""
        is_married = any(bare_title(form) in self._lexicon.married for form in person.forms)
        return title in self._lexicon.married and person.surname in self._misses and not is_married

    def has_namesake(self, person: Namesakes, form: NameForm, wives: set[str]) -> bool:
        """A man whose wife goes by his first name has a namesake who is 'Mr.' without one."""
        often = min(person.usage.narrated, self._usage.forms[form].narrated) > FEW
        return bare_title(form) in self._lexicon.civil and person.given in wives and often

    def eldest(self, people: list[Namesakes], form: NameForm) -> Namesakes | None:
        """Of those who share a surname, whom narration has no other name for, or who needs no first name."""
        if len(people) > 1:
            most = max(person.usage.count for person in people)
            plain = [person for person in people if not self._needs_given(person, self.kind(bare_title(form)))]
            plain = [person for person in plain if person.usage.count > RARE * most]
            nameless = [person for person in people if person.usage.count > 1 and person.usage.narrated <= FEW]
            is_narrated = self._usage.forms[form].narrated > OFTEN_NARRATED
            people = (nameless if is_narrated else []) or plain or people
        return max(people, key=lambda person: person.usage.count, default=None)

    def is_short_form(self, person: Namesakes, other: Namesakes) -> bool:
        """Of two forms of a first name that are one person's, narration has only one; the other is for talk."""
        if person.surname and other.surname and person.surname != other.surname:
            return False
        if person.is_wife or other.is_wife or not self._names.is_direct(person.given, other.given):
            return False
        rarer, commoner = sorted((person.usage, other.usage), key=lambda usage: usage.narrated)
        if rarer.quoted < SHORT_FORM_QUOTED * rarer.count:
            return False
        if rarer.narrated > max(FEW, SHORT_FORM_NARRATED * commoner.narrated):
            return False
        return not self._genders_clash(person.forms, other.forms) and not any(
            self._side_by_side(person, form) for form in other.forms
        )

    def _needs_given(self, person: Namesakes, kind: str) -> bool:
        return any(
            form.title and self.kind(bare_title(form)) == kind and person.given in form.words for form in person.forms
        )

    def _genders_clash(self, one: Collection[NameForm], other: Collection[NameForm]) -> bool:
        genders = {self.gender(one), self.gender(other)} - {""}
        return len(genders) > 1

    def _side_by_side(self, person: Namesakes, form: NameForm) -> int:
        return sum(self._apart(form, other) for other in person.forms)

    def _apart(self, one: NameForm, other: NameForm) -> int:
        pair = sorted_pair(one, other)
        usages = [self._usage.forms[form] for form in (one, other)]
        shares = sorted(usage.narrated / usage.count for usage in usages)
        narrated = min(usage.narrated for usage in usages)
        is_for_talk = shares[0] < TALKED and shares[1] > 1 - TALKED  # what she is called, and what she is named
        if (
            narrated >= OFTEN_NARRATED
            and not is_for_talk
            and self._usage.together.get(pair, 0) > SHARED_SENTENCES * narrated
        ):
            return SIDE_BY_SIDE
        return self._usage.apart.get(pair, 0)
