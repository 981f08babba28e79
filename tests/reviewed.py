"""Lines to be reviewed: some near a bound of 0.5, some far, one that could not be judged."""

from __future__ import annotations

from pathlib import Path

from understudy.metrics.utterances.record import APPROVED, FILTER, PENDING, REJECTED, Utterance
from understudy.metrics.utterances.store import UtteranceStore, open_store
from understudy.story.dialogue import Score
from understudy.story.types import Moment

__all__ = ["MARKS", "filled", "line"]

MARKS = {
    "The tide keeps its own books.": 0.52,
    "Nobody sells a light.": 0.45,
    "I counted the steps twice.": 0.61,
    "LOL whatever.": 0.05,
    "Salt in everything, even the tea.": 0.93,
}


def line(
    text: str, who: str = "Ines Vale", since: str = "start", until: str = "end", **scores: float | None
) -> Utterance:
    kept = {
        name: Score(name, value, "no line to go by" if value is None else "words they share")
        for name, value in scores.items()
    }
    return Utterance(text, who, Moment.parse(since), Moment.parse(until), kept, "generated.txt", 7)


def filled(path: Path) -> UtteranceStore:
    """A database as the filter leaves it, with psprob>=0.5: five lines that are decided, and one that is not."""
    store = open_store(path)
    store.add([line(text, psprob=mark) for text, mark in MARKS.items() if mark >= 0.5], APPROVED, FILTER)
    store.add([line(text, psprob=mark) for text, mark in MARKS.items() if mark < 0.5], REJECTED, FILTER)
    store.add([line("Unjudged.", "Mara Quill", since="2.1", psprob=None)], PENDING, FILTER)
    return store
