"""Prose from a text with plain quotation marks, for tests of what is done with quotations once they are found."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from understudy.formats.prose import reading as prose_reading
from understudy.novels import attribution
from understudy.novels.prose import Attribution, Chapter, NovelCharacter, Paragraph, Prose, Quotation, Span

__all__ = ["guessed", "prose_of", "stand_in_attribution"]

PARAGRAPH = re.compile(r"[^\n]+(?:\n[^\n]+)*")
QUOTED = re.compile(r'"([^"]+)"')


def prose_of(text: str) -> Prose:
    """Every paragraph's quoted parts are one quotation; there is one chapter."""
    paragraphs, quotations = list[Paragraph](), list[Quotation]()
    for match in PARAGRAPH.finditer(text):
        parts = tuple(Span(match.start() + part.start(1), match.start() + part.end(1)) for part in
                      QUOTED.finditer(match[0]))  # fmt: skip
        if parts:
            quotations.append(Quotation(parts, len(paragraphs)))
        line = text.count("\n", 0, match.start()) + 1
        paragraphs.append(Paragraph(Span(*match.span()), line, 0))
    chapters = (Chapter(Span(0, 0), (1,), ""),)
    return Prose(text, "en", ("chapter",), chapters, tuple(paragraphs), tuple(quotations))


def guessed(prose: Prose, speakers: Sequence[str], confidence: float = 0.4) -> list[Attribution]:
    """Attributions in turn to each of the speakers, the others being candidates."""
    result = []
    for index, _ in enumerate(prose.quotations):
        speaker = speakers[index % len(speakers)]
        rest = tuple((name, 0.1) for name in speakers if name != speaker)
        result.append(Attribution(speaker, confidence, (), ((speaker, confidence), *rest)))
    return result


def stand_in_attribution(monkeypatch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    """Whoever is named with 'said' in a quotation's paragraph says it; nobody else is known."""

    def find_cast(_: Prose) -> tuple[NovelCharacter, ...]:
        return tuple(NovelCharacter(name) for name in names)

    def attribute(prose: Prose, _: Sequence[NovelCharacter], **_options: object) -> list[Attribution]:
        attributions = []
        for quotation in prose.quotations:
            span = prose.paragraphs[quotation.paragraph].span
            words = prose.text[span.start : span.end]
            speaker = next((name for name in names if f"said {name}" in words), None)
            attributions.append(Attribution(speaker, 0.9 if speaker else 0.0))
        return attributions

    monkeypatch.setattr(prose_reading, "find_cast", find_cast)
    monkeypatch.setattr(attribution, "attribute", attribute)
