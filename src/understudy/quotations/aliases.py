"""Which names are one person's: first name, surname, title and surname, full name, short forms of a first name.

Names are joined from the fullest down, and never against evidence: genders that clash, two names side by side ('Jane
and Miss Bingley'), a short form that the narrator uses as often as the full one (Sir Thomas and his son Tom). Where
several share a surname, 'Miss Bennet' is the one who is never 'Miss Jane' (the eldest), a bare surname a man's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from understudy.quotations.gender import gender_of
from understudy.quotations.lexicon import Lexicon, given_names
from understudy.quotations.names import NameForm
from understudy.quotations.usage import NameUsage, Usage, sorted_pair

__all__ = ["Namesakes", "join_names"]

SIDE_BY_SIDE = 2  # times that two names stand side by side before they are two people's
SHORT_FORM_NARRATED = 0.2  # of the narrator's uses of the commoner form: more, and the other is another person
MOSTLY_GIVEN = 2  # a name that stands twice as often after Mr. or last is a surname: Colonel Fitzwilliam
FEW = 3  # uses that show nothing
SHORT_FORM_QUOTED = 0.5  # of the uses of a form that narration hardly has, at least
RARE = 0.25  # of the uses of a title: another title of the same person


@dataclass(eq=False, slots=True)
class Namesakes:
    """Names that are one person's."""

    forms: list[NameForm] = field(default_factory=list)
    usage: NameUsage = field(default_factory=NameUsage)
    given: str = ""
    surname: str = ""
    gender: str = ""
    is_wife: bool = False
    """Called by her husband's name: 'Mrs. John Knightley'."""


def join_names(usage: Usage, forms: Iterable[NameForm], lexicon: Lexicon) -> list[Namesakes]:
    joining = _Joining(usage, lexicon)
    by_count = sorted(forms, key=lambda form: (-usage.forms[form].count, form))
    cores = {form: _core(form, lexicon) for form in by_count}
    as_surname: Counter[str] = Counter()
    as_given: Counter[str] = Counter()
    for form in by_count:
        if len(cores[form]) > 1:
            as_given[cores[form][0]] += usage.forms[form].count
            as_surname[cores[form][-1]] += usage.forms[form].count
        elif form.title and not _before_given(form, lexicon):
            as_surname[cores[form][0]] += usage.forms[form].count
    by_count = [form for form in by_count if not _is_plural(cores[form][-1], as_surname)]
    titled = [form for form in by_count if len(cores[form]) == 1 and form.title]
    # Miss, Mrs. and Mr. first: of those who share a surname, ranks and kin tell others from them.
    usual = lexicon.civil | lexicon.maiden | lexicon.married
    titled.sort(key=lambda form: _bare_title(form) not in usual)
    for form in by_count:
        if len(cores[form]) > 1 and not _is_accidental(form, cores[form], usage, as_surname):
            joining.full(form, cores[form])
    bare = [form for form in by_count if len(cores[form]) == 1 and not form.title]
    for form in bare:
        if MOSTLY_GIVEN * as_given[cores[form][0]] >= as_surname[cores[form][0]]:
            joining.bare_given(form, cores[form][0])
    for form in titled:
        joining.titled(form, cores[form][0])
    for form in bare:
        if form not in joining.owner:
            joining.bare_surname(form, cores[form][0])
    joining.short_forms()
    return joining.people


def _is_accidental(form: NameForm, core: tuple[str, ...], usage: Usage, as_surname: Mapping[str, int]) -> bool:
    """Two people's names that stand together once: 'Weston Churchill'."""
    return usage.forms[form].count == 1 and as_surname[core[0]] > 1


def _is_plural(word: str, as_surname: Mapping[str, int]) -> bool:
    """A family: 'the Westons', 'the Miss Coxes'."""
    return word.endswith("s") and (word[:-1] in as_surname or (word.endswith("es") and word[:-2] in as_surname))


def _core(form: NameForm, lexicon: Lexicon) -> tuple[str, ...]:
    """The words of a name without particles: Catherine and Bourgh."""
    return tuple(word for word in form.words if word.lower() not in lexicon.particles) or form.words[-1:]


def _bare_title(form: NameForm) -> str:
    return form.title.removesuffix(".")


def _before_given(form: NameForm, lexicon: Lexicon) -> bool:
    return _bare_title(form) in lexicon.before_given


class _Joining:
    def __init__(self, usage: Usage, lexicon: Lexicon) -> None:
        self.usage = usage
        self.lexicon = lexicon
        self.names = given_names()
        self.people: list[Namesakes] = []
        self.owner: dict[NameForm, Namesakes] = {}
        self.by_given: dict[str, list[Namesakes]] = defaultdict(list)
        self.by_surname: dict[str, list[Namesakes]] = defaultdict(list)

    def full(self, form: NameForm, core: tuple[str, ...]) -> None:
        """'Emma Woodhouse', 'Mr. Frank Churchill', 'Mrs. John Knightley'."""
        given, surname = core[0], core[-1]
        is_wife = _bare_title(form) in self.lexicon.married and self._given_gender(given) == "m"
        gender = gender_of([form], self.usage, self.lexicon)
        for person in self.by_surname[surname]:
            same = self.names.is_same(person.given, given) or _is_initial_of(person.given, given)
            if same and person.is_wife == is_wife and self._may_be(person, form, gender):
                self._add(person, form)
                return
        for person in self.by_given[given]:
            words = {word for other in person.forms for word in other.words}
            subset = set(core) <= words or any(set(other.words) <= set(core) for other in person.forms)
            if subset and person.is_wife == is_wife and self._may_be(person, form, gender):
                self._add(person, form)
                return
        person = self._new(form, gender)
        person.given, person.surname, person.is_wife = given, surname, is_wife
        if not is_wife:
            self.by_given[given].append(person)
        self.by_surname[surname].append(person)

    def bare_given(self, form: NameForm, given: str) -> None:
        """'Emma', 'Lizzy'."""
        gender = gender_of([form], self.usage, self.lexicon)
        same = [person for person in self.by_given[given] if self._may_be(person, form, gender)]
        if same:
            self._add(max(same, key=lambda person: person.usage.count), form)
            return
        person = self._new(form, gender)
        person.given = given
        self.by_given[given].append(person)

    def titled(self, form: NameForm, name: str) -> None:
        """'Mr. Knightley', 'Miss Bennet', 'Sir Thomas', 'Aunt Polly'."""
        title = _bare_title(form)
        gender = self.lexicon.titles[title]
        if _before_given(form, self.lexicon) or not self.by_surname[name]:
            same = [person for person in self.by_given[name] if self._may_be(person, form, gender)]
            same = [person for person in same if self._titles_agree(person, title)]
            if same:
                self._add(max(same, key=lambda person: person.usage.count), form)
                return
        same = [
            person
            for person in self.by_surname[name]
            if self._may_be(person, form, gender) and not person.is_wife and self._titles_agree(person, title)
        ]
        if title in self.lexicon.married and any(
            _bare_title(other) in self.lexicon.maiden and _core(other, self.lexicon)[-1] == name
            for other in self.usage.forms
        ):
            same = [person for person in same if not self._is_maiden(person)]
        if title in self.lexicon.civil:  # a man whose wife goes by his first name has a namesake who needs none
            wives = {person.given for person in self.by_surname[name] if person.is_wife}
            if self.usage.forms[form].narrated > FEW:
                same = [person for person in same if person.given not in wives or person.usage.narrated <= FEW]
        person = self._eldest(same, title)
        if person is not None:
            self._add(person, form)
            return
        person = self._new(form, gender)
        person.surname = name
        self.by_surname[name].append(person)

    def bare_surname(self, form: NameForm, surname: str) -> None:
        """'Darcy', 'Cohn'."""
        gender = gender_of([form], self.usage, self.lexicon)
        same = [person for person in self.by_surname[surname] if self._may_be(person, form, gender)]
        men = [person for person in same if self._gender(person) == "m"] or same
        if men:
            self._add(max(men, key=lambda person: person.usage.count), form)
            return
        person = self._new(form, gender)
        person.surname = surname
        self.by_surname[surname].append(person)

    def short_forms(self) -> None:
        """Joins 'Lizzy' to 'Elizabeth'."""
        for person in sorted(self.people, key=lambda person: person.usage.count):
            wider = [
                other
                for full in self.names.full_forms.get(person.given, ())
                for other in self._called(full)
                if other is not person and self._is_short_form(person, other)
            ]
            if len(wider) == 1:
                self._merge(person, wider[0])

    def _called(self, full: str) -> list[Namesakes]:
        return [person for person in self.people if full in self.names.full_forms.get(person.given, ())]

    def _is_short_form(self, person: Namesakes, other: Namesakes) -> bool:
        """Of two forms of a first name that are one person's, narration has only one."""
        if person.surname and other.surname and person.surname != other.surname:
            return False
        if person.is_wife or other.is_wife or not self.names.is_direct(person.given, other.given):
            return False
        genders = {self._gender(person), self._gender(other)} - {""}
        rarer, commoner = sorted((person.usage, other.usage), key=lambda usage: usage.narrated)
        if rarer.quoted < SHORT_FORM_QUOTED * rarer.count:
            return False
        if len(genders) > 1 or rarer.narrated > max(FEW, SHORT_FORM_NARRATED * commoner.narrated):
            return False
        return not any(self._apart(person, form) for form in other.forms)

    def _merge(self, person: Namesakes, other: Namesakes) -> None:
        self.people.remove(person)
        for form in person.forms:
            self._add(other, form)
        other.surname = other.surname or person.surname

    def _new(self, form: NameForm, gender: str) -> Namesakes:
        person = Namesakes(gender=gender)
        self.people.append(person)
        self._add(person, form)
        return person

    def _add(self, person: Namesakes, form: NameForm) -> None:
        person.forms.append(form)
        person.usage.add(self.usage.forms[form])
        self.owner[form] = person

    def _gender(self, person: Namesakes) -> str:
        return gender_of(person.forms, self.usage, self.lexicon)

    def _given_gender(self, given: str) -> str:
        return self.names.genders.get(given) or gender_of([NameForm("", (given,))], self.usage, self.lexicon)

    def _may_be(self, person: Namesakes, form: NameForm, gender: str) -> bool:
        known = self._gender(person)
        if gender and known and gender != known:
            return False
        same_word = any(form.words[0] == other.words[0] for other in person.forms)
        return self._apart(person, form) < (SIDE_BY_SIDE if same_word else 1)

    def _apart(self, person: Namesakes, form: NameForm) -> int:
        return sum(self.usage.apart.get(sorted_pair(form, other), 0) for other in person.forms)

    def _titles_agree(self, person: Namesakes, title: str) -> bool:
        """A general is no captain and a Miss no Mrs.; but who is Mr. now and then may be either."""
        count = sum(self.usage.forms[form].count for form in person.forms if form.title)
        for form in person.forms:
            kinds = {self._kind(_bare_title(form)), self._kind(title)} if form.title else set()
            clash = len(kinds) > 1 and (self.lexicon.titles[title] != "f" or kinds == {"maiden", "married"})
            if clash and self.usage.forms[form].count > RARE * count:
                return False
        return True

    def _kind(self, title: str) -> str:
        kinds = {"civil": self.lexicon.civil, "maiden": self.lexicon.maiden, "married": self.lexicon.married}
        plain = self.lexicon.title_words.get(title, title.lower())
        return next((kind for kind, titles in kinds.items() if title in titles), plain)

    def _is_maiden(self, person: Namesakes) -> bool:
        return not any(_bare_title(form) in self.lexicon.married for form in person.forms)

    def _eldest(self, people: list[Namesakes], title: str) -> Namesakes | None:
        """Of those who share a surname, the one who needs no first name with a title."""
        if len(people) > 1:
            kind = self._kind(title)
            plain = [
                person
                for person in people
                if not any(
                    self._kind(_bare_title(form)) == kind and form.title
                    for form in person.forms
                    if person.given in form.words
                )
            ]
            most = max(person.usage.count for person in people)
            people = [person for person in plain if person.usage.count > RARE * most] or people
        return max(people, key=lambda person: person.usage.count, default=None)


def _is_initial_of(one: str, other: str) -> bool:
    return (one.endswith(".") or other.endswith(".")) and one[:1] == other[:1]
