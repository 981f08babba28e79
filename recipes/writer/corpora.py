"""What the writer may learn from, made readable: PersonaChat's dialogues and the speeches of PDNC's free novels."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NOT_FREE = "AHandfulOfDust"
HELD_BACK = ("TheManWhoWasThursday", "TheAwakening")
"""Novels the writer never sees: its perplexity is measured on them."""

FIXED = {
    "i": "I", "i'm": "I'm", "i've": "I've", "i'll": "I'll", "i'd": "I'd", "im": "I'm", "ive": "I've", "id": "I'd", "ill": "I'll",
    "dont": "don't", "cant": "can't", "didnt": "didn't", "doesnt": "doesn't", "isnt": "isn't", "wasnt": "wasn't", "thats": "that's",
    "whats": "what's", "youre": "you're", "wont": "won't", "couldnt": "couldn't", "wouldnt": "wouldn't", "havent": "haven't",
    "u": "you", "ur": "your", "n't": "n't",
}
PROPER = {
    word.lower(): word
    for word in (
        "America American Americans Canada Canadian England English Europe European France French Germany German Italy Italian "
        "Japan Japanese China Chinese Mexico Mexican Spain Spanish Australia Ireland Irish Africa India Florida Texas California "
        "Chicago Boston Seattle Paris London Miami Hawaii Alaska Michigan Ohio Alabama Colorado Georgia Virginia Tennessee Disney "
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July August September October "
        "November December Christmas Halloween Easter Thanksgiving Netflix Facebook Youtube Google God Jesus Christian Catholic "
        "Beatles Mozart Nascar Walmart Starbucks Honda Toyota Ford Mustang McDonald's"
    ).split()
}
ENDS = ".!?"


def readable(text: str) -> str:
    """'i ' m fine , thanks . you ?' -> \"I'm fine, thanks. You?\""""
    text = re.sub(r"\s+", " ", text.replace("\u2019", "'")).strip()
    text = re.sub(r"(\w) ' (s|m|re|ve|ll|d|t)\b", r"\1'\2", text)
    text = re.sub(r"\b(i) (m|ve|ll|d)\b", r"\1'\2", text, flags=re.I)
    text = re.sub(r"\b(don|can|didn|doesn|isn|wasn|won|couldn|wouldn|haven|aren) t\b", r"\1't", text, flags=re.I)
    text = re.sub(r"\b(it|that|he|she|there|what) s\b", r"\1's", text, flags=re.I)
    text = re.sub(r"\b(you|we|they) (re|ve|ll)\b", r"\1'\2", text, flags=re.I)
    text = re.sub(r"\s+n't\b", "n't", text)
    text = re.sub(r"\b(i)'ve (an?|one|two|three|four|no|my|some|many|lots)\b", r"\1 have \2", text, flags=re.I)
    text = re.sub(r"\s+([.,!?;:%)])", r"\1", text)
    text = re.sub(r"([(])\s+", r"\1", text)
    text = re.sub(r"\.(?:\s*\.)+", "...", text)
    text = re.sub(r"([!?])(?:\s*[!?])+", r"\1", text)
    text = re.sub(r"([.,!?])(?=[a-z])(?!com|org|net|[mM]\b)", r"\1 ", text)
    out = []
    for word in text.split(" "):
        core = re.sub(r"^[(\"]+|[.,!?;:)\"]+$", "", word)
        low = core.lower()
        if low in FIXED and not (low in ("ill", "id") and out and out[-1].lower() in ("am", "is", "was", "my", "an", "very", "so")):
            word = word.replace(core, FIXED[low], 1)
        elif low in PROPER and low not in ("april", "june", "august", "ford", "mustang", "god"):
            word = word.replace(core, PROPER[low], 1)
        out.append(word)
    text = " ".join(out)
    text = re.sub(r"(^|[.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
    if text and text[-1] not in ENDS + "\"'" :
        text = text.rstrip(" ,;:") + ("." if text[-1].isalnum() or text[-1] in ",;:)" else "")
    return text


@dataclass(frozen=True)
class Chat:
    """A PersonaChat dialogue: two profiles, and turns by whose they are."""

    profiles: tuple[tuple[str, ...], tuple[str, ...]]
    turns: tuple[tuple[int, str], ...]


def chats(path: Path) -> Iterator[Chat]:
    own: list[str] = []
    theirs: list[str] = []
    turns: list[tuple[int, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        number, _, rest = line.partition(" ")
        if number == "1" and turns:
            yield Chat((tuple(own), tuple(theirs)), tuple(turns))
            own, theirs, turns = [], [], []
        if rest.startswith("your persona:"):
            own.append(readable(rest.split(":", 1)[1]))
        elif rest.startswith("partner's persona:"):
            theirs.append(readable(rest.split(":", 1)[1]))
        else:
            parts = rest.split("\t")
            for whose, text in ((1, parts[0]), (0, parts[1] if len(parts) > 1 else "")):
                if text.strip() and "__SILENCE__" not in text:
                    turns.append((whose, readable(text)))
    if turns:
        yield Chat((tuple(own), tuple(theirs)), tuple(turns))


@dataclass(frozen=True)
class Speech:
    """Something said in a novel: by whom to whom, where it starts and ends."""

    novel: str
    speaker: str
    addressees: tuple[str, ...]
    text: str
    start: int
    end: int


def speeches(folder: Path) -> list[Speech]:
    """A novel's quotations in order; parts of one speech ('Well,' he said, 'go.') joined, what is left hanging mended."""
    with (folder / "quotation_info.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = []
    for row in rows:
        spans = ast.literal_eval(row["quoteByteSpans"])
        parts = ast.literal_eval(row["subQuotationList"])
        found.append((spans[0][0], spans[-1][1], row["speaker"], tuple(ast.literal_eval(row["addressees"] or "[]")), parts))
    found.sort(key=lambda item: item[:2])
    return [
        Speech(folder.name, speaker, addressees, text, start, end)
        for start, end, speaker, addressees, parts in found
        if (text := mended(parts))
    ]


def mended(parts: list[str]) -> str:
    joined = ""
    for part in parts:
        part = re.sub(r"\s+", " ", part.replace("_", "")).strip().strip('"\u201c\u201d').strip()
        if not part:
            continue
        if joined and joined[-1] == "," and part[:1].isupper() and not re.match(r"I\b", part):
            joined = joined[:-1] + ". " + part  # 'Well, Harthouse,' said he. 'You think ...'
        else:
            joined = f"{joined} {part}".strip()
    text = joined.replace("--", " - ").replace("\u2014", " - ").replace("\u2019", "'").replace("\u2018", "'")
    text = re.sub(r"\s+", " ", text).strip(" -")
    text = re.sub(r" ([,.;!?])", r"\1", text)
    if text and text[-1] in ",;:-":
        text = text.rstrip(",;:- ") + "."
    if text and text[-1].isalnum():
        text += "."
    return text[:1].upper() + text[1:]


def sentences(text: str) -> list[str]:
    text = re.sub(r"\b(Mr|Mrs|Ms|Dr|St|Messrs|Capt|Col)\.", r"\1<dot>", text)
    return [part.replace("<dot>", ".").strip() for part in re.split(r"(?<=[.!?])['\"]?\s+(?=[A-Z'\"])", text) if part.strip()]


def novels(folder: Path, held: bool) -> dict[str, list[Speech]]:
    return {
        path.name: speeches(path)
        for path in sorted(folder.iterdir())
        if path.is_dir() and path.name != NOT_FREE and (path.name in HELD_BACK) == held
    }


def entailed(path: Path) -> dict[str, list[str]]:
    """Utterance -> the profile sentences it expresses, both made readable."""
    found: dict[str, list[str]] = defaultdict(list)
    for sentence, utterance in json.loads(path.read_text(encoding="utf-8")):
        found[readable(utterance)].append(readable(sentence))
    return found
