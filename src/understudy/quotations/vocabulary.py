"""English words that tell who speaks: what `lexicons/en.toml` has of verbs of speech, nouns for people and titles.

Tags are read in English only; names are found by the lexicon of each language (`lexicon`).
"""

from __future__ import annotations

from understudy.quotations.lexicon import english_table

__all__ = [
    "ADVERBS",
    "CLAUSE_LINKS",
    "DETERMINERS",
    "NOT_NOUNS",
    "NOUN_GENDERS",
    "NO_NAMES",
    "OFFICES",
    "OPENING_VERBS",
    "PERSON_NOUNS",
    "PREPOSITIONS",
    "PRONOUNS",
    "SPEECH_INFINITIVES",
    "SPEECH_NOUNS",
    "SPEECH_VERBS",
    "SUBORDINATORS",
    "SURE_VERBS",
]

_TABLE = english_table()
_TAGS: dict[str, str] = _TABLE["tags"]
_EPITHETS: dict[str, str] = _TABLE["epithets"]


def _words(*lists: str) -> frozenset[str]:
    return frozenset(word.lower() for words in lists for word in words.split())


SPEECH_VERBS = _words(_TABLE["verbs"]["speech"], _TAGS["speech"])
SURE_VERBS = _words(_TAGS["sure"])
OPENING_VERBS = _words(_TAGS["opening"])
SPEECH_INFINITIVES = _words(_TAGS["infinitives"])
SPEECH_NOUNS = _words(_TAGS["nouns"])
ADVERBS = _words(_TAGS["adverbs"])
CLAUSE_LINKS = _words(_TAGS["links"])
SUBORDINATORS = _words(_TAGS["subordinators"])
PREPOSITIONS = _words(_TAGS["prepositions"])
DETERMINERS = _words(_TAGS["determiners"])
NOT_NOUNS = _words(_TAGS["noun_ends"])
OFFICES = _words(_TAGS["offices"])
NO_NAMES = _words(
    _TAGS["no_names"],
    _TAGS["offices"],
    *(_TABLE["title_kinds"][kind] for kind in ("civil", "maiden", "married", "kin")),
)
NOUN_GENDERS = {word: gender for gender in "mf" for word in _words(_EPITHETS[gender], _TAGS[gender])}
"""The gender of 'waiter', 'niece'."""
PERSON_NOUNS = NOUN_GENDERS.keys() | _words(_TAGS["people"])
PRONOUNS = {word: gender for gender, words in _TABLE["pronouns"].items() for word in words.split()}
