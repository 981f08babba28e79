"""What between quotation marks is said: not a title, nor a word held at arm's length.

A quotation that begins its paragraph, or a sentence, or comes after a comma, a colon or a dash, is speech. One that is
part of the narration's own sentence ("the so-called 'friend' of his") is speech only if a verb of speaking leads into
it, if it is a whole sentence, or if it goes on with what was said before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.novels.marks import Marked
from understudy.novels.prose import Quotation, Span

__all__ = ["is_thought", "speaker_changes", "spoken"]

LOOK = 60
OPENING = "\"'“‘«»„‚「『‹› \n\t_*"
CLOSING = "\"'”’“‘»«」』›‹"

LEADING_FORMS = frozenset(
    "say saying ask asking reply answer answering cry crying exclaim murmur repeat shout shouting whisper".split()
)
"""Forms that lead into speech, though they do not stand beside a name as the past tense does."""
NAMING = frozenset(["called"])  # "a novel called 'Middlemarch'"
UNSAID = re.compile(
    r"\b(?:seem(?:s|ed)? to (?:say|ask|cry)|as much as to say"
    r"|as (?:if|though) (?:he|she|it|they) (?:had |were )?sa(?:id|ying)"
    r"|(?:look|looks|eyes?|smile|glance|face|expression|sky)(?: \w+){0,2} (?:said|say|asked|answered|expressed|replied)"
    r"|(?:wanted|longed|wished|tongue|lips|tempted|useless|ready) to \w+(?: to \w+)?"
    r"|(?:wanted|wished|expected) (?:him|her|them|me|us) to (?:\w+ ){0,5}say"
    r"|(?:might|would|could|should) have (?:said|added|quoted|replied|answered)|(?:without|instead of|from) saying"
    r"|felt like \w+|(?:could|should) (?:he|she|they|one) say|and his answered|implied|signified|took to mean"
    r"|(?:he|she|which|that|looks?) meant|indicat(?:ed|ing)|(?:attitude|ejaculation)(?: \w+){0,3} (?:was|expressed)"
    r"|entitled|headed|headlines?|inscription|marked|inscribed|labelled|superscribed|written"
    r"|(?:the|a) (?:word|phrase|proverb|hymn|song|motto|title)|(?:phrase|form|name|title) of|case of)\W*$",
    re.IGNORECASE,
)
"""What leads into words that nobody says."""
UNSAID_AFTER = re.compile(
    r"[\s,;—–\"'”’»«-]{0,6}(?:(?:was|were|is|are) (?:the|a) (?:name|title|word|phrase|motto)s?\b"
    r"|(?:the|his|her) (?:letter|note|document|telegram|message|attitude|look|eyes|glance|expression) "
    r"(?:ran|went on|expressed|said|seemed)|(?:he|she|I) (?:felt like|longed to|wanted to|would have)\b)",
)
"""What follows words that nobody says."""
THOUGHT = re.compile(
    r"[\s,;—–\"'”’»«-]{0,6}(?:(?:he|she|I|they|it|(?:Mr|Mrs|Miss|Dr)s?\.? \w+|[A-Z]\w+(?: [A-Z]\w+)?) (?:had )?)?"
    r"(?:thought|mused|reflected)\b(?! (?:aloud|out loud))"
)
UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff、，]")
WORD = re.compile(r"[^\W\d_]+")
LAST_WORD = re.compile(r"([^\W\d_]+)\W*$")
TITLE_WORDS = 7
LONG_NARRATION = 20  # words between two parts of speech after which they are two


def spoken(text: str, paragraph: Span, parts: Sequence[Marked], verbs: frozenset[str]) -> list[Marked]:
    """The parts of a paragraph that somebody says; `verbs` are those of speaking."""
    kept: list[Marked] = []
    for index, part in enumerate(parts):
        previous = parts[index - 1].span.end if index else paragraph.start
        before = text[max(previous, part.span.start - LOOK) : part.span.start].rstrip(OPENING)
        goes_on = bool(kept) and kept[-1] is parts[index - 1]
        if UNSAID_AFTER.match(text, part.span.end, paragraph.end):
            continue
        after = text[part.span.end : min(paragraph.end, part.span.end + 4)].lstrip(CLOSING)
        before = before.lstrip(CLOSING + " \n")
        if part.is_open or part.is_tail or _is_utterance(text, part, before, after, goes_on, verbs):
            kept.append(part)
    return kept


def _is_utterance(text: str, part: Marked, before: str, after: str, goes_on: bool, verbs: frozenset[str]) -> bool:
    words = text[part.span.start : part.span.end].strip(" \n_*")
    if not words:
        return False
    if not before:
        return True
    if UNSAID.search(before):
        return False
    begins = not words[0].islower()
    ends = words[-1] in ".!?…。！？"
    if UNSPACED.match(before[-1]):
        return ends or after.startswith(("と", "って")) or before[-1] in "说說道问問答叫喊"
    if not before[-1].isalnum():
        return begins or goes_on
    last = LAST_WORD.search(before)
    word = last[1].casefold() if last is not None else ""
    if word not in NAMING and (word in verbs or word in LEADING_FORMS):
        return begins
    if not ends or not (begins or goes_on):
        return False
    listed = words.split(maxsplit=TITLE_WORDS)
    if len(listed) == 1:
        return False
    is_title = (
        len(listed) <= TITLE_WORDS and words[-1] == "." and all(word[0].isupper() for word in listed if len(word) > 3)
    )
    return not is_title


def speaker_changes(between: str, verbs: frozenset[str]) -> bool:
    """May another person speak after this than before it? Two marks meet, somebody else is named as speaking, or
    much is told.
    """
    words = WORD.findall(between)
    if not words:
        return True
    lead = between.rstrip(OPENING)
    speaking = sum(word.casefold() in verbs for word in words)
    return len(words) >= LONG_NARRATION or lead.endswith((":", "：")) or (speaking > 1 and lead.endswith(","))


def is_thought(text: str, quotation: Quotation) -> bool:
    """Does `thought Emma` follow its first words? What somebody thinks is quoted like speech, but nobody hears it."""
    return THOUGHT.match(text, quotation.parts[0].end) is not None
