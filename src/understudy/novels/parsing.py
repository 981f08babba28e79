"""From text to `Prose`: its frame taken off, its headings, paragraphs and quotations in order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from understudy.novels.chapters import NumberedHeading, contents_of, divisions_of, numbered
from understudy.novels.lexicon import lexicon_of
from understudy.novels.marks import Convention, Marked, convention_of, marked_parts, speaker_changes, spoken
from understudy.novels.prose import (
    Block,
    Chapter,
    Paragraph,
    Paratext,
    Prose,
    Quotation,
    Row,
    Span,
    is_scene_break,
    paragraphs_of,
    rows_of,
    span_of,
    trimmed,
    without_frame,
)
from understudy.text import guess_language

SAMPLE = 20_000  # characters by which the language is guessed
FOREWORD = 150  # words before the first heading from which on they are a chapter, not a title page
PATIENCE = 8  # paragraphs after which an unclosed quotation is given up


def parse_prose(
    text: str, language: str | None = None, headings: Sequence[Span] | None = None, title: str | None = None
) -> Prose:
    """The structure of a text with `\\n` line ends. `headings` are spans known to be headings, as an EPUB has them."""
    rows, paratexts = without_frame(text, rows_of(text))
    blocks = paragraphs_of(text, rows)
    if headings:
        blocks, divisions = known_divisions(text, blocks, headings)
    else:
        divisions = divisions_of(text, blocks)
    contents = contents_of(text, blocks, divisions)
    levels, chapters, paragraphs, front = _arranged(text, blocks, divisions, contents)
    if title is None and front:
        title = _title(text, front)
    paratexts += [Paratext(span, "table of contents" if listed else "a title page") for span, listed in front]
    paratexts.sort(key=lambda paratext: paratext.span)
    language = language or guess_language(text[:SAMPLE])
    verbs = lexicon_of(text, language).speech_verbs
    convention = convention_of(text, (paragraph.span for paragraph in paragraphs))
    return Prose(
        text,
        language,
        levels,
        tuple(chapters),
        tuple(paragraphs),
        tuple(_quotations(text, paragraphs, convention, verbs)),
        title,
        tuple(paratexts),
    )


def _arranged(
    text: str, blocks: Sequence[Block], divisions: Sequence[NumberedHeading], contents: set[int]
) -> tuple[tuple[str, ...], list[Chapter], list[Paragraph], list[tuple[Span, bool]]]:
    """(levels, chapters, paragraphs, what stands before the story and whether it is a table of contents)."""
    levels, numbers = numbered(divisions)
    heads = {division.block: (division, number) for division, number in zip(divisions, numbers)}
    first = divisions[0].block if divisions else 0
    front = [(span_of(blocks[index]), index in contents) for index in range(first)]
    told = sum(
        len(text[span.start : span.end].split()) for span, listed in front if not listed and not _is_verse(text, span)
    )
    if told >= FOREWORD:
        front = [(span, listed) for span, listed in front if listed]
    elif not divisions:
        front = []
    before = {span.start for span, _ in front}
    chapters: list[Chapter] = []
    paragraphs: list[Paragraph] = []
    title_ends = -1
    for index, block in enumerate(blocks):
        if block[0].start in before or index <= title_ends:
            continue
        rows = block
        if index in heads:
            division, number = heads[index]
            title_ends = index + division.title_blocks
            last = blocks[title_ends][-1] if division.title_blocks else block[division.rows - 1]
            chapters.append(Chapter(Span(block[0].start, last.end), number, division.title))
            rows = block[division.rows :]
            if not rows:
                continue
        if levels and (not chapters or len(chapters[-1].numbers) < len(levels)):
            chapters.append(_implied(rows[0].start, chapters, levels, numbers))
        paragraphs.append(Paragraph(span_of(rows), rows[0].line, len(chapters) - 1))
    return levels, chapters, paragraphs, front


def _is_verse(text: str, span: Span) -> bool:
    """A motto or a dedication in verse: every line begins with a capital."""
    lines = text[span.start : span.end].split("\n")
    return len(lines) > 2 and not any(line.strip()[:1].islower() for line in lines)


def _implied(
    start: int, chapters: Sequence[Chapter], levels: Sequence[str], numbers: Sequence[tuple[int, ...]]
) -> Chapter:
    """The chapter of text that has no heading of the deepest level: the first of its part, or the one before that."""
    above = chapters[-1].numbers if chapters else ()
    missing = len(levels) - len(above)
    has_own = any(len(number) == len(levels) and number[: len(above)] == above for number in numbers)
    return Chapter(Span(start, start), (*above, *(0 if has_own else 1 for _ in range(missing))), "")


def _title(text: str, front: Sequence[tuple[Span, bool]]) -> str | None:
    """The first line of a title page."""
    for span, listed in front:
        if not listed and not is_scene_break(text, span):
            line = text[span.start : span.end].split("\n")[0].strip(" _*").removeprefix("Title:").strip()
            return (line.title() if line.isupper() else line)[:100] or None
    return None


def _quotations(
    text: str, paragraphs: Sequence[Paragraph], convention: Convention, verbs: frozenset[str]
) -> Iterator[Quotation]:
    """All parts of a paragraph are one, unless what stands between them shows that somebody else speaks.

    One that is not closed goes on where the next paragraph reopens it.
    """
    parts: list[Span] = []
    begun = 0
    open_since: int | None = None  # the paragraph whose last quotation is not closed
    not_said = written(text, paragraphs)
    for index, paragraph in enumerate(paragraphs):
        if index in not_said:
            continue
        if open_since is not None and (
            index - open_since > PATIENCE or paragraph.chapter != paragraphs[open_since].chapter
        ):
            open_since = None
        marked = marked_parts(text, paragraph.span, convention, open_since is not None)
        if not marked:
            continue
        goes_on = marked[0].is_tail or (index - 1 == open_since and _reopens(text, paragraph, marked))
        if parts and not goes_on:
            yield Quotation(tuple(parts), begun)
            parts = []
        for part in spoken(text, paragraph.span, marked, verbs):
            span = trimmed(text, part.span)
            if span.start == span.end:
                continue
            if (
                parts
                and parts[-1].start >= paragraph.span.start
                and speaker_changes(text[parts[-1].end : span.start], verbs)
            ):
                yield Quotation(tuple(parts), begun)
                parts = []
            if not parts:
                begun = index
            parts.append(span)
        open_since = index if marked[-1].is_open else None
        if open_since is None and parts:
            yield Quotation(tuple(parts), begun)
            parts = []
    if parts:
        yield Quotation(tuple(parts), begun)


def _reopens(text: str, paragraph: Paragraph, marked: Sequence[Marked]) -> bool:
    return not text[paragraph.span.start : marked[0].span.start - 1].strip(" _*")


# Headings that are known beforehand, as an EPUB or a Word document marks them: each is a division.
#
# Its words say of which kind and number; one without a number is counted. Where several have numbers, those without
# are title pages, dedications and notes.


def known_divisions(
    text: str, blocks: Sequence[Block], headings: Sequence[Span]
) -> tuple[list[Block], list[NumberedHeading]]:
    """(the blocks, parted so that each heading is one; its divisions)."""
    starts = sorted(span.start for span in headings)
    ends = dict(headings)

    def heading_of(position: int) -> int | None:
        index = bisect_right(starts, position) - 1
        return starts[index] if index >= 0 and position < ends[starts[index]] else None

    parted: list[list[Row]] = []
    last: int | None = None
    for block in blocks:
        for index, row in enumerate(block):
            heading = heading_of(row.start)
            goes_on = heading == last and (heading is not None or index > 0)
            if goes_on and parted:
                parted[-1].append(row)
            else:
                parted.append([row])
            last = heading
    heads = [index for index, block in enumerate(parted) if heading_of(block[0].start) is not None]
    are_heads = set(heads)
    named = {division.block: division for division in divisions_of(text, parted) if division.block in are_heads}
    titles = {division.block + 1 for division in named.values() if division.title_blocks}
    divisions = [
        named.get(index) or NumberedHeading("chapter", None, _words(text, parted[index]), index, len(parted[index]))
        for index in heads
        if index not in titles
    ]
    if sum(division.number is not None for division in divisions) > 1:
        divisions = [division for division in divisions if division.block in named]
    return list(parted), divisions


def _words(text: str, block: Block) -> str:
    return " ".join(" ".join(text[row.start : row.end].split()) for row in block)


# Letters, notes, verses and inscriptions that a text quotes: in marks, but said by nobody.
#
# They are set off by an indent that the text does not have otherwise, or go from a salutation that has its own line
# ("Dear Charlotte,") to a close ("Yours ever,") and the name below it.

SALUTATION = re.compile(
    r"[\"'“‘«„「_\s]*(?:my |our )?(?:own )?(?:very )?(?:dear(?:est)?|honou?red|reverend|dear) [^\"”]{1,40}[,:.—-]*"
    r"[\"'”’_\s]*(?:\[[^\]]{1,30}\][,.]?)?|[\"“](?:dear )?(?:sir|madam)[,:.—-]*[\"”]?",
    re.IGNORECASE,
)
CLOSE = re.compile(
    r"(?:(?i:\byours\b[^.!?]{0,30}"
    r"|\byour (?:\w+ ){1,3}(?:friend|servant|brother|sister|son|daughter|mother|father|cousin|aunt|uncle|wife|husband)"
    r"|\bbelieve me|\bsincerely|\bfaithfully|\baffectionately)|&c|[\"“_][A-Z. ]{4,30})"
    r"[,.]*[\"”_\s]*$"
)
OPENING = frozenset("\"'“‘«„「『_")
INDENT = 2
USUAL = 0.25  # share of indented paragraphs from which on an indent says nothing
LONGEST = 80
MOST = 30  # paragraphs of a letter


def written(text: str, paragraphs: Sequence[Paragraph]) -> set[int]:
    """The indexes of the paragraphs that are written, not said."""
    set_off = {index for index, paragraph in enumerate(paragraphs) if _is_set_off(text, paragraph.span)}
    if len(set_off) >= USUAL * len(paragraphs):
        set_off = set()
    begun: int | None = None
    for index, paragraph in enumerate(paragraphs):
        start, end = paragraph.span
        if text[start] not in OPENING or (begun is not None and index - begun > MOST):
            begun = None
        elif end - start <= LONGEST and SALUTATION.fullmatch(text, start, end):
            begun = index
        elif begun is not None and CLOSE.search(text, max(start, end - LONGEST), end):
            set_off.update(range(begun, index + 1))
            begun = None
            if index + 1 < len(paragraphs) and _is_signature(text, paragraphs[index + 1].span):
                set_off.add(index + 1)
    return set_off


def _is_signature(text: str, span: Span) -> bool:
    """The name below a letter, in its marks: "MARY KING"."""
    return span.end - span.start <= LONGEST and text[span.start] in OPENING and CLOSE.search(text, *span) is not None


def _is_set_off(text: str, span: Span) -> bool:
    """All its lines are indented."""
    first = span.start - text.rfind("\n", 0, span.start) - 1
    if first < INDENT:
        return False
    blank = " " * INDENT
    return all(line.startswith((blank, "\t")) for line in text[span.start : span.end].split("\n")[1:])
