"""From speaker labels to characters: which labels are the same person, and the cast that follows from it.

`ROSS`, `Ross` and `Ross Geller` are one; `Mr. Geller` is another. Names are joined by frequency, inclusion and never
being heard together, not by edit distance: Mona and Monica, Martin and Marvin differ by less than most misspellings.
A `CastList` collects the labels while files are read, then resolves them to characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from understudy.errors import InputError
from understudy.sources import CastEntry
from understudy.sources.directions import BRACKETED
from understudy.sources.source import SourceFile
from understudy.story.types import Character, Source

ABBREVIATING = re.compile(r"\.(?=\w\w)")
NOT_WORD = re.compile(r"[^\w\s/&+#-]+")
HYPHEN = re.compile(r"\s*-[\s-]*")
SHOUTED = re.compile(r"[^\W\d_]+")
DOUBLED, VOWEL = re.compile(r"(.)\1+"), re.compile("[aeiou]")
INITIALS = re.compile(r"(?:\w\.)+\w?\.?")

GROUP_OPENINGS = ("all ", "everyone ", "everybody ", "both ", "whole ", "entire ", "rest ", "various ", "chorus of ")

LEADING = 0.01  # of all speeches: only for such a part is a label taken to be short for its name
TIMES_AS_FREQUENT = 8
TIMES_FOR_A_SLIP = 200
TIMES_CLEARER = 3
FEWEST, FEWEST_OF_INITIAL = 50, 10


@lru_cache(maxsize=65536)
def fold(label: str) -> str:
    """The label as it is compared: no case, brackets, punctuation or doubled spaces."""
    plain = BRACKETED.sub(" ", unicodedata.normalize("NFKC", label)).casefold()
    plain = HYPHEN.sub("-", NOT_WORD.sub("", ABBREVIATING.sub(" ", plain)))
    return " ".join(plain.split()) or label.casefold().strip()


@lru_cache(maxsize=16384)
def is_group(label: str) -> bool:
    """`All`, `Everyone but Monica`, `The guys`: no one person."""
    words = fold(label).split()
    if len(words) > 1 and words[0] in ARTICLES:
        words = words[1:]
    return bool(words) and (words[-1] in GROUPS or " ".join(words).startswith(GROUP_OPENINGS))


def display_name(label: str) -> str:
    """The label as a name is written: `MRS. KIM` becomes `Mrs. Kim`, `T.J.` and `McKenna` stay."""
    plain = " ".join(BRACKETED.sub(" ", label).split()).strip(' :;,"“”*') or label.strip()
    bare = plain.replace("'s", "").replace("’s", "")
    if bare.isupper() and len(bare) > 1 and not INITIALS.fullmatch(plain):
        plain = SHOUTED.sub(lambda word: _capitalised(word[0]), plain)
        plain = re.sub(r"(['’])(S|T|D|Ll|Re|Ve)\b", lambda match: match[1] + match[2].lower(), plain)
        return re.sub(r"\bMc([a-z])", lambda match: "Mc" + match[1].upper(), plain)
    return plain.title().replace("'S", "'s").replace("’S", "’s") if plain.islower() else plain


def _capitalised(word: str) -> str:
    """`KIM` -> `Kim`; initials such as `TV` stay, a title such as `MRS` does not count as such."""
    spoken = any(letter in "AEIOUY" for letter in word) or word.casefold() in TITLES or len(word) > 3
    return word.capitalize() if spoken or not word.isascii() or word in ("SR", "JR") else word


def merge_labels(
    labels: Mapping[str, int], together: Callable[[str, str], bool], declared: Sequence[Character]
) -> list[Character]:
    """Characters such that every label is, by `fold`, a name or alias of exactly one of them.

    Declared characters win. A label joins another only if it is the only one it can mean, and the two are never heard
    in one scene.
    """
    counts: dict[str, int] = defaultdict(int)
    spellings: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        counts[fold(label)] += labels[label]
        spellings[fold(label)].append(label)

    owner: dict[str, str] = {}
    for character in declared:
        for name in (character.name, *character.aliases):
            owner.setdefault(fold(name), fold(character.name))
    for label in counts:
        if label not in owner and (whole := _part_of(label, owner)) is not None:
            owner[label] = whole

    def apart(first: str, second: str) -> bool:
        return not any(together(a, b) for a in spellings[first] for b in spellings[second])

    people = [name for name in sorted(counts, key=lambda name: (-counts[name], name)) if not is_group(name)]
    total = sum(counts[name] for name in people)
    leading = [name for name in people if counts[name] >= max(FEWEST, LEADING * total) and name.isalpha()]
    joined: dict[str, str] = {}
    for name in people:
        target = None if name in owner else _spelt_out(name, counts, apart) or _short_for(name, counts, leading, apart)
        if target is not None:
            joined[name] = target

    def root(name: str) -> str:
        seen = {name}
        while name not in owner and name in joined and joined[name] not in seen:
            name = joined[name]
            seen.add(name)
        return owner.get(name, name)

    members: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        members[root(name)].append(name)
    declared_cast = [
        _with_labels(character, members.pop(fold(character.name), []), spellings, labels) for character in declared
    ]
    return declared_cast + [_named_after(names, spellings, labels) for names in members.values()]


def _part_of(label: str, owner: Mapping[str, str]) -> str | None:
    """The one declared person whose name `label` is a word of: `karst` for Zita Karst, unless there are two Karsts."""
    meant = {person for name, person in owner.items() if label in name.split() and name != label}
    return meant.pop() if len(meant) == 1 and label.isalpha() and label not in TITLES | ROLES | ARTICLES else None


def _spelt_out(name: str, counts: Mapping[str, int], apart: Callable[[str, str], bool]) -> str | None:
    """The shorter label that `name` spells out: `ross geller` -> `ross`, `the director` -> `director`.

    A title, a role or a suffix makes another person: `mr geller`, `pizza guy`, `past leonard`, `frank sr`.
    """
    words = name.split()
    if len(words) > 1 and words[0] in ARTICLES:
        short = " ".join(words[1:])
    elif len(words) == 3 and words[0] in TITLES:  # dr brian greene -> dr greene
        short = f"{words[0]} {words[2]}"
    elif len(words) == 2 and not {words[0], words[1]} & (TITLES | ROLES | SUFFIXES) and len(words[1]) > 1:
        short = words[0] if words[0].isalpha() and words[1].replace("-", "").isalpha() else ""
    else:
        return None
    return short if short in counts and not is_group(short) and apart(name, short) else None


def _short_for(
    name: str, counts: Mapping[str, int], leading: Sequence[str], apart: Callable[[str, str], bool]
) -> str | None:
    """The leading part whose name `name` cuts short (`rach`, `l`, `mnca`) or gets slightly wrong (`rajj`).

    A slip of the pen stands among the right spellings, so that it is heard in the same scenes; for it, to be very much
    rarer is what counts.
    """
    if not name.isalpha():
        return None
    if len(name) == 1:
        return _initial_of(name, counts, leading)
    slips = [
        leader for leader in leading if counts[leader] >= TIMES_FOR_A_SLIP * counts[name] and _is_slip(name, leader)
    ]
    if len(slips) == 1:
        return slips[0]
    frequent = [leader for leader in leading if counts[leader] >= TIMES_AS_FREQUENT * counts[name]]
    meant = [leader for leader in frequent if _cuts_short(name, leader) or _is_slip(name, leader)]
    candidates = [leader for leader in meant if apart(name, leader)]
    return candidates[0] if len(candidates) == 1 else None


def _initial_of(letter: str, counts: Mapping[str, int], leading: Sequence[str]) -> str | None:
    """Nobody is called L, so that it does not matter who was heard beside: it stands for whoever speaks most."""
    if counts[letter] < FEWEST_OF_INITIAL:
        return None
    candidates = [
        leader
        for leader in leading
        if leader.startswith(letter) and counts[leader] >= TIMES_AS_FREQUENT * counts[letter]
    ]
    clear = len(candidates) == 1 or (
        len(candidates) > 1 and counts[candidates[0]] >= TIMES_CLEARER * counts[candidates[1]]
    )
    return candidates[0] if clear else None


def _cuts_short(name: str, full: str) -> bool:
    return len(name) < len(full) and full.startswith(name) and len(name) != 2


def _is_slip(name: str, right: str) -> bool:
    """A letter doubled (`rajj`), or vowels left out (`mnca`, `shldon`); never one letter for another."""
    if name == right or len(name) < 4:
        return False
    if DOUBLED.sub(r"\1", name) == DOUBLED.sub(r"\1", right):
        return True
    consonants = VOWEL.sub("", name)
    return len(name) < len(right) and len(name) - len(consonants) <= 1 and consonants == VOWEL.sub("", right)


def _named_after(names: Sequence[str], spellings: Mapping[str, list[str]], labels: Mapping[str, int]) -> Character:
    """The most frequent of the spellings is the name, the others are aliases, each written once."""
    written = [label for name in names for label in spellings[name]]
    forms: dict[str, int] = defaultdict(int)
    for label in sorted(written):
        form = display_name(label)
        forms[form if fold(form) == fold(label) else label] += labels[label]
    ranked = sorted(forms, key=lambda form: (-forms[form], form))
    aliases = {fold(form): form for form in reversed(ranked) if fold(form) != fold(ranked[0])}
    return Character(ranked[0], tuple(sorted(aliases.values(), key=ranked.index)))


def _with_labels(
    character: Character, names: Sequence[str], spellings: Mapping[str, list[str]], labels: Mapping[str, int]
) -> Character:
    known = {fold(character.name), *(fold(alias) for alias in character.aliases)}
    more = [name for name in names if name not in known]
    if not more:
        return character
    extra = _named_after(more, spellings, labels)
    return Character(character.name, (*character.aliases, extra.name, *extra.aliases), character.profile)


def unambiguous_aliases(aliases: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Name -> its other names that no other name has, as first written.

    A source that declares its cast often gives several names a person (`Vernon`, `Vernon Dursley`). One that two people
    share, or that is somebody else's own name, would make a label ambiguous, so it is dropped.
    """
    names = {fold(name) for name in aliases}
    claimed: dict[str, set[str]] = defaultdict(set)
    for name, further in aliases.items():
        for alias in further:
            claimed[fold(alias)].add(name)

    def is_unique(alias: str) -> bool:
        folded = fold(alias)
        return bool(folded) and folded not in names and len(claimed[folded]) == 1 and not is_group(alias)

    unique: dict[str, dict[str, str]] = {}
    for name, further in aliases.items():
        own = unique.setdefault(name, {})
        for alias in filter(is_unique, further):
            own.setdefault(fold(alias), alias)
    return {name: tuple(own.values()) for name, own in unique.items()}


@dataclass(frozen=True, slots=True)
class ResolvedCast:
    """The cast; the groups ('All'), which are no characters; and the index into cast + groups of each label id."""

    cast: list[Character]
    groups: list[str]
    indexes: Mapping[int, int]
    names: Mapping[str, str]
    """Folded name -> the name of the character it means."""

    def name_of(self, label: str) -> str:
        """The character that a dated fact or tie is about."""
        try:
            return self.names[fold(label)]
        except KeyError:
            raise InputError(f"'{label}' may be more than one person: use the full name") from None


class DeclaredNames:
    """Declares each name once, where labels are the names of people, not to be merged; a group is nobody."""

    def __init__(self) -> None:
        self._declared = set[str]()

    def entries(self, at: Source, *names: str) -> Iterator[CastEntry]:
        for name in names:
            if name not in self._declared and not is_group(name):
                self._declared.add(name)
                yield CastEntry(at, Character(name))


MAX_SHARED_SCENES = 0.1
"""Share of the rarer label's scenes that two spellings of one name may have in common."""


class CastList:
    """Collects labels while a source is read. What the source declares wins over what frequency suggests."""

    def __init__(self) -> None:
        self._label_ids: dict[str, int] = {}
        self._speech_counts: dict[str, int] = {}
        self._first_speeches: dict[str, tuple[SourceFile, int]] = {}
        self._scene_speakers: set[str] = set()
        self._scenes: Counter[str] = Counter()
        self._shared_scenes: Counter[tuple[str, str]] = Counter()
        self._declared: dict[str, Character] = {}
        self._declared_as: dict[str, str] = {}

    def label_id(self, label: str) -> int:
        return self._label_ids.setdefault(label, len(self._label_ids) + 1)

    def add_speech(self, label: str, source: SourceFile, line: int) -> int:
        self._speech_counts[label] = self._speech_counts.get(label, 0) + 1
        self._first_speeches.setdefault(label, (source, line))
        self._scene_speakers.add(label)
        return self.label_id(label)

    @property
    def speakers(self) -> list[str]:
        """The labels of all speeches, in order of their first."""
        return list(self._speech_counts)

    def end_scene(self) -> None:
        self._scenes.update(self._scene_speakers)
        self._shared_scenes.update(combinations(sorted(self._scene_speakers), 2))
        self._scene_speakers.clear()

    def is_declared(self, label: str) -> bool:
        return fold(label) in self._declared_as

    def declare(self, character: Character) -> None:
        """Add a character that the source names itself; a second declaration adds aliases and profile to the first."""
        key = self._declared_as.get(fold(character.name))
        if key is not None:
            known = self._declared[key]
            aliases = tuple(dict.fromkeys((*known.aliases, *character.aliases)))
            profile = tuple(dict.fromkeys((*known.profile, *character.profile)))
            character = Character(known.name, aliases, profile)
        self._declared[fold(character.name)] = character
        self._declared_as[fold(character.name)] = fold(character.name)
        for alias in character.aliases:
            self._declared_as.setdefault(fold(alias), fold(character.name))

    def resolve(self) -> ResolvedCast:
        people = {label: count for label, count in self._speech_counts.items() if not is_group(label)}
        cast = merge_labels(people, self._are_two_people, list(self._declared.values()))
        group_names = {display_name(label) for label in self._label_ids if is_group(label)}
        groups = sorted(group_names - {character.name for character in cast})
        indexes_by_name = _indexes_by_name(cast, groups)
        for label, (source, line) in self._first_speeches.items():
            if len(indexes_by_name.get(fold(label), ())) != 1:
                choices = " or ".join(cast[index].name for index in sorted(indexes_by_name.get(fold(label), ())))
                raise source.error(f"'{label}' may be {choices or 'anybody'}: label the line with the full name", line)
        return ResolvedCast(
            cast,
            groups,
            {
                label_id: next(iter(indexes_by_name[fold(label)]))
                for label, label_id in self._label_ids.items()
                if len(indexes_by_name.get(fold(label), ())) == 1  # a name in a direction may be nobody's
            },
            {
                folded: cast[next(iter(indexes))].name
                for folded, indexes in indexes_by_name.items()
                if len(indexes) == 1 and next(iter(indexes)) < len(cast)
            },
        )

    def _are_two_people(self, first: str, second: str) -> bool:
        """Two labels that keep turning up in the same scenes are two people; once may be a transcriber's slip."""
        shared = self._shared_scenes[min(first, second), max(first, second)]
        return shared > MAX_SHARED_SCENES * min(self._scenes[first], self._scenes[second])


def _indexes_by_name(cast: list[Character], groups: list[str]) -> dict[str, set[int]]:
    indexes: dict[str, set[int]] = {}
    for index, character in enumerate(cast):
        for name in (character.name, *character.aliases):
            indexes.setdefault(fold(name), set()).add(index)
    for index, character in enumerate(cast):
        indexes[fold(character.name)] = {index}  # a full name is never ambiguous
    for index, group in enumerate(groups, len(cast)):
        indexes.setdefault(fold(group), {index})
    return indexes


# Words that distinguish names, labels and sentences in transcripts.


def words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


ARTICLES = words("the a an")

TITLES = words(
    """
    mr mrs ms miss dr doctor prof professor sir lady lord king queen prince princess father mother sister brother
    aunt uncle grandma grandpa captain officer judge reverend rabbi headmaster president senator coach detective st
    saint madame madam young old little big fat past future fake dead real evil dream
    """
)
"""Before a name, they make another person of it."""

SUFFIXES = words("sr jr senior junior ii iii one two three")

ROLES = words(
    """
    man woman guy girl boy kid lady gentleman voice machine tv video radio phone music movie song customer student
    teacher nurse waiter waitress clerk driver guard agent director announcer reporter actor actress officer
    delivery police security mom dad boss band hotel gym bar store flight male female second first third another
    other
    """
)
"""`Pizza Guy` is not the full name of `Guy`."""

GROUPS = words(
    """
    all everyone everybody both guys boys girls crowd others men women kids children people audience group gang
    together customers students guests voices various chorus friends omnes ensemble class office party several team
    rest staff congregation sisters brothers waiters employees teammates workers ladies couple quartet band soldiers
    """
)
"""Labels for more than one person."""

STARTERS = words(
    """
    i you he she it we they this that these those there here so and but or if when while like what why how where who
    my your our their its it's here's there's that's what's let's okay ok yes yeah no not just then now well oh hey
    please because remember anyway also plus ps p.s. i'm you're we're he's she's they're i've i'll don't is are was
    do does did can could would should have has had be to of for as with by from about maybe which next question
    answer rule number option step reason headline fact warning translation subject re title day tonight tomorrow
    today first second third one two three four five six
    """
)
"""A sentence begins so, a name does not."""

SENTENCE_OPENERS = words(
    """
    a an the oh hi hello thank thanks sorry wait come go get look see good great right all alright um uh er ah wow
    my sure fine excuse please never nothing nobody everything everyone some any more really hold stop give tell
    take me us are aren't isn't wasn't can't won't couldn't wouldn't shouldn't may might must that'd i'd you've
    you'd you'll we've we'll we'd he'd she'd it'll god guys mom dad mhm hmm
    """
)
"""More words that begin what is said after a name, where a surname would be another."""
