"""Quotation marks: which ones a text uses, and what stands between them in a paragraph.

The convention is decided from the whole text, by the marks that paragraphs begin with. Opening and closing marks that
differ need no thought; straight ones are told by the blanks around them and by taking turns; a single mark inside a
word, or before a dropped letter, is an apostrophe. Every pass is linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from understudy.novels.lexicon import WORD
from understudy.novels.prose import Quotation, Span

FAMILIES = {
    '"': "double", "“": "double", "”": "double", "„": "low", "«": "guillemets", "»": "inverted", "「": "corner",
    "『": "corner", "'": "single", "‘": "single", "‚": "low single", "›": "inverted single", "‹": "single guillemets",
}  # fmt: skip
CLOSERS = {
    "double": {'"': '"', "“": '”"', "”": "”"},
    "low": {"„": '“”"'},
    "guillemets": {"«": "»"},
    "inverted": {"»": "«"},
    "corner": {"「": "」", "『": "』"},
    "single": {"'": "'’", "‘": "’'"},
    "low single": {"‚": "‘’"},
    "single guillemets": {"‹": "›"},
    "inverted single": {"›": "‹"},
}
NESTING = frozenset(("guillemets", "inverted", "corner", "low"))
WITHIN = 0.1  # of the leading family's paragraphs: a family that begins so many is used beside it
ELISION = re.compile(
    r"['’](?:tis|twas|twere|twill|twould|em|im|er|til|till|cause|bout|neath|mid|gainst|ere|ud|n|round|un|ow|ave|ad|as|"
    r"e|ard|ome|ouse|eart|ead|and|is|\d\d?s)\b",
    re.IGNORECASE,
)
BEFORE_OPENING = frozenset('([{—–-―/*_…"“«„「『>')
STRONG_END = frozenset('.,!?;:…—–-)]*_。！？"”')


@dataclass(frozen=True, slots=True)
class Convention:
    """The families of marks by which a text quotes; `dash` where a dash at a paragraph's start does."""

    families: frozenset[str]
    dash: bool = False

    @property
    def closers(self) -> dict[str, str]:
        return {opening: closing for family in self.families for opening, closing in CLOSERS[family].items()}


@dataclass(frozen=True, slots=True)
class Marked:
    """What stands between marks. `is_open`: the paragraph ends before it is closed.

    `is_tail`: it is closed by a mark, but only the paragraph's start opens it.
    """

    span: Span
    is_open: bool = False
    is_tail: bool = False


def convention_of(text: str, paragraphs: Iterable[Span]) -> Convention:
    starts: Counter[str] = Counter()
    for start, end in paragraphs:
        first = text[start]
        if first in "_*(" and start + 1 < end:
            first = text[start + 1]
        if first in DASHES and (first != "-" or text[start + 1 : start + 2] in ("-", " ")):
            starts["dash"] += 1
        elif first in FAMILIES and not (first in "'‘" and ELISION.match(text, start)):
            starts[FAMILIES[first]] += 1
    if not starts:
        counts = Counter({family: sum(map(text.count, CLOSERS[family])) for family in CLOSERS if family != "single"})
        family, often = counts.most_common(1)[0]
        return Convention(frozenset((family,)) if often else frozenset())
    most = max(starts.values())
    used = {family for family, often in starts.items() if often >= WITHIN * most}
    if {"double", "single"} <= used:  # the rarer of the two is nested in the other
        used.remove("single" if starts["double"] >= starts["single"] else "double")
    if "single" in used:  # its closing mark is an apostrophe too: it is read apart from the others
        used &= {"single", "dash"}
    if {"guillemets", "inverted"} <= used:
        used.remove("inverted" if starts["guillemets"] >= starts["inverted"] else "guillemets")
    if used == {"dash"} and starts["dash"] < 3:
        used = set()
    return Convention(frozenset(used - {"dash"}), "dash" in used)


def marked_parts(text: str, paragraph: Span, convention: Convention, pending: bool) -> list[Marked]:
    """What is between marks in a paragraph, in order; `pending`: a quotation before it was not closed."""
    start, end = paragraph
    if convention.dash and text[start] in DASHES:
        return [Marked(part) for part in dash_parts(text, paragraph)]
    closers = convention.closers
    tokens = _pattern(convention).finditer(text, start, end)
    if "single" in convention.families:
        return _single(text, paragraph, [match.start() for match in tokens])
    parts: list[Marked] = []
    opened: int | None = None
    closing, depth = "", 0
    nests = bool(convention.families & NESTING)
    for match in tokens:
        position, mark = match.start(), match[0]
        if opened is None:
            if _closes_only(text, position, paragraph, mark, closers):
                if pending and not parts:
                    parts.append(Marked(Span(start, position), is_tail=True))
                continue
            if mark in closers:
                opened, closing, depth = position + 1, closers[mark], 1
        elif mark in closing:
            depth -= 1
            if not depth:
                if not _is_blank(text, opened, position):
                    parts.append(Marked(Span(opened, position)))
                opened = None
        elif mark in closers and closers[mark] == closing:
            if nests:
                depth += 1
            else:  # the closing mark is missing
                if not _is_blank(text, opened, position):
                    parts.append(Marked(Span(opened, position)))
                opened = position + 1
    if opened is not None and not _is_blank(text, opened, end):
        parts.append(Marked(Span(opened, end), is_open=True))
    return parts


def _is_blank(text: str, start: int, end: int) -> bool:
    return start >= end or text[start:end].isspace()


@cache
def _pattern(convention: Convention) -> re.Pattern[str]:
    closers = convention.closers
    marks = "".join(sorted({*closers, *"".join(closers.values())}))
    return re.compile(f"[{re.escape(marks)}]" if marks else r"(?!)")


def _closes_only(text: str, position: int, paragraph: Span, mark: str, closers: dict[str, str]) -> bool:
    """Outside a quotation: can this mark only be the end of one?"""
    if mark not in closers:
        return True
    if mark != '"':
        return False
    before = text[position - 1] if position > paragraph.start else " "
    after = text[position + 1] if position + 1 < paragraph.end else " "
    return after.isspace() and not before.isspace() and before not in BEFORE_OPENING


def _single(text: str, paragraph: Span, positions: Sequence[int]) -> list[Marked]:
    """Single marks. A closing one after a letter may be an apostrophe (`the boys' room`): it closes only where no
    better one comes before the next opening."""
    kinds = [_single_kind(text, paragraph, position) for position in positions]
    better = [False] * len(kinds)  # a strong closing mark comes before the next opening one
    is_strong_ahead = False
    for index in range(len(kinds) - 1, -1, -1):
        better[index] = is_strong_ahead
        if kinds[index] == "strong":
            is_strong_ahead = True
        elif kinds[index] == "open":
            is_strong_ahead = False
    parts: list[Marked] = []
    opened: int | None = None
    for position, kind, waits in zip(positions, kinds, better):
        if opened is None:
            opened = position + 1 if kind == "open" else None
        elif kind == "strong" or (kind == "weak" and not waits):
            parts.append(Marked(Span(opened, position)))
            opened = None
    if opened is not None:
        parts.append(Marked(Span(opened, paragraph.end), is_open=True))
    return [part for part in parts if not _is_blank(text, *part.span)]


def _single_kind(text: str, paragraph: Span, position: int) -> str:
    before = text[position - 1] if position > paragraph.start else " "
    after = text[position + 1] if position + 1 < paragraph.end else " "
    mark = text[position]
    if mark in "'‘" and (before.isspace() or before in BEFORE_OPENING) and not after.isspace():
        in_sentence = text[max(paragraph.start, position - 3) : position].rstrip()[-1:].isalnum()
        return "apostrophe" if mark == "'" and in_sentence and ELISION.match(text, position) else "open"
    if mark == "‘" or after.isalnum():
        return "apostrophe"
    return "strong" if before in STRONG_END else "weak"


# Speech that a dash begins: `— Tu viens ? dit-il.`, `—Ven —dijo él—. Vamos.`, `— Иди, — сказал он. — Сейчас.`
#
# The dash ends with the paragraph. Who speaks stands between further dashes, or, in French and in English, after a
# comma with its verb.

DASHES = "—–―-"
LEADING = re.compile(rf"[{DASHES}]+\s*")
DASH = re.compile(r"[—–―]|(?<=\s)--?(?=\s)|--")
FRENCH = (
    "dit|fit|répondit|répliqua|demanda|reprit|cria|s'écria|ajouta|murmura|dis|répondis|demandai|interrompit|continua|"
    "poursuivit|observa|pensa|soupira|balbutia|déclara|affirma|expliqua|remarqua|souffla|lança|hurla|dirent|firent"
)
TAG = re.compile(
    rf"(?<=[,?!.…»])\s+(?:(?:{FRENCH})(?:-(?:t-)?(?:il|elle|ils|elles|on|je|moi)\b|\s+(?:[A-ZÀ-Ý]|l[ea']|un|mon|ma|son|sa))"
    r"|(?:[Hh]e|[Ss]he|I|they|[A-Z]\w+) (?:said|asked|cried|answered|replied|whispered|called|shouted)\b"
    r"|(?:said|asked|cried|answered|replied|whispered) (?:he|she|I|they|the|[A-Z]))"
)
TAG_END = re.compile(r"[.,;:!?…]")


def dash_parts(text: str, paragraph: Span) -> list[Span]:
    """What is said in a paragraph that begins with a dash."""
    leading = LEADING.match(text, paragraph.start, paragraph.end)
    position = leading.end() if leading else paragraph.start
    tag_dashes = deque(_tag_dashes(text, position, paragraph.end))
    parts: list[Span] = []
    while position < paragraph.end:
        while tag_dashes and tag_dashes[0] < position:
            tag_dashes.popleft()
        until = tag_dashes[0] if tag_dashes else paragraph.end
        verb = TAG.search(text, position, until)
        parts.append(Span(position, verb.start() if verb is not None else until))
        if verb is not None:
            close = TAG_END.search(text, verb.end(), paragraph.end)
            if close is None:
                break
            position = close.end() if close[0] == "," else _resumed(text, close.end(), paragraph.end)
        elif tag_dashes:
            position = _resumed(text, until + 1, paragraph.end)
            while position < paragraph.end and text[position] in " .,;:":
                position += 1
        else:
            break
    stripped = [_stripped(text, part) for part in parts]
    return [part for part in stripped if part.start < part.end]


def _tag_dashes(text: str, start: int, end: int) -> Iterator[int]:
    """Dashes that may begin who speaks: after a blank, before a small letter, and close to it or after a stop."""
    for dash in DASH.finditer(text, start, end):
        first, last = dash.span()
        if last == end or not text[first - 1].isspace() or not text[last : last + 2].lstrip()[:1].islower():
            continue
        if not text[last].isspace() or text[max(start, first - 3) : first].rstrip().endswith(tuple(",.!?…")):
            yield first


def _resumed(text: str, start: int, end: int) -> int:
    """After a tag that no comma ends, speech goes on only after another dash."""
    dash = DASH.search(text, start, end)
    return dash.end() if dash is not None else end


def _stripped(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while start < end and (
        text[end - 1].isspace() or (text[end - 1] in DASHES and end - start > 1 and text[end - 2].isspace())
    ):
        end -= 1
    return Span(start, end)


# What between quotation marks is said: not a title, nor a word held at arm's length.
#
# A quotation that begins its paragraph, or a sentence, or comes after a comma, a colon or a dash, is speech. One that
# is part of the narration's own sentence ("the so-called 'friend' of his") is speech only if a verb of speaking leads
# into it, if it is a whole sentence, or if it goes on with what was said before it.


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
