"""Who is in a novel, from its text alone: people with their names, those who only have an epithet, the narrator."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from understudy.novels.aliases import Namesakes, bare_title, core, gender_of, join_names
from understudy.novels.epithets import Epithet, speaking_epithets
from understudy.novels.lexicon import Lexicon, given_names, lexicon_of
from understudy.novels.names import NameForm, NameMention, find_unspaced_cast, lower_counts, name_mentions
from understudy.novels.prose import NovelCharacter, Prose, Span
from understudy.novels.usage import ACTS, AFTER_ARTICLE, OWNS, SAYS, VOCATIVE, NameUsage, NameUsages, usage_of

__all__ = ["NARRATOR", "find_cast"]

NARRATOR = "Narrator"
UNSPACED = ("ja", "zh")
LEAST_MENTIONS = 3  # of a form of the name
OFTEN = 0.01  # of the mentions of somebody, for a form of the name to be taken as the name
TITLED = 0.25  # of the uses of a bare surname, for a title with it to be part of the name


def find_cast(prose: Prose) -> tuple[NovelCharacter, ...]:
    """The people of a novel, those mentioned most often first. No two have a name or an alias in common.

    Names and aliases are as the text has them, but for white space (a name may be broken over two lines).
    """
    if prose.language in UNSPACED:
        return find_unspaced_cast(prose)
    lexicon = lexicon_of(prose.text, prose.language)
    lower = lower_counts(prose.text)
    mentions = name_mentions(prose, lexicon, lower)
    usage = usage_of(prose.text, mentions, lexicon)
    forms = [form for form, each in usage.forms.items() if may_be_name(form, each, lexicon)]
    people = [person for person in join_names(usage, forms, lexicon) if is_person(person, lower)]
    people.sort(key=lambda person: -person.usage.count)
    is_told_by_somebody = is_first_person(prose)
    narrator = narrator_among(people) if is_told_by_somebody else None
    genders = [gender_of(person.forms, usage, lexicon) for person in people]
    places = _named_places(people, genders, mentions)
    nameless, by_person = _assign_epithets(speaking_epithets(prose, lexicon), people, places, lexicon)
    cast = [
        NovelCharacter(
            (name := _name(person, usage, lexicon)),
            _aliases(name, person, by_person[index], usage),
            genders[index],
            person is narrator,
        )
        for index, person in enumerate(people)
    ]
    if is_told_by_somebody and narrator is None:
        cast.append(NovelCharacter(NARRATOR, is_narrator=True))
    return tuple(_without_repeats([*cast, *(NovelCharacter(each.name, each.others, each.gender) for each in nameless)]))


def _without_repeats(cast: Iterable[NovelCharacter]) -> Iterator[NovelCharacter]:
    taken: set[str] = set()
    for character in cast:
        if character.name not in taken:
            aliases = tuple(alias for alias in character.aliases if alias not in taken)
            taken.update((character.name, *aliases))
            yield replace(character, aliases=aliases)


def _name(person: Namesakes, usage: NameUsages, lexicon: Lexicon) -> str:
    """The fullest form that is used often enough, with a title where it is nothing but a surname.

    'Jane Fairfax', 'Mr. Knightley'; but 'Poirot', if he is hardly ever called Monsieur.
    """
    counts = {form: usage.forms[form].count for form in person.forms}
    least = min(max(LEAST_MENTIONS, OFTEN * person.usage.count), max(counts.values()))
    words = {form: len(core(form, lexicon)) for form, count in counts.items() if count >= least}
    longest = max(words.values())
    best = max(
        (form for form in words if words[form] == longest),
        key=lambda form: (longest == 1 or not form.title, counts[form], form),
    )
    titled = [form for form in words if form.title and form.words == best.words == (person.surname,)]
    fuller = max(titled, key=lambda form: (counts[form], form), default=best)
    return (fuller if counts[fuller] >= TITLED * counts[best] else best).surface


def _aliases(name: str, person: Namesakes, epithets: Iterable[str], usage: NameUsages) -> tuple[str, ...]:
    forms = sorted(person.forms, key=lambda form: (-usage.forms[form].count, form))
    return tuple(surface for surface in (*(form.surface for form in forms), *epithets) if surface != name)


def _named_places(
    people: Sequence[Namesakes], genders: Sequence[str], mentions: Iterable[NameMention]
) -> list[NamedPlaces]:
    owners = {form: index for index, person in enumerate(people) for form in person.forms}
    places: dict[int, list[int]] = defaultdict(list)
    for mention in mentions:
        if mention.form in owners and not mention.is_quoted:
            places[owners[mention.form]].append(mention.start)
    return [NamedPlaces(genders[index], starts) for index, starts in places.items()]


def _assign_epithets(
    epithets: Iterable[Epithet], people: Sequence[Namesakes], places: Sequence[NamedPlaces], lexicon: Lexicon
) -> tuple[list[Epithet], Mapping[int, list[str]]]:
    """Those who are nobody else; and, by the index of a person, their own: 'the colonel' is the only one there is."""
    bearers: dict[str, set[int]] = defaultdict(set)
    usual = lexicon.civil | lexicon.maiden | lexicon.married
    for index, person in enumerate(people):
        for title in {bare_title(form) for form in person.forms if form.title} - usual:
            bearers[lexicon.title_words.get(title, title.lower())].add(index)
    names = {word for person in people for form in person.forms for word in form.words}
    nameless: list[Epithet] = []
    by_person: dict[int, list[str]] = defaultdict(list)
    for epithet in epithets:
        owners = bearers[epithet.noun.lower()]
        if len(owners) == 1:
            by_person[next(iter(owners))] += [epithet.name, *epithet.others]
        elif (
            epithet.is_somebody(lexicon)
            and epithet.noun.split()[-1] not in names
            and not stands_for_others(epithet, places, lexicon)
        ):
            nameless.append(epithet)
    return nameless, by_person


# Whether a name is a person's, from how the text uses it (see `usage` for the scores).

LEAST_MENTIONS_OF_A_PERSON = 2
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
        return usage.count >= LEAST_MENTIONS_OF_A_PERSON or usage.roles[SAYS] > 0
    if usage.count < LEAST_MENTIONS_OF_A_PERSON and person.given not in given_names().genders:
        return False
    says = usage.roles[SAYS]
    shown = 2 * says + usage.roles[ACTS] + usage.roles[VOCATIVE] + usage.roles[OWNS]
    if shown < LEAST_SHOWN or (usage.openers == usage.count and not says and usage.roles[ACTS] < CLEARLY):
        return False
    if all(lower[form.words[0].lower()] > usage.count for form in person.forms) and says < CLEARLY:
        return False
    return usage.person_score > max(usage.place_score, LEAST_SCORE)


# Whether somebody in the story tells it, and who.
#
# A story is told in the first person where narration, quotations left out, says 'I' more than once in 150 words. Its
# narrator is whom others call by a name that the narration itself hardly ever has.

WORD = re.compile(r"[^\W\d_]+")
FIRST_PERSON = frozenset("I je Je j J ich Ich".split())
RATE = 1 / 150  # of a narrator's words
LEAST_CALLED = 3
NARRATED = 0.35  # of a narrator's own names that stand in narration, at most


def is_first_person(prose: Prose) -> bool:
    """Headings do not count: 'Chapter I' is nobody's word."""
    parts = deque(sorted(part for quotation in prose.quotations for part in quotation.parts))
    words = total = 0
    for start, end in [paragraph.span for paragraph in prose.paragraphs] or [Span(0, len(prose.text))]:
        while parts and parts[0].start < end:
            part = parts.popleft()
            found = WORD.findall(prose.text, start, max(start, part.start))
            words += sum(word in FIRST_PERSON for word in found)
            total += len(found)
            start = max(start, part.end)
        found = WORD.findall(prose.text, start, max(start, end))
        words += sum(word in FIRST_PERSON for word in found)
        total += len(found)
    return words > RATE * total


def narrator_among(people: Iterable[Namesakes]) -> Namesakes | None:
    """Whom others call most of those that narration does not name, if anybody."""
    called = [
        person
        for person in people
        if person.usage.roles[VOCATIVE] >= LEAST_CALLED and person.usage.narrated <= NARRATED * person.usage.count
    ]
    return max(called, key=lambda person: person.usage.roles[VOCATIVE], default=None)


# 'The girl', 'the old gentleman': somebody who has just been named, or a person of their own?
#
# A noun that any man or woman may be called by is nobody of its own where people of its gender are usually named
# shortly before it speaks: it stands for one of them, and for whom is for each quotation to show.

REACH = 1_500  # characters before a place in which a name is near
USUALLY = 0.5  # of the places where an epithet speaks


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """Somebody's gender, and the offsets, in order, where narration names them."""

    gender: str
    places: Sequence[int]

    def is_near(self, place: int) -> bool:
        index = bisect_left(self.places, place)
        return index > 0 and place - self.places[index - 1] <= REACH


def stands_for_others(epithet: Epithet, people: Iterable[NamedPlaces], lexicon: Lexicon) -> bool:
    if epithet.noun.split()[-1].lower() not in lexicon.anybody:
        return False
    others = [each for each in people if "" in (epithet.gender, each.gender) or epithet.gender == each.gender]
    near = sum(any(each.is_near(place) for each in others) for place in epithet.places)
    return near >= USUALLY * len(epithet.places)
