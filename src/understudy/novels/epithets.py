"""People without names: 'the porter', 'the old woman', 'mother', who speak now and then.

Whoever is the subject of a verb of speech right before or after a quotation is somebody, whatever the noun; away from
quotations ('the letter said') only nouns that are known to speak, or to be people.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from understudy.novels.lexicon import Lexicon
from understudy.novels.names import QuotedParts
from understudy.novels.prose import Prose

__all__ = ["Epithet", "speaking_epithets"]

BESIDE = 4  # characters of punctuation between a quotation and the clause that tells who says it
SPEAKS = 2  # times that a noun must be a speaker if it is not known to be a person's
FAMILY_SPEAKS = 3
MODIFIERS = 2  # words between the article and the noun: 'the little old woman'
REACH = 80  # characters after an epithet in which a pronoun may stand for it
WORD = r"[^\W\d_]+(?:-[^\W\d_]+)*"


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
        match = pronoun.search(prose.text, end, end + REACH)
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
    inverted = re.compile(rf"\b(?:{verbs})\s(?:(?P<article>{articles})\s)({WORD}(?:\s{WORD}){{0,{MODIFIERS + 1}}})")
    direct = re.compile(
        rf"\b(?P<article>{articles})\s({WORD}(?:\s{WORD}){{0,{MODIFIERS}}}?)\s(?:{verbs})\b", re.IGNORECASE
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
    known = lexicon.role_genders.get(surface.split()[-1], "")
    if known or pronouns["m"] == pronouns["f"]:
        return known
    return "m" if pronouns["m"] > pronouns["f"] else "f"
