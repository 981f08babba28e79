"""What a study of masked speakers gives: annotations, guesses, and how far people agree and are right.

An answer has for each mask 'P0 who', 'P0 evidence', 'P0 history', 'P0 reasoning' and 'P0 needed'; what an item's masks
stand for is hidden in it:

    show, episode, scene     where the scene stands
    answers                  {mask: name}
    masks                    in the order of their first lines
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.annotations import (
    HISTORY,
    Annotation,
    Instance,
    Rationale,
    ShowInstance,
    SpeakerGuess,
    guess_documents,
)
from understudy.guessing.analysis import PAPER_AGREEMENT, agreement_of_pairs
from understudy.metrics.statistics import Estimate, interval
from understudy.story.storyfile.toml_tables import replace_text
from understudy.studies.kind import GivenAnswer, write_json_lines
from understudy.studies.study import Study

__all__ = [
    "EARLIER",
    "annotations_of",
    "guesses_of",
    "needed_scenes",
    "speaker_figures",
    "write_annotation",
    "write_guesses",
]

EARLIER = "earlier"  # a scene that is further back than those that were shown
HEADS = (
    *("Episode", "need history", "Facts abstracted from memory", "Character Code", "Guessed Character Name"),
    *("Evidence-a1", "Evidence-a2", "Evidence-a3", "Reasoning Type"),
)
MOST_EVIDENCE = 3
NEEDED = "needed_scenes.jsonl"
PAPER_ACCURACY = {"friends": 0.9868, "the big bang theory": 0.8982, "tbbt": 0.8982}
NOBODY_TWICE = "no scene was annotated by two people"


def annotations_of(answers: Sequence[GivenAnswer]) -> list[Annotation]:
    """One for each masked speaker whose evidence a person named; `source` is the show and the person."""
    return [annotation for _, annotation in _annotations(answers)]


def _annotations(answers: Sequence[GivenAnswer]) -> Iterator[tuple[str, Annotation]]:
    """With the show of each: scenes of two shows may have the same numbers."""
    for each, mask, instance in _speakers(answers):
        evidence = each.answer.get(f"{mask} evidence")
        if evidence:
            rationale = Rationale(tuple(evidence), each.answer.get(f"{mask} reasoning", "none"))
            history = each.answer.get(f"{mask} history", HISTORY[0])
            guess = each.answer.get(f"{mask} who", "")
            show = each.item.hidden["show"]
            yield show, Annotation(f"{show}-{each.person}", instance, history, (rationale,), guess)


def guesses_of(answers: Sequence[GivenAnswer]) -> list[SpeakerGuess]:
    return [
        SpeakerGuess(
            each.item.hidden["show"],
            tuple(each.item.hidden["episode"]),
            instance.scene,
            instance.place,
            each.item.hidden["answers"][mask],
            each.answer[f"{mask} who"],
            each.person,
        )
        for each, mask, instance in _speakers(answers)
        if each.answer.get(f"{mask} who")
    ]


def needed_scenes(answers: Sequence[GivenAnswer]) -> dict[ShowInstance, list[str]]:
    """For each speaker the earlier scenes that at least half of those who annotated it say they needed."""
    annotators: dict[ShowInstance, int] = {}
    counts: dict[ShowInstance, dict[str, int]] = {}
    for each, mask, instance in _speakers(answers):
        was_asked = any(question.name == f"{mask} needed" for question in each.item.questions)
        if was_asked and each.answer.get(f"{mask} history"):
            speaker = each.item.hidden["show"], instance
            annotators[speaker] = annotators.get(speaker, 0) + 1
            of_speaker = counts.setdefault(speaker, {})
            for name in each.answer.get(f"{mask} needed", ()):
                of_speaker[name] = of_speaker.get(name, 0) + 1
    return {
        speaker: [name for name, count in of_speaker.items() if name != EARLIER and 2 * count >= annotators[speaker]]
        for speaker, of_speaker in counts.items()
    }


def _speakers(answers: Sequence[GivenAnswer]) -> Iterator[tuple[GivenAnswer, str, Instance]]:
    for each in answers:
        hidden = each.item.hidden
        for place, mask in enumerate(hidden["masks"]):
            yield each, mask, Instance(tuple(hidden["episode"]), hidden["scene"], place)


def speaker_figures(study: Study, answers: Sequence[GivenAnswer]) -> list[dict[str, Any]]:
    """accuracy: the share of masked speakers named rightly, each person by themselves, for each show and all;
    kappa: agreement about what it took (see `guessing.annotation_agreement`), over all pairs of annotators."""
    guesses = guesses_of(answers)
    shows = dict.fromkeys(guess.show for guess in guesses)
    rows = [_accuracy(show, [guess for guess in guesses if guess.show == show], study.seed) for show in shows]
    if len(shows) > 1:
        rows.append(_accuracy("all", guesses, study.seed))
    by_speaker: dict[ShowInstance, list[Annotation]] = {}
    for show, annotation in _annotations(answers):
        by_speaker.setdefault((show, annotation.instance), []).append(annotation)
    pairs = [
        ((show, at[:2]), pair)
        for (show, at), annotations in by_speaker.items()
        for pair in combinations(annotations, 2)
    ]
    if pairs:
        return rows + agreement_of_pairs([pair for _, pair in pairs], [scene for scene, _ in pairs], study.seed)
    missing = Estimate.missing("kappa", 0, NOBODY_TWICE)
    return rows + [{"annotation": name, **missing.row(), "paper": paper} for name, paper in PAPER_AGREEMENT.items()]


def _accuracy(show: str, guesses: Sequence[SpeakerGuess], seed: int) -> dict[str, Any]:
    scenes = [(guess.show, guess.episode, guess.scene) for guess in guesses]
    share = interval([guess.guess == guess.who for guess in guesses], scenes, seed)
    row = {"show": show, "metric": "accuracy", "value": share.value, "low": share.low, "high": share.high}
    return row | {"n": len(guesses), "paper": PAPER_ACCURACY.get(show.replace("_", " ").casefold())}


def write_annotation(_: Study, answers: Sequence[GivenAnswer], folder: Path) -> None:
    """A folder as `human_annotation/` of `bench guess`: a table for each show and person, and the needed scenes."""
    tables: dict[str, list[Annotation]] = {}
    for annotation in annotations_of(answers):
        tables.setdefault(annotation.source, []).append(annotation)
    if not tables:
        raise InputError("nobody has annotated a speaker yet: there is no table to write", folder)
    folder.mkdir(parents=True, exist_ok=True)
    for source, of_person in tables.items():
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        writer.writerow(HEADS)
        writer.writerows(_cells(annotation) for annotation in of_person)
        replace_text(folder / f"{source.replace('/', ' ')}.tsv", text.getvalue())
    needed = needed_scenes(answers)
    records = [
        {
            "show": show,
            "episode": _episode(at),
            "scene": at.scene,
            "place": at.place,
            "needed": [_number(name) for name in names],
            "moments": names,
        }
        for (show, at), names in needed.items()
    ]
    if records:
        write_json_lines(folder / NEEDED, records)


def _cells(annotation: Annotation) -> list[str]:
    history = annotation.needs_history
    evidence = [*annotation.evidence[:MOST_EVIDENCE], *[""] * MOST_EVIDENCE][:MOST_EVIDENCE]
    needs = ["yes" if history == "direct" else "no", "yes" if history != "none" else "no"]
    at = annotation.instance
    who = [f"P{at.place}", annotation.guess]
    return [f"{_episode(at)} {at.scene}", *needs, *who, *evidence, annotation.reasoning]


def _episode(at: Instance) -> str:
    """'09x01'; a chapter of a story that has one level above its scenes is an episode of season 0."""
    if len(at.episode) > 2:
        raise InputError(
            "tables of annotations count by season and episode: this story has more levels above its scenes"
        )
    season, episode = at.episode if len(at.episode) == 2 else (0, *(at.episode or (0,)))
    return f"{season:02d}x{episode:02d}"


def _number(name: str) -> int:
    """The number of a scene by its moment: enough where scenes are counted throughout, as in TVShowGuess."""
    return int(name.rpartition(".")[2])


def write_guesses(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    write_json_lines(path, guess_documents(guesses_of(answers)))
