"""Subjects of verbs beside a quotation: a name, a pronoun, or another noun ('the waiter'), of which at most a gender
is known.

Before a verb the subject is looked for back over the parts of its sentence that commas set off: 'Emma, who had seen
him, smiled, and said' is Emma's. Parts that hang on another ('turning to Harriet', 'when he came') are passed over,
and 'who' is whoever was named last before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from understudy.novels.lexicon import FEMALE, MALE, english_words
from understudy.novels.mentions import CLAUSE_LINKS, NOBODY, CastMentions, ProseWords

SPEECH_VERBS, SPEECH_NOUNS = english_words("verbs.speech", "tags.speech"), english_words("tags.nouns")
ADVERBS, SUBORDINATORS = english_words("tags.adverbs"), english_words("tags.subordinators")
PREPOSITIONS, DETERMINERS = english_words("tags.prepositions"), english_words("tags.determiners")
NOT_NOUNS = english_words("tags.noun_ends")
NOUN_GENDERS = {word: gender for gender in "mf" for word in english_words(f"epithets.{gender}", f"tags.{gender}")}
"""The gender of 'waiter', 'niece'."""
PERSON_NOUNS = NOUN_GENDERS.keys() | english_words("tags.people")

# Speech tags: a verb of speech and its subject beside a quotation, and which of them tells who speaks.


class SubjectKind:
    """Who a tag's subject is: nothing there, a name, 'he' or 'she', 'I', 'they', or another noun."""

    NONE, NAME, PRONOUN, FIRST, PLURAL, NOUN = range(6)


class Tag(NamedTuple):
    """`who` is an index into the cast or NOBODY; `verb` 0 none, 1 that may be one of speech, 2 one that surely is;
    `gap` words between quotation and subject; `is_inverted` 'said Emma'; `start` the subject's first
    word, `noun` the head of one that is no name; `is_direct` nothing stands between subject and verb."""

    kind: int = SubjectKind.NONE
    who: int = NOBODY
    gender: str = ""
    verb: int = 0
    gap: int = 0
    is_inverted: bool = False
    start: int = -1
    noun: str = ""
    is_direct: bool = False


NO_TAG = Tag()


@dataclass(frozen=True, slots=True)
class QuotationTags:
    """What stands before a quotation in its paragraph, between its parts, after it; `lead` at the end of the paragraph
    before, where the quotation opens its own (`is_led`: that ends with a colon, comma or dash, or a verb of speech).
    `is_introduced`: what stands before ends with a colon, comma or dash."""

    before: Tag
    between: Tag
    after: Tag
    lead: Tag
    beat_before: Tag
    beat_after: Tag
    beat_between: Tag
    beat_lead: Tag
    narration_before: range
    narration_after: range
    is_led: bool = False
    is_introduced: bool = False


def best_tag(tags: QuotationTags) -> Tag:
    """The tag that says most: between the parts; what introduces the quotation; after it, before it, or leading up to
    it in the paragraph before, whichever has the surer verb; else who acts between its parts."""
    if tags.between.verb:
        return tags.between
    if tags.is_introduced and tags.before.verb:
        return tags.before
    best = max((tags.after, tags.before, tags.lead if tags.is_led else NO_TAG), key=lambda tag: tag.verb)
    return best if best.verb else tags.beat_between._replace(verb=1 if tags.beat_between.kind else 0)


def decisive_tag(tags: QuotationTags) -> Tag:
    """The tag that names the speaker beyond doubt, or none: a name beside its verb ('said Emma'), within the
    quotation's own paragraph; what stands before must introduce it."""
    tag = best_tag(tags)
    if tag.kind != SubjectKind.NAME or tag is tags.lead:
        return NO_TAG
    if tag is tags.before:
        return tag if tags.is_introduced and (tag.is_direct or tag.verb > 1) else NO_TAG
    return tag if tag.is_direct else NO_TAG


PEOPLE_SAY = frozenset(("heard", "made", "saw", "let", "overheard"))  # 'Emma heard Harriet say'
LINKED = frozenset(("and", "but", "or"))
POSSESSIVE = ("'s", "’s")


PEOPLE = (SubjectKind.NAME, SubjectKind.PRONOUN, SubjectKind.FIRST)


def is_adverb(word: str) -> bool:
    return word in ADVERBS or word.endswith("ly")


class SubjectFinder:
    def __init__(self, words: ProseWords, mentions: CastMentions) -> None:
        self._words = words
        self._mentions = mentions
        self._lowered = words.lowered
        self._begins = words.begins_clause.tolist()
        self.last_words = {words.lowered[mention.last - 1] for mention in mentions.all}
        self._lowercase_names = {
            words.lowered[mention.first]: mention.who
            for mention in mentions.all
            if mention.last == mention.first + 1 and not mention.is_pronoun
        }

    def first(self, span: range) -> Tag:
        """The first noun or pronoun that can be the subject of what follows."""
        for index in span:
            tag = self.at(index, span.stop)
            if tag.kind != SubjectKind.NONE:
                return tag
        return NO_TAG

    def before_verb(self, span: range) -> Tag:
        """The subject of a verb right after these words of its sentence."""
        parts = self._parts(span)
        goes_on = False  # a bare 'and' before the verb: it has the subject of the part before, whatever that hangs on
        if not self._begins_part(span.stop):
            tag = self._beside_verb(parts[-1])
            if tag.kind != SubjectKind.NONE:
                return tag
            goes_on = all(word in LINKED or word in ADVERBS for word in self._lowered[parts[-1].start : span.stop])
        for number in range(len(parts) - 1, -1, -1):
            if self._lowered[parts[number].start] == "who" and number:
                return self._last_named(parts[number - 1]) or self._any(span)
            tag = self._opener(parts[number], goes_on and number == len(parts) - 2)
            if tag.kind != SubjectKind.NONE:
                return tag
        return self._any(span)

    def acting(self, span: range) -> Tag:
        """Who does what a sentence tells, if it begins with them."""
        return next((tag for part in self._parts(span) if (tag := self._opener(part)).kind != SubjectKind.NONE), NO_TAG)

    def in_clause(self, span: range) -> Tag:
        """The subject of the verb after a clause's words: its first, but 'Emma heard Harriet' is Harriet's, and
        'turning to Emma as he' his."""
        tag = self.first(span)
        if self._lowered[span.start].endswith("ing") and tag.start > span.start:
            return self._beside_verb(self._parts(span)[-1])
        for index in span:
            if self._lowered[index] in PEOPLE_SAY and index > tag.start:
                heard = self._heard(index + 1, span.stop)
                return heard if heard.kind in PEOPLE else tag
        return tag

    def _parts(self, span: range) -> list[range]:
        starts = [span.start] + [at for at in span[1:] if self._begins_part(at)]
        return [range(start, end) for start, end in zip(starts, [*starts[1:], span.stop]) if end > start]

    def _begins_part(self, index: int) -> bool:
        return index < len(self._begins) and (self._begins[index] or self._breaks(index))

    def _beside_verb(self, part: range) -> Tag:
        """Of the part that the verb stands in: who stands beside the verb, if 'and' does not link it to another."""
        end = part.stop
        while end > part.start and (is_adverb(self._lowered[end - 1]) or self._lowered[end - 1] == "s"):
            end -= 1
        if end > part.start and self._lowered[end - 1] in LINKED:
            return NO_TAG
        for at in reversed(part):
            if self._lowered[at] in PEOPLE_SAY and at + 1 < part.stop:
                return self._heard(at + 1, part.stop)
            tag = self.at(at, part.stop)
            if tag.kind == SubjectKind.NOUN and tag.noun in PERSON_NOUNS and tag.noun == self._lowered[end - 1]:
                return tag
            if tag.kind in PEOPLE and (self.last_word(tag) >= end or self._is_subject(tag)):
                return tag
        return NO_TAG

    def _heard(self, index: int, stop: int) -> Tag:
        """'Emma heard her', 'heard Harriet'."""
        mention, word = self._mentions.at.get(index), self._lowered[index]
        if word in ("him", "her") and (mention is None or mention.is_pronoun):
            who = NOBODY if mention is None else mention.who
            return Tag(SubjectKind.PRONOUN, who, MALE if word == "him" else FEMALE, start=index)
        return self.at(index, stop)

    def _opener(self, part: range, may_hang: bool = False) -> Tag:
        """The subject that a part begins with, if it does not hang on another; 'while Emma, smiling' is still hers."""
        hangs, at = False, part.start
        while at < part.stop and (self._lowered[at] in CLAUSE_LINKS or self._lowered[at] in ADVERBS):
            hangs |= self._lowered[at] in SUBORDINATORS
            at += 1
        if at == part.stop or self._lowered[at].endswith("ing"):
            return NO_TAG
        is_phrase = self._lowered[at] in PREPOSITIONS  # 'in her despair she': nobody but 'she' is a subject for sure
        for index in part:
            tag = self.at(index, part.stop)
            if tag.kind == SubjectKind.NAME and is_phrase:
                continue
            is_noun = tag.kind == SubjectKind.NOUN and tag.noun in PERSON_NOUNS and index <= at and not is_phrase
            if is_noun or (tag.kind in PEOPLE and self._is_subject(tag)):
                return tag if may_hang or not hangs or self.last_word(tag) == part.stop else NO_TAG
        return NO_TAG

    def _any(self, span: range) -> Tag:
        """Where no part has a subject of its own: the first name, else the first pronoun, else any noun."""
        subjects = [tag for at in span if (tag := self.at(at, span.stop)).kind != SubjectKind.NONE]
        people = [tag for tag in subjects if tag.kind in PEOPLE]
        named = [tag for tag in people if tag.kind == SubjectKind.NAME]
        return (named or people or subjects or [NO_TAG])[0]

    def _last_named(self, part: range) -> Tag | None:
        names = [tag for at in part if (tag := self.at(at, part.stop)).kind == SubjectKind.NAME]
        return names[-1] if names else None

    def _is_subject(self, tag: Tag) -> bool:
        mention = self._mentions.at.get(tag.start)
        return mention is None or mention.is_subject

    def last_word(self, tag: Tag) -> int:
        """The word after a subject's last."""
        mention = self._mentions.at.get(tag.start)
        return tag.start + 1 if mention is None else mention.last

    def at(self, index: int, stop: int, after_verb: bool = False) -> Tag:
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
        if after_verb and index + 1 < stop and not self._breaks(index + 1):  # 'said wise Lucy'
            following = self._mentions.at.get(index + 1)
            if following is not None and not following.is_pronoun and word not in NOT_NOUNS | PREPOSITIONS:
                return self._named(following.who, following.last, index + 1)
        return NO_TAG

    def owner(self, clause: range) -> Tag:
        """Whose words they were: '"Yes," was Kit's answer', 'the voice of Kit'."""
        for index in clause:
            mention = self._mentions.at.get(index)
            if self._lowered[index] in ("his", "her"):
                gender = MALE if self._lowered[index] == "his" else FEMALE
                return Tag(SubjectKind.PRONOUN, NOBODY if mention is None else mention.who, gender, start=index)
            if mention is not None and not mention.is_pronoun:
                return Tag(SubjectKind.NAME, mention.who, start=index)
        return NO_TAG

    def _named(self, who: int, last: int, start: int) -> Tag:
        """A name; 'Emma's sister' is another noun, 'Emma's voice' is hers."""
        end = int(self._words.ends[last - 1])
        if self._words.prose.text[end : end + 2] in POSSESSIVE:
            following = self._lowered[last + 1 : last + 4]
            if not SPEECH_NOUNS.isdisjoint(following) or (following and following[0].endswith("ing")):
                return Tag(SubjectKind.NAME, who, start=start)
            noun = next((word for word in following if word in NOUN_GENDERS), "")
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
        if noun in SPEECH_NOUNS and (tag := self._of(head + 1, stop)).kind:
            return tag
        return Tag(SubjectKind.NOUN, NOBODY, NOUN_GENDERS.get(noun, ""), start=index, noun=noun)

    def _of(self, index: int, stop: int) -> Tag:
        """'the voice of old Mr. Reyes'."""
        return (
            self.owner(range(index + 1, min(index + 4, stop))) if self._lowered[index : index + 1] == ["of"] else NO_TAG
        )

    def _breaks(self, index: int) -> bool:
        """Whether a comma or bracket stands before a word."""
        return self._words.prose.text[int(self._words.ends[index - 1])] in ",;()"
