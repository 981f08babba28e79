"""Which names are one person's: first name, surname, title and surname, full name, short forms of a first name.

Names are joined from the fullest down, and never against evidence: genders that clash, two names side by side ('Jane
and Miss Bingley'), a short form that the narrator uses as often as the full one (Sir Thomas and his son Tom). Where
several share a surname, 'Miss Bennet' is the one who is never 'Miss Jane' (the eldest), a bare surname a man's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from understudy.novels.lexicon import Lexicon, given_names
from understudy.novels.names import NameForm, NameUsage, NameUsages, sorted_pair

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


# A person's gender, by the first of these that tells it.
#
# titles that have one (Mrs.) > many pronouns after the names > first names > some clear pronouns > titles that men
# bear more often (Captain) > any pronouns

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
        majority(titles),
        likelier if total >= MANY and share >= CLEAR else "",
        majority(names),
        likelier if total >= SOME and share >= CLEAR else "",
        "m" if is_mens else "",
        likelier if total >= least and share >= LIKELY else "",
    )
    return next(filter(None, votes), "")


def majority(votes: Counter[str]) -> str:
    """The gender that has more votes, if either has."""
    return "" if votes["m"] == votes["f"] else "m" if votes["m"] > votes["f"] else "f"


# Evidence for and against that a name is somebody's: gender, titles, names side by side, who is named by narration.

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
        is_married = _is_married(person, self._lexicon)
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
