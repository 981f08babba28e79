"""Who answers when several are there: the one spoken to, else the one last in talk with the speaker, else the first.

Whoever is called by name ('Zita, who wrote it?', 'Who wrote it, Prior?') is spoken to; to be spoken of ('Did Pia see
it?') counts only where nobody is called. A greeting to all is answered by more than one, but never by a whole crowd.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Listener", "who_answers"]

MOST = 3
CLAUSES = re.compile(r"[,.!?;:…。、，！？；：\n]|--|—|–")
JOINERS = frozenset("and or & dear my oh the mr mrs miss dr と 和 跟".split())
GREETINGS = frozenset(
    "hello hi hey greetings welcome good morning evening afternoon night day bye goodbye farewell thanks thank you "
    "こんにちは おはよう こんばんは どうも 你好 您好 早 再见".split()
)
EVERYBODY = frozenset(
    "all everybody everyone both you two three friends people folks gentlemen ladies there "
    "みなさん 皆さん みんな 大家 各位 你们好 你们".split()
)


@dataclass(frozen=True, slots=True)
class Listener:
    """Somebody in the scene, with all they may be called."""

    name: str
    """The story's own name for them, which may be one that nobody knows yet."""
    called: tuple[str, ...]


def who_answers(text: str, listeners: Sequence[Listener], last: str | None = None) -> list[str]:
    """Who answers, in order. `last` was last in talk with the speaker."""
    if len(listeners) < 2:
        return [listener.name for listener in listeners]
    calls = _calls(listeners)
    clauses = [_plain(clause) for clause in CLAUSES.split(text)]
    called = [name for clause in clauses for name in _called(clause, calls)]
    if called:
        return list(dict.fromkeys(called))[:MOST]
    if any(_greets_all(clause) for clause in clauses):
        return [listener.name for listener in listeners][:MOST]
    named = _found(_plain(text), calls)
    if named:
        return [named[0][1]]
    present = {listener.name for listener in listeners}
    return [last] if last in present and last is not None else [listeners[0].name]


def _calls(listeners: Sequence[Listener]) -> dict[str, str]:
    """What each can be called by, parts of names too where only one person here has them; the longest first."""
    whole: dict[str, set[str]] = {}
    for listener in listeners:
        for called in listener.called:
            for form in {_plain(called), *_plain(called).split()}:
                if form and form not in JOINERS:
                    whole.setdefault(form, set()).add(listener.name)
    return {form: next(iter(names)) for form, names in sorted(whole.items(), key=_longest) if len(names) == 1}


def _longest(entry: tuple[str, set[str]]) -> tuple[int, str]:
    return -len(entry[0]), entry[0]


def _called(clause: str, calls: dict[str, str]) -> Iterable[str]:
    """Those a clause calls, where it is nothing but names and a greeting: 'hello Zita and Pia'."""
    found = _found(clause, calls)
    rest = clause
    for form, _ in found:
        rest = rest.replace(form, " ", 1)
    if found and set(rest.split()) <= JOINERS | GREETINGS:
        return [name for _, name in found]
    return ()


def _found(text: str, calls: dict[str, str]) -> list[tuple[str, str]]:
    """(form, name) of those named in a text, in the order they come."""
    places: list[tuple[int, str, str]] = []
    left = text
    for form, name in calls.items():
        pattern = re.escape(form) if _runs_on(form) else rf"(?<!\w){re.escape(form)}(?!\w)"
        if match := re.search(pattern, left):
            places.append((match.start(), form, name))
            left = left[: match.start()] + "\0" * len(match[0]) + left[match.end() :]
    seen, order = set[str](), list[tuple[str, str]]()
    for _, form, name in sorted(places):
        if name not in seen:
            seen.add(name)
            order.append((form, name))
    return order


def _greets_all(clause: str) -> bool:
    told = set(clause.split())
    return bool(told) and told <= GREETINGS | EVERYBODY | JOINERS and (told <= GREETINGS or bool(told & EVERYBODY))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _runs_on(form: str) -> bool:
    """Is it written without spaces around words?"""
    return any("\u3040" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff" for letter in form)
