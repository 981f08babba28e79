"""Trainer of the Japanese `voice` model, from the lines of the characters of many novels.

    data/train/*.json, data/valid/*.json      a novel each: {character: [lines]}

The weights of the score's features are fitted by cross-fitting on questions of the kind that will be asked (see
`VoiceQuestions`): a third of the novels is left out, vectors, rates and the cohort are learnt from the others, and
the questions are about that third; so for each third in turn. Then vectors, rates and the cohort are learnt from all
novels. The figures are of the thirds, each with weights fitted on the other two.

Vectors of marks (turns of phrase) are trained such that a line is nearer to its own speaker than to others. A step
takes some novels and from each some speakers. A speaker's lines are divided: of some the speaker's vector is made, the
others are questions of one to three lines, as a reply is often longer than a line of a novel. With e(u) the sum of a
question's vectors over sqrt(marks + 5), and v(p) the mean over a speaker's lines, of length 1:

    loss = - mean over questions of ln(exp(s e(u) . v(own)) / sum over speakers p of exp(s e(u) . v(p)))

Half of all marks are dropped at random, so that no single one is relied upon. Speakers of the same novel are among
those compared, so that the topic does not give the answer away.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.lexical.logistic import fit_binary
from understudy.language.lexical.rows import Reals, sigmoid
from understudy.language.model_folder import FORMAT, ModelFolder, Tensors
from understudy.metrics.line_metric import load_lines
from understudy.metrics.statistics import auc, calibration_error
from understudy.metrics.voice.model import FEW_MARKS, PARTS, SpeakerComparison, SpeakerLines, VoiceModel
from understudy.metrics.voice.traits import Traits, traits_of
from understudy.sources.source import sha256_of
from understudy.training.loop import Optimization, Progress
from understudy.training.run import Checkpoint, TrainingRun, TrainingTask

if TYPE_CHECKING:
    from torch import Tensor


THIRDS = 3
SPEAKERS_OF, NOVELS_OF, LINES_OF = 6, 4, 25  # how many must have a mark for it to be used
CHOICES = 20  # times that a first-person pronoun, or a sentence ending, must occur
TAUGHT, COMPARED = 8, 20  # lines that a speaker must have to be trained on, to be in the cohort
COHORT_LINES = 100

Marks = NDArray[np.int64]
NovelMarks = Sequence[Sequence[Marks]]
"""For each speaker the lines, each as the numbers of its marks."""

START, SHARPNESS = 0.02, 10.0
SOFTER = 2.0  # training overestimates the sharpness; chosen on held-back novels
SPEAKERS, QUESTIONS = 8, 6  # of a novel, of a speaker, in one step
LEAST, MOST = 10, 80  # lines that a speaker's vector is made of


def train(task: TrainingTask[Path, VoiceSettings], progress: Progress) -> ModelFolder:
    run = TrainingRun(task, progress)
    folder = task.data / "NaroU" if (task.data / "NaroU").is_dir() else task.data
    texts, files = _novels(folder)
    plan = {
        "agent": "voice",
        "what": "An ear for Japanese characters: how much a line sounds like one, told from sample lines alone",
        "language": "ja",
        "data": {path.relative_to(folder).as_posix(): sha256_of(path) for path in files},
        "device": run.device.type,
    }
    run.begin({**plan, "format": FORMAT})
    novels = [_heard(novel) for novel in texts]

    def learnt(some: Sequence[Novel], nth: int) -> VoiceModel:
        """From some of the novels; `nth` of the trainings that there are in all, each with a checkpoint of its own."""
        model = _without_vectors(some)
        spoken = [[said for said in novel.values() if len(said) >= TAUGHT] for novel in some]
        taught = [[[model.numbers(line) for line in said] for said in novel] for novel in spoken if novel]

        def report_progress(done: int, total: int, loss: float) -> None:
            progress(nth * total + done, (THIRDS + 1) * total, loss)

        part = run.checkpoint.part(f"{nth}", nth=nth)
        vectors = train_vectors(taught, _telling(model), run, part, report_progress)
        return _with_cohort(replace(model, vectors=vectors), some)

    questions: list[VoiceQuestions] = []
    for fold in range(THIRDS):
        others = [novel for index, novel in enumerate(novels) if index % THIRDS != fold]
        questions += voice_questions(learnt(others, fold), novels[fold::THIRDS], fold, task.seed)
    model = replace(learnt(novels, THIRDS), weights=fit_binary(*together(questions)))
    card = run.card(parts=PARTS, novels=len(novels), figures=voice_figures(questions))
    return run.write(card, model.tensors())


def _novels(folder: Path) -> tuple[list[dict[str, list[str]]], list[Path]]:
    files = [*sorted((folder / "train").glob("*.json")), *sorted((folder / "valid").glob("*.json"))]
    if len(files) < THIRDS:
        raise InputError(
            f"holds no novels: a folder 'train' with at least {THIRDS} JSON files {{character: [lines]}} belongs here",
            folder,
        )
    return [load_lines(path) for path in files], files


def _heard(novel: Mapping[str, Sequence[str]]) -> dict[str, list[Traits]]:
    return {name: [traits_of(line) for line in said] for name, said in novel.items() if said}


def _without_vectors(novels: Sequence[Novel]) -> VoiceModel:
    """What is counted: how often lines have a mark, how usual a choice is, in how many novels a noun is."""
    lines: Counter[str] = Counter()
    speakers: Counter[str] = Counter()
    books: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
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
        nouns.update({noun for said in novel.values() for line in said for noun in line.things})
    marks = sorted(
        mark for mark, count in lines.items()
        if count >= LINES_OF and speakers[mark] >= SPEAKERS_OF and books[mark] >= NOVELS_OF
    )  # fmt: skip
    every = [line for novel in novels for said in novel.values() for line in said]
    return VoiceModel(
        marks={mark: number for number, mark in enumerate(marks)},
        vectors=np.zeros((len(marks), 1)),
        rates=(np.array([lines[mark] for mark in marks]) + 0.5) / (total + 1),
        cohort=np.zeros((0, 1)),
        first_person=_usual(choice for line in every for choice in line.first_persons),
        ending=_usual(choice for line in every for choice in line.endings),
        things={noun: float(count) for noun, count in sorted(nouns.items()) if count > 1},
        novels=float(len(novels)),
        weights=np.zeros(len(PARTS) + 1),
    )


def _usual(chosen: Iterable[str]) -> dict[str, float]:
    counts = Counter(chosen)
    total = counts.total()
    return {choice: count / total for choice, count in sorted(counts.items()) if count >= CHOICES}


def _telling(model: VoiceModel) -> Reals:
    """How rare each mark is, about 1 for one in a hundred lines."""
    return np.clip(-np.log(model.rates), 0.5, None) / 5


def _with_cohort(model: VoiceModel, novels: Sequence[Novel]) -> VoiceModel:
    spoken = [said for novel in novels for said in novel.values() if len(said) >= COMPARED]
    if len(spoken) < 2:
        raise InputError(f"the novels have fewer than two characters with {COMPARED} lines: there is nobody to compare")
    return replace(
        model, cohort=np.stack([model.speaker_vector(model.encode_traits(said[:COHORT_LINES])) for said in spoken])
    )


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """How vectors are trained: what decides them besides data and seed."""

    width: int = 48
    epochs: int = 128
    novels: int = 12
    rate: float = 0.002
    left_out: float = 0.5


def train_vectors(
    novels: Sequence[NovelMarks],
    telling: NDArray[np.float64],
    run: TrainingRun,
    checkpoint: Checkpoint,
    progress: Progress,
) -> NDArray[np.float64]:
    """A vector for each mark. `telling` says how rare each is; rarer ones begin larger."""
    settings, seed, on = run.task.settings, run.task.seed, run.device
    rng = np.random.default_rng(seed)
    begun = rng.normal(scale=START, size=(len(telling), settings.width)) * telling[:, None]
    start: Tensors = {"vectors": begun.astype(np.float32), "sharpness": np.array(SHARPNESS, np.float32)}

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        import torch

        rng = np.random.default_rng((seed, step))
        lines, questions, answers = _episode([novels[number] for number in batch.tolist()], rng)
        owners = torch.from_numpy(np.repeat(np.arange(len(lines)), [len(some) for some in lines])).to(on)
        said = _vectors(parameters["vectors"], [line for some in lines for line in some], settings.left_out, rng)
        summed = torch.zeros(len(lines), settings.width, device=on).index_add(0, owners, said)
        speakers = torch.nn.functional.normalize(summed, dim=1)
        question_vectors = _vectors(parameters["vectors"], questions, settings.left_out, rng)
        products = parameters["sharpness"] * (question_vectors @ speakers.T)
        return torch.nn.functional.cross_entropy(products, torch.tensor(answers, device=on))

    optimization = Optimization(settings.epochs, min(settings.novels, len(novels)), settings.rate)
    learnt = run.fit(start, loss, len(novels), optimization, checkpoint=checkpoint, progress=progress)
    vectors: NDArray[np.float64] = learnt["vectors"].astype(np.float64) * float(learnt["sharpness"]) / SOFTER
    return vectors


def _episode(
    novels: Sequence[NovelMarks], rng: np.random.Generator
) -> tuple[list[list[Marks]], list[Marks], list[int]]:
    """For each speaker drawn some lines, and questions with the number of the speaker who answers each."""
    lines: list[list[Marks]] = []
    questions: list[Marks] = []
    answers: list[int] = []
    for novel in novels:
        for number in rng.permutation(len(novel))[:SPEAKERS].tolist():
            shuffled = [novel[number][index] for index in rng.permutation(len(novel[number])).tolist()]
            first, last = 0, len(shuffled) // 3 + 1
            for _ in range(QUESTIONS):
                some = shuffled[first : min(first + int(rng.choice([1, 1, 2, 3])), last)]
                if not some:
                    break
                questions.append(np.unique(np.concatenate(some)))
                answers.append(len(lines))
                first += len(some)
            lines.append(shuffled[first : first + int(rng.integers(LEAST, MOST + 1))])
    return lines, questions, answers


def _vectors(table: Tensor, lines: Sequence[Marks], left_out: float, rng: np.random.Generator) -> Tensor:
    import torch

    kept_marks = [line[rng.random(len(line)) > left_out] for line in lines]
    lengths = np.array([len(line) for line in kept_marks])
    starts = torch.from_numpy(np.concatenate(([0], np.cumsum(lengths)[:-1]))).to(table.device)
    marks = torch.from_numpy(np.concatenate(kept_marks)).to(table.device)
    summed = torch.nn.functional.embedding_bag(marks, table, starts, mode="sum")
    scale = torch.from_numpy(np.sqrt(lengths + FEW_MARKS).astype(np.float32)).to(table.device)
    return summed / scale[:, None]


# Questions that evaluate `voice`: is this line of a novel the character's own?
#
# The model sees a character's first lines. Questions are later lines of its own, lines of others of the same novel
# (the topic is right, the voice is not) and lines of other novels; each kind of the others' weighs half. No line of a
# question is among those shown.

Novel = Mapping[str, Sequence[Traits]]
"""The lines of each character."""

ASKED_ABOUT, SHOWN, LATEST = 45, 0.6, 200  # lines a character must have; the share shown; how many are looked at
OWN, OTHERS, EACH = 40, 30, 5  # questions by kind; at most so many of one other speaker
LONG_ENOUGH = 15  # letters: a line of two words has hardly a voice


@dataclass(frozen=True, slots=True)
class VoiceQuestions:
    """About one character: the parts of each line's score, whether it is its own, how much it counts.

    `fold` says which novels were left out together when the model learnt that was asked.
    """

    fold: int
    parts: Reals
    own: Reals
    weights: Reals


def voice_questions(model: VoiceModel, novels: Sequence[Novel], fold: int, seed: int) -> list[VoiceQuestions]:
    """About characters of novels that the model has not learnt from."""
    encoded = [{name: model.encode_traits(said) for name, said in novel.items()} for novel in novels]
    rng = np.random.default_rng((seed, fold))
    return [
        _asked(model, encoded, number, name, fold, rng)
        for number, novel in enumerate(encoded)
        for name, said in novel.items()
        if len(said) >= ASKED_ABOUT
    ]


def _asked(
    model: VoiceModel,
    novels: Sequence[Mapping[str, SpeakerLines]],
    number: int,
    name: str,
    fold: int,
    rng: np.random.Generator,
) -> VoiceQuestions:
    said = novels[number][name]
    length = min(len(said), LATEST)
    shown = int(length * SHOWN)
    own = [index for index in range(shown, length) if len(said.traits[index].text) >= LONG_ENOUGH]
    own = sorted(rng.permutation(own)[:OWN].tolist())
    same = _drawn({(number, speaker): speech for speaker, speech in novels[number].items() if speaker != name}, rng)
    foreign = _drawn(
        {(at, speaker): speech for at, novel in enumerate(novels) if at != number for speaker, speech in novel.items()},
        rng,
    )
    left = [
        speech.some([index for index in range(len(speech)) if index not in same.get((number, speaker), ())])
        for speaker, speech in novels[number].items()
        if speaker != name
    ]
    hearing = SpeakerComparison(model, said.some(range(shown)), left)
    parts = [hearing.parts(said.some(own))] if own else []
    for lines in (same, foreign):
        parts += [hearing.parts(novels[at][speaker].some(indices)) for (at, speaker), indices in lines.items()]
    counts = [len(own), sum(map(len, same.values())), sum(map(len, foreign.values()))]
    shares = [1.0 / max(counts[0], 1), 0.5 / max(counts[1], 1), 0.5 / max(counts[2], 1)]
    labels = np.repeat([1.0, 0.0, 0.0], counts)
    return VoiceQuestions(fold, np.concatenate(parts), labels, np.repeat(shares, counts))


def _drawn(
    speakers: Mapping[tuple[int, str], SpeakerLines], rng: np.random.Generator
) -> dict[tuple[int, str], list[int]]:
    """Lines of other speakers, so many in all and at most a few of each."""
    all_lines = [
        (who, index)
        for who, speech in speakers.items()
        for index in range(len(speech))
        if len(speech.traits[index].text) >= LONG_ENOUGH
    ]
    drawn_lines: dict[tuple[int, str], list[int]] = defaultdict(list)
    drawn = 0
    for number in rng.permutation(len(all_lines)).tolist():
        who, index = all_lines[number]
        if len(drawn_lines[who]) < EACH:
            drawn_lines[who].append(index)
            drawn += 1
        if drawn == OTHERS:
            break
    return {who: indices for who, indices in drawn_lines.items() if indices}


def together(questions: Sequence[VoiceQuestions]) -> tuple[Reals, Reals, Reals]:
    if not questions:
        raise InputError(f"the novels have no character with {ASKED_ABOUT} lines to ask about")
    return (
        np.concatenate([some.parts for some in questions]),
        np.concatenate([some.own for some in questions]),
        np.concatenate([some.weights for some in questions]),
    )


def voice_figures(questions: Sequence[VoiceQuestions]) -> dict[str, Any]:
    """AUC and calibration of later lines against others', each fold scored with weights fitted on the other folds."""
    areas, values, labels, counts = [], [], [], []
    for fold in sorted({character.fold for character in questions}):
        others = [character for character in questions if character.fold != fold]
        if not others:
            return {}
        weights = fit_binary(*together(others))
        for character in (character for character in questions if character.fold == fold):
            value = sigmoid(character.parts @ weights[:-1] + weights[-1])
            if 0 < character.own.sum() < len(character.own):
                areas.append(auc(value, character.own > 0))
            values.append(value)
            labels.append(character.own)
            counts.append(character.weights)
    error = calibration_error(np.concatenate(values), np.concatenate(labels), np.concatenate(counts))
    return {
        "what": "later lines of a character among lines of others of the same and of other novels; a third of the "
        "novels left out of everything in turn",
        "auc": round(float(np.mean(areas)), 4),
        "calibration_error": round(error, 4),
        "characters": len(areas),
    }
