"""Splits glued lines: `(They dance.)ANN: Well?`, `CUT TO THE QUAY[Bob waits]`, `THE QUAYBOB: Here.`"""

from __future__ import annotations

import re
from collections.abc import Iterator

from understudy.readers.brackets import OPENERS, WHOLE
from understudy.readers.transcript.boilerplate import is_boilerplate
from understudy.readers.transcript.labels import INNER_LABEL, looks_like_label, read_label
from understudy.readers.transcript.scenes import has_location_word, is_bare_location, is_cut, is_scene_mark
from understudy.readers.transcript.statistics import KNOWN, TranscriptStatistics

__all__ = ["segments"]

INNER_SCENE = re.compile(r"(?<=\S)\s*(?=\[\s*(?:Scene|SCENE)\b\s*:)|(?<=[\])}.!?])\s*(?=CUT TO [A-Z])")
INNER_BREAK = re.compile(r"(?<=[\])}])\s*(?=[\[({][^\[\](){}]{3,40}[\])}]$)")
AFTER_LOCATION = re.compile(r"(?<=[\w.])\s*(?=\[)")


def segments(text: str, stats: TranscriptStatistics) -> Iterator[str]:
    """The speeches and scene markers of one line."""
    position = 0
    cuts: list[int] = []
    if ":" in text:
        cuts += _label_after_location(text, stats) + _label_after_direction(text, stats)
        matches = INNER_LABEL.finditer(text)
        cuts += [match.start("name") for match in matches if stats.is_inner_label(match["name"])]
    if "Scene" in text or "SCENE" in text or "CUT TO" in text:
        cuts += [match.end() for match in INNER_SCENE.finditer(text)]
    if match := INNER_BREAK.search(text):
        remainder = text[match.end() :]
        cuts += [match.end()] if is_boilerplate(remainder) or is_scene_mark(remainder) else []
    if text[0] != "[" and (match := AFTER_LOCATION.search(text)):
        location, note = text[: match.start()], WHOLE.match(text, match.end())
        labels = note is not None and text[note.end() :].lstrip().startswith(":")
        if is_cut(text) or (location.isupper() and is_bare_location(location) and not labels):
            cuts.append(match.end())
    for cut in sorted(set(cuts)):
        if segment := text[position:cut].strip():
            yield segment
        position = cut
    if segment := text[position:].strip():
        yield segment


def _label_after_direction(text: str, stats: TranscriptStatistics) -> list[int]:
    """Where the name begins in `(Cyril's mother) Dora: Hello.`, unless the text wraps and may only go on so."""
    direction = WHOLE.match(text) if text[0] in OPENERS and stats.full_length is None else None
    if direction is None:
        return []
    label = read_label(text[direction.end() :].lstrip())
    return [direction.end()] if label is not None and looks_like_label(label.name) else []


def _label_after_location(text: str, stats: TranscriptStatistics) -> list[int]:
    """Where the name begins in `HARBOUR HOUSE - KITCHENANNA: Hello.`"""
    head = text.partition(":")[0]
    if not head.isupper() or not has_location_word(head) or stats.count(head) >= KNOWN:
        return []
    for start in range(3, len(head) - 2):
        if head[start].isalpha() and stats.count(head[start:]) > KNOWN and is_bare_location(head[:start]):
            return [start]
    return []
