"""Who is speaking in a story of one's own? One scene with reasons, or all later scenes in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from understudy.bench.guess_analysis import analyse
from understudy.bench.guessed import Guessed
from understudy.bench.guessers import guesser_named
from understudy.bench.manifest import Watch, unwatched
from understudy.errors import Dead, StoryError, Unborn
from understudy.guessing import (
    Guesses,
    Joint,
    Lessons,
    Masked,
    Masking,
    Names,
    guess_in_order,
    main_characters,
    reasons_for,
    stretches,
    with_learned_names,
)
from understudy.guessing.assignment import best_assignment
from understudy.guessing.learning import LEAST
from understudy.guessing.pieces import masks_of
from understudy.persona import Persona, persona_at
from understudy.story import Moment, Scene
from understudy.storyfile import Story

__all__ = ["Question", "guess_later", "guess_scene", "guessed_of", "personas_in"]

LATER = 1 / 3  # of the chapters are asked about where nobody says from when


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a story: with which model, about how many main characters, and what becomes of their names."""

    model: str = "joint"
    most: int = 6
    names: str = "keep"
    seed: int = 0

    def masking(self, story: Story) -> Masking:
        main = main_characters(story, self.most)
        names = Names.of_story(story, main)
        if self.names != "keep":
            names = with_learned_names(names, list(story.scenes()), story.language)
        return Masking(main, names, self.names, self.seed)


def guess_scene(story: Story, moment: str, question: Question) -> dict[str, Any]:
    """The scene at a moment, masked, with guesses and why; everything before it is learned from."""
    masking = question.masking(story)
    at = story.moment(moment)
    scene = _scene_at(story, at)
    masked = masking.masked(scene)
    if len(masked.answers) < 2:
        who = " and ".join(masked.answers.values()) or "none of them"
        raise StoryError(f"of the main characters {who} speaks at {at.dotted}: guessing takes a scene with two or more")
    earlier = [masking.told(one) for one in stretches(story.scenes(before=scene.moment))]
    lessons = Lessons(earlier, masking.people, masking.names, story.language)
    guesser = guesser_named(question.model, question.names)(lessons)
    personas = personas_in(story, masking)(masked.candidates, scene)
    guesses = guesser.guess(masked.scene, personas)
    taken = _one_each(guesses) if isinstance(guesser, Joint) else _likeliest(guesses)
    reasons = reasons_for(guesser, masked.scene, personas, taken, earlier) if isinstance(guesser, Joint) else {}
    return {
        "story": story.title,
        "scene": scene.moment.dotted,
        "setting": masked.scene.setting,
        "model": question.model,
        "names": question.names,
        "learned_from": len(earlier),
        "lines": [{"speaker": line.speaker, "text": line.text} for line in masked.scene.lines],
        "guesses": [
            {
                "mask": mask,
                "guess": taken[mask],
                "truth": masked.answers[mask],
                "probabilities": dict(sorted(guesses[mask].items(), key=lambda item: -item[1])),
                "evidence": [
                    {"kind": one.kind, "text": one.text, "weight": round(one.weight, 3)}
                    for one in reasons.get(mask, ())
                ],
            }
            for mask in masks_of(masked.scene)
        ],
    }


def guess_later(story: Story, since: str | None, question: Question, progress: Watch = unwatched) -> dict[str, Any]:
    """All scenes from a moment on, each learned from once it is over; figures as of a bench."""
    masking = question.masking(story)
    start = story.moment(since) if since is not None else _last_third(story)
    earlier = [masking.told(one) for one in stretches(story.scenes(before=start))]
    if not earlier:
        raise StoryError(f"nothing comes before {start.dotted}: guess from a later moment with --from")
    progress("Learning", 0, 1)
    lessons = Lessons(earlier, masking.people, masking.names, story.language)
    guesser = guesser_named(question.model, question.names)(lessons)
    later = list(stretches(story.scenes(since=start)))
    told: list[Guessed] = []
    asked = [(scene, len(masking.masked(scene).answers) > 1) for scene in later]
    for done, (masked, guesses) in enumerate(guess_in_order(guesser, asked, masking, personas_in(story, masking)), 1):
        progress("Guessing", done, sum(one for _, one in asked))
        told += guessed_of(question.model, story.title, masked, guesses)
    if not told:
        raise StoryError(f"from {start.dotted} on no scene has two main characters who speak: nothing to guess")
    return {**analyse(told, [], question.seed), "learned_from": len(earlier), "since": start.dotted}


def guessed_of(model: str, show: str, masked: Masked, guesses: Guesses) -> list[Guessed]:
    """One scene's guesses, as figures are made from them."""
    *place, number = masked.scene.moment.numbers
    found = []
    for order, mask in enumerate(masks_of(masked.scene)):
        shares = guesses[mask]
        guess = max(shares, key=lambda name: shares[name])
        found.append(Guessed(model, show, tuple(place), number, order, masked.answers[mask], guess, shares))
    return found


def _likeliest(guesses: Guesses) -> dict[str, str]:
    return {mask: max(found, key=lambda name: found[name]) for mask, found in guesses.items()}


def _one_each(guesses: Guesses) -> dict[str, str]:
    """Nobody is behind two masks, even where both are likeliest the same."""
    names = list(next(iter(guesses.values())))
    shares = np.log([[max(found[name], LEAST) for name in names] for found in guesses.values()])
    return {mask: names[place] for mask, place in zip(guesses, best_assignment(shares).tolist())}


def _scene_at(story: Story, at: Moment) -> Scene:
    """The scene that a moment names, or that it lies in."""
    found = next(iter(story.scenes(since=at)), None)
    if found is not None and found.moment.within(at):
        return found
    under_way = story.current_scene(at)
    if under_way is not None:
        return next(story.scenes(since=under_way.moment))
    raise StoryError(f"no scene is at {at.dotted}: `understudy scenes STORY` lists them")


def _last_third(story: Story) -> Moment:
    chapters = [moment for moment, _ in groupby(story.outline(), key=lambda one: one[0].numbers[:-1] or one[0].numbers)]
    if len(chapters) < 3:
        scenes = [moment for moment, _, _ in story.outline()]
        if len(scenes) < 3:
            raise StoryError(f"'{story.title}' has too few scenes ({len(scenes)}): some to learn from, some to guess")
        return scenes[-max(int(len(scenes) * LATER), 1)]
    return Moment(chapters[-max(int(len(chapters) * LATER), 1)], story.levels)


def personas_in(story: Story, masking: Masking) -> Callable[[Sequence[str], Scene], Sequence[Persona]]:
    """The candidates as they are when a scene begins, by the names they go by here."""
    own = dict(zip(masking.people, masking.main))

    def at(names: Sequence[str], scene: Scene) -> Sequence[Persona]:
        if masking.how == "swap":  # what is known of them goes by names that nobody has here
            return [Persona(name, scene.moment, language=story.language) for name in names]
        found = []
        for name in names:
            try:
                found.append(replace(persona_at(story, own[name], scene.moment), name=name))
            except (Unborn, Dead):  # who speaks all the same, in a dream or on a tape
                found.append(Persona(name, scene.moment, language=story.language))
        return found

    return at
