"""Training `voice`: an ear for Japanese characters, from the lines of many novels.

    data/train/*.json, data/valid/*.json      a novel each: {character: [lines]}

How much the parts of the score count is learnt by questions of the kind that will be asked: is this a later line of the
character, or one of somebody else, of the same novel or another? They are asked of a model that has not met the
character: a third of the novels is left out, vectors, rates and the cohort are learnt from the rest, and it is asked
about that third; so for each third in turn. Of what is asked about, nothing is among the sample lines. In the end
vectors, rates and the cohort are learnt from all novels. The figures are of the thirds, each weighed by the other two.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from understudy.errors import InputError
from understudy.lexical.rows import Reals
from understudy.metrics.voice.model import PARTS, EarModel
from understudy.metrics.voice.traits import Traits, traits_of
from understudy.metrics.voice.weighing import weighed
from understudy.model_folder import FORMAT, ModelFolder
from understudy.training.checkpoint import Checkpoint, place_of
from understudy.training.course import Task, finished, prepared
from understudy.training.data import sha256_of
from understudy.training.loop import Progress, device_named
from understudy.training.speaker_vectors import VoiceSettings, train_vectors
from understudy.training.voice_questions import Novel, Questions, figures_of, questions_of, together

__all__ = ["VoiceSettings", "train"]

THIRDS = 3
SPEAKERS_OF, NOVELS_OF, LINES_OF = 6, 4, 25  # how many must have a mark for it to count as anybody's
CHOICES = 20  # times that a way to say 'I', or to end a sentence, must have been heard
TAUGHT, COMPARED = 8, 20  # lines that a speaker must have to be learnt from, to be in the cohort
COHORT_LINES = 100


def train(task: Task[VoiceSettings], progress: Progress) -> ModelFolder:
    prepared(task)
    begun = time.perf_counter()
    device = device_named(task.device)
    folder = task.data / "NaroU" if (task.data / "NaroU").is_dir() else task.data
    texts, files = _novels(folder)
    plan = {
        "agent": "voice",
        "what": "An ear for Japanese characters: how much a line sounds like one, told from sample lines alone",
        "language": "ja",
        "data": {path.relative_to(folder).as_posix(): sha256_of(path) for path in files},
        "settings": asdict(task.settings),
        "seed": task.seed,
        "device": device.type,
    }
    checkpoint = Checkpoint(place_of(task.out), {**plan, "format": FORMAT})
    if task.fresh:
        checkpoint.clear()
    novels = [_heard(novel) for novel in texts]

    def learnt(some: Sequence[Novel], nth: int) -> EarModel:
        """From some of the novels; `nth` of the trainings that there are in all, each with a checkpoint of its own."""
        own = Checkpoint(checkpoint.folder / f"{nth}", {**checkpoint.plan, "nth": nth})
        model = _without_vectors(some)
        spoken = [[said for said in novel.values() if len(said) >= TAUGHT] for novel in some]
        taught = [[[model.numbers(line) for line in said] for said in novel] for novel in spoken if novel]

        def told(done: int, total: int, loss: float) -> None:
            progress(nth * total + done, (THIRDS + 1) * total, loss)

        vectors = train_vectors(taught, _telling(model), task.settings, task.seed, device, own, told, task.every)
        return _with_cohort(replace(model, vectors=vectors), some)

    questions: list[Questions] = []
    for fold in range(THIRDS):
        rest = [novel for place, novel in enumerate(novels) if place % THIRDS != fold]
        questions += questions_of(learnt(rest, fold), novels[fold::THIRDS], fold, task.seed)
    model = replace(learnt(novels, THIRDS), weights=weighed(*together(questions)))
    card = {**plan, "parts": PARTS, "novels": len(novels), "figures": figures_of(questions)}
    return finished(task.out, card, model.tensors(), checkpoint, time.perf_counter() - begun)


def _novels(folder: Path) -> tuple[list[dict[str, list[str]]], list[Path]]:
    files = [*sorted((folder / "train").glob("*.json")), *sorted((folder / "valid").glob("*.json"))]
    if len(files) < THIRDS:
        raise InputError(
            f"holds no novels: a folder 'train' with at least {THIRDS} JSON files {{character: [lines]}} belongs here",
            folder,
        )
    novels = []
    for path in files:
        try:
            novel = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"is not JSON in UTF-8 ({error})", path) from error
        if not isinstance(novel, dict) or not all(
            isinstance(said, list) and all(isinstance(line, str) for line in said) for said in novel.values()
        ):
            raise InputError("is not {character: [lines]}", path)
        novels.append(novel)
    return novels, files


def _heard(novel: Mapping[str, Sequence[str]]) -> dict[str, list[Traits]]:
    return {name: [traits_of(line) for line in said] for name, said in novel.items() if said}


def _without_vectors(novels: Sequence[Novel]) -> EarModel:
    """What is counted: how often lines have a mark, how usual a choice is, in how many novels a noun is."""
    lines: Counter[str] = Counter()
    speakers: Counter[str] = Counter()
    books: Counter[str] = Counter()
    things: Counter[str] = Counter()
    total = 0
    for novel in novels:
        in_novel: set[str] = set()
        for said in novel.values():
            own = Counter(mark for line in said for mark in line.marks)
            lines.update(own)
            speakers.update(own.keys())
            in_novel |= own.keys()
            total += len(said)
        books.update(in_novel)
        things.update({thing for said in novel.values() for line in said for thing in line.things})
    marks = sorted(
        mark for mark, count in lines.items()
        if count >= LINES_OF and speakers[mark] >= SPEAKERS_OF and books[mark] >= NOVELS_OF
    )  # fmt: skip
    every = [line for novel in novels for said in novel.values() for line in said]
    return EarModel(
        marks={mark: number for number, mark in enumerate(marks)},
        vectors=np.zeros((len(marks), 1)),
        rates=(np.array([lines[mark] for mark in marks]) + 0.5) / (total + 1),
        cohort=np.zeros((0, 1)),
        first_person=_usual(one for line in every for one in line.first_persons),
        ending=_usual(one for line in every for one in line.endings),
        things={thing: float(count) for thing, count in sorted(things.items()) if count > 1},
        novels=float(len(novels)),
        weights=np.zeros(len(PARTS) + 1),
    )


def _usual(chosen: Iterable[str]) -> dict[str, float]:
    counts = Counter(chosen)
    total = counts.total()
    return {one: count / total for one, count in sorted(counts.items()) if count >= CHOICES}


def _telling(model: EarModel) -> Reals:
    """How rare each mark is, about 1 for one in a hundred lines."""
    return np.clip(-np.log(model.rates), 0.5, None) / 5


def _with_cohort(model: EarModel, novels: Sequence[Novel]) -> EarModel:
    spoken = [said for novel in novels for said in novel.values() if len(said) >= COMPARED]
    if len(spoken) < 2:
        raise InputError(f"the novels have fewer than two characters with {COMPARED} lines: there is nobody to compare")
    return replace(model, cohort=np.stack([model.speaker_vector(model.heard(said[:COHORT_LINES])) for said in spoken]))
