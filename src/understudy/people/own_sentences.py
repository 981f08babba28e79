"""What somebody who chats says of themselves, sentence by sentence: what is kept of a chat, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.prompting import introductions
from understudy.prompting.introductions import OPENING

__all__ = ["profile_sentences"]

GREETING = re.compile(OPENING, re.IGNORECASE)


def profile_sentences(turns: Sequence[str], language: str = "en") -> list[str]:
    """What somebody says of themselves in some turns, one sentence each, without full stops."""
    found = (GREETING.sub("", sentence).strip(" .。!！") for sentence in introductions(turns, language))
    return list(dict.fromkeys(sentence[:1].upper() + sentence[1:] for sentence in found))
