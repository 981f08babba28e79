"""Which names are one person's: first name, surname, title and surname, full name, short forms of a first name.

Names are joined from the fullest down, and never against evidence: genders that clash, two names side by side ('Jane
and Miss Bingley'), a short form that the narrator uses as often as the full one (Sir Thomas and his son Tom). Where
several share a surname, 'Miss Bennet' is the one who is never 'Miss Jane' (the eldest), a bare surname a man's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from understudy.quotations.lexicon import Lexicon, given_names
from understudy.quotations.names import NameForm
from understudy.quotations.namesakes import FEW, AliasEvidence, Namesakes, bare_title, core
from understudy.quotations.usage import NameUsages

__all__ = ["join_names"]

MOST_NAMESAKES = 50  # people of one name who are asked whether another form of it is theirs
HARDLY = 0.1  # of the mentions of the one of a surname who is mentioned most
MOSTLY_GIVEN = 2  # a name that stands twice as often after Mr. or last is a surname: Colonel Fitzwilliam


def join_names(usage: NameUsages, forms: Iterable[NameForm], lexicon: Lexicon) -> list[Namesakes]:
    cores = {form: core(form, lexicon) for form in forms}
    as_given, as_surname = _positions(cores, usage, lexicon)
    by_count = sorted(cores, key=lambda form: (-usage.forms[form].count, form))
    by_count = [form for form in by_count if not _is_plural(cores[form][-1], as_surname)]
    single = [form for form in by_count if len(cores[form]) == 1]
    joining = _AliasMerger(usage, lexicon)
    for form in by_count:
        if len(cores[form]) > 1 and not _is_accidental(form, cores[form], usage, as_surname):
            joining.full(form, cores[form])
    for form in single:
        name = cores[form][0]
        if not form.title and MOSTLY_GIVEN * as_given[name] >= as_surname[name]:
            joining.bare_given(form, name)
    # Miss, Mrs. and Mr. first: of those who share a surname, ranks and kin tell others from them.
    usual = lexicon.civil | lexicon.maiden | lexicon.married
    for form in sorted(single, key=lambda form: bare_title(form) not in usual):
        if form.title:
            joining.titled(form, cores[form][0])
    for form in single:
        if form not in joining.joined:
            joining.bare_surname(form, cores[form][0])
    joining.short_forms()
    return joining.people


def _positions(
    cores: Mapping[NameForm, tuple[str, ...]], usage: NameUsages, lexicon: Lexicon
) -> tuple[Counter[str], Counter[str]]:
    """How often each word stands where first names stand, and where surnames do."""
    as_given: Counter[str] = Counter()
    as_surname: Counter[str] = Counter()
    for form, words in cores.items():
        if len(words) > 1:
            as_given[words[0]] += usage.forms[form].count
            as_surname[words[-1]] += usage.forms[form].count
        elif form.title and bare_title(form) not in lexicon.before_given:
            as_surname[words[0]] += usage.forms[form].count
    return as_given, as_surname


def _is_accidental(form: NameForm, words: tuple[str, ...], usage: NameUsages, as_surname: Mapping[str, int]) -> bool:
    """Two people's names that stand together once: 'Weston Churchill'."""
    return usage.forms[form].count == 1 and as_surname[words[0]] > 1


def _is_plural(word: str, as_surname: Mapping[str, int]) -> bool:
    """A family: 'the Westons', 'the Miss Coxes'."""
    singular = max((word.removesuffix(ending) for ending in ("s", "es")), key=lambda form: as_surname[form])
    return singular != word and as_surname[singular] > as_surname[word]


class _AliasMerger:
    def __init__(self, usage: NameUsages, lexicon: Lexicon) -> None:
        self.people: list[Namesakes] = []
        self.joined: set[NameForm] = set()
        self._usage = usage
        self._lexicon = lexicon
        self._evidence = AliasEvidence(usage, lexicon)
        self._by_given: dict[str, list[Namesakes]] = defaultdict(list)
        self._by_surname: dict[str, list[Namesakes]] = defaultdict(list)

    def full(self, form: NameForm, words: tuple[str, ...]) -> None:
        """'Emma Woodhouse', 'Mr. Frank Churchill', 'Mrs. John Knightley'."""
        given, surname = words[0], words[-1]
        is_wife = bare_title(form) in self._lexicon.married and self._evidence.given_gender(given) == "m"
        same = [person for person in self._by_surname[surname] if _is_same_given(person.given, given)]
        same += [person for person in self._by_given[given] if _is_part(words, person)]
        same = [person for person in same if person.is_wife == is_wife and self._evidence.may_be(person, form)]
        self._join(same[0] if same else None, form, Namesakes(given, surname, is_wife))

    def bare_given(self, form: NameForm, given: str) -> None:
        """'Emma', 'Lizzy'."""
        same = [person for person in self._by_given[given] if self._evidence.may_be(person, form)]
        self._join(_most_mentioned(same), form, Namesakes(given))

    def titled(self, form: NameForm, name: str) -> None:
        """'Mr. Knightley', 'Miss Bennet', 'Sir Thomas', 'Aunt Polly'."""
        title = bare_title(form)
        same: list[Namesakes] = []
        if title in self._lexicon.before_given or not self._by_surname[name]:
            same = [person for person in self._by_given[name] if self._may_be_titled(person, form)]
        if same:
            self._join(_most_mentioned(same), form, Namesakes())
            return
        wives = {person.given for person in self._by_surname[name] if person.is_wife}
        same = [
            person
            for person in self._by_surname[name]
            if self._may_be_titled(person, form)
            and not person.is_wife
            and not self._evidence.is_daughter(person, title)
            and not self._evidence.has_namesake(person, form, wives)
        ]
        self._join(self._evidence.eldest(same, form), form, Namesakes(surname=name))

    def bare_surname(self, form: NameForm, surname: str) -> None:
        """'Darcy', 'Cohn'. Where it is hardly used, nobody can tell which of several of a surname is meant."""
        bearers = self._by_surname[surname]
        most = max((person.usage.count for person in bearers), default=0)
        if len(bearers) > 1 and self._usage.forms[form].count < HARDLY * most:
            return
        same = [person for person in self._by_surname[surname] if self._evidence.may_be(person, form)]
        if self._usage.forms[form].narrated > FEW:  # a wife's surname by itself is her husband
            same = [person for person in same if not _is_married(person, self._lexicon)]
        men = [person for person in same if self._evidence.gender(person.forms) == "m"]
        self._join(_most_mentioned(men or same), form, Namesakes(surname=surname))

    def short_forms(self) -> None:
        """Joins 'Lizzy' to 'Elizabeth', where just one person can be meant."""
        full_forms = given_names().full_forms
        by_full_form: dict[str, list[Namesakes]] = defaultdict(list)
        for person in self.people:
            for full_form in full_forms.get(person.given, ()):
                if len(by_full_form[full_form]) < MOST_NAMESAKES:
                    by_full_form[full_form].append(person)
        merged: set[int] = set()
        for person in sorted(self.people, key=lambda person: person.usage.count):
            same = [
                other
                for full_form in sorted(full_forms.get(person.given, ()))
                for other in by_full_form[full_form]
                if other is not person and id(other) not in merged and self._evidence.is_short_form(person, other)
            ]
            if len(same) == 1:
                merged.add(id(person))
                same[0].surname = same[0].surname or person.surname
                for form in person.forms:
                    self._add(same[0], form)
        self.people = [person for person in self.people if id(person) not in merged]

    def _may_be_titled(self, person: Namesakes, form: NameForm) -> bool:
        return self._evidence.may_be(person, form) and self._evidence.has_title(person, bare_title(form))

    def _join(self, person: Namesakes | None, form: NameForm, otherwise: Namesakes) -> None:
        """Adds a name to somebody's, or to those of somebody new."""
        if person is None:
            person = otherwise
            self.people.append(person)
            for key, people in ((person.given, self._by_given), (person.surname, self._by_surname)):
                if key and len(people[key]) < MOST_NAMESAKES and not (person.is_wife and people is self._by_given):
                    people[key].append(person)
        self._add(person, form)

    def _add(self, person: Namesakes, form: NameForm) -> None:
        person.forms.append(form)
        person.usage.add(self._usage.forms[form])
        self.joined.add(form)


def _most_mentioned(people: Iterable[Namesakes]) -> Namesakes | None:
    return max(people, key=lambda person: person.usage.count, default=None)


def _is_married(person: Namesakes, lexicon: Lexicon) -> bool:
    return any(form.title and bare_title(form) in lexicon.married for form in person.forms)


def _is_same_given(one: str, other: str) -> bool:
    if one.endswith(".") or other.endswith("."):
        return one[:1] == other[:1]
    return given_names().is_same(one, other)


def _is_part(words: tuple[str, ...], person: Namesakes) -> bool:
    """Has one of two names all words of the other: 'Anna Maria' and 'Anna Maria Bell'?"""
    known = {word for form in person.forms for word in form.words}
    return known.issuperset(words) or any(set(form.words) <= set(words) for form in person.forms)
