"""The words of prose, and the mentions of a cast among them: names and aliases, and the pronouns of narration.

Aliases are matched word by word, the longest first. 'The Clever Lady' is found as 'the clever lady'; a name needs its
capital. Forms that the cast does not list are derived where nobody has them as an alias: the first name and the
surname of 'May Welland', 'Mr. Emerson' of a man whose surname it is. An alias of several people stands for whoever was
named last by a form that is theirs alone. 'he' and 'she' of narration stand for whoever of that gender was last the
subject of a sentence of it, and 'I' for the narrator.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.novels.lexicon import FEMALE, MALE, WORD, english_words
from understudy.novels.prose import NovelCharacter, Prose

CLAUSE_END = re.compile(r"[.!?:;\"“”—]|--|\n\s*\n")
SENTENCE_END = re.compile(r"[.!?\"“”]|\n\s*\n")
ABBREVIATED = frozenset("mr mrs ms dr st m mme mlle messrs rev hon esq prof capt col gen lt sgt".split())
NARRATION = -1

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ProseWords:
    """Words of a text in order; all arrays have an entry for each word."""

    prose: Prose
    texts: list[str]
    starts: Ints

    @classmethod
    def of(cls, prose: Prose) -> ProseWords:
        matches = [(match.group(), match.start()) for match in WORD.finditer(prose.text)]
        texts = [text for text, _ in matches]
        return cls(prose, texts, np.fromiter((start for _, start in matches), np.int64, len(matches)))

    @cached_property
    def lowered(self) -> list[str]:
        return [text.lower() for text in self.texts]

    @cached_property
    def ends(self) -> Ints:
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        return self.starts + lengths

    @cached_property
    def quotations(self) -> Ints:
        """The quotation that each word is in, or NARRATION."""
        parts = sorted((part.start, part.end, index) for index, quotation in enumerate(self.prose.quotations)
                       for part in quotation.parts)  # fmt: skip
        result = np.full(len(self.texts), NARRATION, np.int64)
        for start, end, index in parts:
            first, last = np.searchsorted(self.starts, (start, end))
            result[first:last] = index
        return result

    @cached_property
    def paragraphs(self) -> Ints:
        """The paragraph that each word is in."""
        starts = np.array([paragraph.span.start for paragraph in self.prose.paragraphs], np.int64)
        return np.maximum(np.searchsorted(starts, self.starts, side="right") - 1, 0)

    @cached_property
    def begins_clause(self) -> NDArray[np.bool_]:
        """Whether a word comes after a full stop, colon, semicolon, dash or quotation mark."""
        return self._after(CLAUSE_END)

    @cached_property
    def begins_sentence(self) -> NDArray[np.bool_]:
        """Whether a word comes after a full stop, question mark, exclamation mark or quotation mark."""
        return self._after(SENTENCE_END)

    def _after(self, ends: re.Pattern[str]) -> NDArray[np.bool_]:
        result = np.zeros(len(self.texts), np.bool_)
        stops = np.fromiter((match.start() for match in ends.finditer(self.prose.text)), np.int64)
        result[:1] = True
        after = np.searchsorted(self.starts, stops)
        after = after[after < len(self.texts)]
        lowered = self.lowered
        for index in np.unique(after).tolist():
            is_short = index and lowered[index - 1] in ABBREVIATED
            gap = self.prose.text[int(self.ends[index - 1]) : int(self.starts[index])] if index else ""
            if not (is_short and gap.strip() == "."):
                result[index] = True
        return result

    def between(self, start: int, end: int) -> range:
        """Indices of the words that begin between two offsets."""
        first, last = np.searchsorted(self.starts, (start, end))
        return range(int(first), int(last))


# Whom of a cast the words stand for.

NOBODY = -1
CLAUSE_LINKS, OFFICES = english_words("tags.links"), english_words("tags.offices")
NO_NAMES = OFFICES | english_words(
    "tags.no_names", "title_kinds.civil", "title_kinds.maiden", "title_kinds.married", "title_kinds.kin"
)
PRONOUNS = {word: gender for gender in "mf" for word in english_words(f"pronouns.{gender}")}
SUBJECTS = frozenset(("he", "she"))
FORGOTTEN = 300  # words of narration after which a pronoun no longer refers back


class CastMention(NamedTuple):
    """Words `first` up to `last` (not included) that stand for `who`, an index into the cast."""

    first: int
    last: int
    who: int
    quotation: int
    is_subject: bool
    is_pronoun: bool


@dataclass(frozen=True)
class CastMentions:
    """All mentions in order, by their first word, and as arrays."""

    all: list[CastMention]
    at: dict[int, CastMention]

    @classmethod
    def of(cls, mentions: Sequence[CastMention]) -> CastMentions:
        return cls(list(mentions), {mention.first: mention for mention in mentions})

    def arrays(self) -> NDArray[np.int64]:
        """A row for each mention: first word, who, quotation, is it a subject, is it a pronoun."""
        rows = [(each.first, each.who, each.quotation, each.is_subject, each.is_pronoun) for each in self.all]
        return np.array(rows, np.int64).reshape(-1, 5)


def find_mentions(words: ProseWords, cast: Sequence[NovelCharacter]) -> CastMentions:
    named = _resolve(list(_occurrences(words, alias_patterns(cast, Counter(words.texts)))))
    mentions = _with_subjects(words, named)
    narrator = next((index for index, who in enumerate(cast) if who.is_narrator), NOBODY)
    return CastMentions.of(sorted(mentions + _pronouns(words, cast, mentions, narrator)))


def _occurrences(
    words: ProseWords, forms: Mapping[str, Sequence[AliasPattern]]
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    lowered, texts = words.lowered, words.texts
    free = 0
    for index, word in enumerate(lowered):
        if index < free or word not in forms:
            continue
        for form in forms[word]:
            size = len(form.words)
            if size > 1 and tuple(lowered[index : index + size]) != form.words:
                continue
            if form.needs_capital and not any(text[0].isupper() for text in texts[index : index + size]):
                continue
            yield index, index + size, form.people
            free = index + size
            break


def _resolve(occurrences: Sequence[tuple[int, int, tuple[int, ...]]]) -> list[tuple[int, int, int]]:
    """Of namesakes, whoever was named last by a form of their own; at the start, whoever is named most."""
    counts = Counter(people[0] for _, _, people in occurrences if len(people) == 1)
    latest: dict[int, int] = {}
    resolved = []
    for first, last, people in occurrences:
        who = people[0]
        if len(people) > 1:
            who = max(people, key=lambda person: (latest.get(person, -1), counts[person]))
        else:
            latest[who] = first
        resolved.append((first, last, who))
    return resolved


def _with_subjects(words: ProseWords, named: Sequence[tuple[int, int, int]]) -> list[CastMention]:
    quotations, begins = words.quotations.tolist(), words.begins_clause.tolist()
    mentions = []
    for first, last, who in named:
        is_possessive = words.prose.text[int(words.ends[last - 1]) : int(words.ends[last - 1]) + 2] in ("'s", "’s")
        is_subject = not is_possessive and _opens_clause(words, first, begins)
        mentions.append(CastMention(first, last, who, quotations[first], is_subject, False))
    return mentions


def _opens_clause(words: ProseWords, index: int, begins: Sequence[bool]) -> bool:
    """Is a word the first of its clause, but for a linking word or two?"""
    for _ in range(3):
        if begins[index]:
            return True
        if words.prose.text[int(words.starts[index]) - 2] in ",;":
            return True
        if index == 0 or words.lowered[index - 1] not in CLAUSE_LINKS:
            return False
        index -= 1
    return False


def _pronouns(
    words: ProseWords, cast: Sequence[NovelCharacter], mentions: Sequence[CastMention], narrator: int
) -> list[CastMention]:
    """Pronouns of narration with those they stand for, where anybody has been named for them to refer to."""
    named = {mention.first: mention for mention in mentions if mention.quotation == NARRATION}
    lowered, quotations = words.lowered, words.quotations.tolist()
    subject, latest = dict[str, tuple[int, int]](), dict[str, tuple[int, int]]()
    pronouns = []
    for index, word in enumerate(lowered):
        if index in named:
            mention = named[index]
            gender = cast[mention.who].gender
            if gender:
                latest[gender] = index, mention.who
                if mention.is_subject or gender not in subject:
                    subject[gender] = index, mention.who
        elif word in PRONOUNS and quotations[index] == NARRATION:
            gender = PRONOUNS[word]
            is_subject = word in SUBJECTS
            refer = subject if is_subject else latest
            if gender in refer and index - refer[gender][0] <= FORGOTTEN:
                who = refer[gender][1]
                subject[gender] = index, who
                pronouns.append(CastMention(index, index + 1, who, NARRATION, is_subject, True))
        elif word == "i" and narrator != NOBODY and quotations[index] == NARRATION:
            pronouns.append(CastMention(index, index + 1, narrator, NARRATION, True, True))
    return pronouns


FIRST_PERSON = 0.01  # share of 'I' among the words of narration, from which on somebody in it tells the story


def narrator_of(words: ProseWords, cast: Sequence[NovelCharacter]) -> int:
    """Who says 'I' in narration: of the cast whoever is named in speech, not in narration; NOBODY in most novels."""
    flagged = next((index for index, character in enumerate(cast) if character.is_narrator), NOBODY)
    if flagged != NOBODY:
        return flagged
    is_narration = words.quotations == NARRATION
    first_person = sum(1 for index in np.flatnonzero(is_narration).tolist() if words.texts[index] == "I")
    if first_person < FIRST_PERSON * is_narration.sum():
        return NOBODY
    said, named = Counter[int](), Counter[int]()
    for mention in find_mentions(words, cast).all:
        if not mention.is_pronoun:
            (named if mention.quotation == NARRATION else said)[mention.who] += 1
    likely = [who for who in said if said[who] > 3 * named[who]]
    return max(likely, key=lambda who: said[who] - 3 * named[who], default=NOBODY)


# The forms by which somebody of a cast can be named: those listed, and those that can be derived from them.


class AliasPattern(NamedTuple):
    words: tuple[str, ...]
    people: tuple[int, ...]
    needs_capital: bool


def alias_patterns(cast: Sequence[NovelCharacter], counts: Mapping[str, int]) -> dict[str, list[AliasPattern]]:
    """Forms of names by their first word, the longest first.

    A short form that is all that is known of somebody ('Bounderby', of no gender) is also that of whoever it can be
    derived for ('Josiah Bounderby'); so is 'Mr. Crawford', where that is all that a man is called, of Henry Crawford;
    and a first name whose owner is mostly called otherwise, of namesakes. `counts` are of the words of the text.
    """
    listed, derived, surnames = (defaultdict[tuple[str, ...], set[int]](set) for _ in range(3))
    capital: dict[tuple[str, ...], bool] = {}
    for index, character in enumerate(cast):
        for alias in (character.name, *character.aliases):
            parts = tuple(WORD.findall(alias.lower()))
            if not parts or alias.startswith("_"):
                continue
            listed[parts].add(index)
            capital[parts] = parts[0] not in ("the", "a", "an", "his", "her", "my", "old")
            for form in _derived(parts, character.gender):
                derived[form].add(index)
            if surname := _surname(parts):
                surnames[(surname,)].add(index)
    for form, people in surnames.items():  # a surname without a title is a man's, where a man bears it
        derived[form] |= {index for index in people if cast[index].gender != FEMALE} or people
    for form, owners in listed.items():
        if len(form) == 1 and len(owners) == 1 and _is_mostly_called_otherwise(cast[min(owners)], form[0], counts):
            owners |= {index for index in derived.get(form, ()) if cast[index].gender == cast[min(owners)].gender}
    bare = {index for index, who in enumerate(cast) if not who.gender and len(_distinct(who)) == 1}
    for form, people in derived.items():
        owners = listed.get(form, set())
        is_title = form[0] in ("mr", "the")
        namesakes = {index for index in people if is_title and _shares_only_name(cast, index, owners, form)}
        if not owners or owners <= bare or namesakes:
            listed[form] |= namesakes or people
    forms = defaultdict[str, list[AliasPattern]](list)
    for parts, people in listed.items():
        forms[parts[0]].append(AliasPattern(parts, tuple(sorted(people)), capital.get(parts, parts[0] != "the")))
    for choices in forms.values():
        choices.sort(key=lambda form: -len(form.words))
    return forms


def _distinct(character: NovelCharacter) -> set[tuple[str, ...]]:
    """The names of somebody, 'the' left out; who has one only may be somebody else's short name."""
    names = (tuple(WORD.findall(alias.lower())) for alias in (character.name, *character.aliases))
    return {parts[1:] if parts[:1] == ("the",) else parts for parts in names if parts}


def _is_mostly_called_otherwise(who: NovelCharacter, name: str, counts: Mapping[str, int]) -> bool:
    others = {form[0] for form in _distinct(who) if len(form) == 1} - {name}
    return any(counts.get(other.capitalize(), 0) > counts.get(name.capitalize(), 0) for other in others)


def _shares_only_name(cast: Sequence[NovelCharacter], who: int, owners: set[int], form: tuple[str, ...]) -> bool:
    """Whether the one owner of a form has no other, and could be `who`, who has. Somebody who is called 'Mr. John
    Knightley' is not: he has his first name with the title because there is another Mr. Knightley."""
    if len(owners) != 1 or any(parts[:1] == form[:1] and len(parts) > len(form) for parts in _distinct(cast[who])):
        return False
    owner = cast[min(owners)]
    return len(_distinct(owner)) == 1 and owner.gender == cast[who].gender != "" and len(_distinct(cast[who])) > 1


def _surname(parts: tuple[str, ...]) -> str:
    names = [part for part in parts if part not in NO_NAMES and len(part) > 1]
    has_more = len(names) > 1 or parts[0] in NO_NAMES
    return (
        names[-1]
        if names and has_more and parts[0] not in ("the", "a", "an", "his", "her") and "s" not in parts
        else ""
    )


def _derived(parts: tuple[str, ...], gender: str) -> Iterator[tuple[str, ...]]:
    names = [part for part in parts if part not in NO_NAMES and len(part) > 1]
    if not names or parts[0] in ("the", "a", "an", "his", "her", "my") or "s" in parts:
        return
    if parts[0] in NO_NAMES and len(parts) > 1:
        yield parts[1:]
    if parts[0] in OFFICES:
        office = "doctor" if parts[0] == "dr" else parts[0]
        yield from (("the", office), (office,))
    if len(names) > 1 and parts[0] != "mrs":
        yield (names[0],)
    surname = names[-1]
    if gender == MALE and len(names) > 1:
        yield ("mr", surname)
    if gender == FEMALE and len(names) > 1:
        yield from (("mrs", surname), ("miss", surname))
    if gender and len(names) > 1 and parts[0] not in NO_NAMES:
        yield ("mr" if gender == MALE else "miss", names[0])
