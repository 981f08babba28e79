"""Proper names in running text: runs of capitalised words, with their titles, initials and particles.

A word that stands at the head of a sentence has a capital whatever it is: it is part of a name only where the text has
it with a capital elsewhere, and not mostly without one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from understudy.quotations.lexicon import Lexicon, given_names
from understudy.quotations.prose import Prose

__all__ = ["NameForm", "NameMention", "QuotedParts", "lower_counts", "name_mentions"]

UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĻŁŃŇŌŐŒŘŚŞŠŤŪŮŰŹŻŽΑ-ΩА-ЯЁІЇЄ"
ABBREVIATION = (
    r"(?:Mr|Mrs|Ms|Dr|Mme|Mlle|Mons|Messrs|MM?|Me|St|Ste|Rev|Hon|Capt|Col|Gen|Maj|Lieut|Lt|Sergt|Sgt|Prof|[A-HJ-Z])\."
)
WORD = rf"(?:[{UPPER}]['’])?[{UPPER}][^\W\d_]*(?:['’\-][^\W\d_]+)*"
GAP = r"(?:[ \t]{1,4}\n?|\n)[ \t]{0,8}"  # bounded, so that long white space is not tried again and again
SUFFIX = re.compile(r"['’](?:s|S|ll|d|ve|re|m)$")
TOKEN = re.compile(rf"{ABBREVIATION}|{WORD}|[^\W\d_]+['’]?")
LOWER_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}")
BREAK = re.compile(r"[.!?…]|\n[ \t]*\n")
STARTS_AFTER = ".!?…:;-—–("
MARKS = " \t\n\"'“”‘’«»_*"
SAINT = ("St", "Ste", "Saint")
LONGEST = 6  # words of a name; more are a headline or a list
MOSTLY_LOWER = 2.0  # times more often without a capital: not a name at the head of a sentence


class NameForm(NamedTuple):
    """A way of writing somebody's name: 'Mr.', ('Frank', 'Churchill')."""

    title: str
    words: tuple[str, ...]

    @property
    def surface(self) -> str:
        return " ".join(filter(None, (self.title, *self.words)))


class NameMention(NamedTuple):
    form: NameForm
    start: int
    end: int
    sentence: int
    is_quoted: bool
    is_opener: bool
    is_possessive: bool


class QuotedParts:
    """Tells whether a character of a text is said by somebody."""

    def __init__(self, prose: Prose) -> None:
        parts = sorted(part for quotation in prose.quotations for part in quotation.parts)
        self._starts = [part.start for part in parts]
        self._ends = [part.end for part in parts]

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    is_possessive: bool


class _CapitalRun(NamedTuple):
    title: str
    tokens: tuple[_Token, ...]
    start: int
    is_opener: bool


def name_mentions(prose: Prose, lexicon: Lexicon, lower: Mapping[str, int]) -> list[NameMention]:
    """All that may be names, in the order of the text; headings and paratexts are left out."""
    text = prose.text
    left_out = sorted([chapter.span for chapter in prose.chapters] + [paratext.span for paratext in prose.paratexts])
    runs = list(_runs(text, lexicon))
    inner = Counter(
        token.text for run in runs for token in (run.tokens[1:] if run.is_opener and not run.title else run.tokens)
    )
    phrases = {tuple(token.text for token in run.tokens) for run in runs if not run.is_opener}
    quoted = QuotedParts(prose)
    mentions: list[NameMention] = []
    sentence, previous_end, passed = 0, 0, 0
    for run in runs:
        tokens = run.tokens
        is_opener = run.is_opener
        if is_opener and not run.title and tuple(token.text for token in tokens) not in phrases:
            first = tokens[0].text
            if first.lower() in lexicon.openers or lower[first.lower()] > MOSTLY_LOWER * inner[first]:
                tokens, is_opener = tokens[1:], False
        if not 0 < len(tokens) <= LONGEST:
            continue
        start, end = (run.start if run.title else tokens[0].start), tokens[-1].end
        while passed < len(left_out) and left_out[passed].end <= start:
            passed += 1
        if passed < len(left_out) and left_out[passed].start <= start:
            continue
        if BREAK.search(text, previous_end, start):
            sentence += 1
        previous_end = end
        form = NameForm(run.title, tuple(token.text for token in tokens))
        mentions.append(NameMention(form, start, end, sentence, start in quoted, is_opener, tokens[-1].is_possessive))
    return mentions


def lower_counts(text: str) -> Counter[str]:
    """How often the text has each word without a capital."""
    return Counter(word for word in LOWER_WORD.findall(text) if word[0].islower())


def _runs(text: str, lexicon: Lexicon) -> Iterator[_CapitalRun]:
    particles = "|".join(sorted(lexicon.particles, key=len, reverse=True))
    run = re.compile(
        rf"(?<![^\W_])(?:{ABBREVIATION}|{WORD})(?:{GAP}(?:(?:{particles}){GAP}){{0,2}}(?:{ABBREVIATION}|{WORD}))*"
    )
    for match in run.finditer(text):
        yield from _names_in(match, text, lexicon)


def _names_in(match: re.Match[str], text: str, lexicon: Lexicon) -> Iterator[_CapitalRun]:
    """The names of a run: a title begins another, a possessive ends one, and so does a word that is none."""
    names = given_names().genders
    title, title_start, tokens = "", -1, list[_Token]()
    is_opener = _opens_sentence(text, match.start())

    def flush() -> Iterator[_CapitalRun]:
        nonlocal title, title_start, tokens, is_opener
        while tokens and tokens[-1].text.lower() in lexicon.particles:
            tokens.pop()
        if title and not tokens:  # alone: 'Nanny', 'the General'
            tokens = [_Token(title, title_start, title_start + len(title), False)]
            title = ""
        if tokens:
            yield _CapitalRun(title, tuple(tokens), title_start if title else tokens[0].start, is_opener)
        title, title_start, tokens, is_opener = "", -1, [], False

    for token in TOKEN.finditer(match[0]):
        word, start = token[0], match.start() + token.start()
        bare = word.removesuffix(".")
        suffix = SUFFIX.search(word)
        name = word[: suffix.start()] if suffix else word
        if not word[0].isupper():
            if bare in lexicon.particles and ((tokens and bare != "of") or (title and not tokens)):
                tokens.append(_Token(word, start, start + len(word), False))
            else:
                yield from flush()
        elif bare in lexicon.titles and (bare not in SAINT or not tokens):
            if tokens:
                yield from flush()
            elif title:
                is_opener = False
            title, title_start = word, start
        elif (
            (len(name) > 1 and name.isupper() and not name.endswith("."))
            or word.endswith(("n't", "n’t"))
            or (name.lower() in lexicon.openers and name not in names and (tokens or not is_opener))
        ):
            yield from flush()
        else:
            tokens.append(_Token(name, start, start + len(name), suffix is not None))
            if suffix:
                yield from flush()
    yield from flush()


def _opens_sentence(text: str, start: int) -> bool:
    index = start - 1
    while index >= 0 and text[index] in MARKS:
        if text[index] in '"“«‘_' and index == start - 1 and text[index] != "_":
            return True
        index -= 1
    return index < 0 or text[index] in STARTS_AFTER
