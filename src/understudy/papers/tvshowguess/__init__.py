"""TVShowGuess: who is speaking? Guessers on the scenes of shows, learned from earlier episodes, and the paper's tables.

A scene is guessed from what its masks say and from everything that came before it: transcripts of earlier episodes, and
the scenes of the judged file that come earlier. A guesser never sees anything later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from understudy.bench.run import Items, manifest_of, sampled, write_items
from understudy.errors import AgentError, UnknownCharacter
from understudy.formats.annotations import (
    ShowInstance,
    SpeakerGuess,
    read_annotations,
    read_needed_scenes,
    read_speaker_guesses,
)
from understudy.formats.tvshowguess import folder_of
from understudy.guessing import JOINT_ABLATIONS, GuesserFactory
from understudy.guessing.analysis import GuessedSpeaker, analyse, guessed_speakers
from understudy.guessing.assignment import one_each
from understudy.guessing.baselines import TextEncoder, shipped_encoder
from understudy.guessing.joint import Joint
from understudy.guessing.scenes import Guesses, Masked, Masking, TrainingScenes, guess_in_order, masks_of
from understudy.guessing.shows import JUDGED, JudgedScene, Show, shows_in
from understudy.language.lexical.rows import Reals
from understudy.papers.tvshowguess.annotations import (
    annotation_groupings,
    flows,
    history_gain,
    ranked_scenes,
    retrieval_rows,
    shows_of,
)
from understudy.papers.tvshowguess.published import PEOPLE, add_paper
from understudy.people.mentions import with_learned_names
from understudy.people.names import CharacterNames
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona, persona_at
from understudy.story.types import Scene
from understudy.training.guessing.registry import (
    Undecided,
    combined,
    find_guessers,
    knows,
    together_name,
    together_weights,
    trained_kinds,
    unregistered,
)

MODELS = ("random", "vanilla", "vanilla+assigned", "joint", "joint without history")
BY_WORDS, BY_MEANING = "scenes alike in words", "scenes alike in meaning"
SHARES = {"an eighth": 8, "a quarter": 4, "half": 2}
ENOUGH = 30  # speakers of a show, for its curve to say anything
LESS = "joint from {} of the lessons"
ANNOTATED, NEEDED = "human_annotation", "needed_scenes.jsonl"


def bench_guess(
    data: Path,
    judge: Path | None = None,
    models: Sequence[str] = MODELS,
    names: str = "keep",
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    items: Path | None = None,
    ablations: bool = False,
    curve: bool = False,
    assigned: bool = False,
    together: bool = False,
    people: Path | None = None,
) -> dict[str, Any]:
    """Rows, comparisons, confusions, flows and manifest.

    `ablations` and `curve` judge more models, made from joint; `assigned` judges models named by a folder or
    `module:factory` also with one person behind each mask; `together` judges the models named also weighted together;
    `people` is a file of what people said of the same scenes (`formats.annotations`), judged beside the models.
    """
    # a wrong name is reported before anything is read
    guessers = find_guessers(models, names)
    also_assigned = unregistered(guessers) if assigned else set()
    all_of_them = together_name(guessers) if together else None
    human_guesses = [] if people is None else read_speaker_guesses(people)
    factories: dict[str, GuesserFactory] = {
        guesser.name: guesser for guesser in (*guessers, *(JOINT_ABLATIONS if ablations else ()))
    }
    if curve:
        factories |= {LESS.format(name): _less(share) for name, share in SHARES.items()}
    data = folder_of(data)
    annotations = read_annotations(data / ANNOTATED) if (data / ANNOTATED).is_dir() else []
    listed = read_needed_scenes(data / ANNOTATED / NEEDED) if (data / ANNOTATED / NEEDED).is_file() else {}
    shows = [_masked_show(show, names, seed) for show in shows_in(data, judge, progress)]
    weights = together_weights(guessers, [training for _, _, training in shows]) if all_of_them else None
    results = _GuessResults()
    for show, masking, training in shows:
        sampled = _sampled(show, limit, seed)
        answers: dict[str, Answers] = {}
        for model, factory in factories.items():
            progress(f"{show.title}: {model}", 0, len(sampled))
            guesser = factory(training) if knows(model, training) else Undecided()
            answers[model] = list(answers_of(model, sampled, masking, guesser, show, progress))
            if isinstance(guesser, Undecided):
                results.not_taught.setdefault(model, []).append(show.name)
            elif model in also_assigned:
                answers[f"{model}+assigned"] = [(masked, one_each(guesses)) for masked, guesses in answers[model]]
        if all_of_them and weights is not None:
            answers[all_of_them] = weighted_answers([answers[guesser.name] for guesser in guessers], weights)
        results.add(show, answers, human_guesses, listed)
    _check_taught(results.not_taught, len(shows))
    guessed = results.guessed
    document = analyse(guessed, seed, annotation_groupings(guessed, annotations))
    document["flows"] = flows(annotations, shows_of(guessed, annotations))
    kinds = trained_kinds(models)
    of_kind = [{**row, "kind": kinds[row["model"]]} if row["model"] in kinds else row for row in document["rows"]]
    rows = add_paper(of_kind, results.splits)
    if {"joint", "joint without history"} <= factories.keys():
        rows += history_gain(guessed, annotations, "joint", "joint without history", seed)
    for how, ranked in results.recalled.items():
        rows += retrieval_rows(how, ranked, results.needed, seed)
    settings = results.settings(names)
    if weights is not None:
        settings["weights"] = dict(zip((guesser.name for guesser in guessers), weights.round(4).tolist()))
    files = [judge or data / JUDGED, *([] if people is None else [people])]
    manifest = manifest_of("guess", files, seed, limit, settings)
    if items is not None:
        write_items(items, _items(guessed), manifest)
    return {**document, "rows": rows, "learning": _learning(rows) if curve else [], "manifest": manifest}


@dataclass(slots=True)
class _GuessResults:
    """What was guessed in all shows, and what is told of the shows beside it."""

    guessed: list[GuessedSpeaker] = field(default_factory=list)
    recalled: dict[str, dict[ShowInstance, tuple[int, ...]]] = field(
        default_factory=lambda: {BY_WORDS: {}, BY_MEANING: {}}
    )
    needed: dict[ShowInstance, frozenset[int]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    splits: dict[str, str | None] = field(default_factory=dict)
    not_taught: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        show: Show,
        answers: Mapping[str, Answers],
        human_guesses: Sequence[SpeakerGuess],
        listed: Mapping[ShowInstance, frozenset[int]],
    ) -> None:
        """The answers about a show by model, what people said of it, and which of its scenes were needed."""
        self.left_out[show.name], self.splits[show.name] = show.left_out, show.split
        for model, own in answers.items():
            if show.name not in self.not_taught.get(model, ()):
                self.guessed += [speaker for answer in own for speaker in guessed_speakers(model, show.name, *answer)]
        scenes = [masked for masked, _ in next(iter(answers.values()))]
        self.guessed += people_speakers(human_guesses, show.name, scenes)
        of_show = {(show.name, at): needed for (name, at), needed in listed.items() if name in ("", show.name)}
        self.needed |= of_show
        for how, ranked in self.recalled.items():
            ranked |= _recalled(show, of_show, shipped_encoder() if how == BY_MEANING and of_show else None)

    def settings(self, names: str) -> dict[str, Any]:
        judged = list(dict.fromkeys(speaker.model for speaker in self.guessed))
        settings: dict[str, Any] = {"models": judged, "names": names, "left out": self.left_out}
        return settings | ({"not taught": self.not_taught} if self.not_taught else {})


def _masked_show(show: Show, names: str, seed: int) -> tuple[Show, Masking, TrainingScenes]:
    """A show, how its speakers are hidden, and what is learned from."""
    masking = Masking(show.main, _names(show, names), names, seed)
    earlier = [masking.with_names(scene) for scene in show.earlier]
    return show, masking, TrainingScenes(earlier, masking.people, masking.names, show.story.language)


def _check_taught(not_taught: Mapping[str, Sequence[str]], shows: int) -> None:
    for model, names in not_taught.items():
        if len(names) == shows:
            raise AgentError(f"the model {model} was taught none of {', '.join(names)}: train one on them")


def _names(show: Show, how: str) -> CharacterNames:
    """What is covered or swapped: all that main characters are called anywhere, in judged scenes too."""
    if how == "keep":
        return show.names
    scenes = [*show.earlier, *(judged.scene for judged in show.file)]
    return with_learned_names(show.names, scenes, show.story.language)


def _less(share: int) -> GuesserFactory:
    """Joint, from the last part of the training scenes only."""
    return lambda training: Joint(replace(training, scenes=training.scenes[-max(len(training.scenes) // share, 1) :]))


def _learning(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Accuracy by the share of the training scenes that it learned from, for each show."""
    shares = {"joint": 1.0} | {LESS.format(name): 1 / share for name, share in SHARES.items()}
    return [
        {"show": row["show"], "share": shares[row["model"]], **{key: row[key] for key in ("value", "low", "high", "n")}}
        for row in rows
        if row["metric"] == "accuracy" and row["model"] in shares and row["n"] >= ENOUGH
    ]


def _recalled(
    show: Show, needed: Mapping[ShowInstance, frozenset[int]], encoder: TextEncoder | None
) -> dict[ShowInstance, tuple[int, ...]]:
    """For every speaker of whom it is known which scenes were needed: the last ones, those most alike first."""
    scenes = [judged.scene for judged in show.file]
    ranked: dict[ShowInstance, tuple[int, ...]] = {}
    for index, scene in enumerate(scenes):
        *episode, number = scene.moment.numbers
        speakers = [speaker for speaker in needed if speaker[1][:2] == (tuple(episode), number)]
        if speakers:
            alike = ranked_scenes(scene, scenes[:index], show.story.language, encoder)
            ranked |= dict.fromkeys(speakers, tuple(earlier.moment.numbers[-1] for earlier in alike))
    return ranked


def _sampled(show: Show, limit: int | None, seed: int) -> list[JudgedScene]:
    """Of the judged scenes a seeded sample; what is not asked about stays history."""
    indices = [index for index, scene in enumerate(show.file) if scene.judged]
    sample = set(sampled(indices, limit, seed))
    return [replace(scene, judged=index in sample) for index, scene in enumerate(show.file)]


def _items(guessed: Sequence[GuessedSpeaker]) -> list[Items]:
    """Speaker by speaker: the rank of the right name among the candidates."""
    by_model: dict[tuple[str, str], list[GuessedSpeaker]] = {}
    for speaker in guessed:
        by_model.setdefault((speaker.model, speaker.show), []).append(speaker)
    return [
        Items({"agent": model, "show": show}, [speaker.key for speaker in speakers], [*map(_rank, speakers)])
        for (model, show), speakers in by_model.items()
    ]


def _rank(speaker: GuessedSpeaker) -> int:
    if speaker.right:
        return 1
    own = speaker.probabilities[speaker.who]
    return max(2, 1 + sum(share > own for share in speaker.probabilities.values()))


# What models say of the judged scenes of a show: each is asked once, and several are weighed by their answers.

Answers = list[tuple[Masked, Guesses]]
"""The judged scenes of a show, and what a model says of each."""


def answers_of(
    model: str, scenes: Sequence[JudgedScene], masking: Masking, guesser: Guesser, show: Show, progress: Progress
) -> Iterator[tuple[Masked, Guesses]]:
    personas = _personas(show, masking)
    total = sum(judged.judged for judged in scenes)
    results = guess_in_order(guesser, ((judged.scene, judged.judged) for judged in scenes), masking, personas)
    for done, result in enumerate(results, 1):
        progress(f"{show.title}: {model}", done, total)
        yield result


def _personas(show: Show, masking: Masking) -> Callable[[Sequence[str], Scene], Sequence[Persona]]:
    """The candidates as they are when the judged episodes begin; without a past where they go by other names."""

    @lru_cache(len(show.main))
    def known(name: str) -> Persona:
        try:
            return Persona(name) if masking.how != "keep" else persona_at(show.story, name, show.first)
        except UnknownCharacter:  # the judged file has somebody whom the transcripts have not
            return Persona(name)

    return lambda names, scene: [replace(known(name), moment=scene.moment) for name in names]


def weighted_answers(answers: Sequence[Answers], weights: Reals) -> Answers:
    """The answers of several models, scene by scene, as one."""
    return [
        (of_scene[0][0], combined([guesses for _, guesses in of_scene], weights))
        for of_scene in zip(*answers, strict=True)
    ]


# What people said of the judged scenes, beside the models: the human row.
#
# Each masked speaker counts once, for whomever most of those who were asked took them for. People were shown names of
# their own, and a file may call a show otherwise: a show is the one that has most of the scenes, and a name is that
# of whoever speaks where it was right.

Place = tuple[tuple[int, ...], int, int]


def people_speakers(guesses: Sequence[SpeakerGuess], show: str, scenes: Iterable[Masked]) -> list[GuessedSpeaker]:
    """The speakers of a show's judged scenes that somebody guessed."""
    speakers_at: dict[Place, tuple[str, tuple[str, ...]]] = {}
    for masked in scenes:
        *levels, number = masked.scene.moment.numbers
        for place, mask in enumerate(masks_of(masked.scene)):
            speakers_at[tuple(levels), number, place] = masked.answers[mask], masked.candidates
    by_show: dict[str, list[SpeakerGuess]] = {}
    for guess in guesses:
        if _place(guess) in speakers_at:
            by_show.setdefault(guess.show, []).append(guess)
    if not by_show:
        return []
    own = max(by_show.values(), key=len)
    names = _learned_names(own, speakers_at)
    votes: dict[Place, Counter[str]] = {}
    for guess in own:
        votes.setdefault(_place(guess), Counter())[names.get(guess.guess, guess.guess)] += 1
    speakers = []
    for (episode, number, place), counts in votes.items():
        who, candidates = speakers_at[episode, number, place]
        shares = {name: counts[name] / counts.total() for name in candidates}
        chosen = max(sorted(counts), key=lambda name: counts[name])
        speakers.append(GuessedSpeaker(PEOPLE, show, episode, number, place, who, chosen, shares))
    return speakers


def _place(guess: SpeakerGuess) -> Place:
    return guess.episode, guess.scene, guess.place


def _learned_names(
    guesses: Sequence[SpeakerGuess], speakers_at: Mapping[Place, tuple[str, tuple[str, ...]]]
) -> dict[str, str]:
    """People's names for the characters -> the show's."""
    together: dict[str, Counter[str]] = {}
    for guess in guesses:
        together.setdefault(guess.who, Counter())[speakers_at[_place(guess)][0]] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in together.items()}
