"""Who is speaking in a story of one's own? One scene with reasons, or all later scenes in order.

Reasons are the clues that speak most for the person behind a mask, in words:

    called      a name is said or written next to what the mask says
    phrase      words and pairs of words that this one uses more than the other candidates
    memory      an earlier scene in which this one spoke of the same
    profile     something that is known of this one, and that the mask speaks of
    relation    a tie of this one to somebody, and the mask speaks of them
    exclusion   nothing of its own: everybody else is likelier behind another mask
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from understudy.errors import Dead, StoryError, Unborn
from understudy.guessing import GUESSERS, GuesserEntry
from understudy.guessing.analysis import GuessedSpeaker, analyse, guessed_speakers
from understudy.guessing.assignment import best_assignment, log_table
from understudy.guessing.clues import CONTEXT, CUES, FACTS, SAYINGS, TOPICS, shared_facts
from understudy.guessing.features import SceneFeatures
from understudy.guessing.joint import CLUES, SUB_MODELS, Joint
from understudy.guessing.scenes import (
    Guesses,
    Masking,
    TrainingScenes,
    guess_in_order,
    main_characters,
    masks_of,
    split_long_scenes,
)
from understudy.language.lexical import TfIdf
from understudy.people.mentions import with_learned_names
from understudy.people.names import CharacterNames
from understudy.progress import Progress, ignore_progress
from understudy.story.persona import Persona, persona_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment, Scene
from understudy.text import stop_words

NAMED = 2  # cues that are given
REMEMBERED = 200  # scenes back
LONGEST = 70  # letters of a line that is quoted
PHRASES = 4  # terms
MIN_WEIGHT = 0.25  # what a clue must add to be given


@dataclass(frozen=True, slots=True)
class Reason:
    """`weight` is how much it speaks for the one guessed, against the likeliest other."""

    kind: str
    text: str
    weight: float


def reasons_for(
    joint: Joint, masked: Scene, personas: Sequence[Persona], chosen: Mapping[str, str], earlier: Sequence[Scene]
) -> dict[str, list[Reason]]:
    """For each mask, why it is taken for whom it is; the strongest reason first. `earlier` is what came before."""
    scene, table = joint.clues(masked, personas)
    names = [persona.name for persona in personas]
    weighted = table * joint.weights
    reasons: dict[str, list[Reason]] = {}
    for row, mask in enumerate(scene.speakers):
        own = names.index(chosen[mask])
        rivals = [index for index in range(len(names)) if index != own]
        rival = max(rivals, key=lambda index: float(weighted[row, index].sum())) if rivals else own
        apart = dict(zip(CLUES, (weighted[row, own] - weighted[row, rival]).tolist()))
        against = {clue for clue, a, b in zip(CLUES, table[row, own], table[row, rival]) if a < b}
        of_mask = [
            *_named(joint, scene, mask, chosen[mask], names[rival], apart, against),
            *_phrases(joint, scene, mask, chosen[mask], names[rival], apart),
            *_remembered(joint.language, scene, mask, chosen[mask], earlier, apart),
            *_known(scene, mask, personas[own], apart),
        ]
        of_mask.sort(key=lambda reason: -reason.weight)
        reasons[mask] = of_mask or [Reason("exclusion", "everybody else is likelier behind another mask", 0.0)]
    return reasons


def _named(
    joint: Joint,
    scene: SceneFeatures,
    mask: str,
    who: str,
    rival: str,
    apart: Mapping[str, float],
    against: Collection[str],
) -> Iterator[Reason]:
    """Cues, with the words in which the name stands; those `against` the rival are told of the rival."""
    strongest = sorted((clue for clue in CUES if apart[clue] > MIN_WEIGHT), key=lambda clue: -apart[clue])[:NAMED]
    for clue in strongest:
        about = rival if clue in against else who
        where = _where(joint, scene, mask, about, clue) if clue in CONTEXT else ""
        yield Reason("called", f"{about} {CUES[clue][1]}{where}", apart[clue])


def _where(joint: Joint, scene: SceneFeatures, mask: str, who: str, clue: str) -> str:
    if clue.startswith("setting"):
        return f": '{_short(scene.scene.setting)}'"
    described = clue.startswith(("described", "comes in"))
    lines = scene.scene.lines
    for index, line in enumerate(lines):
        beside = {near.speaker for near in lines[max(index - 2, 0) : index + 3]}
        fits = (line.speaker is None) == described and line.speaker != mask
        if fits and mask in beside and who in joint.named_in(line.text):
            return f": '{_short(line.text)}'"
    return ""


def _phrases(
    joint: Joint, scene: SceneFeatures, mask: str, who: str, rival: str, apart: Mapping[str, float]
) -> Iterator[Reason]:
    weight = sum(apart[clue] for clue in (*SUB_MODELS, *SAYINGS) if "says" in clue or clue.startswith("own"))
    light = stop_words(joint.language)
    telling = [
        term.strip("<> ")
        for term in joint.telling_terms(scene, mask, who, rival)
        if ":" not in term and any(word[0].isalnum() and word not in light for word in term.split())
    ]
    if weight > MIN_WEIGHT and telling:
        yield Reason("phrase", ", ".join(f"'{term}'" for term in list(dict.fromkeys(telling))[:PHRASES]), weight)


def _remembered(
    language: str, scene: SceneFeatures, mask: str, who: str, earlier: Sequence[Scene], apart: Mapping[str, float]
) -> Iterator[Reason]:
    """The earlier scene in which this one spoke most like the mask does now."""
    weight = sum(apart[clue] for clue in TOPICS)
    spoken = [(past, [line.text for line in past.lines if line.speaker == who]) for past in earlier[-REMEMBERED:]]
    spoken = [(past, texts) for past, texts in spoken if texts]
    if weight <= MIN_WEIGHT or not spoken:
        return
    search = TfIdf([" ".join(texts) for _, texts in spoken], language)
    query = " ".join(scene.texts(mask))
    best = int(np.argmax(search.scores(query)))
    shared = [word for word, _ in search.shared_terms(query, best) if word not in stop_words(language)][:PHRASES]
    if shared:
        past = spoken[best][0]
        yield Reason("memory", f"spoke of {', '.join(shared)} at {past.moment.dotted}", weight)


def _known(scene: SceneFeatures, mask: str, persona: Persona, apart: Mapping[str, float]) -> Iterator[Reason]:
    weight = sum(apart[clue] for clue in FACTS)
    shared = shared_facts(scene, mask, persona)
    if weight > MIN_WEIGHT and shared:
        sentence, common = shared[0]
        kind = "relation" if sentence in persona.feelings() else "profile"
        yield Reason(kind, f"{sentence} ({', '.join(common)})", weight)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


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
    story: Story, since: str | None, settings: GuessSettings, progress: Progress = ignore_progress
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
    chosen = best_assignment(log_table(guesses, names)).tolist()
    return {mask: names[index] for mask, index in zip(guesses, chosen)}


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
