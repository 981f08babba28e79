"""A first pass over a Markdown file: its front matter, its outline, and whether names are emphasised in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from understudy.readers.markdown.inline import emphasised_label
from understudy.readers.markdown.outline import MarkdownHeading, Outline, OutlineSurvey
from understudy.readers.source import SourceFile

__all__ = ["FENCE", "UNDERLINE", "MarkdownSurvey", "atx_heading", "bare_line", "front_value", "survey_of", "underlined"]

ATX = re.compile(r" {0,3}(#{1,6})(\s.*)?")
UNDERLINE = re.compile(r"(?:=+|-+)\s*")
QUOTE = re.compile(r"(?:>\s?)+")
ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?=\S)")
FENCE = re.compile(r"```|~~~")
FRONT = re.compile(r"([\w-]+)\s*:\s*(.*)")


@dataclass(slots=True)
class MarkdownSurvey:
    """What the first pass shows; `front_end` is the last line of the front matter, 0 where there is none."""

    front_end: int = 0
    front: dict[str, str] = field(default_factory=dict)
    outline: Outline = field(default_factory=Outline)
    emphasised: bool = False


def survey_of(source: SourceFile) -> MarkdownSurvey:
    survey = MarkdownSurvey()
    survey.front_end, survey.front = _front_matter(source)
    headings = OutlineSurvey()
    above: str | None = None  # a line that an underline would make a heading
    fenced = False
    for number, line in SourceFile(source.path).lines():
        text = line.strip()
        if number <= survey.front_end:
            continue
        if FENCE.match(text):
            fenced = not fenced
        if fenced or not text:
            above = None
        elif heading := atx_heading(line):
            headings.add(heading)
            above = None
        elif above and UNDERLINE.fullmatch(text):
            headings.add(underlined(above, text))
            above = None
        else:
            begins = above is None
            bare, _ = bare_line(text)
            label = emphasised_label(bare)
            survey.emphasised = survey.emphasised or label is not None
            above = text if begins and label is None and bare == text and text[0] != "|" else None
    survey.outline = headings.outline()
    return survey


def atx_heading(line: str) -> MarkdownHeading | None:
    """`## The kitchen ##`"""
    match = ATX.fullmatch(line)
    if match is None:
        return None
    text = " ".join((match[2] or "").split())
    bare = text.rstrip("#")
    return MarkdownHeading(len(match[1]), bare.rstrip() if not bare or bare[-1] == " " else text)


def underlined(text: str, underline: str) -> MarkdownHeading:
    """The heading that a line is when there are `===` or `---` right below it."""
    return MarkdownHeading(1 if underline[0] == "=" else 2, text)


def bare_line(text: str) -> tuple[str, bool]:
    """A line without the marks of a quotation and of a list before it, and whether it is an item of a list."""
    quote = QUOTE.match(text)
    bare = text[quote.end() :] if quote else text
    item = ITEM.match(bare)
    return bare[item.end() :] if item else bare, item is not None


def _front_matter(source: SourceFile) -> tuple[int, dict[str, str]]:
    """The last line of what stands between `---` at the top, and its values."""
    values: dict[str, str] = {}
    for number, line in SourceFile(source.path).lines():
        if number == 1 and line.rstrip() != "---":
            break
        if number > 1 and line.rstrip() in ("---", "..."):
            return number, values
        if match := FRONT.fullmatch(line.rstrip()):
            values[match[1].lower()] = front_value(match[2])
    return 0, {}


def front_value(text: str) -> str:
    """A value of the front matter, with its quotes taken off."""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except (ValueError, RecursionError):
            pass
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
