"""The macros of character cards: `{{char}}`, `{{user}}` and what older cards write for them.

They are filled in when a text is used, since only then it is known who is spoken to; where that has no name, it is
'you', in the language of the card. A macro that draws lots gives its
first choice, so that the same card reads the same each time; a comment is for whoever edits the card.
"""

from __future__ import annotations

import re

__all__ = ["CHARACTER", "USERS", "fill_macros"]

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
