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
stay in the card. A pattern is matched by RE2, which cannot be made to hang; what RE2 refuses is a plain text key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from understudy.story.dialogue import Turn
from understudy.story.types import LoreEntry
from understudy.story.wording import fill_macros

__all__ = ["POSITIONS", "keys_named", "lore_for", "unsupported_patterns"]

SCAN_DEPTH = 2
MAX_SCANNED = 8_000  # characters that patterns look at, from the newest turn back
MAX_ACTIVE = 1_000
MAX_PATTERNS = 1_000  # that are compiled for one reply; further ones are plain texts
MAX_STEPS = 100_000_000  # of one reply's scan, some two seconds; nothing is found after them
ENTRY_STEPS = KEY_STEPS = 100  # what looking at an entry or a key takes, whatever the text
HIT_STEPS = 20  # what looking around a key that is there takes
TEXT_STEPS = 10  # what a character takes of the texts that are put together
POSITIONS = ("before", "after", "note top", "note bottom", "at depth", "examples top", "examples bottom", "outlet")
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
    seed: int = 0,
) -> tuple[str, ...]:
    """What a chat brings up, macros filled in, in the order in which it belongs into a prompt."""
    active = active_entries(entries, history, count_tokens, char=char, user=user, budget=budget, seed=seed)
    return tuple(fill_macros(entry.content, char, user, language) for entry in active)


def active_entries(
    entries: Sequence[LoreEntry],
    history: Sequence[Turn],
    count_tokens: CountTokens,
    *,
    char: str = "",
    user: str = "",
    budget: int | None = None,
    seed: int = 0,
) -> tuple[LoreEntry, ...]:
    """The entries that a chat brings up. `budget` is in tokens; None for no limit."""
    scan = _Scan(history, char, user)
    spent = _Spending(budget, count_tokens, char, user)
    chance = f"{seed}\n{len(history)}\n{history[-1].text if history else ''}"
    ranked = sorted(enumerate(entries), key=lambda pair: (not pair[1].is_constant, -pair[1].order, pair[0]))
    waiting = [entry for _, entry in ranked if entry.is_enabled and entry.content.strip()]
    levels = sorted({entry.recursion_level for entry in waiting} - {0})
    level, is_recursing = levels[0] if levels else 0, False
    active = list[LoreEntry]()
    while len(active) < MAX_ACTIVE and not spent.is_exhausted and not scan.is_exhausted:
        matching = [entry for entry in waiting if scan.finds(entry, level, is_recursing)]
        drawn = [entry for entry in matching if _happens(entry, chance)]
        winners = _group_winners(drawn, active, chance)
        fresh = list(islice(filter(spent.takes, winners), MAX_ACTIVE - len(active)))
        active += fresh
        done = set(map(id, matching))
        waiting = [entry for entry in waiting if id(entry) not in done]
        leading = [entry for entry in fresh if not entry.prevents_recursion]
        if leading:
            scan.add(entry.content for entry in leading)
            is_recursing = True
        elif later := [number for number in levels if number > level]:
            is_recursing, level = True, later[0]
        else:
            break
    rank = {id(entry): (POSITIONS.index(entry.position), entry.order, index) for index, entry in enumerate(entries)}
    return tuple(sorted(active, key=lambda entry: rank[id(entry)]))


def keys_named(entry: LoreEntry, history: Sequence[Turn], char: str = "", user: str = "") -> tuple[str, ...]:
    """The keys of an entry that the turns name; none where it is constant, or other lore brought it up."""
    scan = _Scan(history, char, user)
    return () if entry.is_constant else tuple(key for key in entry.keys if scan.names(key, entry))


class _Scan:
    """The text in which keys are looked for: turns, newest first, and what the entries found say.

    A book may come from anybody, so every step is counted, and a scan that has taken `MAX_STEPS` finds no more.
    """

    def __init__(self, history: Sequence[Turn], char: str, user: str) -> None:
        self._turns = [f"{MESSAGE}{turn.speaker}: {turn.text}" for turn in reversed(history)]
        self._char, self._user = char, user
        self._recursed = ""
        self._left = MAX_STEPS
        self._texts = dict[tuple[int, bool], _ScannedText]()
        self._patterns = dict[tuple[str, str], Regex | None]()

    @property
    def is_exhausted(self) -> bool:
        return self._left <= 0

    def add(self, contents: Iterable[str]) -> None:
        filled = (fill_macros(content, self._char, self._user) for content in contents)
        self._recursed = "\n".join([*filled, self._recursed])
        self._texts.clear()

    def finds(self, entry: LoreEntry, level: int, is_recursing: bool) -> bool:
        self._left -= ENTRY_STEPS
        if entry.recursion_level > (level if is_recursing else 0) or len(self._turns) < entry.delay:
            return False
        if entry.excludes_recursion and is_recursing:
            return False
        if entry.is_constant:
            return True
        text = self._scanned(entry, is_recursing)
        if not any(self._has(key, entry, text) for key in entry.keys):
            return False
        if not entry.secondary_keys:
            return True
        present = [self._has(key, entry, text) for key in entry.secondary_keys]
        return (
            not self.is_exhausted
            and {
                "and any": any(present),
                "and all": all(present),
                "not any": not any(present),
                "not all": not all(present),
            }[entry.logic]
        )

    def names(self, key: str, entry: LoreEntry) -> bool:
        return self._has(key, entry, self._scanned(entry, is_recursing=False))

    def _scanned(self, entry: LoreEntry, is_recursing: bool) -> _ScannedText:
        depth = SCAN_DEPTH if entry.scan_depth is None else entry.scan_depth
        return self._text(min(max(depth, 0), len(self._turns)), is_recursing)

    def _text(self, depth: int, is_recursing: bool) -> _ScannedText:
        text = self._texts.get((depth, is_recursing))
        if text is None:
            joined = "\n".join(self._turns[:depth]) + ("\n" + self._recursed if is_recursing else "")
            text = self._texts[depth, is_recursing] = _ScannedText(
                joined, joined.lower(), joined[:MAX_SCANNED].encode("utf-8", "replace")
            )
            self._left -= TEXT_STEPS * len(joined)
        return text

    def _has(self, key: str, entry: LoreEntry, scanned: _ScannedText) -> bool:
        self._left -= KEY_STEPS + len(key)
        if self.is_exhausted:
            return False
        key = fill_macros(key, self._char, self._user)
        if (literal := pattern_of(key)) is not None and (regex := self._regex(*literal)) is not None:
            self._left -= regex.size * len(scanned.head)
            return not self.is_exhausted and regex.is_in(scanned.head)
        key, text = key.strip(), scanned.text
        if not entry.is_case_sensitive:
            key, text = key.lower(), scanned.lowered
        if not key:
            return False
        self._left -= len(text) // 4
        if entry.matches_whole_words is False or len(key.split()) > 1:
            return key in text
        return any(_is_whole(text, offset, len(key)) for offset in self._offsets(key, text))

    def _regex(self, pattern: str, flags: str) -> Regex | None:
        if (pattern, flags) not in self._patterns:
            if len(self._patterns) == MAX_PATTERNS:
                return None
            self._patterns[pattern, flags] = _compiled(pattern, flags)
        return self._patterns[pattern, flags]

    def _offsets(self, key: str, text: str) -> Iterator[int]:
        offset = text.find(key)
        while offset >= 0 and not self.is_exhausted:
            self._left -= HIT_STEPS
            yield offset
            offset = text.find(key, offset + 1)


class _ScannedText(NamedTuple):
    text: str
    lowered: str
    head: bytes
    """What patterns look at."""


def unsupported_patterns(entries: Iterable[LoreEntry]) -> Iterator[tuple[LoreEntry, str, str]]:
    """The keys that are written as patterns and are taken as plain texts, each with its entry and the reason."""
    patterns = [(entry, key) for entry in entries for key in (*entry.keys, *entry.secondary_keys) if pattern_of(key)]
    for entry, key in patterns[:MAX_PATTERNS]:
        try:
            compile_regex(*pattern_of(key) or ("", ""))
        except Unsupported as error:
            yield entry, key, str(error)
    for entry, key in patterns[MAX_PATTERNS:]:
        yield entry, key, f"over {MAX_PATTERNS} patterns"


def _compiled(pattern: str, flags: str) -> Regex | None:
    try:
        return compile_regex(pattern, flags)
    except Unsupported:
        return None


def _is_whole(text: str, offset: int, length: int) -> bool:
    """Are there no Latin letters beside it? Where words are not divided by blanks, each is whole."""
    return not (
        _is_latin(text[offset - 1 : offset] if offset else "") or _is_latin(text[offset + length : offset + length + 1])
    )


def _is_latin(letter: str) -> bool:
    return letter == "_" or (letter.isascii() and letter.isalnum())


def _happens(entry: LoreEntry, chance: str) -> bool:
    if entry.probability >= 100:
        return True
    return Random(f"{chance}\n{entry.keys}\n{entry.content}").random() * 100 < entry.probability  # noqa: S311


def _group_winners(entries: Sequence[LoreEntry], active: Sequence[LoreEntry], chance: str) -> list[LoreEntry]:
    """One entry of each group, none where the group has one already."""
    grouped, lost = dict[str, list[LoreEntry]](), set[int]()
    for entry in entries:
        for group in _groups(entry):
            grouped.setdefault(group, []).append(entry)
    settled = {group for entry in active for group in _groups(entry)} if grouped else set()
    for group, of_group in grouped.items():
        members = [entry for entry in of_group if id(entry) not in lost]
        if group in settled:
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
    return tuple(dict.fromkeys(name.strip() for name in entry.group.split(",") if name.strip()))


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


# Regular expressions of JavaScript, matched by RE2 in time proportional to the text.
#
# A card may come from anybody, and an engine that backtracks can be kept busy for years by one line of it. RE2 has
# neither looking ahead or behind nor back references. Of what only JavaScript writes, `\u0041`, `\u{1F511}` and `[^]`
# are translated.

MAX_PATTERN = 500  # characters
MAX_MEMORY = 64 * 1024  # bytes of a compiled pattern and its caches; holds programs of some 2,700 instructions
FLAGS = frozenset("gimsuy")
LITERAL = re.compile(r"/(?P<pattern>(?:\\.|[^/\\])+)/(?P<flags>[a-z]*)", re.DOTALL)
JAVASCRIPT = re.compile(
    r"\\u\{(?P<braced>[0-9a-fA-F]{1,6})\}|\\u(?P<four>[0-9a-fA-F]{4})|(?P<any>\[\^\])|\\.", re.DOTALL
)
LOOKAROUND = re.compile(r"\(\?<?[=!]")
BACK_REFERENCE = re.compile(r"\\(?:[1-9]|k<)")


class Unsupported(ValueError):
    """A pattern that is invalid, or that RE2 does not take; the message says why."""


@dataclass(frozen=True, slots=True)
class Regex:
    _compiled: Any
    size: int
    """Instructions: a search takes at most so many steps for each byte of the text."""

    def is_in(self, text: bytes) -> bool:
        """Is it anywhere in a text in UTF-8?"""
        return self._compiled.search(text) is not None


def pattern_of(key: str) -> tuple[str, str] | None:
    """The pattern and the flags of a key that is written as /pattern/flags; None for any other key."""
    literal = LITERAL.fullmatch(key.strip())
    return None if literal is None else (literal["pattern"].replace("\\/", "/"), literal["flags"])


def compile_regex(pattern: str, flags: str = "") -> Regex:
    if len(pattern) > MAX_PATTERN:
        raise Unsupported(f"it has over {MAX_PATTERN} characters")
    if len(set(flags)) < len(flags) or not FLAGS.issuperset(flags):
        raise Unsupported(f"'{flags}' are no flags")
    import re2  # takes a while to load, and few stories have patterns

    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = "i" not in flags
    own_flags = "".join(flag for flag in "ms" if flag in flags)
    try:
        compiled = re2.compile((f"(?{own_flags})" if own_flags else "") + JAVASCRIPT.sub(_translated, pattern), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise Unsupported(_reason(pattern, error)) from error
    return Regex(compiled, compiled.programsize)


def _translated(match: re.Match[str]) -> str:
    if match["any"]:
        return r"[\x{0}-\x{10ffff}]"
    digits = match["braced"] or match["four"]
    return rf"\x{{{digits}}}" if digits else match[0]


def _reason(pattern: str, error: Exception) -> str:
    if LOOKAROUND.search(pattern):
        return "looking ahead or behind is not supported"
    if BACK_REFERENCE.search(pattern):
        return "references to groups are not supported"
    if isinstance(error, UnicodeEncodeError):
        return str(error.reason)
    message = error.args[0]
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
