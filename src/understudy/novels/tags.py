"""Finds the tags of quotations: what narration beside one says of who speaks ('said Emma', 'Emma smiled').

A tag is a verb of speech and its subject (`subjects`) in the clause next to the quotation; where there is no such verb,
the subject of the sentence next to it is a beat ('Emma smiled. "Yes."'), which says less.
"""

from __future__ import annotations

from understudy.novels.lexicon import english_words
from understudy.novels.mentions import NARRATION, CastMentions, ProseWords
from understudy.novels.prose import Quotation
from understudy.novels.subjects import (
    NO_TAG,
    SPEECH_NOUNS,
    SPEECH_VERBS,
    QuotationTags,
    SubjectFinder,
    SubjectKind,
    Tag,
    is_adverb,
)

SURE_VERBS, OPENING_VERBS = english_words("tags.sure"), english_words("tags.opening")
SPEECH_INFINITIVES = english_words("tags.infinitives")
PARTICLES = frozenset(("in", "out", "on", "forth", "up", "back"))  # 'put in Lucy'
BEFORE_INFINITIVE = frozenset("could did not only or should to will would can might must him her them me us".split())
CLAUSE = 14  # words of a clause in which a verb of speech is looked for
AT_END = 3  # words: a paragraph that ends so soon after a verb of speech leads on ('Emma began again.')
FULL_STOP_REACH = 4  # words from a subject to its verb, after a quotation that ends with a full stop
LEADS = ":,-—"
LINKS = frozenset("and but then while whereupon when as so yet".split())  # '"Yes," and Emma said'


def tags_of(words: ProseWords, mentions: CastMentions, quotations: tuple[Quotation, ...]) -> list[QuotationTags]:
    scanner = _Scanner(words, mentions)
    return [scanner.read(index) for index in range(len(quotations))]


def _leads(mark: str) -> bool:
    """Does a text go on after this: a colon, a comma, a dash, or no mark at all?"""
    return mark in LEADS or mark.isalnum()


class _Scanner:
    def __init__(self, words: ProseWords, mentions: CastMentions) -> None:
        self._words = words
        self._mentions = mentions
        self._subjects = SubjectFinder(words, mentions)
        self._lowered = words.lowered
        self._begins = words.begins_clause.tolist()
        self._begins_sentence = words.begins_sentence.tolist()
        self._quotations = words.quotations.tolist()
        self._paragraphs = words.prose.paragraphs

    def read(self, index: int) -> QuotationTags:
        prose = self._words.prose
        quotation = prose.quotations[index]
        paragraph = self._paragraphs[quotation.paragraph].span
        first, final = quotation.parts[0], quotation.parts[-1]
        closing = paragraph.end if final.end <= paragraph.end else self._paragraph_end(final.end)
        before = self._narration_before(paragraph.start, first.start)
        after = self._narration_after(final.end, closing)
        above, ends_led = range(0), False
        tells = False  # whether what stands above is a sentence of its own, not the tag of what is said there
        if not len(before) and quotation.paragraph > 0:
            span = self._paragraphs[quotation.paragraph - 1].span
            above = self._narration_before(span.start, span.end)
            tells = self._last_sentence(above).start > above.start or above == self._words.between(*span)
            ends_led = bool(len(above)) and _leads(prose.text[span.end - 1])
        lead = self._tag_before(above)
        is_introduced = bool(len(before)) and _leads(self._last_mark(first.start))
        between, beat_between = self._between(quotation)
        return QuotationTags(
            self._leading(before) if is_introduced else self._tag_before(before),
            between,
            NO_TAG if self._leads_on(final.end, after) else self._tag_after(after),
            self._leading(above) if ends_led else lead,
            self._beat(self._last_sentence(before)),
            self._beat(after),
            beat_between,
            self._beat(self._last_sentence(above)) if tells else NO_TAG,
            before,
            after,
            ends_led or (tells and self._opens_speech(above)),
            is_introduced,
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

    def _opens_speech(self, span: range) -> bool:
        """Does a sentence end with a verb that speech follows: 'Emma began again.'"""
        return not OPENING_VERBS.isdisjoint(self._lowered[max(span.start, span.stop - AT_END) : span.stop])

    def _last_mark(self, start: int) -> str:
        """The last mark before a quotation's own."""
        return self._words.prose.text[max(0, start - 6) : start].rstrip("\"'“‘«„_ \n")[-1:] or " "

    def _leads_on(self, end: int, after: range) -> bool:
        """Does what follows belong to the next quotation: '"Yes." Emma said, "No."'"""
        text = self._words.prose.text
        if not len(after) or after.stop >= len(self._lowered) or self._quotations[after.stop] == NARRATION:
            return False
        begins = int(self._words.starts[after.stop])
        return text[end - 1 : end] == "." and _leads(self._last_mark(begins)) and "\n\n" not in text[end:begins]

    def _between(self, quotation: Quotation) -> tuple[Tag, Tag]:
        """Of what stands between two parts: the first tag, and who acts there: '"Yes." Emma rose. "Come."'"""
        acting = NO_TAG
        for one, following in zip(quotation.parts, quotation.parts[1:]):
            gap = self._words.between(one.end, following.start)
            if not len(gap):
                continue
            tag = self._tag_after(gap)
            if tag.verb:
                return tag, acting
            if acting.kind == SubjectKind.NONE:
                acting = self._subjects.acting(self._clause(gap))
        return NO_TAG, acting

    def _leading(self, span: range) -> Tag:
        """Of a sentence that a colon, comma or dash ends: its tag; without a verb of speech, who acts in it."""
        tag = self._tag_before(span)
        if tag.kind != SubjectKind.NONE:
            return tag
        sentence = self._last_sentence(span)
        noun = self._noun_in(sentence)
        before = range(sentence.start, noun) if noun is not None else range(0)
        tag = self._subjects.before_verb(before) if len(before) else self._subjects.acting(sentence)
        return tag._replace(verb=1, gap=min(span.stop - tag.start, CLAUSE)) if tag.who >= 0 else NO_TAG

    def _tag_after(self, span: range) -> Tag:
        if not len(span):
            return NO_TAG
        clause = self._clause(span)
        if self._lowered[span.start] in ("was", "were", "came"):
            return self._subjects.owner(clause)._replace(verb=1)
        verb = next((index for index in clause if self._is_verb(index)), None)
        if verb is None:
            return self._unknown_verb(clause)
        strength = 2 if self._lowered[verb] in SURE_VERBS else 1
        skipped = verb - span.start
        before = self._subjects.in_clause(range(span.start, verb)) if skipped else NO_TAG
        if before.kind == SubjectKind.NONE and all(
            is_adverb(self._lowered[index]) for index in range(span.start, verb)
        ):
            at = verb + 2 if self._lowered[verb + 1 : verb + 2] and self._lowered[verb + 1] in PARTICLES else verb + 1
            tag = self._subjects.at(at, span.stop, after_verb=True)
            return tag._replace(verb=strength, is_inverted=True, gap=skipped, is_direct=True)
        if self._is_apart(span.start) and verb - before.start > FULL_STOP_REACH:
            return NO_TAG
        is_direct = self._subjects.last_word(before) == verb
        gap = max(0, before.start - span.start)
        return before._replace(verb=strength if before.kind else 0, gap=gap, is_direct=is_direct)

    def _is_apart(self, index: int) -> bool:
        """Does a word follow a full stop, by which a quotation ends whole: '"Yes." Emma rose and agreed.'"""
        text, end = self._words.prose.text, int(self._words.starts[index])
        return text[max(0, end - 5) : end].rstrip("\"'”’»_ \n")[-1:] == "."

    def _is_verb(self, index: int) -> bool:
        """A verb of speech; what may be a noun is one after 'to', 'did', or somebody: 'I heard Emma reply'."""
        word = self._lowered[index]
        if word in SPEECH_VERBS:
            return True
        if word not in SPEECH_INFINITIVES or not index:
            return False
        return self._lowered[index - 1] in BEFORE_INFINITIVE or (
            self._words.texts[index - 1][0].isupper() and self._lowered[index - 1] in self._subjects.last_words
        )

    def _unknown_verb(self, clause: range) -> Tag:
        """A verb that is none of speech by itself: '"Here," proclaimed the croupier', '"One," Katharine counted'."""
        first = clause.start
        end = int(self._words.starts[first])
        marks = self._words.prose.text[max(0, end - 5) : end]
        if self._lowered[first].endswith("ed") and self._words.texts[first][0].islower():
            return self._subjects.at(first + 1, clause.stop)._replace(verb=1, is_inverted=True)
        is_hanging = self._lowered[first] in LINKS or self._lowered[first].endswith("ing")  # 'turning to Emma'
        if "," in marks and not is_hanging:
            tag = self._subjects.first(clause)
            return tag._replace(verb=1, gap=max(0, tag.start - first)) if tag.kind else NO_TAG
        return NO_TAG

    def _tag_before(self, span: range) -> Tag:
        if not len(span):
            return NO_TAG
        sentence = self._last_sentence(span)
        verbs = [index for index in sentence if self._is_verb(index)]
        if not verbs:
            return self._noun_of_speech(sentence)
        sure = [index for index in verbs if self._lowered[index] in SURE_VERBS]
        verb = sure[-1] if sure else verbs[-1]
        tag = self._subjects.before_verb(range(sentence.start, verb)) if verb > sentence.start else NO_TAG
        if tag.kind == SubjectKind.NONE:
            tag = self._subjects.at(verb + 1, span.stop)._replace(is_inverted=True)
        is_direct = tag.is_inverted or self._subjects.last_word(tag) == verb
        return tag._replace(verb=2 if sure else 1, gap=span.stop - verb, is_direct=is_direct) if tag.kind else NO_TAG

    def _noun_of_speech(self, sentence: range) -> Tag:
        """'Emma's reply was:', 'her answer came', 'the voice of Emma'."""
        noun = self._noun_in(sentence)
        if noun is None:
            return NO_TAG
        tag = self._subjects.owner(range(max(sentence.start, noun - 4), noun))
        if tag.kind == SubjectKind.NONE and self._lowered[noun + 1 : noun + 2] == ["of"]:
            tag = self._subjects.owner(range(noun + 2, min(noun + 5, sentence.stop)))
        return tag._replace(verb=1, gap=sentence.stop - noun) if tag.kind else NO_TAG

    def _noun_in(self, sentence: range) -> int | None:
        return next((index for index in reversed(sentence) if self._lowered[index] in SPEECH_NOUNS), None)

    def _beat(self, span: range) -> Tag:
        if not len(span):
            return NO_TAG
        return self._subjects.first(self._clause(span))
