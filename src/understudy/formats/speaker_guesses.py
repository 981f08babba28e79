"""Whom people took masked speakers for: JSON lines, one person's guess of one speaker a line.

    {"show": "friends", "episode": [9, 1], "scene": 2500, "place": 0, "who": "Joey", "guess": "Ross", "person": "p1"}

`place` counts the masked speakers of a scene in the order of their first lines, from 0. Names are those that the person
was shown; `who` is the right one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from understudy.sources.jsonstream import json_lines
from understudy.sources.source import SourceFile

__all__ = ["SpeakerGuess", "guess_documents", "read_speaker_guesses"]


@dataclass(frozen=True, slots=True)
class SpeakerGuess:
    show: str
    episode: tuple[int, ...]
    scene: int
    place: int
    who: str
    guess: str
    person: str


def guess_documents(guesses: Iterable[SpeakerGuess]) -> list[dict[str, object]]:
    """What `read_speaker_guesses` reads, an object a line."""
    return [{**asdict(guess), "episode": list(guess.episode)} for guess in guesses]


def read_speaker_guesses(path: Path) -> list[SpeakerGuess]:
    source = SourceFile(path)
    guesses = []
    seen: set[tuple[object, ...]] = set()
    for location, record in json_lines(source):
        match record:
            case {
                "show": str(show), "episode": [*episode], "scene": int(scene), "place": int(place), "who": str(who),
                "guess": str(guess), "person": str(person),
            } if all(isinstance(number, int) for number in episode) and who and guess:  # fmt: skip
                read = SpeakerGuess(show, tuple(episode), scene, place, who, guess, person)
            case _:
                message = "should be an object with show, episode, scene, place, who, guess and person"
                raise source.error(f"{message}: `study results --format answers` writes them", location.line)
        key = (read.show, read.episode, read.scene, read.place, read.person)
        if key in seen:
            raise source.error(f"has a second guess of {person} about the same speaker", location.line)
        seen.add(key)
        guesses.append(read)
    if not guesses:
        raise source.error("holds no guess")
    return guesses
