"""Third-person sentences about a character, as the character would say them: cards describe, profiles speak."""

from __future__ import annotations

import re

__all__ = ["first_person"]

IRREGULAR = {"is": "am", "has": "have", "does": "do", "was": "was", "goes": "go", "'s": "am"}
PRONOUNS = {"his": "my", "himself": "myself", "herself": "myself", "hers": "mine", "him": "me"}


def first_person(sentence: str, name: str) -> str:
    """'He keeps bees.' -> 'I keep bees.' A sentence that does not begin with the character stays as it is."""
    parts = name.split() or [name]
    names = "|".join(re.escape(part) for part in dict.fromkeys((name, parts[0], parts[-1])) if part)
    match = re.match(rf"(?:{names}|He|She)\s+(\w+)(.*)$", sentence, re.DOTALL)
    if match is None:
        return sentence
    predicate = re.sub(r"\b(his|himself|herself|hers|him)\b", lambda word: PRONOUNS[word[1]], match[2])
    if sentence.startswith("She"):
        predicate = re.sub(r"\bher\b", "my", predicate)
    predicate = re.sub(r"\b(and|but|or) (has|is|does)\b", lambda pair: f"{pair[1]} {IRREGULAR[pair[2]]}", predicate)
    predicate = re.sub(
        r"(\b(?:and|but)|,) (?:he|she) (\w+)",
        lambda pair: f"{pair[1]} I {_without_ending(pair[2])}",
        predicate,
    )
    return f"I {_without_ending(match[1])}{predicate}"


def _without_ending(verb: str) -> str:
    """'keeps' -> 'keep'."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.endswith(("ches", "shes", "sses", "xes")):
        return verb[:-2]
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
