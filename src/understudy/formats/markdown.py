"""Dialogue in Markdown: who speaks is emphasised, what is done too.

    ---                         front matter: headings; `title`, `language` and the list `cast` are used
    title: The Quarrel
    ---
    # Chapter 1                 headings are chapters and scenes (see `markdown_syntax`), a rule begins a scene
    ## The kitchen
    **Odile:** You sold it.     also `**Odile**: ...`, `*Odile:* ...`, `- **Odile** (low): ...`, `> **Odile:** ...`
    Without a word.             a line right below goes on with what is said
    *The kettle sings.*         a description, as is any paragraph of nobody's

Emphasis inside what is said stays as it is written; a backslash takes the meaning from a mark, as in Markdown. A file
with headings, but no emphasised names, may have plain ones: `Odile: You sold it.`
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from understudy.errors import InputError
from understudy.formats.export import check_speech, heading_line, scenes_with_headings
from understudy.formats.markdown_syntax import (
    CAST_LIST,
    FENCE,
    UNDERLINE,
    EmphasisedLabel,
    MarkdownHeading,
    MarkdownSurvey,
    atx_heading,
    bare_line,
    emphasised_label,
    front_value,
    speakers_of,
    survey_of,
    underlined,
    without_emphasis,
    without_escapes,
)
from understudy.formats.transcript.labels import TranscriptStatistics, speaker_label
from understudy.sources import CastEntry, Description, Event, Heading, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.directions import comings_and_goings
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story
from understudy.story.types import Character, Line
from understudy.text import LANGUAGES

RULE = re.compile(r"([-*_])(?:\s*\1){2,}")
COMMENT, COMMENT_END = "<!--", "-->"
LONGEST_TEXT = 40_000


def events(source: SourceFile) -> Iterator[Event]:
    survey = survey_of(source)
    language = survey.front.get("language", survey.front.get("lang"))
    title = survey.front.get("title") or (survey.outline.title and without_escapes(survey.outline.title))
    yield Opening((*survey.outline.levels, "scene", "line"), title, language if language in LANGUAGES else None)
    yield from _MarkdownParser(source, survey).events()


@dataclass(slots=True)
class _MarkdownBlock:
    """What the next line may still go on with: a speech, or words without a speaker."""

    number: int
    raw_name: str | None
    text: str
    is_plain: bool = False
    units: int = 1

    def add(self, text: str) -> None:
        self.text = f"{self.text} {text}".strip()
        self.units += 1


class _MarkdownParser:
    """One pass over the lines; a paragraph is given out when the next one begins."""

    def __init__(self, source: SourceFile, survey: MarkdownSurvey) -> None:
        self.source, self.survey, self.outline = source, survey, survey.outline
        self.paragraph: _MarkdownBlock | None = None
        self.position: tuple[int, ...] = ()
        self.scene = 0
        self.spoken = False  # is there a line in the scene?
        self.rule: tuple[int, str] | None = None
        self.lists_cast = False
        self.statistics = TranscriptStatistics()

    def events(self) -> Iterator[Event]:
        gap = True
        inside: str | None = None  # the mark that ends what is not read
        for number, line in self.source.lines():
            text = line.strip()
            if not text:
                gap = True
            elif number <= self.survey.front_end:
                yield self._front(number, text)
            elif inside or FENCE.match(text) or text.startswith(COMMENT):
                yield from self._close()
                mark = inside or (COMMENT if text.startswith(COMMENT) else text[:3])
                yield Unread(self.source.at(number), text[:200], "a comment" if mark == COMMENT else "code")
                ended = COMMENT_END in text if mark == COMMENT else inside is not None and text.startswith(mark)
                inside = None if ended else mark
            elif (above := self._underlined(text, gap)) is not None:
                self.paragraph = None
                yield from self._heading(above.number, underlined(above.text, text), units=2)
            elif heading := atx_heading(line):
                yield from self._heading(number, heading, units=1)
            elif RULE.fullmatch(text):
                yield from self._end_scene()
                self.rule = number, text
            else:
                yield from self._line(number, text, gap)
                gap = False
        yield from self._end_scene()

    def _underlined(self, text: str, gap: bool) -> _MarkdownBlock | None:
        """The one line above, if this one makes it a heading."""
        above = self.paragraph
        if gap or above is None or not above.is_plain or above.units > 1 or not UNDERLINE.fullmatch(text):
            return None
        return above

    def _front(self, number: int, text: str) -> Event:
        at = self.source.at(number)
        name = front_value(text[2:].strip()) if self.lists_cast and text.startswith("- ") else ""
        self.lists_cast = bool(name) or CAST_LIST.fullmatch(text) is not None
        return CastEntry(at, Character(name), units=1) if name.strip() else Heading(at, text)

    def _line(self, number: int, text: str, gap: bool) -> Iterator[Event]:
        bare, is_item = bare_line(text)
        label = self._label(bare) if bare else None
        current = self.paragraph
        if label is not None:
            yield from self._begin(number, label.raw_name, label.text)
        elif current is not None and self._goes_on(current, gap or is_item):
            current.add(bare)
        elif bare.startswith("|") and bare.endswith("|"):
            yield from self._close()
            yield Unread(self.source.at(number), bare[:200], "a row of a table")
        elif bare:
            yield from self._begin(number, None, bare, is_plain=bare == text)
        else:
            yield from self._close()
            yield Unread(self.source.at(number), text[:200], "nothing but marks")

    def _goes_on(self, current: _MarkdownBlock, apart: bool) -> bool:
        if len(current.text) > LONGEST_TEXT:
            return False
        return not apart or (current.raw_name is not None and not current.text)

    def _label(self, text: str) -> EmphasisedLabel | None:
        if self.survey.emphasised or text[0] in "*_":
            return emphasised_label(text)
        label = speaker_label(text)
        return EmphasisedLabel(label.name, label.said) if label else None

    def _begin(self, number: int, raw_name: str | None, text: str, is_plain: bool = False) -> Iterator[Event]:
        yield from self._close()
        if self.rule is not None and self.spoken:
            yield SceneStart(self.source.at(self.rule[0]), "")
            self.scene, self.rule = self.scene + 1, None
        yield from self._unused_rule()
        self.paragraph = _MarkdownBlock(number, raw_name, text, is_plain)

    def _close(self) -> Iterator[Event]:
        """Give out the open paragraph."""
        current, self.paragraph = self.paragraph, None
        if current is None:
            return
        at = self.source.at(current.number)
        if current.raw_name is not None and not current.text:
            yield Unread(at, current.raw_name, "a speaker, and nothing said", current.units)
            return
        yield from self._placed(current.number)
        self.scene, self.spoken = self.scene or 1, True
        if current.raw_name is not None:
            speakers = speakers_of(current.raw_name, self.statistics)
            yield Speech(at, speakers, without_escapes(current.text), current.units)
        else:
            text = without_escapes(without_emphasis(current.text))
            yield Description(at, text, comings_and_goings(text), current.units)

    def _placed(self, number: int) -> Iterator[Event]:
        """What stands above the first heading of a level is in number 0 of it."""
        if len(self.position) < len(self.outline.levels):
            self.position = (*self.position, *[0] * (len(self.outline.levels) - len(self.position)))
            self.scene = 0
            yield Heading(self.source.at(number), "", self.position, units=0)

    def _end_scene(self) -> Iterator[Event]:
        yield from self._close()
        yield from self._unused_rule()

    def _unused_rule(self) -> Iterator[Event]:
        """A rule above a heading, or at either end of the file, begins nothing."""
        if self.rule is not None:
            yield Heading(self.source.at(self.rule[0]), self.rule[1])
            self.rule = None

    def _heading(self, number: int, heading: MarkdownHeading, units: int) -> Iterator[Event]:
        yield from self._end_scene()
        self.spoken = False
        at, outline = self.source.at(number), self.outline
        counted = heading.numbered() if heading.depth in outline.numbered else None
        title = without_escapes(counted[2] if counted else heading.text)
        if heading.depth in outline.depths:
            level = outline.depths.index(heading.depth)
            above = (*self.position[:level], *[0] * (level - len(self.position)))
            before = self.position[level] if len(self.position) > level else 0
            self.position, self.scene = (*above, counted[1] if counted else before + 1), 0
            yield Heading(at, title, self.position, units)
        elif heading.depth == outline.scene_depth:
            yield from self._placed(number)
            scene = counted[1] if counted and counted[1] > self.scene else None
            self.scene = scene or self.scene + 1
            yield SceneStart(at, title if scene else without_escapes(heading.text), (), scene, units)
        else:
            yield Heading(at, title, units=units)


READER = Reader("markdown", events)


# Written, the headings have the names of the story's levels (`## scene 1: A kitchen`), and the front matter lists the
# cast. Scenes, speakers, texts, title, language and cast read back the same; who comes and goes, facts and ties are in
# a story folder only. A mark that would mean something has a backslash or is written as an entity, as Markdown has it.

DEEPEST = 6
IN_TEXT = re.compile(r"[\\<]|&(?=#?\w+;)")
IN_DESCRIPTION = re.compile(r"[\\<*]|&(?=#?\w+;)|^[(\[_]")
IN_NAME = re.compile(r"[!-,.-/:-@\[-`{-~]|：")
LAST_COLON = re.compile(r"[:：]$")
TOGETHER = re.compile(r"[,&+]|\b(?:and|together|unison|simultaneously|time|one|both)\b", re.IGNORECASE)


def export_markdown(story: Story, stream: IO[str]) -> int:
    """Write a story as Markdown; returns how many lines of it were written."""
    check_speech(story)
    if len(story.levels) - 1 > DEEPEST:
        raise InputError(f"'{story.title}' has {len(story.levels) - 1} levels, but Markdown {DEEPEST}: use a folder")
    _write_front(story, stream.write)
    for scene, headings in scenes_with_headings(story):
        for numbers, title in (*headings, (scene.moment.numbers, scene.setting)):
            stream.write(heading_line(story, numbers, _title(title)) + "\n\n")
        for line in scene.lines:
            stream.write(_paragraph(line))
    return story.count()[1]


def _write_front(story: Story, write: Callable[[str], Any]) -> None:
    write(f"---\ntitle: {json.dumps(story.title, ensure_ascii=False)}\nlanguage: {story.language}\ncast:\n")
    for member in story.cast():
        write(f"  - {json.dumps(member.character.name, ensure_ascii=False)}\n")
    write("---\n\n")


def _title(title: str) -> str:
    plain = IN_TEXT.sub(_escaped, title)
    return f"{plain[:-1]}\\#" if plain.endswith("#") else plain


def _paragraph(line: Line) -> str:
    if line.speaker is None:
        text = LAST_COLON.sub(_as_entity, IN_DESCRIPTION.sub(_escaped, line.text))
        return f"*{text}*\n\n"
    return f"**{_name(line.speaker)}:** {IN_TEXT.sub(_escaped, line.text)}\n\n"


def _name(name: str) -> str:
    """A name that is read as one, whatever is in it."""
    plain = IN_NAME.sub(lambda match: _escaped(match) if match[0].isascii() else _as_entity(match), name)
    return f"&#{ord(name[0])};{plain[1:]}" if plain == name and TOGETHER.search(name) else plain


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[0]


def _as_entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"
