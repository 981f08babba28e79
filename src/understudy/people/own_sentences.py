"""What somebody who chats says of themselves, sentence by sentence: what is kept of a chat, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from understudy.prompting import introductions
from understudy.prompting.introductions import OPENING, STATEMENTS

__all__ = ["profile_sentences"]

GREETING = re.compile(OPENING, re.IGNORECASE)
JOINT = re.compile(
    r"(?:\s*[,;]\s*(?:(?:and|but|so)\s+)?|\s+(?:and|but|so)\s+)(?=(?:i|i['’]m|i['’]ve|my)\b)", re.IGNORECASE
)


def profile_sentences(turns: Sequence[str], language: str = "en") -> list[str]:
    """What somebody says of themselves in some turns, one sentence each, without full stops."""
    found = (part.strip(" .。!！") for told in introductions(turns, language) for part in _parts(told, language))
    return list(dict.fromkeys(sentence[:1].upper() + sentence[1:] for sentence in found))


def _parts(sentence: str, language: str) -> Iterator[str]:
    """'I work at the harbour and I have two dogs' is two things to remember."""
    opening = GREETING.match(sentence)
    start = opening.end() if opening else 0
    if language == "en":
        for joint in JOINT.finditer(sentence, start):
            if joint.start() > start and STATEMENTS[language].match(sentence, joint.end()):
                yield sentence[start : joint.start()]
                start = joint.end()
    yield sentence[start:]
