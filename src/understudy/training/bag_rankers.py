"""Trainers of the bag-of-words rankers: Starspace, Profile Memory and Key-Value Profile Memory.

    starspace        q = m + b (sum of the profile's sentences)
    profile-memory   q = m + b (attention over the profile's sentences), `hops` times
    kv-memory        profile-memory's weights; the training dialogues become keys (messages) and values (replies)

m, the sentences and the replies are sums of word vectors (below, with the loss); b is learnt with
them. kv-memory trains nothing; what profile-memory held back, it holds back too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.agents import AGENTS
from understudy.agents.bag_ranker import MAX_TURNS, KeyValueMemory, ProfileMemory, spelled
from understudy.errors import InputError
from understudy.language.lexical import Floats
from understudy.language.model_folder import FORMAT, ModelFolder, Tensors, read_model, texts_as_tensor
from understudy.sources.source import sha256_of
from understudy.text import words
from understudy.training.dialogues import (
    ProfiledDialogue,
    ReplyQuestion,
    dialogues_of,
    held_back,
    questions_of,
    training_file,
)
from understudy.training.evaluation import ranking_figures
from understudy.training.loop import Optimization, Progress
from understudy.training.run import TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor


Query = Callable[["Tensor", "Tensor", "Tensor", "Tensor", int], "Tensor"]
"""A model's formula: message, profile sentences, which of these are padding, balance b, hops."""

STARSPACE_BALANCE = 0.5  # b at the start
MEMORY_BALANCE = 3.0  # over all hops
KV_SHARPNESS = 5.0
KV_GAIN = 0.2  # more than that drowns what the profile says


@dataclass(frozen=True, slots=True)
class BagSettings:
    """What decides a training besides its data and seed.

    Chosen on held-back dialogues of PersonaChat's training split. `turns` is how many turns of the history the message
    is; more brought in more of what is no longer talked about.
    """

    width: int = 512
    turns: int = 1
    hops: int = 1
    epochs: int = 3
    batch: int = 256
    negatives: int = 40
    margin: float = 0.4
    rate: float = 0.003
    held_back: float = 0.05

    def __post_init__(self) -> None:
        check_positive(self, "width", "turns", "hops", "epochs", "batch", "negatives", "margin", "rate")
        check_shares(self, "held_back")

    @property
    def optimization(self) -> Optimization:
        return Optimization(self.epochs, self.batch, self.rate)


def train_starspace(task: TrainingTask[Path, BagSettings], progress: Progress) -> ModelFolder:
    return _train("starspace", _summed_query, STARSPACE_BALANCE, task, progress)


def train_profile_memory(task: TrainingTask[Path, BagSettings], progress: Progress) -> ModelFolder:
    return _train("profile-memory", _attentive_query, MEMORY_BALANCE / task.settings.hops, task, progress)


def _summed_query(message: Tensor, sentences: Tensor, _missing: Tensor, balance: Tensor, _hops: int) -> Tensor:
    return message + balance * sentences.sum(dim=1)


def _attentive_query(message: Tensor, sentences: Tensor, missing: Tensor, balance: Tensor, hops: int) -> Tensor:
    if sentences.shape[1] == 0:
        return message
    for _ in range(hops):
        shares = similarity(message[:, None], sentences).masked_fill(missing, float("-inf")).softmax(dim=1)
        message = message + balance * (shares[:, :, None] * sentences).sum(dim=1)
    return message


def _train(
    agent: str, query: Query, balance: float, task: TrainingTask[Path, BagSettings], progress: Progress
) -> ModelFolder:
    """Train the word vectors, and the balance between message and profile."""
    run = TrainingRun(task, progress)
    settings, condition = task.settings, task.condition
    path = training_file(task.data, task.personas, condition)
    split = held_back(dialogues_of(path), settings.held_back, task.seed)
    questions = list(questions_of(split.training, condition))
    if len(questions) < 2:
        raise InputError(f"has no profiles to show for the condition '{condition}': choose another", path)
    training_words = {word for text in _texts(split.training) for word in words(text)}
    pretrained = None if task.embeddings is None else read_embeddings(task.embeddings, training_words)
    width = settings.width if pretrained is None else len(next(iter(pretrained.values())))
    vocabulary = Vocabulary(_texts(split.training), width, pretrained)
    examples = BagExamples.of(questions, condition, settings.turns, vocabulary)
    source = {"file": path.name, "sha256": sha256_of(path)}
    plan = {
        "agent": agent,
        "trained_on": task.personas,
        "condition": condition,
        "data": source,
        "settings": {**asdict(settings), "width": width},
        "embeddings": None if task.embeddings is None else sha256_of(task.embeddings),
        "seed": task.seed,
        "device": run.device.type,
    }
    run.begin({**plan, "format": FORMAT})

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        import torch

        message, replies, sentences = examples.sums(batch, parameters["vectors"])
        missing = torch.from_numpy(examples.profiles[batch] < 0).to(run.device)
        numbers = torch.from_numpy(examples.replies[batch]).to(run.device)
        return margin_loss(
            query(message, sentences, missing, parameters["balance"], settings.hops),
            replies,
            numbers[:, None] == numbers,
            settings.margin,
            settings.negatives,
        )

    start = {"vectors": vocabulary.rows, "balance": np.array(balance, np.float32)}
    learnt = run.fit(start, loss, len(examples), settings.optimization)
    tensors: Tensors = {**learnt, "words": texts_as_tensor(vocabulary.words)}
    plan["data"] = {**source, "dialogues": len(split.training), "questions": len(questions)}
    figures = ranking_figures(AGENTS[agent](model=ModelFolder(plan, tensors)), split, task.seed)
    return run.write(run.card(data=plan["data"], figures=figures), tensors)


def _texts(dialogues: list[ProfiledDialogue]) -> list[str]:
    """Every text that training sees, once for every time it stands there."""
    profiles = [sentence for dialogue in dialogues for profile in dialogue.profiles for sentence in profile]
    return profiles + [text for dialogue in dialogues for _, text in dialogue.turns]


def train_kv_memory(task: TrainingTask[Path, BagSettings], progress: Progress) -> ModelFolder:
    """Take the weights of the model at `task.origin`; personas, condition and settings are that model's."""
    if task.origin is None:
        raise InputError(
            "kv-memory uses the weights of a profile-memory model: train one with 'understudy train profile-memory', "
            "then name it with --from"
        )
    run = TrainingRun(task, progress, uses_torch=False)
    folder = read_model(task.origin, ProfileMemory.name)
    ProfileMemory(folder)  # raises where the folder is damaged
    personas, condition = str(folder.card.get("trained_on")), str(folder.card.get("condition"))
    path = training_file(task.data, personas, condition)
    seed = folder.integer("seed", low=0, high=2**63 - 1)
    split = held_back(dialogues_of(path), folder.number("settings", "held_back", low=0, high=1), seed)
    turns = folder.integer("settings", "turns", low=0, high=MAX_TURNS)
    pairs = [(question.message(turns), question.reply) for question in questions_of(split.training, "none")]
    pairs = [pair for pair in dict.fromkeys(pairs) if pair[0].strip()]
    tensors: Tensors = {
        **folder.tensors,
        "memory.heard": texts_as_tensor(message for message, _ in pairs),
        "memory.said": texts_as_tensor(reply for _, reply in pairs),
    }
    data = {"file": path.name, "sha256": sha256_of(path), "dialogues": len(split.training), "memories": len(pairs)}
    plan = {
        **folder.card,
        "agent": "kv-memory",
        "data": data,
        "settings": {**folder.card["settings"], "sharpness": KV_SHARPNESS, "gain": KV_GAIN},
        "weights_from": {"agent": ProfileMemory.name, "data": folder.card.get("data")},
    }
    run.begin(plan)
    progress(1, 2, 0.0)
    figures = ranking_figures(KeyValueMemory(ModelFolder(plan, tensors)), split, seed)
    progress(2, 2, 0.0)
    return run.write(run.card(figures=figures), tensors)


# Texts as sums of word vectors, for the bag-of-words rankers: vocabulary, initial vectors, batches and the loss.
#
#     loss = mean over questions of the sum over the k hardest others c' in the batch of
#            max(0, margin - cos(q, c) + cos(q, c'))
#
# A reply that is the same text as the true one is no negative. Initial vectors come from a word's spelling, or from a
# text file as GloVe and word2vec write them.

LONGEST_LINE = 1 << 20
WIDEST = 4096


class Vocabulary:
    """The words of the training texts, with the vectors that training begins with.

    A word's vector is made from its spelling, or is the one given, and its length is
    ln((1 + N) / (1 + n)) / ln(1 + N) for a word in n of N texts.
    """

    def __init__(self, texts: Iterable[str], width: int, pretrained: dict[str, Floats] | None = None) -> None:
        frequencies: Counter[str] = Counter()
        total = 0
        for text in texts:
            frequencies.update(set(words(text)))
            total += 1
        self.words = sorted(frequencies)
        self.index = {word: index for index, word in enumerate(self.words)}
        pretrained_rows = pretrained or {}
        rows = np.stack(
            [pretrained_rows[word] if word in pretrained_rows else spelled(word, width) for word in self.words]
        )
        weights = [math.log((1 + total) / (1 + frequencies[word])) / math.log(1 + total) for word in self.words]
        self.rows: Floats = rows * np.array(weights, np.float32)[:, None]


class Bags:
    """Texts as word ids, all in one array."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        ids = [[vocabulary.index[word] for word in words(text)] for text in texts]
        self._flat = np.array([index for bag in ids for index in bag], np.int64)
        self._sizes = np.array([len(bag) for bag in ids], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def sums(self, chosen: NDArray[np.int64], table: Tensor) -> Tensor:
        """The sum of the vectors of each chosen text; a negative id stands for no text, whose sum is 0."""
        import torch
        from torch.nn.functional import embedding_bag

        sizes = np.where(chosen < 0, 0, self._sizes[chosen])
        offsets = np.cumsum(sizes) - sizes
        positions = np.repeat(self._starts[chosen] - offsets, sizes) + np.arange(sizes.sum())
        flat = torch.from_numpy(self._flat[positions]).to(table.device)
        return embedding_bag(flat, table, torch.from_numpy(offsets).to(table.device), mode="sum")


@dataclass(slots=True)
class BagExamples:
    """Questions as text ids: messages, replies and profile sentences, these padded with -1 to the same number."""

    bags: Bags
    messages: NDArray[np.int64]
    replies: NDArray[np.int64]
    profiles: NDArray[np.int64]

    @classmethod
    def of(cls, questions: Sequence[ReplyQuestion], condition: str, turns: int, vocabulary: Vocabulary) -> BagExamples:
        numbers: dict[str, int] = {}

        def number(text: str) -> int:
            return numbers.setdefault(text, len(numbers))

        messages = np.array([number(question.message(turns)) for question in questions], np.int64)
        replies = np.array([number(question.reply) for question in questions], np.int64)
        shown = [[number(sentence) for sentence in question.shown(condition)] for question in questions]
        profiles = np.full((len(shown), max(map(len, shown), default=0)), -1, np.int64)
        for row, sentences in zip(profiles, shown):
            row[: len(sentences)] = sentences
        return cls(Bags(list(numbers), vocabulary), messages, replies, profiles)

    def __len__(self) -> int:
        return len(self.messages)

    def sums(self, batch: NDArray[np.int64], table: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Messages, replies (questions x width) and profile sentences (questions x sentences x width) of a batch.

        All are summed at once, because every sum of its own would make a gradient the size of the table.
        """
        profiles = self.profiles[batch]
        chosen = np.concatenate([self.messages[batch], self.replies[batch], profiles.ravel()])
        sums, size = self.bags.sums(chosen, table), len(batch)
        return sums[:size], sums[size : 2 * size], sums[2 * size :].view(*profiles.shape, table.shape[1])


def similarity(first: Tensor, second: Tensor) -> Tensor:
    """The cosine along the last axis; 0 where one of the two is 0."""
    from torch.nn.functional import cosine_similarity

    return cosine_similarity(first, second, dim=-1)


def margin_loss(query: Tensor, replies: Tensor, same: Tensor, margin: float, negatives: int) -> Tensor:
    from torch.nn.functional import normalize

    cosines = normalize(query, dim=1) @ normalize(replies, dim=1).T
    short = (margin - cosines.diagonal()[:, None] + cosines).clamp(min=0).masked_fill(same, 0.0)
    return short.topk(min(negatives, len(short)), dim=1).values.sum(dim=1).mean()


def read_embeddings(path: Path, vocabulary: Iterable[str]) -> dict[str, Floats]:
    """The vectors of those words of a vocabulary that the file has, each of length 1."""
    wanted = {word.encode() for word in vocabulary}
    vectors: dict[str, Floats] = {}
    width = 0
    if not path.is_file():
        raise InputError("there is no such file of word vectors", path)
    with path.open("rb", buffering=1 << 20) as file:
        number = 0
        while raw := file.readline(LONGEST_LINE):
            number += 1
            word, _, numbers = raw.rstrip(b"\r\n").partition(b" ")
            if number == 1 and word.isdigit() and numbers.strip().isdigit():
                continue  # word2vec says first how many words there are, and how wide they are
            if not width:
                width = len(numbers.split())
                if not 0 < width <= WIDEST:
                    raise InputError("a word and its numbers, with blanks between, belong in a line", path, number)
            if word in wanted:
                vectors[word.decode()] = _vector(numbers, width, path, number)
    if not vectors:
        raise InputError("has none of the words of the training texts: is it for this language?", path)
    return vectors


def _vector(numbers: bytes, width: int, path: Path, line: int) -> Floats:
    try:
        vector = np.array(numbers.split(), dtype=np.float32)
    except ValueError as error:
        raise InputError("holds something that is not a number", path, line) from error
    if len(vector) != width:
        raise InputError(f"has {len(vector)} numbers, where the first line has {width}", path, line)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length):
        raise InputError("holds a number that is not finite", path, line)
    return vector / np.float32(length) if length > 0 else vector
