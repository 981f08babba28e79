"""Whose voices are alike? The main characters of a story, pair by pair, by how hard they are to tell apart.

Chapters are asked about in turn, each by models that learned from the others (in ten groups of neighbours at most).

    told apart     of the masked speakers of a scene, the share that `joint` finds, and that their words alone find
    alike(a, b)    mean over the parts of a and of b of the probability, by their words, that it is the other of the two

The lines that confuse are those likeliest to be the other's. Terms that would tell them apart are pairs of words with
the largest difference of salience: the share of one's lines that have the term, times ln(people / people who use it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from understudy.bench.guess_analysis import analyse
from understudy.bench.guess_story import Question, guessed_of, personas_in
from understudy.bench.guessed import Guessed
from understudy.bench.manifest import Watch, unwatched
from understudy.errors import StoryError
from understudy.guessing import Assigned, Joint, Lessons, Masking, Vanilla, stretches
from understudy.metrics import Samples
from understudy.persona import Persona
from understudy.story import Line, Scene
from understudy.storyfile import Story

__all__ = ["voices_of"]

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


def voices_of(story: Story, question: Question, progress: Watch = unwatched) -> dict[str, Any]:
    """How well the main characters are told apart, and every pair of them, the most alike first."""
    masking = question.masking(story)
    scenes = list(stretches(story.scenes()))
    folds = _folds(scenes)
    guessed: list[Guessed] = []
    parts: list[_Likeness] = []
    lines: list[tuple[_Likeness, Line]] = []
    personas = personas_in(story, masking)
    for done, held_back in enumerate(folds):
        progress("Listening", done, len(folds))
        rest = [masking.told(scene) for place, scene in enumerate(scenes) if place not in held_back]
        lessons = Lessons(rest, masking.people, masking.names, story.language)
        words, joint = Vanilla(lessons), Joint(lessons, without=("history",))
        for place in sorted(held_back):
            masked = masking.masked(scenes[place])
            if len(masked.answers) > 1:
                asked = personas(masked.candidates, scenes[place])
                for model, guesser in (("joint", joint), ("words alone", Assigned(words))):
                    guessed += guessed_of(model, story.title, masked, guesser.guess(masked.scene, asked))
            parts += _parts(words, masking, scenes[place])
            lines += _lines(words, masking, scenes[place])
    if not guessed:
        raise StoryError(
            f"no scene of '{story.title}' has two main characters who speak: there is nothing to tell apart"
        )
    samples = Samples({who: _said(scenes, who) for who in masking.main}, story.language)
    pairs = [_pair(a, b, parts, lines, samples) for a, b in combinations(masking.main, 2)]
    pairs.sort(key=lambda pair: (pair["alike"] is None, -(pair["alike"] or 0.0)))
    return {**analyse(guessed, [], question.seed), "story": story.title, "pairs": pairs}


def _folds(scenes: Sequence[Scene]) -> list[set[int]]:
    """Scenes by chapter, neighbouring chapters together where there are many; single scenes where there is one."""
    chapters = list(dict.fromkeys(scene.moment.numbers[:-1][:2] for scene in scenes))
    if len(chapters) < 2:
        number = {place: place * min(FOLDS, len(scenes)) // len(scenes) for place in range(len(scenes))}
    else:
        fold = {chapter: place * min(FOLDS, len(chapters)) // len(chapters) for place, chapter in enumerate(chapters)}
        number = {place: fold[scene.moment.numbers[:-1][:2]] for place, scene in enumerate(scenes)}
    found: dict[int, set[int]] = {}
    for place, one in number.items():
        found.setdefault(one, set()).add(place)
    if len(found) < 2:
        raise StoryError("a story of one scene cannot be learned from and asked about: read more of it")
    return list(found.values())


def _parts(words: Vanilla, masking: Masking, scene: Scene) -> Iterator[_Likeness]:
    """What each main character says in a scene, as one."""
    masked = masking.masked(scene)
    found = words.guess(masked.scene, [Persona(name) for name in masking.people])
    for mask, shares in found.items():
        yield from _likenesses(masked.answers[mask], shares, masking)


def _lines(words: Vanilla, masking: Masking, scene: Scene) -> Iterator[tuple[_Likeness, Line]]:
    for line in scene.lines:
        if line.speaker in masking.main and len(line.text.split()) >= SHORTEST:
            masked = masking.masked(replace(scene, lines=(line,)))
            for mask, shares in words.guess(masked.scene, [Persona(name) for name in masking.people]).items():
                for likeness in _likenesses(masked.answers[mask], shares, masking):
                    yield likeness, line


def _likenesses(name: str, shares: Any, masking: Masking) -> Iterator[_Likeness]:
    own = dict(zip(masking.people, masking.main))
    for other, share in shares.items():
        if other != name:
            yield _Likeness(own[name], own[other], share / (share + shares[name]))


def _said(scenes: Sequence[Scene], who: str) -> list[str]:
    return [line.text for scene in scenes for line in scene.lines if line.speaker == who]


def _pair(
    a: str, b: str, parts: Sequence[_Likeness], lines: Sequence[tuple[_Likeness, Line]], samples: Samples
) -> dict[str, Any]:
    between = [one.share for one in parts if {one.who, one.other} == {a, b}]
    confusing = sorted(
        ((one, line) for one, line in lines if {one.who, one.other} == {a, b}), key=lambda found: -found[0].share
    )[:LINES]
    return {
        "pair": [a, b],
        "alike": float(np.mean(between)) if between else None,
        "told_apart": float(np.mean([share < 0.5 for share in between])) if between else None,
        "n": len(between),
        **({} if between else {"reason": f"neither {a} nor {b} was heard in a scene that was asked about"}),
        "lines": [
            {
                "who": one.who,
                "taken_for": one.other,
                "share": one.share,
                "moment": line.moment.dotted,
                "text": line.text,
            }
            for one, line in confusing
        ],
        "terms": {a: _terms(samples, a, b), b: _terms(samples, b, a)},
    }


def _terms(samples: Samples, who: str, other: str) -> list[str]:
    """What one says and the other does not."""
    if not samples.count(who):
        return []
    rarity = samples.rarity(PAIR)
    own = samples.uses(who, PAIR) / samples.count(who)
    theirs = samples.uses(other, PAIR) / max(samples.count(other), 1)
    apart = (own - theirs) * rarity
    corpus, found = samples.corpus, list[str]()
    for place in np.argsort(-apart, kind="stable").tolist():
        if apart[place] <= 0 or len(found) == TERMS:
            break
        term = corpus.gram(PAIR, place)
        if all(word and word[0].isalnum() for word in term):  # neither a mark nor the end of a line
            found.append(corpus.joined(term))
    return found
