"""Whose voices are alike? The main characters of a story, pair by pair, by how hard they are to tell apart.

Chapters are asked about in turn, each by models that learned from the others (in ten groups of neighbours at most).

    told apart     of the masked speakers of a scene, the share that `joint` finds, and that their words alone find
    alike(a, b)    mean over the parts of a and of b of the probability, by their words, that it is the other of the two

The lines that confuse are those likeliest to be the other's. Terms that would tell them apart are pairs of words with
the largest difference of salience: the share of one's lines that have the term, times ln(people / people who use it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from understudy.errors import StoryError
from understudy.guessing.analysis import GuessedSpeaker, analyse, guessed_speakers
from understudy.guessing.assignment import Assigned
from understudy.guessing.baselines import Vanilla
from understudy.guessing.joint import Joint
from understudy.guessing.scenes import Masking, TrainingScenes, split_long_scenes
from understudy.guessing.story import GuessSettings, personas_in
from understudy.metrics import Samples
from understudy.progress import Progress, ignore_progress
from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from understudy.story.types import Line, Scene

FOLDS = 10
LINES = 3  # that confuse, of each pair
TERMS = 5  # that would tell, of each of a pair
PAIR = 2  # words in a term
SHORTEST = 4  # words of a line that is shown: 'Yes.' is anybody's


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How likely it is, by words, that something said by `who` is `other`'s."""

    who: str
    other: str
    share: float

    def between(self, a: str, b: str) -> bool:
        return {self.who, self.other} == {a, b}


def voices_of(story: Story, settings: GuessSettings, progress: Progress = ignore_progress) -> dict[str, Any]:
    """How well the main characters are told apart, and every pair of them, the most alike first."""
    masking = settings.masking(story)
    scenes = list(split_long_scenes(story.scenes()))
    folds = _folds(scenes)
    guessed: list[GuessedSpeaker] = []
    parts: list[_Likeness] = []
    lines: list[tuple[_Likeness, Line]] = []
    personas = personas_in(story, masking)
    for done, held_back in enumerate(folds):
        progress("Listening", done, len(folds))
        seen = [masking.with_names(scene) for index, scene in enumerate(scenes) if index not in held_back]
        training = TrainingScenes(seen, masking.people, masking.names, story.language)
        words, joint = Vanilla(training), Joint(training, without=("history",))
        for index in sorted(held_back):
            masked = masking.masked(scenes[index])
            if len(masked.answers) > 1:
                candidates = personas(masked.candidates, scenes[index])
                for model, guesser in (("joint", joint), ("words alone", Assigned(words))):
                    guessed += guessed_speakers(model, story.title, masked, guesser.guess(masked.scene, candidates))
            parts += _parts(words, masking, scenes[index])
            lines += _lines(words, masking, scenes[index])
    if not guessed:
        raise StoryError(
            f"no scene of '{story.title}' has two main characters who speak: there is nothing to tell apart"
        )
    samples = Samples({who: _said(scenes, who) for who in masking.main}, story.language)
    pairs = [_pair(a, b, parts, lines, samples) for a, b in combinations(masking.main, 2)]
    pairs.sort(key=lambda pair: (pair["alike"] is None, -(pair["alike"] or 0.0)))
    return {**analyse(guessed, settings.seed), "story": story.title, "pairs": pairs}


def _folds(scenes: Sequence[Scene]) -> list[set[int]]:
    """Scenes by chapter, neighbouring chapters together where there are many; single scenes where there is one."""
    chapters = list(dict.fromkeys(scene.moment.numbers[:-1][:2] for scene in scenes))
    if len(chapters) < 2:
        fold_of = {index: index * min(FOLDS, len(scenes)) // len(scenes) for index in range(len(scenes))}
    else:
        fold = {chapter: index * min(FOLDS, len(chapters)) // len(chapters) for index, chapter in enumerate(chapters)}
        fold_of = {index: fold[scene.moment.numbers[:-1][:2]] for index, scene in enumerate(scenes)}
    folds: dict[int, set[int]] = {}
    for index, number in fold_of.items():
        folds.setdefault(number, set()).add(index)
    if len(folds) < 2:
        raise StoryError("a story of one scene cannot be learned from and asked about: read more of it")
    return list(folds.values())


def _parts(words: Vanilla, masking: Masking, scene: Scene) -> Iterator[_Likeness]:
    """What each main character says in a scene, as one."""
    masked = masking.masked(scene)
    guesses = words.guess(masked.scene, [Persona(name) for name in masking.people])
    for mask, shares in guesses.items():
        yield from _likenesses(masked.answers[mask], shares, masking)


def _lines(words: Vanilla, masking: Masking, scene: Scene) -> Iterator[tuple[_Likeness, Line]]:
    for line in scene.lines:
        if line.speaker in masking.main and len(line.text.split()) >= SHORTEST:
            masked = masking.masked(replace(scene, lines=(line,)))
            for mask, shares in words.guess(masked.scene, [Persona(name) for name in masking.people]).items():
                for likeness in _likenesses(masked.answers[mask], shares, masking):
                    yield likeness, line


def _likenesses(name: str, shares: Mapping[str, float], masking: Masking) -> Iterator[_Likeness]:
    own = dict(zip(masking.people, masking.main))
    for candidate, share in shares.items():
        if candidate != name:
            yield _Likeness(own[name], own[candidate], share / (share + shares[name]))


def _said(scenes: Sequence[Scene], who: str) -> list[str]:
    return [line.text for scene in scenes for line in scene.lines if line.speaker == who]


def _pair(
    a: str, b: str, parts: Sequence[_Likeness], lines: Sequence[tuple[_Likeness, Line]], samples: Samples
) -> dict[str, Any]:
    between = [likeness.share for likeness in parts if likeness.between(a, b)]
    confusing = sorted(
        ((likeness, line) for likeness, line in lines if likeness.between(a, b)), key=lambda pair: -pair[0].share
    )[:LINES]
    return {
        "pair": [a, b],
        "alike": float(np.mean(between)) if between else None,
        "told_apart": float(np.mean([share < 0.5 for share in between])) if between else None,
        "n": len(between),
        **({} if between else {"reason": f"neither {a} nor {b} was heard in a scene that was asked about"}),
        "lines": [
            {
                "who": likeness.who,
                "taken_for": likeness.other,
                "share": likeness.share,
                "moment": line.moment.dotted,
                "text": line.text,
            }
            for likeness, line in confusing
        ],
        "terms": {a: _terms(samples, a, b), b: _terms(samples, b, a)},
    }


def _terms(samples: Samples, who: str, rival: str) -> list[str]:
    """What one says and the other does not."""
    if not samples.count(who):
        return []
    rarity = samples.rarity(PAIR)
    own = samples.uses(who, PAIR) / samples.count(who)
    theirs = samples.uses(rival, PAIR) / max(samples.count(rival), 1)
    apart = (own - theirs) * rarity
    corpus, terms = samples.corpus, list[str]()
    for index in np.argsort(-apart, kind="stable").tolist():
        if apart[index] <= 0 or len(terms) == TERMS:
            break
        term = corpus.gram(PAIR, index)
        if all(word and word[0].isalnum() for word in term):  # neither a mark nor the end of a line
            terms.append(corpus.joined(term))
    return terms
