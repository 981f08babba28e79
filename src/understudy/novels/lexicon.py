"""The words of a language by which people and speakers are recognised: titles, verbs of speech, nouns for people.

Names are found by the lexicon of each language; tags of quotations ('said Emma') are read in English only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

MALE, FEMALE = "m", "f"

SPACED = ("en", "fr", "de")
"""Languages that have a lexicon; the first is taken for a text in another language that has spaces."""
SAMPLE = 60_000  # characters by which the language of a text is told
CLEARLY_MORE = 1.5  # times as many common words of another language as of the first
AT_LEAST = 20  # more of them
WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Titles are without their full stops; all but titles are lower-cased."""

    titles: Mapping[str, str]
    """The gender of each: 'm', 'f' or ''."""
    mens_titles: frozenset[str]
    """Titles without a gender that men bear more often."""
    civil: frozenset[str]
    maiden: frozenset[str]
    married: frozenset[str]
    kin: frozenset[str]
    before_given: frozenset[str]
    particles: frozenset[str]
    speech_verbs: frozenset[str]
    inverted_verbs: frozenset[str]
    """Verbs of speech after which a name is a speaker's: 'said Emma', but not 'called Emma'."""
    human_verbs: frozenset[str]
    place_prepositions: frozenset[str]
    articles: frozenset[str]
    vocative_words: frozenset[str]
    possessions: frozenset[str]
    pronouns: Mapping[str, str]
    """The gender that each shows."""
    openers: frozenset[str]
    never_people: frozenset[str]
    place_nouns: frozenset[str]
    conjunctions: frozenset[str]
    epithet_verbs: frozenset[str]
    """Verbs of speech that make a noun a speaker."""
    definite_articles: frozenset[str]
    noun_ends: frozenset[str]
    family_names: frozenset[str]
    """What a family calls its members, without an article: 'mother', 'Nanny'."""
    role_genders: Mapping[str, str]
    """The gender of 'porter', 'duchess'."""
    anybody: frozenset[str]
    """Nouns that any man, woman or child may be called by: 'girl', 'gentleman'."""
    title_words: Mapping[str, str]
    """What an abbreviated title is short for: 'doctor'."""
    nouns_have_capitals: bool


@dataclass(frozen=True, slots=True)
class GivenNames:
    genders: Mapping[str, str]
    full_forms: Mapping[str, frozenset[str]]
    """What a name may be short for, itself included: 'Harry' for Harold, Henry and Harriet."""

    def is_same(self, one: str, other: str) -> bool:
        """Are both the same name, or forms of it: Lizzy and Eliza, Tom and Thomas?"""
        return one == other or bool(
            self.full_forms.get(one, frozenset((one,))) & self.full_forms.get(other, frozenset((other,)))
        )

    def is_direct(self, one: str, other: str) -> bool:
        """Is one of them short for the other?"""
        return one in self.full_forms.get(other, ()) or other in self.full_forms.get(one, ())


def lexicon_of(text: str, language: str) -> Lexicon:
    """The lexicon of a language; where none is known for sure, of the one whose common words a text has most of."""
    if language in SPACED[1:]:
        return _lexicon(language)
    sample = [word.lower() for word in WORD.findall(text[:SAMPLE])]
    counts = {known: sum(word in _lexicon(known).openers for word in sample) for known in SPACED}
    best = max(SPACED, key=lambda known: counts[known])
    return _lexicon(best if counts[best] > CLEARLY_MORE * counts[SPACED[0]] + AT_LEAST else SPACED[0])


@cache
def given_names() -> GivenNames:
    table = _table("given_names")
    genders: dict[str, str] = {name: gender for gender, names in table["others"].items() for name in names.split()}
    full_forms: dict[str, set[str]] = {}
    for gender in "mf":
        for name, short_forms in table[gender].items():
            for form in (name, *short_forms.split()):
                genders[form] = "" if genders.get(form, gender) != gender else gender
                full_forms.setdefault(form, set()).add(name)
    return GivenNames(genders, {form: frozenset(names) for form, names in full_forms.items()})


@cache
def _lexicon(language: str) -> Lexicon:
    table = _table(language)
    verbs, epithets = table["verbs"], table["epithets"]
    lists: dict[str, str] = {**table["title_kinds"], **table["context"], **table["common"]}
    lists |= {name: epithets[name] for name in ("definite_articles", "noun_ends", "family_names", "anybody")}
    return Lexicon(
        titles={
            title: gender if gender in "mf" else ""
            for gender, titles in table["titles"].items()
            for title in titles.split()
        },
        mens_titles=_words(table["titles"]["usually_m"]),
        particles=_words(table["particles"]),
        speech_verbs=_words(verbs["speech"]),
        inverted_verbs=_words(verbs["speech"]) - _words(verbs["not_inverted"]),
        human_verbs=_words(verbs["human"]),
        pronouns={word: gender for gender, words in table["pronouns"].items() for word in words.split()},
        epithet_verbs=_words(verbs["speech"]) - _words(epithets["not_verbs"]),
        role_genders={word.lower(): gender for gender in "mf" for word in epithets[gender].split()},
        title_words=table["title_words"],
        nouns_have_capitals=table.get("nouns_have_capitals", False),
        **{name: _words(listed) for name, listed in lists.items()},
    )


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("understudy.novels").joinpath("lexicons", f"{name}.toml").read_text("utf-8"))


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


def english_words(*lists: str) -> frozenset[str]:
    """Lists of `lexicons/en.toml` as one set, lower-cased; each is named by its section and key: 'verbs.speech'."""
    keys = (name.split(".") for name in lists)
    return frozenset(word.lower() for section, key in keys for word in _table("en")[section][key].split())
