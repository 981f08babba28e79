"""Who is in a novel, from its text alone: people with their names, those who only have an epithet, the narrator."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from understudy.novels.aliases import Namesakes, bare_title, core, gender_of, join_names, majority
from understudy.novels.lexicon import WORD, Lexicon, given_names, lexicon_of
from understudy.novels.names import (
    ACTS,
    AFTER_ARTICLE,
    OWNS,
    SAYS,
    VOCATIVE,
    NameForm,
    NameMention,
    NameUsage,
    NameUsages,
    QuotedParts,
    find_unspaced_cast,
    lower_counts,
    name_mentions,
    usage_of,
)
from understudy.novels.prose import NovelCharacter, Prose, Span

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


# Whether a name is a person's, from how the text uses it (see `names` for the scores).

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

FIRST_PERSON = frozenset("I je Je j J ich Ich".split())
RATE = 1 / 150  # of a narrator's words
LEAST_CALLED = 3
NARRATED = 0.35  # of a narrator's own names that stand in narration, at most


def is_first_person(prose: Prose) -> bool:
    """Headings do not count: 'Chapter I' is nobody's word."""
    parts = deque(sorted(part for quotation in prose.quotations for part in quotation.parts))
    words = total = 0
    for start, end in [paragraph.span for paragraph in prose.paragraphs] or [Span(0, len(prose.text))]:
        narration = list[str]()
        while parts and parts[0].start < end:
            part = parts.popleft()
            narration += WORD.findall(prose.text, start, max(start, part.start))
            start = max(start, part.end)
        narration += WORD.findall(prose.text, start, max(start, end))
        words += sum(word in FIRST_PERSON for word in narration)
        total += len(narration)
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


# People without names: 'the porter', 'the old woman', 'mother', who speak now and then.
#
# Whoever is the subject of a verb of speech right before or after a quotation is somebody, whatever the noun; away from
# quotations ('the letter said') only nouns that are known to speak, or to be people.


BESIDE = 4  # characters of punctuation between a quotation and the clause that tells who says it
SPEAKS = 2  # times that a noun must be a speaker if it is not known to be a person's
FAMILY_SPEAKS = 3
MODIFIERS = 2  # words between the article and the noun: 'the little old woman'
PRONOUN_REACH = 80  # characters after an epithet in which a pronoun may stand for it
HYPHENATED_WORD = r"[^\W\d_]+(?:-[^\W\d_]+)*"


@dataclass(frozen=True, slots=True)
class Epithet:
    """As it is mostly written, for example 'the porter', and otherwise ('the Porter').

    `count` is how often it is the subject of a verb of speech, `beside` how often of that beside a quotation, `places`
    where it is.
    """

    name: str
    others: tuple[str, ...]
    beside: int
    count: int
    gender: str
    places: tuple[int, ...] = ()

    @property
    def noun(self) -> str:
        return self.name.split(" ", 1)[-1]

    def is_somebody(self, lexicon: Lexicon) -> bool:
        if self.name in lexicon.family_names:
            return self.beside >= FAMILY_SPEAKS
        is_role = self.noun.split()[-1].lower() in lexicon.role_genders
        return self.beside > 0 and (is_role or self.count >= SPEAKS)


def speaking_epithets(prose: Prose, lexicon: Lexicon) -> list[Epithet]:
    """Nouns that are subjects of verbs of speech in narration, most frequent first."""
    quoted = QuotedParts(prose)
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    beside: Counter[str] = Counter()
    elsewhere: Counter[str] = Counter()
    pronouns: dict[str, Counter[str]] = defaultdict(Counter)
    places: dict[str, list[int]] = defaultdict(list)
    pronoun = re.compile(rf"\b(?:{'|'.join(lexicon.pronouns)})\b")
    for surface, start, end in _subjects(prose.text, lexicon):
        if start in quoted:
            continue
        key = surface.lower()
        spellings[key][surface] += 1
        places[key].append(start)
        (beside if _is_beside(start, end, quoted) else elsewhere)[key] += 1
        match = pronoun.search(prose.text, end, end + PRONOUN_REACH)
        if match:
            pronouns[key][lexicon.pronouns[match[0]]] += 1
    heads = {key.split()[-1] for key in beside} | lexicon.role_genders.keys()
    counts = beside + Counter({key: count for key, count in elsewhere.items() if key.split()[-1] in heads})
    epithets = []
    for key, count in counts.most_common():
        name, *others = (spelling for spelling, _ in spellings[key].most_common())
        gender = _gender(key, pronouns[key], lexicon)
        epithets.append(Epithet(name, tuple(others), beside[key], count, gender, tuple(places[key])))
    return epithets


def _is_beside(start: int, end: int, quoted: QuotedParts) -> bool:
    """Does a quotation end right before a clause, or begin right after it?"""
    return any(start - back in quoted for back in range(2, BESIDE)) or any(
        end + ahead in quoted for ahead in range(2, BESIDE + 1)
    )


def _subjects(text: str, lexicon: Lexicon) -> Iterator[tuple[str, int, int]]:
    """Every epithet that is the subject of a verb of speech, and from where to where its clause goes."""
    verbs = "|".join(sorted(lexicon.epithet_verbs, key=len, reverse=True))
    articles = "|".join(sorted(lexicon.definite_articles, key=len, reverse=True))
    kin = "|".join(sorted(lexicon.family_names, key=len, reverse=True))
    inverted = re.compile(
        rf"\b(?:{verbs})\s(?:(?P<article>{articles})\s)({HYPHENATED_WORD}(?:\s{HYPHENATED_WORD}){{0,{MODIFIERS + 1}}})"
    )
    direct = re.compile(
        rf"\b(?P<article>{articles})\s({HYPHENATED_WORD}(?:\s{HYPHENATED_WORD}){{0,{MODIFIERS}}}?)\s(?:{verbs})\b",
        re.IGNORECASE,
    )
    for match in (*inverted.finditer(text), *direct.finditer(text)):
        noun = _noun_phrase(match[2].split(), lexicon)
        if noun:
            yield f"{match['article'].lower()} {noun}", match.start(), match.end()
    if kin:
        for match in re.finditer(
            rf"(?:\b(?:{verbs})\s({kin})\b(?=[.,;!?]))|(?:(?<=[\"”’.]\s)({kin})\s(?:{verbs})\b)", text
        ):
            yield match[1] or match[2], match.start(), match.end()


def _noun_phrase(words: list[str], lexicon: Lexicon) -> str:
    """The words up to where a noun phrase ends; none if it is longer than a noun with its modifiers, or plural."""
    phrase: list[str] = []
    for word in words:
        if word.lower() in lexicon.noun_ends or word.endswith("ly"):
            break
        phrase.append(word)
    if len(phrase) > MODIFIERS + 1 or (phrase and phrase[-1].endswith("s") and not phrase[-1].endswith("ss")):
        return ""
    return " ".join(phrase)


def _gender(surface: str, pronouns: Counter[str], lexicon: Lexicon) -> str:
    return lexicon.role_genders.get(surface.split()[-1], "") or majority(pronouns)
