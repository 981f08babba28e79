"""Who is named in a scene, and how: lines read for names, and names that the cast list does not have.

A line is read into its words, its directions ('(to Ross) Hey.') and the names in it. A name is `called` when marks or
greetings stand on both sides of it ('Hey Ross, look!'), `introduced` after 'I'm' and the like, else it is `talked`
about. What else main characters are called is learned from the script:

    nickname     who is called by it answers: 'Hey Pheebs!' is followed by Phoebe far oftener than chance
    surname      it follows a main character's name, and elsewhere mostly a title: 'Monica Geller', 'Mrs. Geller'
    short form   it is called out, and begins as a main character's name does: 'Howie', 'Rach'

`learned_words` is what a guesser learns for itself. `with_learned_names` is for whoever covers names in a text: it is
readier to take a word for a name, and repeats until a guesser that learns from the covered text learns no more names.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from understudy.people.names import NOT_NAMES, CharacterNames
from understudy.story.types import Scene
from understudy.text import TITLES, UNSPACED_LANGUAGES, either, is_unspaced, words

ASIDE = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|（([^（）]*)）")
TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\.\.\.|…|[?!？！]|--|—")
WORD = re.compile(r"[^\W\d_]+")
MARKS = frozenset(',.!?;:-–—…"“”、。！？，「」')
GREETINGS = frozenset(
    "hey hi hello oh so okay ok well yes yeah no thanks listen look please sorry and uh um but now god bye goodbye "
    "night morning dear dr mr mrs miss".split()
)
INTRODUCING = frozenset(("i'm", "it's", "am", "is", "me"))
NEAR = 16  # characters before a name in which a greeting is looked for


class NameUse(NamedTuple):
    """A word by which somebody may be meant, as it stands in what is said."""

    word: str
    kind: str
    owned: bool
    """Ross's: something of theirs is spoken of."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    speaker: str | None
    words: tuple[str, ...]
    mentions: tuple[NameUse, ...]
    asides: tuple[str, ...]
    """Directions inside the line; for a description, the whole of it."""


@dataclass(frozen=True, slots=True)
class ReadScene:
    setting: str
    lines: tuple[ReadLine, ...]

    def spoken(self) -> list[ReadLine]:
        return [line for line in self.lines if line.speaker is not None]


def read_scene(scene: Scene, names: CharacterNames, language: str) -> ReadScene:
    lines = tuple(_read(line.speaker, line.text, names, language) for line in scene.lines)
    return ReadScene(scene.setting, lines)


def _read(speaker: str | None, text: str, names: CharacterNames, language: str) -> ReadLine:
    if speaker is None:
        return ReadLine(None, (), (), (text,))
    asides = tuple("".join(groups) for groups in ASIDE.findall(text))
    said = ASIDE.sub(" ", text) if asides else text
    return ReadLine(speaker, words_of(said, language), tuple(_mentions(said, names, language)), asides)


def words_of(text: str, language: str) -> tuple[str, ...]:
    """Words and telling marks, in small letters."""
    if language in UNSPACED_LANGUAGES:
        return tuple(words(text, language))
    return tuple(TOKEN.findall(text.lower().replace("’", "'")))


def _mentions(said: str, names: CharacterNames, language: str) -> Iterator[NameUse]:
    """Names; in English every word with a capital, because a nickname is learned by who answers to it."""
    if language in UNSPACED_LANGUAGES:
        for match in names.calls(said):
            yield mention(said, match.start, match.end)
        return
    for word in WORD.finditer(said):
        if word[0][0].isupper() and len(word[0]) > 1:
            yield mention(said, word.start(), word.end())


def mention(said: str, start: int, end: int) -> NameUse:
    """How the name at a place in what is said is used."""
    before, after = said[:start].rstrip(), said[end:].lstrip()
    near = before[-NEAR:].lower().replace("’", "'").split()
    last = near[-1] if near else ""
    left = not before or before[-1] in MARKS or last in GREETINGS
    right = not after or after[0] in MARKS
    kind = "introduced" if last in INTRODUCING else "called" if left and right else "talked"
    return NameUse(said[start:end].lower(), kind, said[end : end + 2] in ("'s", "’s"))


def named_in(text: str, meant: Mapping[str, str]) -> Sequence[tuple[str, str, str]]:
    """Who is named in a direction, in order: (who, the word before, the word after)."""
    if is_unspaced(text):  # nothing tells where a word ends: the name itself has to
        return [(meant[match[0]], "", "") for match in re.finditer(either(meant), text)] if meant else []
    tokens = [match[0] for match in WORD.finditer(text)]
    lower = [token.lower() for token in tokens]
    return [
        (meant[word], lower[index - 1] if index else "", lower[index + 1] if index + 1 < len(lower) else "")
        for index, word in enumerate(lower)
        if word in meant and tokens[index][0].isupper()  # 'they will wait' does not name Will
    ]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a word that is called out is taken for a nickname of whoever speaks next."""

    calls: int
    """How often it must be called."""
    share: float
    """How many of these calls the same person must answer."""
    lift: float
    """How many times as often as that person answers anybody."""


SURE = Thresholds(calls=5, share=0.5, lift=2.5)
READY = Thresholds(calls=3, share=0.4, lift=2.0)
LOWER_CASE = 0.1  # of a word's uses as a name: written small more often, it is a word like any other
ROUNDS = 4
SURNAME_USES = 2
SURNAME_USES_OF_WORD = 5  # where it is written small as well: Green, Moon
SURNAME_SHARE = 0.3  # of a word's capitals inside sentences: how many follow a main character's name or a title
SHORT_FORM_CALLS, SHORT_FORM_SHARE, SHORT_FORM_LETTERS = 2, 0.3, 3
SHORT_FORM_ENDINGS = ("y", "ie", "i", "o", "s")
OWNER_SHARE = 0.2  # of a surname's uses: with fewer it is not taken for that person's
NEXT_WORD = re.compile(r"([^\W\d_][\w'’-]*)([.]?\s+)(?=([^\W\d_]{2,}))")
"""A word, what stands after it, and the next word, which may begin the next match."""


class _WordUses:
    """How often each word is said, by itself, as a name, and as one that is called out."""

    def __init__(self) -> None:
        self._all, self.as_name, self.called = Counter[str](), Counter[str](), Counter[str]()

    def add(self, lines: Iterable[ReadLine]) -> None:
        for line in lines:
            self._all.update(line.words)
            self.as_name.update(use.word for use in line.mentions)
            self.called.update(use.word for use in line.mentions if use.kind == "called")

    def is_ordinary(self, word: str) -> bool:
        return self._all[word] > (1 + LOWER_CASE) * self.as_name[word]


def learned_words(names: CharacterNames, scenes: Iterable[ReadScene], when: Thresholds = SURE) -> dict[str, str]:
    """The words by which main characters are meant: their names, and nicknames learned by who answers to them."""
    meant = {word.lower(): who for word, who in names.words() if who is not None}
    shared = {word.lower() for word, who in names.words() if who is None}
    next_speakers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    answers: Counter[str] = Counter()
    uses = _WordUses()
    for scene in scenes:
        spoken = scene.spoken()
        uses.add(spoken)
        for line, reply in pairwise(spoken):
            if reply.speaker is not None and reply.speaker != line.speaker:
                answers[reply.speaker] += 1
                for word in {use.word for use in line.mentions if use.kind == "called"}:
                    next_speakers[word][reply.speaker] += 1
    total = max(sum(answers.values()), 1)
    for word, after in next_speakers.items():
        calls = sum(after.values())
        if calls < when.calls or word in meant or word in shared or uses.is_ordinary(word):
            continue
        for who in names.people:
            if after[who] >= when.share * calls and after[who] / calls > when.lift * answers[who] / total:
                meant[word] = who
    return meant


def with_learned_names(names: CharacterNames, scenes: Sequence[Scene], language: str = "en") -> CharacterNames:
    """The names, and what else main characters are called in these scenes."""
    if language in UNSPACED_LANGUAGES:  # nothing shows where a name that is not listed begins
        return names
    read = [read_scene(scene, names, language) for scene in scenes]
    labels = {line.speaker.lower() for scene in scenes for line in scene.lines if line.speaker}
    learned: defaultdict[str, list[str]] = defaultdict(list)
    for who, word in (*learned_surnames(names, scenes, labels), *_short_forms(names, read, labels)):
        learned[who].append(word.title())
    names = names.extended(learned)
    for _ in range(ROUNDS):
        covered = [read_scene(_covered(scene, names), names, language) for scene in scenes]
        sure, ready = learned_words(names, covered), learned_words(names, covered, READY)
        known = {word.lower() for word, _ in names.words()}
        more: defaultdict[str, list[str]] = defaultdict(list)
        for word, who in (sure | {word: who for word, who in ready.items() if word not in labels}).items():
            if word not in known:
                more[who].append(word.title())
        if not more:
            break
        names = names.extended(more)
    return names


def _covered(scene: Scene, names: CharacterNames) -> Scene:
    lines = tuple(replace(line, text=names.hidden(line.text)) for line in scene.lines)
    return replace(scene, setting=names.hidden(scene.setting), lines=lines)


def learned_surnames(names: CharacterNames, scenes: Iterable[Scene], labels: set[str]) -> Iterator[tuple[str, str]]:
    """(who, surname), for each whose it may be; `labels` are speakers, in small letters."""
    first_names = {word: who for word, who in names.words() if who is not None}
    known = {word.lower() for word, _ in names.words()}
    follows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    after_title: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for text in _texts(scenes):
        for match in NEXT_WORD.finditer(text):
            before, gap, word = match[1], match[2], match[3]
            title = before.lower() in TITLES
            if not word[0].isupper():
                small[word] += 1
            if not word[0].isupper() or ("." in gap and not title):
                continue
            inside[word] += 1
            after_title[word] += title
            if before in first_names:
                follows[word][first_names[before]] += 1
    for word, owners in follows.items():
        uses = owners.total()
        lower = word.lower()
        needed = SURNAME_USES_OF_WORD if small[lower] > LOWER_CASE * inside[word] else SURNAME_USES
        if uses < needed or lower in known or lower in labels or lower in NOT_NAMES:
            continue
        if uses + after_title[word] >= SURNAME_SHARE * inside[word]:
            yield from ((who, word) for who, count in owners.items() if count >= OWNER_SHARE * uses)


def _texts(scenes: Iterable[Scene]) -> Iterator[str]:
    for scene in scenes:
        yield scene.setting
        yield from (line.text for line in scene.lines)


def _short_forms(names: CharacterNames, scenes: Sequence[ReadScene], labels: set[str]) -> Iterator[tuple[str, str]]:
    known = {word.lower() for word, _ in names.words()}
    uses = _WordUses()
    for scene in scenes:
        uses.add(scene.spoken())
    first_letters = {
        word.lower()[:SHORT_FORM_LETTERS]: (who, word.lower())
        for word, who in names.words()
        if who is not None and len(word) > SHORT_FORM_LETTERS
    }
    for word, count in uses.called.items():
        who, name = first_letters.get(word[:SHORT_FORM_LETTERS], (None, ""))
        is_short_form = name.startswith(word) or word.endswith(SHORT_FORM_ENDINGS)
        if who is None or not is_short_form or word in known or word in labels or uses.is_ordinary(word):
            continue
        if count >= max(SHORT_FORM_CALLS, SHORT_FORM_SHARE * uses.as_name[word]):
            yield who, word
