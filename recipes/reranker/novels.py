"""Questions from novels: which speech comes next, after narration and speeches?

Wrong replies are speeches near by (two), others of the same speaker (two), those that share most words with the last
speech and the right one (two), and one of another novel. The narration around stands for the scene: what is told
before, between and after, the speeches left out; any of it may be missing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from random import Random

from recipes.reranker.questions import CANDIDATES, NextReply
from recipes.writer.grounding import first_sentences
from understudy.language.lexical import TfIdf
from understudy.training.pdnc import TEXT, NovelSpeech, novel_speeches, quotation_spans

__all__ = ["NovelQuestions", "novels_of"]

GAP, LAST_GAP = 3_000, 1_500  # bytes of narration within a dialogue, and before its last speech
TURNS = (1, 2, 3, 4, 6, 8)
TURN_WORDS, REPLY_WORDS, FEWEST_WORDS = 60, 40, 2
BEFORE, AFTER = 1_200, 500  # bytes that are looked at for narration
BEFORE_WORDS, BETWEEN_WORDS, AFTER_WORDS = 90, 60, 50
TOLD, TOLD_BEFORE, TOLD_BETWEEN, TOLD_AFTER = 0.8, 0.8, 0.6, 0.5  # shares of questions
NEAREST, FARTHEST = 3, 15  # speeches between a right reply and those 'near by'
ALIKE = 12  # of the speeches that share most words, which two are drawn from
EACH = 2
QUOTES = re.compile(r'["“”_]')
NOBODY = "Somebody"


class NovelQuestions:
    """The speeches of one novel that answer another; `elsewhere` are speeches of other novels."""

    def __init__(self, text: bytes, spans: Sequence[tuple[int, int]], speeches: Sequence[NovelSpeech]) -> None:
        self._text, self._spans, self._speeches = text, spans, speeches
        self.replies = [_shortened(speech.text) for speech in speeches]
        self.elsewhere: Sequence[str] = self.replies
        self._by = defaultdict[str, list[int]](list)
        for index, speech in enumerate(speeches):
            self._by[speech.speaker].append(index)
        self._asked = [index for index in range(1, len(speeches)) if self._answers(index)]
        self._alike = lru_cache(None)(self._most_alike)

    def __len__(self) -> int:
        return len(self._asked)

    def draw(self, index: int, rng: Random) -> NextReply:
        place = self._asked[index]
        first = self._first_turn(place)
        setting = self._setting(first, place, rng) if rng.random() < TOLD else ""
        turns = [
            (_label(speech.speaker), " ".join(speech.text.split()[-TURN_WORDS:]))
            for speech in self._speeches[first:place]
        ]
        name = self._speeches[place].speaker
        near = [
            other
            for other in range(max(0, place - FARTHEST), min(place + FARTHEST + 1, len(self._speeches)))
            if abs(other - place) >= NEAREST
        ]
        wrong = [
            self.replies[rng.choice(pool or range(len(self.replies)))]
            for pool in (near, self._by[name], self._alike(place))
            for _ in range(EACH)
        ]
        wrong += rng.choices(self.elsewhere, k=CANDIDATES - 1 - len(wrong))
        return NextReply(_label(name), "", setting, tuple(turns[-rng.choice(TURNS) :]), (self.replies[place], *wrong))

    def _answers(self, index: int) -> bool:
        speech, before = self._speeches[index], self._speeches[index - 1]
        is_close = speech.start - before.end <= LAST_GAP and speech.speaker != before.speaker
        return is_close and not speech.speaker.startswith("_") and len(self.replies[index].split()) >= FEWEST_WORDS

    def _first_turn(self, place: int) -> int:
        first = place - 1
        while first > 0 and place - first < max(TURNS):
            if self._speeches[first].start - self._speeches[first - 1].end >= GAP:
                break
            first -= 1
        return first

    def _setting(self, first: int, place: int, rng: Random) -> str:
        start, reply = self._speeches[first].start, self._speeches[place]
        before = self._narration(max(0, start - BEFORE), start).split()[-BEFORE_WORDS:]
        between = self._narration(start, reply.start).split()[-BETWEEN_WORDS:]
        after = self._narration(reply.end, reply.end + AFTER).split()[:AFTER_WORDS]
        told = ((before, TOLD_BEFORE), (between, TOLD_BETWEEN), (after, TOLD_AFTER))
        return ". ".join(" ".join(words) for words, share in told if rng.random() < share and words)

    def _narration(self, start: int, end: int) -> str:
        """What stands between two places, speeches and their marks left out."""
        parts: list[bytes] = []
        for first, last in self._spans:
            if last <= start:
                continue
            if first >= end:
                break
            parts.append(self._text[start:first])
            start = max(start, last)
        parts.append(self._text[start:end])
        plain = re.sub(r"\s+", " ", QUOTES.sub(" ", b" ".join(parts).decode("utf-8", "ignore")))
        plain = re.sub(r"([.,;!?])(?:\s*[.,;!?])+", r"\1", re.sub(r"\s+([.,;!?])", r"\1", plain))
        return plain.strip(" ,;.-")

    @cached_property
    def _index(self) -> TfIdf:
        return TfIdf(self.replies)

    def _most_alike(self, place: int) -> list[int]:
        """Speeches that share most words with a speech and the one before it, but none close by."""
        query = f"{self.replies[place - 1]} {self.replies[place]}"
        ranked = self._index.top(query, ALIKE + 2 * FARTHEST)
        return [index for index, _ in ranked if not -FARTHEST < index - place < NEAREST + 1][:ALIKE]


def novels_of(folder: Path, held_back: bool) -> list[NovelQuestions]:
    """The novels of a PDNC folder: those to train on, or those held back; each knows speeches of the others."""
    novels = [
        NovelQuestions((folder / name / TEXT).read_bytes(), quotation_spans(folder / name), speeches)
        for name, speeches in novel_speeches(folder, held_back).items()
    ]
    every = [reply for novel in novels for reply in novel.replies]
    for novel in novels:
        novel.elsewhere = every
    return novels


def _shortened(text: str) -> str:
    words = text.split()
    return text if len(words) <= REPLY_WORDS else first_sentences(text, REPLY_WORDS) or " ".join(words[:REPLY_WORDS])


def _label(speaker: str) -> str:
    return NOBODY if speaker.startswith("_") else speaker
