"""Who is in a novel, from its text alone: people with their names, those who only have an epithet, the narrator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from understudy.quotations.aliases import join_names
from understudy.quotations.anaphoric_epithets import NamedPlaces, stands_for_others
from understudy.quotations.epithets import Epithet, speaking_epithets
from understudy.quotations.gender import gender_of
from understudy.quotations.lexicon import Lexicon, lexicon_of
from understudy.quotations.names import NameMention, lower_counts, name_mentions
from understudy.quotations.namesakes import Namesakes, bare_title, core
from understudy.quotations.narrator import is_first_person, narrator_among
from understudy.quotations.personhood import is_person, may_be_name
from understudy.quotations.prose import NovelCharacter, Prose
from understudy.quotations.unspaced_names import find_unspaced_cast
from understudy.quotations.usage import NameUsages, usage_of

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
