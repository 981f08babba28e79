"""What a speaker label looks like: what stands before the colon of `NAME (off): text`.

Whether `Something:` at the start of a line is a label cannot be decided from the line alone; which labels are in use,
`statistics` of the whole file show.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from understudy.readers.brackets import BRACKETED, OPENERS
from understudy.readers.names import is_group
from understudy.readers.transcript.boilerplate import is_boilerplate, is_credit
from understudy.readers.vocabulary import STARTERS, words

__all__ = ["INNER_LABEL", "PLAIN", "Label", "looks_like_label", "read_label"]

LONGEST_HEAD = 130
LONGEST_CASELESS = 12
PLAIN = re.compile(r"([^\W\d_][\w.'’-]{0,40}(?: [\w.'’#-]{1,40}){0,3}) ?[:：](?!//)\s*")
HEAD = re.compile(
    r"((?:[^:()\[\]{}<>]{1,80}+|\([^()]{0,160}+\)|\[[^\[\]]{0,160}+\]|\{[^{}]{0,160}+\}|<[^<>]{0,160}+>){1,6}+)"
    r":(?!//)\s*"
)
UNCLOSED_HEAD = re.compile(r"([^\W\d_][^:()\[\]{}<>]{0,40})[(\[{<][^:()\[\]{}<>]{1,80}:\s*")
NAME_WORD = r"[^\W\d_a-z](?:[\w'’-]|\.(?!\w\w)){0,30}"
INNER_LABEL = re.compile(
    r"(?:(?<=[.!?…)\]}*>])[\"”’]?\s*|(?<=[a-z,-])(?=[A-Z]{3})|(?<=\w) {2,}(?=[A-Z]{3}))"
    rf"(?P<name>{NAME_WORD}(?: {NAME_WORD}){{0,2}})(?:\s*[(\[][^()\[\]:]{{1,60}}[)\]])?\s?:(?!\d|//)"
)
SENTENCE = re.compile(r"[.!?…,]\s|[!?…]|\.\.")
ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|No|Hdm|[A-Z])\.")
ORDINALS = words("first second third one two three")


class Label(NamedTuple):
    """`name` is the label without its notes, `head` all that stood before the colon, `text` what comes after."""

    name: str
    head: str
    text: str


def read_label(text: str) -> Label | None:
    """The part before a colon at the start of the line, whether or not it is anybody's name."""
    if match := PLAIN.match(text):
        return Label(match[1], match[1], text[match.end() :].lstrip(":： "))
    if ":" not in text[:LONGEST_HEAD]:
        return None
    match = HEAD.match(text) or UNCLOSED_HEAD.match(text)
    if match is None or match.end() > LONGEST_HEAD:
        return None
    head = match[0].rstrip().removesuffix(":").rstrip()
    name = " ".join(BRACKETED.sub(" ", head).split()).strip(' ,*-–—>"“”♪')
    if not name or text[0] in OPENERS:
        return None
    return Label(name, head, text[match.end() :].lstrip(":： "))


@lru_cache(maxsize=16384)
def looks_like_label(name: str) -> bool:
    """Short, begins like a name and does not read like a sentence."""
    words = name.split()
    if not 1 <= len(words) <= 7 or len(name) > 60 or not any(letter.isalpha() for letter in name):
        return False
    first = words[0].casefold().replace("’", "'").strip(".,\"'“”")
    if first in STARTERS and not (first in ORDINALS and len(words) > 1) and not is_group(name):
        return False
    if name.isupper():
        return len(words) <= 6 and not is_credit(name + ":")
    if not (name[0].isupper() or name[0].isdigit() or len(words) == 1):
        return False
    if not name[0].isascii() and name.lower() == name.upper() and len(name) > LONGEST_CASELESS:
        return False  # in Chinese or Japanese, a whole sentence is one word
    if SENTENCE.search(ABBREVIATED.sub("", name)) and "," not in name:
        return False
    return not is_credit(name + ":") and (len(words) == 1 or not is_boilerplate(name))
