"""Who is in a novel, from its text alone: people with their names, those who only have an epithet, the narrator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from understudy.quotations.aliases import Namesakes, join_names
from understudy.quotations.epithets import Epithet, speaking_epithets
from understudy.quotations.gender import gender_of
from understudy.quotations.lexicon import Lexicon, given_names, lexicon_of
from understudy.quotations.names import NameForm, lower_counts, name_mentions
from understudy.quotations.narrator import is_first_person, narrator_among
from understudy.quotations.prose import NovelCharacter, Prose
from understudy.quotations.unspaced_names import find_unspaced_cast
from understudy.quotations.usage import ACTS, AFTER_ARTICLE, OWNS, SAYS, VOCATIVE, NameUsage, Usage, usage_of

__all__ = ["NARRATOR", "find_cast"]

NARRATOR = "Narrator"
UNSPACED = ("ja", "zh")
LEAST_MENTIONS = 2
LEAST_SHOWN = 2  # signs of a person that somebody without a title must show
LEAST_SCORE = 0.3
SHORTEST = 2  # letters
PLURAL = 0.3  # of the uses of a name that ends in s, after an article: 'the Westons'
EPITHET_SPEAKS = 2
OFTEN = 0.04  # of the mentions of somebody, for a form of the name to be taken as the name
CLEARLY = 3  # times that what is usually no person must speak


def find_cast(prose: Prose) -> tuple[NovelCharacter, ...]:
    """The people of a novel, those mentioned most often first. No two have a name or an alias in common.

    Names and aliases are as the text has them, but for white space (a name may be broken over two lines).
    """
    if prose.language in UNSPACED:
        return find_unspaced_cast(prose)
    lexicon = lexicon_of(prose.text, prose.language)
    lower = lower_counts(prose.text)
    usage = usage_of(prose.text, name_mentions(prose, lexicon, lower), lexicon)
    forms = [form for form, each in usage.forms.items() if _may_be_name(form, each, lexicon)]
    people = [person for person in join_names(usage, forms, lexicon) if _is_person(person, lower)]
    people.sort(key=lambda person: -person.usage.count)
    narrator = narrator_among(people) if is_first_person(prose) else None
    epithets, by_title = _epithets(speaking_epithets(prose, lexicon), people, lexicon)
    cast = [
        NovelCharacter(
            (name := _name(person, usage)),
            _aliases(name, person, by_title.get(id(person), ()), usage),
            gender_of(person.forms, usage, lexicon),
            person is narrator,
        )
        for person in people
    ]
    if narrator is None and is_first_person(prose):
        cast.append(NovelCharacter(NARRATOR, is_narrator=True))
    taken = {name for character in cast for name in (character.name, *character.aliases)}
    cast += [NovelCharacter(each.surface, (), each.gender) for each in epithets if each.surface not in taken]
    return tuple(cast)


def _may_be_name(form: NameForm, usage: NameUsage, lexicon: Lexicon) -> bool:
    last = form.words[-1]
    if last.lower() in lexicon.place_nouns or len(last.rstrip(".")) < SHORTEST:
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


def _is_person(person: Namesakes, lower: Mapping[str, int]) -> bool:
    usage = person.usage
    if any(form.title for form in person.forms):
        return usage.count >= LEAST_MENTIONS or usage.roles[SAYS] > 0
    says = usage.roles[SAYS]
    shown = 2 * says + usage.roles[ACTS] + usage.roles[VOCATIVE] + usage.roles[OWNS]
    if shown < LEAST_SHOWN or (usage.openers == usage.count and not says and usage.roles[ACTS] < CLEARLY):
        return False
    if all(lower[form.words[0].lower()] > usage.count for form in person.forms) and says < CLEARLY:
        return False
    return usage.person_score > max(usage.place_score, LEAST_SCORE)


def _name(person: Namesakes, usage: Usage) -> str:
    """The fullest form that is used often enough: 'Jane Fairfax', 'Mr. Knightley'."""
    counts = {form: usage.forms[form].count for form in person.forms}
    least = min(max(LEAST_MENTIONS, OFTEN * person.usage.count), max(counts.values()))
    often = {form: count for form, count in counts.items() if count >= least}
    longest = max(len(form.words) for form in often)
    best = max(
        (form for form in often if len(form.words) == longest),
        key=lambda form: (longest == 1 or not form.title, often[form], form),
    )
    if longest == 1 and not best.title:
        titled = [form for form in often if form.words == best.words and form.words[0] == person.surname]
        best = max(titled, key=lambda form: (bool(form.title), often[form], form), default=best)
    return best.surface


def _aliases(name: str, person: Namesakes, epithets: Iterable[str], usage: Usage) -> tuple[str, ...]:
    forms = sorted(person.forms, key=lambda form: (-usage.forms[form].count, form))
    return tuple(surface for surface in (*(form.surface for form in forms), *epithets) if surface != name)


def _epithets(
    epithets: Iterable[Epithet], people: list[Namesakes], lexicon: Lexicon
) -> tuple[list[Epithet], dict[int, list[str]]]:
    """Those who are nobody else, and, by person, those of the only one with a title: 'the colonel'."""
    bearers: dict[str, list[Namesakes]] = defaultdict(list)
    for person in people:
        for title in {form.title.removesuffix(".") for form in person.forms if form.title}:
            if title not in lexicon.civil | lexicon.maiden | lexicon.married:
                bearers[lexicon.title_words.get(title, title.lower())].append(person)
    names = {word for person in people for form in person.forms for word in form.words}
    nobody_else: list[Epithet] = []
    by_title: dict[int, list[str]] = defaultdict(list)
    for epithet in epithets:
        noun = epithet.surface.split(" ", 1)[1]
        owners = bearers.get(noun.lower(), [])
        if len(owners) == 1:
            by_title[id(owners[0])].append(epithet.surface)
        elif epithet.count >= EPITHET_SPEAKS and noun.split()[-1] not in names:
            nobody_else.append(epithet)
    return nobody_else, by_title
