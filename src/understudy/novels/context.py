"""What surrounds each quotation of a novel, as matrices of quotations by cast: mentions, vocatives, tags, turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.novels.lexicon import FEMALE, MALE
from understudy.novels.mentions import NARRATION, NOBODY, CastMentions, ProseWords, find_mentions, narrator_of
from understudy.novels.prose import NovelCharacter, Prose
from understudy.novels.subjects import QuotationTags, SubjectKind, best_tag, decisive_tag
from understudy.novels.tags import tags_of

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

OPENS_CALL = re.compile(
    r"(?:^|[,;:.!?(\"'‘“—-]|\b(?:my|dear|oh|o|ah|well|yes|no|and|but|miss|mr|mrs|my dear|poor|why|come|now))\s*$", re.I
)
CLOSES_CALL = re.compile(r"\s*(?:$|[,;:.!?)\"'’”—]|--)")
TERMS = {**dict.fromkeys(("sir", "papa", "father", "uncle", "guv", "monsieur", "mister"), 1.0),
         **dict.fromkeys(("madam", "ma", "mamma", "mama", "mother", "aunt", "miss", "ladyship"), -1.0)}  # fmt: skip


def gender_codes(cast: Sequence[NovelCharacter]) -> Floats:
    """1 for a man, -1 for a woman, 0 where it is not known."""
    codes = {MALE: 1.0, FEMALE: -1.0}
    return np.array([codes.get(who.gender, 0.0) for who in cast], np.float32)


@dataclass(frozen=True)
class NovelContext:
    """A novel's words, mentions and tags."""

    prose: Prose
    cast: tuple[NovelCharacter, ...]
    words: ProseWords
    mentions: CastMentions
    tags: list[QuotationTags]

    @classmethod
    def of(cls, prose: Prose, cast: Sequence[NovelCharacter]) -> NovelContext:
        words = ProseWords.of(prose)
        narrator = narrator_of(words, cast)
        known = tuple(replace(who, is_narrator=index == narrator) for index, who in enumerate(cast))
        mentions = find_mentions(words, known)
        return cls(prose, known, words, mentions, tags_of(words, mentions, prose.quotations))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.prose.quotations), len(self.cast)

    @cached_property
    def narrator(self) -> int:
        return next((index for index, who in enumerate(self.cast) if who.is_narrator), NOBODY)

    @cached_property
    def genders(self) -> Floats:
        return gender_codes(self.cast)

    @cached_property
    def first_words(self) -> Ints:
        starts = np.array([quotation.span.start for quotation in self.prose.quotations], np.int64)
        return np.searchsorted(self.words.starts, starts)

    @cached_property
    def last_words(self) -> Ints:
        """The first word after each quotation."""
        ends = np.array([quotation.span.end for quotation in self.prose.quotations], np.int64)
        return np.searchsorted(self.words.starts, ends)

    @cached_property
    def paragraphs(self) -> Ints:
        return np.array([quotation.paragraph for quotation in self.prose.quotations], np.int64)

    @cached_property
    def mention_rows(self) -> Ints:
        return self.mentions.arrays()

    @cached_property
    def final_paragraphs(self) -> Ints:
        """The paragraph in which each quotation ends."""
        starts = np.array([paragraph.span.start for paragraph in self.prose.paragraphs], np.int64)
        ends = np.array([quotation.span.end for quotation in self.prose.quotations], np.int64)
        return np.maximum(np.searchsorted(starts, ends, side="right") - 1, self.paragraphs)

    def mention_counts(self, *, said: bool, pronouns: bool = False, subjects: bool = False) -> Floats:
        """Cumulative over paragraphs: row p counts mentions in paragraphs before p."""
        rows = self._mentions(said, pronouns, subjects)
        counts = np.zeros((len(self.prose.paragraphs) + 1, len(self.cast)), np.float32)
        np.add.at(counts, (self.words.paragraphs[rows[:, 0]] + 1, rows[:, 1]), 1.0)
        return np.cumsum(counts, axis=0)

    def last_mention(self, *, pronouns: bool, subjects: bool = False) -> Floats:
        """For each quotation and person, the word of narration that last named them before it; -inf: none did."""
        rows = self._mentions(False, pronouns, subjects)
        latest = np.full((self.shape[0] + 1, self.shape[1]), -np.inf, np.float32)
        bucket = np.searchsorted(self.first_words, rows[:, 0], side="right")
        np.maximum.at(latest, (bucket, rows[:, 1]), rows[:, 0].astype(np.float32))
        return np.maximum.accumulate(latest, axis=0)[:-1]

    def next_mention(self, *, pronouns: bool) -> Floats:
        """For each quotation and person, the word of narration that names them next after it; inf: none does."""
        rows = self._mentions(False, pronouns, False)
        following = np.full((self.shape[0] + 1, self.shape[1]), np.inf, np.float32)
        bucket = np.searchsorted(np.maximum.accumulate(self.last_words), rows[:, 0], side="right")
        np.minimum.at(following, (bucket, rows[:, 1]), rows[:, 0].astype(np.float32))
        return np.minimum.accumulate(following[::-1], axis=0)[::-1][1:]

    def _mentions(self, said: bool, pronouns: bool, subjects: bool) -> Ints:
        """The rows of mentions in speech or in narration, with or without pronouns, perhaps subjects alone."""
        rows = self.mention_rows
        chosen = (rows[:, 2] != NARRATION) == said
        if not pronouns:
            chosen &= rows[:, 4] == 0
        if subjects:
            chosen &= rows[:, 3] == 1
        result: Ints = rows[chosen]
        return result

    @cached_property
    def calls(self) -> tuple[Floats, Floats]:
        """Who is called in a quotation by name, and who is spoken of."""
        called, spoken_of = np.zeros(self.shape, np.float32), np.zeros(self.shape, np.float32)
        text, words = self.prose.text, self.words
        for mention in self.mentions.all:
            if mention.quotation == NARRATION:
                continue
            start, end = int(words.starts[mention.first]), int(words.ends[mention.last - 1])
            part = next(
                part for part in self.prose.quotations[mention.quotation].parts if part.start <= start < part.end
            )
            before, after = text[max(part.start, start - 12) : start], text[end : min(part.end, end + 4)]
            is_call = CLOSES_CALL.match(after) and (not before or OPENS_CALL.search(before))
            (called if is_call else spoken_of)[mention.quotation, mention.who] += 1
        return called, spoken_of

    @cached_property
    def called_gender(self) -> Floats:
        """1 where a quotation says 'sir', -1 where it says 'madam' and the like, else 0."""
        result = np.zeros(self.shape[0], np.float32)
        quotations = self.words.quotations.tolist()
        for index, word in enumerate(self.words.lowered):
            if quotations[index] != NARRATION and word in TERMS:
                result[quotations[index]] = TERMS[word]
        return result

    @cached_property
    def sure(self) -> Floats:
        """Who is named as the speaker by a tag."""
        speakers = np.zeros(self.shape, np.float32)
        for index, tags in enumerate(self.tags):
            tag = best_tag(tags)
            if tag.who != NOBODY and tag.verb and tag.kind in (SubjectKind.NAME, SubjectKind.FIRST):
                speakers[index, tag.who] = 1.0
        return speakers

    @cached_property
    def named(self) -> Ints:
        """Whom the tag of each quotation names beyond doubt, or NOBODY; 'the doctor' may be another than the cast's."""
        tags = map(decisive_tag, self.tags)
        lowered = self.words.lowered
        return np.array([NOBODY if tag.who < 0 or lowered[tag.start] == "the" else tag.who for tag in tags], np.int64)
