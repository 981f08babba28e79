"""Who is speaking in a story of one's own? One scene with reasons, or all later scenes in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from understudy.errors import Dead, StoryError, Unborn
from understudy.guessing.analysis import GuessedSpeaker, analyse, guessed_speakers
from understudy.guessing.assignment import LEAST, best_assignment
from understudy.guessing.joint import Joint
from understudy.guessing.masking import Masking, main_characters, masks_of
from understudy.guessing.mentions import with_learned_names
from understudy.guessing.names import CharacterNames
from understudy.guessing.reasons import reasons_for
from understudy.guessing.registry import GUESSERS, GuesserEntry
from understudy.guessing.scenes import Guesses, TrainingScenes, guess_in_order, split_long_scenes
from understudy.persona import Persona, persona_at
from understudy.progress import Progress, ignore_progress
from understudy.story import Moment, Scene
from understudy.storyfile import Story

__all__ = ["GuessSettings", "guess_later", "guess_scene", "personas_in", "training_scenes_of_story"]

LATER = 1 / 3  # of the chapters are asked about where nobody says from when


@dataclass(frozen=True, slots=True)
class GuessSettings:
    """What is asked of a story: with which model, about how many main characters, and what becomes of their names."""

    model: GuesserEntry = GUESSERS["joint"]
    most: int = 6
    names: str = "keep"
    seed: int = 0

    def masking(self, story: Story) -> Masking:
        main = main_characters(story, self.most)
        names = CharacterNames.of_story(story, main)
        if self.names != "keep":
            names = with_learned_names(names, list(story.scenes()), story.language)
        return Masking(main, names, self.names, self.seed)


def training_scenes_of_story(story: Story, before: str, most: int) -> dict[str, TrainingScenes]:
    """By the story's title, what comes before a moment, with the main characters that `guess` asks about."""
    masking = GuessSettings(most=most).masking(story)
    scenes = list(split_long_scenes(story.scenes(before=story.moment(before))))
    return {story.title: TrainingScenes(scenes, masking.people, masking.names, story.language)}


def guess_scene(story: Story, moment: str, settings: GuessSettings) -> dict[str, Any]:
    """The scene at a moment, masked, with guesses and why; everything before it is learned from."""
    masking = settings.masking(story)
    at = story.moment(moment)
    scene = _scene_at(story, at)
    masked = masking.masked(scene)
    if len(masked.answers) < 2:
        who = " and ".join(masked.answers.values()) or "none of them"
        raise StoryError(f"of the main characters {who} speaks at {at.dotted}: guessing takes a scene with two or more")
    earlier = [masking.with_names(past) for past in split_long_scenes(story.scenes(before=scene.moment))]
    guesser = settings.model(TrainingScenes(earlier, masking.people, masking.names, story.language))
    personas = personas_in(story, masking)(masked.candidates, scene)
    guesses = guesser.guess(masked.scene, personas)
    chosen = _one_each(guesses) if isinstance(guesser, Joint) else _likeliest(guesses)
    reasons = reasons_for(guesser, masked.scene, personas, chosen, earlier) if isinstance(guesser, Joint) else {}
    return {
        "story": story.title,
        "scene": scene.moment.dotted,
        "setting": masked.scene.setting,
        "model": settings.model.name,
        "names": settings.names,
        "learned_from": len(earlier),
        "lines": [{"speaker": line.speaker, "text": line.text} for line in masked.scene.lines],
        "guesses": [
            {
                "mask": mask,
                "guess": chosen[mask],
                "truth": masked.answers[mask],
                "probabilities": dict(sorted(guesses[mask].items(), key=lambda item: -item[1])),
                "evidence": [
                    {"kind": reason.kind, "text": reason.text, "weight": round(reason.weight, 3)}
                    for reason in reasons.get(mask, ())
                ],
            }
            for mask in masks_of(masked.scene)
        ],
    }


def guess_later(
    story: Story,
    since: str | None,
    settings: GuessSettings,
    progress: Progress = ignore_progress,
) -> dict[str, Any]:
    """All scenes from a moment on, each learned from once it is over; figures as of a bench."""
    masking = settings.masking(story)
    start = story.moment(since) if since is not None else _last_third(story)
    earlier = [masking.with_names(scene) for scene in split_long_scenes(story.scenes(before=start))]
    if not earlier:
        raise StoryError(f"nothing comes before {start.dotted}: guess from a later moment with --from")
    progress("Learning", 0, 1)
    guesser = settings.model(TrainingScenes(earlier, masking.people, masking.names, story.language))
    later = list(split_long_scenes(story.scenes(since=start)))
    guessed: list[GuessedSpeaker] = []
    scenes_asked = [(scene, len(masking.masked(scene).answers) > 1) for scene in later]
    results = guess_in_order(guesser, scenes_asked, masking, personas_in(story, masking))
    for done, (masked, guesses) in enumerate(results, 1):
        progress("Guessing", done, sum(is_asked for _, is_asked in scenes_asked))
        guessed += guessed_speakers(settings.model.name, story.title, masked, guesses)
    if not guessed:
        raise StoryError(f"from {start.dotted} on no scene has two main characters who speak: nothing to guess")
    return {**analyse(guessed, settings.seed), "learned_from": len(earlier), "since": start.dotted}


def _likeliest(guesses: Guesses) -> dict[str, str]:
    return {mask: max(shares, key=lambda name: shares[name]) for mask, shares in guesses.items()}


def _one_each(guesses: Guesses) -> dict[str, str]:
    """Nobody is behind two masks, even where both are likeliest the same."""
    names = list(next(iter(guesses.values())))
    scores = np.log([[max(shares[name], LEAST) for name in names] for shares in guesses.values()])
    return {mask: names[index] for mask, index in zip(guesses, best_assignment(scores).tolist())}


def _scene_at(story: Story, at: Moment) -> Scene:
    """The scene that a moment names, or that it lies in."""
    following = next(iter(story.scenes(since=at)), None)
    if following is not None and following.moment.within(at):
        return following
    under_way = story.current_scene(at)
    if under_way is not None:
        return next(story.scenes(since=under_way.moment))
    raise StoryError(f"no scene is at {at.dotted}: `understudy scenes STORY` lists them")


def _last_third(story: Story) -> Moment:
    outline = list(story.outline())
    chapters = [chapter for chapter, _ in groupby(outline, key=lambda entry: entry[0].numbers[:-1] or entry[0].numbers)]
    if len(chapters) < 3:
        scenes = [moment for moment, _, _ in outline]
        if len(scenes) < 3:
            raise StoryError(f"'{story.title}' has too few scenes ({len(scenes)}): some to learn from, some to guess")
        return scenes[-max(int(len(scenes) * LATER), 1)]
    return Moment(chapters[-max(int(len(chapters) * LATER), 1)], story.levels)


def personas_in(story: Story, masking: Masking) -> Callable[[Sequence[str], Scene], Sequence[Persona]]:
    """The candidates as they are when a scene begins, by the names they go by here."""
    own_names = dict(zip(masking.people, masking.main))

    def at(names: Sequence[str], scene: Scene) -> Sequence[Persona]:
        if masking.how == "swap":  # what is known of them goes by names that nobody has here
            return [Persona(name, scene.moment, language=story.language) for name in names]
        personas = []
        for name in names:
            try:
                personas.append(replace(persona_at(story, own_names[name], scene.moment), name=name))
            except (Unborn, Dead):  # who speaks all the same, in a dream or on a tape
                personas.append(Persona(name, scene.moment, language=story.language))
        return personas

    return at
