"""What the writer learns from, made readable: PersonaChat's dialogues and the speeches of PDNC's novels."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from understudy.errors import InputError
from understudy.training.dialogues import ProfiledDialogue, dialogues_of, training_file
from understudy.training.writer.tables import table

__all__ = [
    "HELD_BACK",
    "NovelSpeech",
    "entailed_sentences",
    "join_parts",
    "novel_speeches",
    "readable",
    "readable_dialogues",
]

NOT_FREE = "AHandfulOfDust"  # the one novel of PDNC that is not in the public domain
HELD_BACK = ("TheManWhoWasThursday", "TheAwakening")
"""Novels that are never trained on: perplexity is measured on them."""

ENTAILED = "train_entailed_persona_utterance_pairs.json"
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
    path = folder / ENTAILED
    if not path.is_file():
        return {}
    try:
        pairs = [(readable(sentence), readable(said)) for sentence, said in json.loads(path.read_text("utf-8"))]
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError("is not a list of [profile sentence, utterance]", path) from error
    expressed = defaultdict[str, list[str]](list)
    for sentence, said in pairs:
        expressed[said].append(sentence)
    return expressed


@dataclass(frozen=True, slots=True)
class NovelSpeech:
    """Something said in a novel: by whom, to whom, and where it starts and ends."""

    speaker: str
    addressees: tuple[str, ...]
    text: str
    start: int
    end: int


def novel_speeches(folder: Path, held_back: bool) -> dict[str, list[NovelSpeech]]:
    """The speeches of the free novels of a PDNC folder: of those to train on, or of those held back."""
    novels = [path for path in sorted(folder.iterdir()) if (path / "quotation_info.csv").is_file()]
    if not novels:
        raise InputError("holds no novels: folders with a quotation_info.csv, as PDNC has them, belong here", folder)
    return {
        path.name: _speeches(path / "quotation_info.csv")
        for path in novels
        if path.name != NOT_FREE and (path.name in HELD_BACK) == held_back
    }


def _speeches(path: Path) -> list[NovelSpeech]:
    speeches = []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                spans = ast.literal_eval(row["quoteByteSpans"])
                parts = ast.literal_eval(row["subQuotationList"])
                to = tuple(map(str, ast.literal_eval(row["addressees"] or "[]")))
                speeches.append(NovelSpeech(row["speaker"], to, join_parts(parts), int(spans[0][0]), int(spans[-1][1])))
    except (KeyError, ValueError, SyntaxError, TypeError, IndexError) as error:
        raise InputError(f"is not a list of quotations as PDNC has them ({error})", path) from error
    return sorted((speech for speech in speeches if speech.text), key=lambda speech: (speech.start, speech.end))


def join_parts(parts: Sequence[str]) -> str:
    """Join the parts of a speech that a narrator interrupts ('Well,' he said, 'go.'); mends marks and capitals."""
    joined = ""
    for whole in parts:
        part = re.sub(r"\s+", " ", whole.replace("_", "")).strip().strip('"\u201c\u201d').strip()
        if not part:
            continue
        if joined.endswith(",") and part[:1].isupper() and not re.match(r"I\b", part):
            joined = f"{joined[:-1]}. {part}"  # 'Well, Harthouse,' said he. 'You think ...'
        else:
            joined = f"{joined} {part}".strip()
    for mark, plain in (("--", " - "), ("\u2014", " - "), ("\u2019", "'"), ("\u2018", "'")):
        joined = joined.replace(mark, plain)
    text = re.sub(r" ([,.;!?])", r"\1", re.sub(r"\s+", " ", joined).strip(" -"))
    if text and text[-1] in ",;:-":
        text = text.rstrip(",;:- ") + "."
    if text and text[-1].isalnum():
        text += "."
    return text[:1].upper() + text[1:]
