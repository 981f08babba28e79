"""Speech tags: what narration beside a quotation says of who speaks ('said Emma', 'she cried', 'Emma smiled').

A tag is a verb of speech and its subject in the clause next to the quotation; where there is no such verb, the subject
of the sentence next to it is a beat ('Emma smiled. "Yes."'), which says less. The subject is a name, a pronoun, or
another noun ('the waiter'), of which at most a gender is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from understudy.quotations.mentions import FEMALE, MALE, NOBODY, CastMentions
from understudy.quotations.prose import Quotation
from understudy.quotations.vocabulary import (
    ADVERBS,
    DETERMINERS,
    FEMALE_NOUNS,
    MALE_NOUNS,
    NOT_NOUNS,
    SPEECH_VERBS,
    SURE_VERBS,
)
from understudy.quotations.words import NARRATION, ProseWords

__all__ = ["NO_TAG", "QuotationTags", "SubjectKind", "Tag", "tags_of"]

NOUN_GENDERS = {**dict.fromkeys(MALE_NOUNS, MALE), **dict.fromkeys(FEMALE_NOUNS, FEMALE)}
BESIDE = 1  # words between a verb and its subject: 'Emma only said'
PARTICLES = frozenset(("in", "out", "on", "forth", "up", "back"))  # 'put in Lucy'
CLAUSE = 14  # words of a clause in which a verb of speech is looked for


class SubjectKind:
    """Who a tag's subject is: nothing there, a name, 'he' or 'she', 'I', 'they', or another noun."""

    NONE, NAME, PRONOUN, FIRST, PLURAL, NOUN = range(6)


class Tag(NamedTuple):
    """`who` is an index into the cast or NOBODY; `verb` 0 none, 1 that may be one of speech, 2 one that surely is;
    `gap` words between quotation and subject; `is_inverted` 'said Emma'; `start` the subject's first
    word, `noun` the head of one that is no name."""

    kind: int = SubjectKind.NONE
    who: int = NOBODY
    gender: str = ""
    verb: int = 0
    gap: int = 0
    is_inverted: bool = False
    start: int = -1
    noun: str = ""


NO_TAG = Tag()


@dataclass(frozen=True, slots=True)
class QuotationTags:
    """What stands before a quotation in its paragraph, between its parts, after it; `lead` at the end of the paragraph
    before, where the quotation opens its own (`is_led`: that ends with a colon, comma or dash)."""

    before: Tag
    between: Tag
    after: Tag
    lead: Tag
    beat_before: Tag
    beat_after: Tag
    narration_before: range
    narration_after: range
    is_led: bool = False


def tags_of(words: ProseWords, mentions: CastMentions, quotations: tuple[Quotation, ...]) -> list[QuotationTags]:
    scanner = _Scanner(words, mentions)
    return [scanner.read(index) for index in range(len(quotations))]


class _Scanner:
    def __init__(self, words: ProseWords, mentions: CastMentions) -> None:
        self._words = words
        self._mentions = mentions
        self._lowered = words.lowered
        self._begins = words.begins_clause.tolist()
        self._begins_sentence = words.begins_sentence.tolist()
        self._quotations = words.quotations.tolist()
        self._paragraphs = words.prose.paragraphs
        self._lowercase_names = {
            words.lowered[mention.first]: mention.who
            for mention in mentions.all
            if mention.last == mention.first + 1 and not mention.is_pronoun
        }

    def read(self, index: int) -> QuotationTags:
        prose = self._words.prose
        quotation = prose.quotations[index]
        paragraph = self._paragraphs[quotation.paragraph].span
        final = quotation.parts[-1]
        closing = paragraph.end if final.end <= paragraph.end else self._paragraph_end(final.end)
        before = self._narration_before(paragraph.start, quotation.parts[0].start)
        after = self._narration_after(final.end, closing)
        between = NO_TAG
        for one, following in zip(quotation.parts, quotation.parts[1:]):
            gap = self._words.between(one.end, following.start)
            if len(gap) and between.kind == SubjectKind.NONE:
                tag = self._tag_after(gap)
                between = tag if tag.verb or tag.kind == SubjectKind.NONE else tag._replace(verb=1)
        lead, is_led = NO_TAG, False
        if not len(before) and quotation.paragraph > 0:
            above = self._paragraphs[quotation.paragraph - 1].span
            lead = self._tag_before(self._narration_before(above.start, above.end))
            is_led = prose.text[above.end - 1] in ":,-—"
        return QuotationTags(
            self._tag_before(before),
            between,
            self._tag_after(after),
            lead,
            self._beat(self._last_sentence(before)),
            self._beat(after),
            before,
            after,
            is_led,
        )

    def _paragraph_end(self, offset: int) -> int:
        """Of the paragraph that a quotation ends in, where it began in another."""
        text = self._words.prose.text
        end = text.find("\n\n", offset)
        return len(text) if end < 0 else end

    def _narration_before(self, start: int, end: int) -> range:
        """The words up to here that are narration, back to a quotation or the paragraph's start."""
        span = self._words.between(start, end)
        first = span.stop
        while first > span.start and self._quotations[first - 1] == NARRATION:
            first -= 1
        return range(first, span.stop)

    def _narration_after(self, start: int, end: int) -> range:
        span = self._words.between(start, end)
        last = span.start
        while last < span.stop and self._quotations[last] == NARRATION:
            last += 1
        return range(span.start, last)

    def _last_sentence(self, span: range) -> range:
        first = span.stop
        while first > span.start:
            first -= 1
            if self._begins_sentence[first]:
                break
        return range(first, span.stop)

    def _clause(self, span: range) -> range:
        last = span.start + 1
        while last < span.stop and last - span.start < CLAUSE and not self._begins[last]:
            last += 1
        return range(span.start, min(last, span.stop))

    def _tag_after(self, span: range) -> Tag:
        if not len(span):
            return NO_TAG
        clause = self._clause(span)
        if self._lowered[span.start] in ("was", "were", "came"):
            return self._owner(clause)._replace(verb=1)
        verb = next((index for index in clause if self._lowered[index] in SPEECH_VERBS), None)
        if verb is None:
            return self._unknown_verb(clause)
        strength = 2 if self._lowered[verb] in SURE_VERBS else 1
        skipped = verb - span.start
        before = self._subject(range(span.start, verb)) if skipped else NO_TAG
        if before.kind == SubjectKind.NONE and all(
            self._lowered[index] in ADVERBS for index in range(span.start, verb)
        ):
            at = verb + 2 if self._lowered[verb + 1 : verb + 2] and self._lowered[verb + 1] in PARTICLES else verb + 1
            tag = self._subject_at(at, span.stop, after_verb=True)
            return tag._replace(verb=strength, is_inverted=True, gap=skipped)
        return before._replace(verb=strength if before.kind else 0, gap=max(0, before.start - span.start))

    def _unknown_verb(self, clause: range) -> Tag:
        """A verb that is none of speech by itself: '"Here," proclaimed the croupier', '"One," Katharine counted'."""
        first = clause.start
        end = int(self._words.starts[first])
        marks = self._words.prose.text[max(0, end - 5) : end]
        if self._lowered[first].endswith("ed") and self._words.texts[first][0].islower():
            return self._subject_at(first + 1, clause.stop)._replace(verb=1, is_inverted=True)
        if "," in marks:
            tag = self._subject(clause)
            return tag._replace(verb=1, gap=max(0, tag.start - first)) if tag.kind else NO_TAG
        return NO_TAG

    def _owner(self, clause: range) -> Tag:
        """Whose words they were: '"Yes," was Kit's answer'."""
        for index in clause:
            mention = self._mentions.at.get(index)
            if self._lowered[index] in ("his", "her"):
                gender = MALE if self._lowered[index] == "his" else FEMALE
                return Tag(SubjectKind.PRONOUN, NOBODY if mention is None else mention.who, gender, start=index)
            if mention is not None and not mention.is_pronoun:
                return Tag(SubjectKind.NAME, mention.who, start=index)
        return NO_TAG

    def _tag_before(self, span: range) -> Tag:
        if not len(span):
            return NO_TAG
        sentence = self._last_sentence(span)
        verbs = [index for index in sentence if self._lowered[index] in SPEECH_VERBS]
        if not verbs:
            return NO_TAG
        sure = [index for index in verbs if self._lowered[index] in SURE_VERBS]
        verb = sure[-1] if sure else verbs[-1]
        tag = self._nearest_subject(range(sentence.start, verb))
        if tag.kind == SubjectKind.NONE:
            tag = self._subject_at(verb + 1, span.stop)._replace(is_inverted=True)
        return tag._replace(verb=2 if sure else 1, gap=span.stop - verb) if tag.kind else NO_TAG

    def _nearest_subject(self, span: range) -> Tag:
        """Of what stands before a verb: the last name or pronoun that opens a clause or stands beside the verb, else
        the first name, else the first pronoun, else any noun."""
        subjects = [tag for index in span if (tag := self._subject_at(index, span.stop)).kind != SubjectKind.NONE]
        people = [tag for tag in subjects if tag.kind in (SubjectKind.NAME, SubjectKind.PRONOUN, SubjectKind.FIRST)]
        for tag in reversed(people):
            mention = self._mentions.at.get(tag.start)
            between = () if mention is None else self._lowered[mention.last : span.stop]
            if mention is None or mention.is_subject or (len(between) <= BESIDE and "and" not in between):
                return tag
        named = [tag for tag in people if tag.kind == SubjectKind.NAME]
        return (named or people or subjects or [NO_TAG])[0]

    def _beat(self, span: range) -> Tag:
        if not len(span):
            return NO_TAG
        return self._subject(self._clause(span))

    def _subject(self, span: range) -> Tag:
        """The first noun or pronoun that can be the subject of what follows."""
        index = span.start
        while index < span.stop:
            tag = self._subject_at(index, span.stop)
            if tag.kind != SubjectKind.NONE:
                return tag
            index += 1
        return NO_TAG

    def _subject_at(self, index: int, stop: int, after_verb: bool = False) -> Tag:
        """The subject that begins with this word, if one does."""
        if index >= stop:
            return NO_TAG
        word = self._lowered[index]
        mention = self._mentions.at.get(index)
        if word in ("he", "she"):
            who = NOBODY if mention is None else mention.who
            return Tag(SubjectKind.PRONOUN, who, MALE if word == "he" else FEMALE, start=index)
        if word == "i":
            return Tag(SubjectKind.FIRST, NOBODY if mention is None else mention.who, start=index)
        if word in ("they", "we", "both", "everybody", "everyone"):
            return Tag(SubjectKind.PLURAL, start=index)
        if mention is not None and not mention.is_pronoun:
            return self._named(mention.who, mention.last, index)
        if word in DETERMINERS:
            return self._noun(index, stop)
        if after_verb and word in self._lowercase_names:
            return Tag(SubjectKind.NAME, self._lowercase_names[word], start=index)
        return NO_TAG

    def _named(self, who: int, last: int, start: int) -> Tag:
        """A name; 'Emma's sister' is another noun."""
        end = int(self._words.ends[last - 1])
        if self._words.prose.text[end : end + 2] in ("'s", "’s"):
            noun = next((self._lowered[at] for at in range(last + 1, min(last + 4, len(self._lowered)))
                         if self._lowered[at] in NOUN_GENDERS), "")  # fmt: skip
            return Tag(SubjectKind.NOUN, NOBODY, NOUN_GENDERS.get(noun, ""), start=start, noun=noun)
        return Tag(SubjectKind.NAME, who, start=start)

    def _noun(self, index: int, stop: int) -> Tag:
        """'the old gentleman', 'her mother': a mention if a name is in it, else its head and the gender of that."""
        head = index
        for at in range(index + 1, min(index + 6, stop)):
            mention = self._mentions.at.get(at)
            if mention is not None and not mention.is_pronoun:
                return self._named(mention.who, mention.last, at)
            word = self._lowered[at]
            if word in SPEECH_VERBS or word in NOT_NOUNS or word.endswith("ly") or self._begins[at] or self._breaks(at):
                break
            head = at
        noun = self._lowered[head] if head > index else ""
        return Tag(SubjectKind.NOUN, NOBODY, NOUN_GENDERS.get(noun, ""), start=index, noun=noun)

    def _breaks(self, index: int) -> bool:
        """Whether a comma or bracket stands before a word."""
        return self._words.prose.text[int(self._words.ends[index - 1])] in ",;()"
