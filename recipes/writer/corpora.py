"""PersonaChat's dialogues and pairs, made readable: with the spelling and the marks of written English."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from recipes.writer.tables import table
from understudy.training.corpus import read_pairs
from understudy.training.dialogues import ProfiledDialogue, dialogues_of, training_file

__all__ = ["entailed_sentences", "readable", "readable_dialogues"]

COMMON_TOO = frozenset({"april", "june", "august", "ford", "mustang", "god"})  # proper names that are words as well
NOT_CONTRACTED = frozenset({"am", "is", "was", "my", "an", "very", "so"})  # before 'ill' and 'id' as words

REWRITES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"(\w) ' (s|m|re|ve|ll|d|t)\b", r"\1'\2"),
        (r"\b(i) (m|ve|ll|d)\b", r"\1'\2"),
        (r"\b(don|can|didn|doesn|isn|wasn|won|couldn|wouldn|haven|aren) t\b", r"\1't"),
        (r"\b(it|that|he|she|there|what) s\b", r"\1's"),
        (r"\b(you|we|they) (re|ve|ll)\b", r"\1'\2"),
        (r"\s+n't\b", "n't"),
        (r"\b(i)'ve (an?|one|two|three|four|no|my|some|many|lots)\b", r"\1 have \2"),
        (r"\s+([.,!?;:%)])", r"\1"),
        (r"([(])\s+", r"\1"),
        (r"\.(?:\s*\.)+", "..."),
        (r"([!?])(?:\s*[!?])+", r"\1"),
    )
)
NO_SPACE = re.compile(r"([.,!?])(?=[a-z])(?!com|org|net|[mM]\b)")


def readable(text: str) -> str:
    """'i ' m fine , thanks . you ?' -> \"I'm fine, thanks. You?\""""
    text = re.sub(r"\s+", " ", text.replace("\u2019", "'")).strip()
    for pattern, replacement in REWRITES:
        text = pattern.sub(replacement, text)
    words: list[str] = []
    for word in NO_SPACE.sub(r"\1 ", text).split(" "):
        words.append(_spelled(word, words[-1] if words else ""))
    text = re.sub(r"(^|[.!?] )([a-z])", lambda start: start[1] + start[2].upper(), " ".join(words))
    if text and text[-1] not in ".!?\"'":
        text = text.rstrip(" ,;:") + ("." if text[-1].isalnum() or text[-1] in ",;:)" else "")
    return text


def _spelled(word: str, before: str) -> str:
    core = re.sub(r"^[(\"]+|[.,!?;:)\"]+$", "", word)
    lower, spelling, proper = core.lower(), table("spelling"), _proper_names()
    if lower in spelling and not (lower in ("ill", "id") and before.lower() in NOT_CONTRACTED):
        return word.replace(core, spelling[lower], 1)
    return word.replace(core, proper[lower], 1) if lower in proper and lower not in COMMON_TOO else word


@cache
def _proper_names() -> Mapping[str, str]:
    return {word.lower(): word for word in table("proper")["words"].split()}


def readable_dialogues(folder: Path) -> list[ProfiledDialogue]:
    """The training dialogues of PersonaChat with both profiles."""
    return [
        ProfiledDialogue(
            (tuple(map(readable, dialogue.profiles[0])), tuple(map(readable, dialogue.profiles[1]))),
            tuple((who, readable(text)) for who, text in dialogue.turns if text.strip() and "__SILENCE__" not in text),
        )
        for dialogue in dialogues_of(training_file(folder, "original", "both"))
    ]


def entailed_sentences(folder: Path) -> Mapping[str, Sequence[str]]:
    """Utterance -> the profile sentences it expresses; empty where the folder does not say."""
    expressed = defaultdict[str, list[str]](list)
    for sentence, said in read_pairs(folder):
        expressed[readable(said)].append(readable(sentence))
    return expressed
