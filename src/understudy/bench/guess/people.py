"""What people said of the judged scenes, beside the models: the human row.

Each masked speaker counts once, for whomever most of those who were asked took them for. People were shown names of
their own, and a file may call a show otherwise: a show is the one that has most of the scenes, and a name is that of
whoever speaks where it was right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from understudy.bench.published import PEOPLE
from understudy.guessing import Masked
from understudy.guessing.analysis import GuessedSpeaker
from understudy.guessing.scenes import masks_of
from understudy.readers.speaker_guesses import SpeakerGuess

__all__ = ["people_speakers"]

Place = tuple[tuple[int, ...], int, int]


def people_speakers(guesses: Sequence[SpeakerGuess], show: str, scenes: Iterable[Masked]) -> list[GuessedSpeaker]:
    """The speakers of a show's judged scenes that somebody guessed."""
    asked: dict[Place, tuple[str, tuple[str, ...]]] = {}
    for masked in scenes:
        *levels, number = masked.scene.moment.numbers
        for place, mask in enumerate(masks_of(masked.scene)):
            asked[tuple(levels), number, place] = masked.answers[mask], masked.candidates
    by_show: dict[str, list[SpeakerGuess]] = {}
    for guess in guesses:
        if _place(guess) in asked:
            by_show.setdefault(guess.show, []).append(guess)
    if not by_show:
        return []
    own = max(by_show.values(), key=len)
    names = _names(own, asked)
    votes: dict[Place, Counter[str]] = {}
    for guess in own:
        votes.setdefault(_place(guess), Counter())[names.get(guess.guess, guess.guess)] += 1
    speakers = []
    for (episode, number, place), counts in votes.items():
        who, candidates = asked[episode, number, place]
        shares = {name: counts[name] / counts.total() for name in candidates}
        chosen = max(sorted(counts), key=lambda name: counts[name])
        speakers.append(GuessedSpeaker(PEOPLE, show, episode, number, place, who, chosen, shares))
    return speakers


def _place(guess: SpeakerGuess) -> Place:
    return guess.episode, guess.scene, guess.place


def _names(guesses: Sequence[SpeakerGuess], asked: Mapping[Place, tuple[str, tuple[str, ...]]]) -> dict[str, str]:
    """People's names for the characters -> the show's."""
    together: dict[str, Counter[str]] = {}
    for guess in guesses:
        together.setdefault(guess.who, Counter())[asked[_place(guess)][0]] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in together.items()}
