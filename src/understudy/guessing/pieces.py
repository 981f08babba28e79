"""What of a scene an encoder reads for each mask: three ways to cut it into texts.

    whole      all that the mask says in the scene, as one text (the paper's vanilla model)
    rows       at most twelve rows a scene: an utterance, then what was said just before it, nearest first, up to a
               row's length; `from_end` takes the rows from the scene's end, `fill_empty` gives a mask that got none
               its last utterance (MR. BERT)
    windows    the scene in stretches of at most so many words, each read once for every mask that speaks in it, its
               own lines marked (Longformer-P, whose attention is held to the tokens of the mask)

Lengths are in words, which every encoder's own tokens more or less follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from understudy.story import Line, Scene

__all__ = ["fitting", "masks_of", "rows", "whole", "windows"]

ROWS = 12
ROW_WORDS = 48
WINDOW_WORDS = 90
SCENE_WORDS = 1500  # the paper's 2,000 tokens
OWN, OTHER = "I", "you"

Pieces = dict[str, list[str]]
"""For each mask the texts to read."""


def masks_of(scene: Scene) -> tuple[str, ...]:
    """The masks of a scene in the order in which they first speak."""
    spoken = dict.fromkeys(line.speaker for line in scene.lines if line.speaker is not None)
    return tuple(who for who in spoken if _is_mask(who))


def _is_mask(who: str) -> bool:
    return who[0] == "P" and who[1:].isdigit()


def whole(scene: Scene) -> Pieces:
    found: Pieces = {mask: [] for mask in masks_of(scene)}
    for line in scene.lines:
        if line.speaker in found:
            found[line.speaker].append(line.text)
    return {mask: [" ".join(said)] for mask, said in found.items()}


def rows(scene: Scene, from_end: bool = True, fill_empty: bool = True, alone: bool = False) -> Pieces:
    """Rows of an utterance and its nearest history; `alone` leaves the history out."""
    longest = 0 if alone else ROW_WORDS
    found: Pieces = {mask: [] for mask in masks_of(scene)}
    said = [line for line in scene.lines if line.speaker is not None]
    own = [place for place, line in enumerate(said) if line.speaker in found]
    for place in islice(reversed(own) if from_end else iter(own), ROWS):
        found[str(said[place].speaker)].append(_row(said, place, longest))
    if fill_empty:
        last = {said[place].speaker: place for place in own}
        for mask, texts in found.items():
            if not texts:
                texts.append(_row(said, last[mask], longest))
    return found


def _row(said: Sequence[Line], place: int, longest: int) -> str:
    parts, length = [said[place].text], len(said[place].text.split())
    for line in reversed(said[:place]):
        length += len(line.text.split())
        if length > longest:
            break
        parts.append(line.text)
    return " / ".join(parts)


def windows(scene: Scene, longest: int = SCENE_WORDS) -> Pieces:
    """Stretches of the whole scene, from its beginning, as each mask hears them."""
    found: Pieces = {mask: [] for mask in masks_of(scene)}
    for stretch in fitting(scene.lines, _words, WINDOW_WORDS, longest):
        for mask in dict.fromkeys(line.speaker for line in stretch if line.speaker in found):
            found[str(mask)].append(" ".join(_heard(line, str(mask)) for line in stretch))
    for mask, texts in found.items():
        if not texts:  # one who speaks only beyond the longest scene
            texts.append(next(_heard(line, mask) for line in scene.lines if line.speaker == mask))
    return found


def fitting(
    lines: Sequence[Line], size: Callable[[Line], int], room: int, longest: int, taken: int = 0
) -> Iterator[list[Line]]:
    """Runs of lines that fit into a window, from the scene's beginning up to the longest scene.

    `taken` is what something else takes of the first window, and of the scene.
    """
    window: list[Line] = []
    length = total = taken
    for line in lines:
        more = size(line)
        total += more
        if total > longest:
            break
        if window and length + more > room:
            yield window
            window, length = [], 0
        window.append(line)
        length += more
    if window:
        yield window


def _words(line: Line) -> int:
    return len(line.text.split())


def _heard(line: Line, mask: str) -> str:
    if line.speaker is None:
        return f"({line.text})"
    return f"{OWN if line.speaker == mask else OTHER if _is_mask(line.speaker) else line.speaker}: {line.text}"
