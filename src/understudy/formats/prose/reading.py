"""From running text to events: chapters, conversations, what is said by whom, and what is told around it.

    He shut the piano. "Sold," he said, "and gone."      a description, then his line of two parts
    "Gone?"                                              a line of whoever answers him
    * * *                                                a heading without a title; the scene ends

Chapters are headings, conversations are scenes, each quotation is one line with the spans of its parts; the narration
before it is a description before its line, and the rest of its paragraph one after it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from understudy.formats.prose.corrections import QUOTATIONS, QuotationEntry, corrected
from understudy.formats.prose.narrator import Narrator
from understudy.formats.prose.novel import ATTRIBUTED, Novel, read_together
from understudy.formats.transcript.labels import looks_like_label, read_label
from understudy.novels.paragraphs import Block, paragraphs_of, rows_of, without_frame
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Attribution, NovelCharacter, Prose
from understudy.sources.events import CastEntry, Event, Heading, Opening, Reader, Unread
from understudy.sources.names import fold, is_group, unambiguous_aliases
from understudy.sources.source import NovelSource, SourceFile
from understudy.story.types import Character

__all__ = ["READER", "events", "prose_events"]

# Is this running text? Long paragraphs of sentences, perhaps with quotations, and next to no labels.
#
# Verse has short lines that all begin with a capital; a table has the same number of separators in every line;
# scripts and transcripts have a label every few lines; code, subtitles and markup show themselves.

OTHER_FORM = re.compile(r"\s*(?:[{\[<%]|#{1,6}\s|WEBVTT|\d+\s*\n[\d:,. ]+-->)")
FOREIGN_LINE = re.compile(r"^\s*(?:(?:INT|EXT|EST|INT\./EXT|I/E)[. ]|.*-->|===|\$ |label \w+:|VAR )", re.MULTILINE)
HAN_KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»」』)]*(?:\s|$|(?<=[。！？」』]))")
QUOTED = re.compile(r"[\"“«„「『][^\"”»“」』\n]{2,}|(?:^|\s)['‘]\w[^\n]{2,}['’]|^\s*[—–―]\s*\w")
MARKUP = re.compile(r"</?[a-z]{1,10}>")
HEADER = re.compile(r"\"?\w[\w .-]{0,29}\"?(?:[,;\t|]\"?\w[\w .-]{0,29}\"?){2,40}")
DELIMITERS = ("\t", ";", ",", "|")

FEWEST_WORDS = 25
LONG = 20  # words that make a paragraph one of running text
LABELLED = 0.08
VERSE = 0.9
VERSE_WIDTH = 62


def recognises(head: bytes, _path: Path) -> bool:
    """Most of its words stand in paragraphs of sentences."""
    text = _decoded(head)
    if text is None or OTHER_FORM.match(text) or FOREIGN_LINE.search(text):
        return False
    rows, _ = without_frame(text, rows_of(text))
    lines = [text[row.start : row.end] for row in rows]
    if not lines or _is_table(lines[:20]) or sum(MARKUP.search(line) is not None for line in lines) * 10 > len(lines):
        return False
    paragraphs = paragraphs_of(text, rows)
    words = [" ".join(text[row.start : row.end] for row in paragraph) for paragraph in paragraphs]
    if _is_verse(text, paragraphs):
        return False
    if _labelled(words) > max(1, LABELLED * len(words)) or _labelled(lines) > max(2, LABELLED * len(lines)):
        return False
    lengths = [len(line.split()) + len(HAN_KANA.findall(line)) // 2 for line in words]
    total = sum(lengths)
    if total < FEWEST_WORDS:
        return False
    running = sum(
        length
        for line, length in zip(words, lengths)
        if SENTENCE_END.search(line) and (length >= LONG or QUOTED.search(line))
    )
    return running * 2 >= total


def _labelled(lines: list[str]) -> int:
    return sum((label := read_label(line)) is not None and looks_like_label(label.name) for line in lines)


def _decoded(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head[: len(head) // 2 * 2].decode("utf-16", errors="ignore")
    elif b"\0" in head:
        return None
    else:
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
        if text.count("\ufffd") * 20 > len(text):
            return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_table(lines: list[str]) -> bool:
    """The same number of separators in every line, and more than a sentence has commas."""
    if len(lines) < 2:
        return False
    if HEADER.fullmatch(lines[0]):
        return True
    for delimiter in DELIMITERS:
        counts = {line.count(delimiter) for line in lines[:-1]}
        if len(counts) == 1 and (counts.pop() >= (1 if delimiter == "\t" else 2)):
            return True
    return False


def _is_verse(text: str, paragraphs: list[Block]) -> bool:
    inner = [row for paragraph in paragraphs for row in paragraph[1:]]
    if len(inner) < len(paragraphs):
        return False
    capitals = sum(text[row.start].isupper() or not text[row.start].isalpha() for row in inner)
    short = sum(row.end - row.start <= VERSE_WIDTH for row in inner)
    return capitals >= VERSE * len(inner) and short >= VERSE * len(inner)


LARGEST = 64 * 1024 * 1024  # characters: a novel is parsed in memory


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file of plain text."""
    yield from prose_events(source, _parsed)


def prose_events(source: SourceFile, prose_of: Callable[[SourceFile], Prose]) -> Iterator[Event]:
    """The events of a source's text; their units add up to its lines that are not blank."""
    novel = source.novel or Novel([source], prose_of)
    prose = novel.parsed[source.path]
    source.units = sum(not line.isspace() for line in prose.text.split("\n") if line)
    yield Opening((*prose.levels, "scene", "line"), prose.title, prose.language)
    if not prose.quotations and source.novel is None:
        raise source.error(
            "nobody speaks here: there are no quotation marks, and no dashes that begin what is said. Put what people "
            "say between quotation marks, or label it (Name: text)"
        )
    cast, attributions, gone = _who_speaks(source, prose, novel)
    said = Counter(attribution.speaker for attribution in attributions if attribution.speaker is not None)
    if not said and source.novel is None:
        raise source.error(
            "nobody who speaks here could be named: put it in a folder with a cast.toml that declares the people"
        )
    addressed = {who for attribution in attributions for who in attribution.addressees}
    present = [person for person in cast if person.name in addressed | said.keys() or person.is_narrator]
    yield from _cast_entries(source, sorted(present, key=lambda person: -said[person.name]))
    for entry in gone:
        yield Unread(source.at(1), entry.quote, f"decided in {QUOTATIONS}, but no longer in the text", units=0)
    yield from _telling_chapters(source, prose, Narrator(source, prose, cast, attributions).events())


def _parsed(source: SourceFile) -> Prose:
    lines: list[str] = []
    size = 0
    for number, line in source.lines(is_work=False):
        size += len(line) + 1
        if size > LARGEST:
            raise source.error(f"has over {LARGEST:,} characters: read it in parts, a file each", number)
        lines.append(line)
    return parse_prose("\n".join(lines))


def _who_speaks(
    source: SourceFile, prose: Prose, novel: NovelSource
) -> tuple[Sequence[NovelCharacter], Sequence[Attribution], Sequence[QuotationEntry]]:
    """(the cast, who says each quotation as corrected, decisions about what is in the text no more)."""
    cast, guessed = novel.speakers(source)
    attributions, gone = corrected(source, prose, guessed)
    attributions = _without_the_silenced(cast, guessed, attributions)
    known = {fold(name) for person in cast for name in (person.name, *person.aliases)}
    decided = dict.fromkeys(one.speaker for one in attributions if one.speaker and fold(one.speaker) not in known)
    return (*cast, *map(NovelCharacter, decided)), attributions, gone


def _without_the_silenced(
    cast: Sequence[NovelCharacter], guessed: Sequence[Attribution], attributions: Sequence[Attribution]
) -> list[Attribution]:
    """Whoever has no line left, because others said all of theirs, was never spoken to either: those others were."""
    speaking = {attribution.speaker for attribution in attributions}
    narrators = {person.name for person in cast if person.is_narrator}
    silenced: dict[str, set[str | None]] = {}
    for before, after in zip(guessed, attributions):
        if before.speaker is not None and before.speaker not in speaking | narrators:
            silenced.setdefault(before.speaker, set()).add(after.speaker)
    instead = {name: next(iter(others)) if len(others) == 1 else None for name, others in silenced.items()}
    return [
        replace(
            attribution,
            addressees=tuple(
                dict.fromkeys(
                    who
                    for name in attribution.addressees
                    if (who := instead.get(name, name)) is not None and who != attribution.speaker
                )
            ),
        )
        for attribution in attributions
    ]


def _telling_chapters(source: SourceFile, prose: Prose, events: Iterable[Event]) -> Iterator[Event]:
    """The same events; the source is told which chapter is being read."""
    depth = len(prose.levels)
    total = sum(len(chapter.numbers) == depth for chapter in prose.chapters)
    number = 0
    for event in events:
        if isinstance(event, Heading) and event.numbers is not None and len(event.numbers) == depth:
            share = ATTRIBUTED + (1 - ATTRIBUTED) * number / total
            number += 1
            source.reach(share, f"{prose.levels[-1].capitalize()} {number} of {total}")
        yield event
    source.reach(1.0, "Writing the story")


def _cast_entries(source: SourceFile, present: Sequence[NovelCharacter]) -> Iterator[CastEntry]:
    """Everybody who speaks or is spoken to, with the names that are nobody else's."""
    aliases = unambiguous_aliases({character.name: character.aliases for character in present})
    for character in present:
        if not is_group(character.name):
            yield CastEntry(source.at(1), Character(character.name, aliases[character.name]))


READER = Reader("prose", recognises, events, together=partial(read_together, prose_of=_parsed))
