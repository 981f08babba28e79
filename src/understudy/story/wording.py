"""The words of a story's language: sentences for facts and ties, macros of cards, terms for what people are to others.

Sentences are in the first person; each language has a file of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from understudy.story.types import SECRET, Fact, Finding, Relation
from understudy.text import capitalised, known, word_table

FULL_STOPS = ".。 "
LABELS = {"export": "expertise"}  # HPD's word for what somebody is good at

CERTAIN = 0.9
"""What was found with less confidence is not said as if it were certain."""


def _sentences(language: str) -> dict[str, Any]:
    return word_table("story", "sentences", f"{known(language)}.toml")


def fact_sentence(fact: Fact, language: str, hedged: bool = True) -> str:
    """'I have the brass key.' An attribute the language has no sentence for is said plainly: 'My wand: holly.'

    What was found without certainty is said so, unless it is not to be `hedged`: 'It seems that I have the brass key.'
    """
    own = _sentences(language)["own"]
    sentence = _filled(own.get(_wording_key(fact), own["any"]), fact, language)
    return _hedged(sentence, language) if hedged and _is_uncertain(fact.found) else sentence


def about_other(fact: Fact, name: str, language: str, hedged: bool = True) -> str:
    """The same about somebody else: 'Ines has the brass key.'"""
    theirs = _sentences(language)["other"]
    sentence = _filled(theirs.get(_wording_key(fact), theirs["any"]), fact, language, name)
    return _hedged(sentence, language) if hedged and _is_uncertain(fact.found) else sentence


def attribute_label(attribute: str) -> str:
    """An attribute as a heading: what files call by a word of their own is shown by an ordinary one."""
    return LABELS.get(attribute, attribute)


def _wording_key(fact: Fact) -> str:
    """A secret that everybody may know is one no longer."""
    return "open secret" if fact.attribute == SECRET and fact.known_to is None else fact.attribute


def tie_sentence(tie: Relation, language: str, hedged: bool = True) -> str:
    """What a tie feels like from the inside; every level of affection and familiarity has its own sentence.

    Where the text has a word of its own, it is said: 'Monica is my wife.' What was found without certainty is said so,
    unless it is not to be `hedged`: 'Monica seems to be my wife.'
    """
    sentences = _sentences(language)
    is_uncertain = hedged and _is_uncertain(tie.found)
    if tie.level is not None:
        sentence: str = sentences[tie.kind][str(tie.level)]
    elif tie.term:
        sentence = sentences["term_uncertain" if is_uncertain else "term"]
        return sentence.format(name=tie.to, term=tie.term)
    else:
        sentence = sentences["kind"].get(tie.kind, sentences["kind"]["any"])
    filled = sentence.format(name=tie.to, kind=tie.kind)
    return _hedged(filled, language) if is_uncertain else filled


def _is_uncertain(found: Finding | None) -> bool:
    return found is not None and found.confidence < CERTAIN


def _hedged(sentence: str, language: str) -> str:
    sentences = _sentences(language)
    first = sentence.partition(" ")[0]
    if first in sentences.get("lowered", ()):
        sentence = sentence[:1].lower() + sentence[1:]
    return said("hedge", language, sentence=sentence)


def tie_to_faced(tie: Relation, language: str) -> str:
    """The same, said to the one it is about: 'You are my friend.'"""
    sentences = _sentences(language)
    sentence = tie_sentence(replace(tie, to=sentences.get("you", tie.to)), language)
    for third, second in sentences.get("you_forms", {}).items():
        sentence = sentence.replace(third, second)
    return capitalised(sentence)


def scene_sentence(key: str, language: str, **values: str) -> str:
    """A part of the scene that a card describes: where and when, who is there, what has just happened, who asks."""
    sentence: str = _sentences(language)["scene"][key]
    return sentence.format(char="{{char}}", user="{{user}}", **values)


def plain_lines(language: str) -> tuple[str, ...]:
    """Neutral lines for a character without lines of its own."""
    return tuple(_sentences(language)["plain"])


def speaker_words(language: str) -> frozenset[str]:
    """Words by which whoever speaks means themselves: 'Do you trust me?'"""
    return frozenset(_sentences(language)["speaker"])


def said(key: str, language: str, **values: str) -> str:
    """A sentence of a language by its key: 'named', 'nicknamed', 'alias', 'reported'."""
    template: str = _sentences(language)[key]
    return template.format(**values)


def _filled(template: str, fact: Fact, language: str, name: str = "") -> str:
    return template.format(value=listed(fact.values, language), attribute=fact.attribute, name=name)


def listed(values: Sequence[str], language: str) -> str:
    """'a key, a lamp and a map', without full stops of the author's own: the sentence brings one."""
    sentences = _sentences(language)
    *most, last = [value.strip().rstrip(FULL_STOPS) for value in values] or [""]
    join: str = sentences["join"]
    return join.join(most) + sentences.get("last_join", join) + last if most else last


# The macros of character cards: `{{char}}`, `{{user}}` and what older cards write for them.
#
# They are filled in when a text is used, since only then it is known who is spoken to; where that has no name, it is
# 'you', in the language of the card. A macro that draws lots gives its first choice, so that the same card reads the
# same each time; a comment is for whoever edits the card.


YOU = {"en": "you", "ja": "あなた", "zh": "你"}
SENTENCE_START = re.compile(r"(?:^|[.!?]\s+|\n\s*)[\"'“‘*(\[]*\Z")

CHARACTER = re.compile(r"\{\{\s*char\s*\}\}|<(?:bot|char)>", re.IGNORECASE)
USERS = re.compile(r"(?:\{\{\s*user\s*\}\}|<user>)(?P<own>['’]s\b)?", re.IGNORECASE)
CALLED = re.compile(r"[,，、]\s?(?:\{\{\s*user\s*\}\}|<user>)(?=\s*(?:[.!?;…。！？*\"”』」]|$))", re.IGNORECASE)
"""Where whoever reads is called by name: 'Well, {{user}}?'"""
COMMENT = re.compile(r"\{\{\s*(?://|comment\s*:|hidden_key\s*:)[^{}]*+\}\}", re.IGNORECASE)
CHOICE = re.compile(r"\{\{\s*(?:random|pick)\s*:{1,2}(?P<first>(?:\\.|[^,{}:\\])*+)[^{}]*+\}\}", re.IGNORECASE)


def fill_macros(text: str, char: str, user: str | None = "", language: str = "en") -> str:
    """The text with names in the place of its macros; `{{char}}` stays where `char` is blank.

    A blank `user` is 'you', and is not called by a name that it does not have; with None, `{{user}}` stays too.
    """
    if "{{" not in text and "<" not in text:
        return text
    text = CHOICE.sub(lambda match: match["first"].replace("\\,", ",").strip(), COMMENT.sub("", text))
    if char:
        text = CHARACTER.sub(lambda _: char, text)
    if user is None:
        return text
    if user:
        return USERS.sub(lambda match: user + (match["own"] or ""), text)
    return USERS.sub(lambda match: _you(match, language), CALLED.sub("", text))


def _you(match: re.Match[str], language: str) -> str:
    word = YOU.get(language, YOU["en"])
    if language == "en" and match["own"]:
        word = "your"
    begins = SENTENCE_START.search(match.string[max(0, match.start() - 8) : match.start()])
    return word.capitalize() if begins else word


# The words by which English names what one person is to another: 'wife' is a spouse, and a woman.


WITH_PLAIN_TERM = frozenset(("spouse", "parent", "child", "sibling", "grandparent", "grandchild"))


@dataclass(frozen=True, slots=True)
class TieTerm:
    """What a word says somebody is."""

    kind: str
    gender: str | None
    is_plural: bool = False


@cache
def terms() -> dict[str, TieTerm]:
    by_word: dict[str, TieTerm] = {}
    for table, gender in (("either", None), ("male", "male"), ("female", "female")):
        for kind, words in word_table("story", "tie_terms.toml")[table].items():
            by_word |= {word: TieTerm(kind, gender) for word in words}
    return by_word | {word: TieTerm(kind, None, is_plural=True) for word, kind in plural_terms().items()}


@cache
def plural_terms() -> dict[str, str]:
    """Words for several people at once, and their kind."""
    return {word: kind for kind, words in word_table("story", "tie_terms.toml")["plural"].items() for word in words}


def gender_of(term: str) -> str | None:
    return known_term.gender if (known_term := terms().get(term.removeprefix("ex-"))) else None


def plain_term(kind: str, gender: str | None) -> str:
    """The plain word for what a man or a woman is; none where several fit."""
    words = word_table("story", "tie_terms.toml").get(gender or "", {}).get(kind, ())
    return words[0] if words and kind in WITH_PLAIN_TERM else ""
