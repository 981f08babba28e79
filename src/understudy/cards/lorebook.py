"""Lorebooks: knowledge that comes up when its keys are named, by SillyTavern's rules.

    read from   `character_book` of a card (V2, V3) or a world info file of SillyTavern's
    scanned     the last turns ('Name: text', `scan_depth` of them), then what the entries found say (recursion)
    found       constant, or one of `keys` is there and the secondary keys are as `logic` says:
                  and any: one of them is there     and all: all are
                  not any: none of them is          not all: at least one is not
    a key       a text (case does not count, a single word must be a whole one, unless the entry says otherwise), or
                  /pattern/flags; `{{char}}` and `{{user}}` in it are names
    recursion   an entry may keep out of it (`excludes_recursion`), lead nowhere (`prevents_recursion`), or be found
                  by it alone (`recursion_level` 1, 2, ...: the next level is tried when nothing more is found)
    chance      `probability` percent, drawn from the seed, the entry and the chat: the same chat gets the same lore
    groups      of one group's entries one remains: the winner of highest order, or one drawn by weight
    budget      the entries of highest order first, constant ones before all; the first that is too long ends it
    said        in the order of their position (before or after the character, ...), then `order`, lowest first

Not followed: sticky and cooldown, which need a memory of earlier replies; character filters, triggers, vectors. They
stay in the card. A pattern is matched by `regex`, which cannot be made to hang; what that refuses is a plain text key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from random import Random

from understudy.cards.regex import MatchBudget, Regex, Unsupported, compile_regex
from understudy.dialogue import Turn
from understudy.macros import fill_macros
from understudy.story import LoreEntry

__all__ = ["POSITIONS", "active_entries", "keys_named", "lore_for"]

SCAN_DEPTH = 2
MAX_SCANNED = 8_000  # characters that patterns look at, from the newest turn back
MAX_ACTIVE = 1_000
REGEX_STEPS = 2_000_000  # of all patterns together, some two seconds
POSITIONS = ("before", "after", "note top", "note bottom", "at depth", "examples top", "examples bottom", "outlet")
LITERAL_REGEX = re.compile(r"/(?P<pattern>(?:\\.|[^/\\])+)/(?P<flags>[a-z]*)", re.DOTALL)
MESSAGE = "\x01"  # stands before each turn, so that a pattern can tell where one begins

CountTokens = Callable[[str], int]


def lore_for(
    entries: Sequence[LoreEntry],
    history: Sequence[Turn],
    count_tokens: CountTokens,
    *,
    char: str = "",
    user: str = "",
    language: str = "en",
    budget: int | None = None,
    scan_depth: int = SCAN_DEPTH,
    is_recursive: bool = True,
    seed: int = 0,
) -> tuple[str, ...]:
    """What a chat brings up, macros filled in, in the order in which it belongs into a prompt."""
    entries_found = active_entries(
        entries, history, count_tokens,
        char=char, user=user, budget=budget, scan_depth=scan_depth, is_recursive=is_recursive, seed=seed,
    )  # fmt: skip
    return tuple(fill_macros(entry.content, char, user, language) for entry in entries_found)


def active_entries(
    entries: Sequence[LoreEntry],
    history: Sequence[Turn],
    count_tokens: CountTokens,
    *,
    char: str = "",
    user: str = "",
    budget: int | None = None,
    scan_depth: int = SCAN_DEPTH,
    is_recursive: bool = True,
    seed: int = 0,
) -> tuple[LoreEntry, ...]:
    """The entries that a chat brings up. `budget` is in tokens; None for no limit."""
    scan = _Scan(history, char, user, scan_depth)
    spent = _Spending(budget, count_tokens, char, user)
    chance = f"{seed}\n{len(history)}\n{history[-1].text if history else ''}"
    ranked = sorted(enumerate(entries), key=lambda pair: (not pair[1].is_constant, -pair[1].order, pair[0]))
    waiting = [entry for _, entry in ranked if entry.is_enabled and entry.content.strip()]
    levels = sorted({entry.recursion_level for entry in waiting} - {0})
    level, is_recursing = levels[0] if levels else 0, False
    active = list[LoreEntry]()
    while len(active) < MAX_ACTIVE and not spent.is_exhausted:
        matching = [entry for entry in waiting if scan.finds(entry, level, is_recursing)]
        drawn = [entry for entry in matching if _happens(entry, chance)]
        winners = _group_winners(drawn, active, chance)
        fresh = [entry for entry in winners if spent.takes(entry)]
        active += fresh
        waiting = [entry for entry in waiting if not any(entry is done for done in matching)]
        leading = [entry for entry in fresh if not entry.prevents_recursion]
        if is_recursive and leading:
            scan.add(entry.content for entry in leading)
            is_recursing = True
        elif is_recursive and (later := [number for number in levels if number > level]):
            is_recursing, level = True, later[0]
        else:
            break
    rank = {id(entry): (POSITIONS.index(entry.position), entry.order, index) for index, entry in enumerate(entries)}
    return tuple(sorted(active, key=lambda entry: rank[id(entry)]))


def keys_named(
    entry: LoreEntry, history: Sequence[Turn], char: str = "", user: str = "", scan_depth: int = SCAN_DEPTH
) -> tuple[str, ...]:
    """The keys of an entry that the turns name; none where it is constant, or other lore brought it up."""
    scan = _Scan(history, char, user, scan_depth)
    return () if entry.is_constant else tuple(key for key in entry.keys if scan.names(key, entry))


class _Scan:
    """The text in which keys are looked for: turns, newest first, and what the entries found say."""

    def __init__(self, history: Sequence[Turn], char: str, user: str, depth: int) -> None:
        self._turns = [f"{MESSAGE}{turn.speaker}: {turn.text}" for turn in reversed(history)]
        self._char, self._user, self._depth = char, user, depth
        self._found = ""
        self._steps = MatchBudget(REGEX_STEPS)

    def add(self, contents: Iterable[str]) -> None:
        filled = (fill_macros(content, self._char, self._user) for content in contents)
        self._found = "\n".join([*filled, self._found])

    def finds(self, entry: LoreEntry, level: int, is_recursing: bool) -> bool:
        if entry.recursion_level > (level if is_recursing else 0) or len(self._turns) < entry.delay:
            return False
        if entry.excludes_recursion and is_recursing:
            return False
        if entry.is_constant:
            return True
        text = self._scanned(entry) + ("\n" + self._found if is_recursing else "")
        if not any(self._has(key, entry, text) for key in entry.keys):
            return False
        if not entry.secondary_keys:
            return True
        present = [self._has(key, entry, text) for key in entry.secondary_keys]
        return {
            "and any": any(present),
            "and all": all(present),
            "not any": not any(present),
            "not all": not all(present),
        }[entry.logic]

    def names(self, key: str, entry: LoreEntry) -> bool:
        return self._has(key, entry, self._scanned(entry))

    def _scanned(self, entry: LoreEntry) -> str:
        depth = self._depth if entry.scan_depth is None else entry.scan_depth
        return "\n".join(self._turns[: max(depth, 0)])

    def _has(self, key: str, entry: LoreEntry, text: str) -> bool:
        key = fill_macros(key, self._char, self._user)
        if (regex := _regex(key)) is not None:
            return regex.search(text[:MAX_SCANNED], self._steps)
        key = key.strip()
        if not entry.is_case_sensitive:
            key, text = key.lower(), text.lower()
        if not key:
            return False
        if entry.matches_whole_words is False or len(key.split()) > 1:
            return key in text
        return any(_is_whole(text, offset, len(key)) for offset in _offsets(key, text))


def _offsets(key: str, text: str) -> Iterator[int]:
    offset = text.find(key)
    while offset >= 0:
        yield offset
        offset = text.find(key, offset + 1)


def _is_whole(text: str, offset: int, length: int) -> bool:
    """Are there no Latin letters beside it? Where words are not divided by blanks, each is whole."""
    return not (
        _is_latin(text[offset - 1 : offset] if offset else "") or _is_latin(text[offset + length : offset + length + 1])
    )


def _is_latin(letter: str) -> bool:
    return letter == "_" or (letter.isascii() and letter.isalnum())


@lru_cache(1_000)
def _regex(key: str) -> Regex | None:
    literal = LITERAL_REGEX.fullmatch(key.strip())
    if literal is None:
        return None
    try:
        return compile_regex(literal["pattern"].replace("\\/", "/"), literal["flags"])
    except Unsupported:
        return None


def _happens(entry: LoreEntry, chance: str) -> bool:
    if entry.probability >= 100:
        return True
    return Random(f"{chance}\n{entry.keys}\n{entry.content}").random() * 100 < entry.probability  # noqa: S311


def _group_winners(entries: Sequence[LoreEntry], active: Sequence[LoreEntry], chance: str) -> list[LoreEntry]:
    """One entry of each group, none where the group has one already."""
    lost = set[int]()
    for group in dict.fromkeys(name for entry in entries for name in _groups(entry)):
        members = [entry for entry in entries if group in _groups(entry) and id(entry) not in lost]
        if any(group in _groups(entry) for entry in active):
            lost.update(map(id, members))
        elif len(members) > 1:
            named = [entry for entry in members if entry.is_group_winner]
            weights = [max(entry.group_weight, 0) for entry in members]
            if named:
                winner = max(named, key=lambda entry: entry.order)
            elif sum(weights):
                (winner,) = Random(f"{chance}\n{group}").choices(members, weights)  # noqa: S311
            else:
                winner = members[0]
            lost.update(id(entry) for entry in members if entry is not winner)
    return [entry for entry in entries if id(entry) not in lost]


def _groups(entry: LoreEntry) -> tuple[str, ...]:
    return tuple(name.strip() for name in entry.group.split(",") if name.strip())


class _Spending:
    """Counts tokens, of all lore and of each book that sets a limit of its own."""

    def __init__(self, budget: int | None, count_tokens: CountTokens, char: str, user: str) -> None:
        self._budget, self._count, self._char, self._user = budget, count_tokens, char, user
        self._spent, self._by_book = 0, dict[str, int]()
        self.is_exhausted = False

    def takes(self, entry: LoreEntry) -> bool:
        tokens = self._count(fill_macros(entry.content, self._char, self._user))
        in_book = self._by_book.get(entry.book, 0) + tokens
        if not entry.ignores_budget:
            if self.is_exhausted:
                return False
            if self._budget is not None and self._spent + tokens > self._budget:
                self.is_exhausted = True
                return False
            if entry.book_budget is not None and in_book > entry.book_budget:
                return False
        self._spent += tokens
        self._by_book[entry.book] = in_book
        return True
