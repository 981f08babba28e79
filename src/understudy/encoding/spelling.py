"""One spelling for many: 'I'm', 'i am' and 'im' are the same words to the encoder.

Corpora write contractions in different ways, and a model trained on one stumbles over the others. Case and the blanks
before punctuation are the tokenizer's to drop.
"""

from __future__ import annotations

import re

__all__ = ["canonical"]

WHOLE = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "ain't": "is not",
    "let's": "let us",
    "y'all": "you all",
    "'cause": "because",
    "dont": "do not",
    "cant": "can not",
    "im": "i am",
    "ive": "i have",
    "didnt": "did not",
    "doesnt": "does not",
    "isnt": "is not",
    "thats": "that is",
    "whats": "what is",
}
BEFORE_S = "that it he she what there where who how here when why everything something"
BEFORE_NOT = "do does did is are was were have has had would could should must need"
PRONOUNS = "i you he she it we they that there this who what"


ENDINGS = {"ve": "have", "re": "are", "ll": "will", "d": "would"}


def _either(words: str) -> str:
    return "|".join(words.split())


BARE = "|".join(re.escape(word) for word in WHOLE if not word.startswith("'"))
CUT = "|".join(re.escape(word) for word in WHOLE if word.startswith("'"))  # no word's edge before an apostrophe
WHOLE_WORD = re.compile(rf"(?:\b(?:{BARE})|{CUT})\b")
NOT = re.compile(rf"\b({_either(BEFORE_NOT)})n ?'? ?t\b")
CAN_NOT = re.compile(r"\bcan ?' ?t\b|\bcan t\b")
WILL_NOT = re.compile(r"\bwon ?'? t\b")
I_AM = re.compile(r"\bi ?'? ?m\b(?! \.)")
ENDING = re.compile(rf"\b({_either(PRONOUNS)})(?: ?' ?| )(ve|re|ll|d)\b")
IS = re.compile(rf"\b({_either(BEFORE_S)})(?: ?' ?| )s\b")


def canonical(text: str) -> str:
    """Lower case, contractions written out, single blanks."""
    text = text.lower().replace("\u2019", "'").replace("\u2018", "'")
    text = WHOLE_WORD.sub(lambda match: WHOLE[match[0]], text)
    text = NOT.sub(r"\1 not", text)
    text = CAN_NOT.sub("can not", text)
    text = WILL_NOT.sub("will not", text)
    text = I_AM.sub("i am", text)
    text = ENDING.sub(lambda match: f"{match[1]} {ENDINGS[match[2]]}", text)
    text = IS.sub(r"\1 is", text)
    return " ".join(text.split())
