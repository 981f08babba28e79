"""Taking glued lines apart: `(They dance.)ANN: Well?`, `CUT TO THE QUAY[Bob waits]`, `THE QUAYBOB: Here.`"""

from __future__ import annotations

import re
from collections.abc import Iterator

from understudy.readers.brackets import OPENERS, WHOLE
from understudy.readers.transcript.furniture import is_furniture
from understudy.readers.transcript.labels import INNER_LABEL, looks_like_label, read_label
from understudy.readers.transcript.scenes import is_bare_location, is_cut, is_scene_mark, names_place
from understudy.readers.transcript.survey import KNOWN, Survey

__all__ = ["parted"]

INNER_SCENE = re.compile(r"(?<=\S)\s*(?=\[\s*(?:Scene|SCENE)\b\s*:)|(?<=[\])}.!?])\s*(?=CUT TO [A-Z])")
INNER_BREAK = re.compile(r"(?<=[\])}])\s*(?=[\[({][^\[\](){}]{3,40}[\])}]$)")
AFTER_PLACE = re.compile(r"(?<=[\w.])\s*(?=\[)")


def parted(text: str, survey: Survey) -> Iterator[str]:
    """Speeches and scene markers glued onto one line, apart."""
    position = 0
    cuts: list[int] = []
    if ":" in text:
        cuts += _label_after_place(text, survey) + _label_after_direction(text, survey)
        found = INNER_LABEL.finditer(text)
        cuts += [match.start("name") for match in found if survey.is_inner_label(match["name"])]
    if "Scene" in text or "SCENE" in text or "CUT TO" in text:
        cuts += [match.end() for match in INNER_SCENE.finditer(text)]
    if match := INNER_BREAK.search(text):
        rest = text[match.end() :]
        cuts += [match.end()] if is_furniture(rest) or is_scene_mark(rest) else []
    if text[0] != "[" and (match := AFTER_PLACE.search(text)):
        place, note = text[: match.start()], WHOLE.match(text, match.end())
        labels = note is not None and text[note.end() :].lstrip().startswith(":")
        if is_cut(text) or (place.isupper() and is_bare_location(place) and not labels):
            cuts.append(match.end())
    for cut in sorted(set(cuts)):
        if piece := text[position:cut].strip():
            yield piece
        position = cut
    if piece := text[position:].strip():
        yield piece


def _label_after_direction(text: str, survey: Survey) -> list[int]:
    """Where the name begins in `(Cyril's mother) Dora: Hello.`, unless the text wraps and may only go on so."""
    direction = WHOLE.match(text) if text[0] in OPENERS and survey.full is None else None
    if direction is None:
        return []
    label = read_label(text[direction.end() :].lstrip())
    return [direction.end()] if label is not None and looks_like_label(label.name) else []


def _label_after_place(text: str, survey: Survey) -> list[int]:
    """Where the name begins in `HARBOUR HOUSE - KITCHENANNA: Hello.`"""
    head = text.partition(":")[0]
    if not head.isupper() or not names_place(head) or survey.count(head) >= KNOWN:
        return []
    for start in range(3, len(head) - 2):
        if head[start].isalpha() and survey.count(head[start:]) > KNOWN and is_bare_location(head[:start]):
            return [start]
    return []
