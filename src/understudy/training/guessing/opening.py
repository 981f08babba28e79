"""A trained guesser from its model folder, for a story it was taught and for nothing that it has learned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from understudy.dialogue import Guesser
from understudy.errors import AgentError, InputError, UnknownMoment
from understudy.guessing import Lessons
from understudy.model_folder import read_agent_name, read_card
from understudy.story import Moment
from understudy.training.guessing import naming, readers
from understudy.training.guessing.casts import read_casts

__all__ = ["learned_until", "open_guesser"]

OPENERS: dict[str, Callable[[Path, Sequence[str], str], Guesser]] = {
    readers.AGENT: readers.open_reader,
    naming.AGENT: naming.open_naming,
}


def open_guesser(folder: Path, lessons: Lessons, device: str = "auto") -> Guesser:
    """The guesser in a folder. `lessons` are all that comes before what it will be asked about."""
    last = learned_until(folder, lessons)
    if lessons.scenes[-1].moment < last:
        raise AgentError(
            f"the model {folder} has learned from scenes up to {last.dotted}, and what is asked about comes earlier: "
            "ask about later scenes, or train one on less with --before"
        )
    return OPENERS[read_agent_name(folder)](folder, lessons.main, device)


def learned_until(folder: Path, lessons: Lessons) -> Moment:
    """The moment of the last scene that the guesser in a folder has learned from, in the story of these lessons."""
    agent = read_agent_name(folder)
    if agent not in OPENERS:
        raise InputError(f"is a model for '{agent}', which guesses nobody: make one with 'train guesser'", folder)
    card = read_card(folder, agent)
    title = read_casts(card, folder).title_of(lessons.main)
    try:
        return Moment(tuple(map(int, card["data"][title]["last"])))
    except (KeyError, TypeError, ValueError, UnknownMoment) as error:
        raise InputError("does not say from what it has learned: train the model again", folder) from error
