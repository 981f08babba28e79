"""The LSTM encoder-decoder of PersonaChat's generative models, as functions of a dict of parameters.

    encoder   h_t = LSTM_enc(x_t, h_t-1)                    x_t is the vector of the input's word t
    decoder   h_0 = the encoder's last h                    the cell starts there too
              h_t = LSTM_dec(x^_t, h_t-1)                   x_t is the vector of the reply's word t-1
              P(word t is j) = softmax over j of w_j h_t + b_j

Without a memory x^_t = x_t. With one, each profile sentence i is an entry f_i, and F has them as rows:

    f_i  = sum over its words j of alpha_j p_ij             p_ij is the word's vector
    a_t  = softmax(F W_a h_t),   c_t = a_t^T F
    x^_t = tanh(W_c [c_t-1, x_t])

`decode` multiplies F with W_a and with c's half of W_c once for all steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from understudy.agents.word_tokens import END, PAD, SPECIAL, START, TokenVocabulary
from understudy.errors import MissingExtra
from understudy.language.backends.transformer import length_batches
from understudy.language.model_folder import ModelFolder, read_model
from understudy.story.dialogue import Candidate, Evidence, Question, Reply, Situation, Turn
from understudy.text import fold

if TYPE_CHECKING:
    from torch import Tensor, device


Parameters = Mapping[str, "Tensor"]
Rows = Sequence[Sequence[int]]

FORGET_BIAS = 1.0


@dataclass(frozen=True, slots=True)
class DecoderState:
    """h and the cell of each row, and its attention over the profile at this step, where there is a memory."""

    hidden: Tensor
    cell: Tensor
    attention: Tensor | None = None


@dataclass(frozen=True, slots=True)
class ProfileEntries:
    """The memories of some rows: F W_a, F times c's half of W_c, and which entries are padding."""

    keys: Tensor
    values: Tensor
    missing: Tensor

    def take(self, rows: Tensor) -> ProfileEntries:
        return ProfileEntries(self.keys[rows], self.values[rows], self.missing[rows])


def parameter_shapes(tokens: int, width: int, hidden: int, *, has_memory: bool) -> dict[str, tuple[int, ...]]:
    """The parameters of a model by name: `width` is that of word vectors."""
    shapes: dict[str, tuple[int, ...]] = {"embedding": (tokens, width)}
    for part in ("encoder", "decoder"):
        shapes |= {f"{part}.input": (4 * hidden, width), f"{part}.hidden": (4 * hidden, hidden)}
        shapes[f"{part}.bias"] = (4 * hidden,)
    shapes |= {"output.weight": (tokens, hidden), "output.bias": (tokens,)}
    if has_memory:
        shapes |= {"attention": (width, hidden), "combine": (width, 2 * width)}
    return shapes


def initial_parameters(shapes: Mapping[str, tuple[int, ...]], hidden: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """Word vectors of variance 1, which W_c preserves; all else within 1 / sqrt(hidden), the forget gates open.

    Of shorter vectors the gates would see little beside their biases; the state would tell nothing of what was read.
    """
    rng = np.random.default_rng(seed)
    start: dict[str, NDArray[np.float32]] = {}
    for name, shape in shapes.items():
        if name == "embedding":
            start[name] = rng.normal(0, 1, shape).astype(np.float32)
        elif name.endswith("bias"):
            start[name] = np.zeros(shape, np.float32)
        else:
            bound = (3 / shape[0]) ** 0.5 if name == "combine" else hidden**-0.5
            start[name] = rng.uniform(-bound, bound, shape).astype(np.float32)
    for part in ("encoder", "decoder"):
        start[f"{part}.bias"][hidden : 2 * hidden] = FORGET_BIAS
    start["embedding"][PAD] = 0
    return start


def padded(rows: Rows, on: device) -> Tensor:
    """Rows of ids, filled up with padding at their ends."""
    import torch

    longest = max(map(len, rows), default=0)
    table = np.full((len(rows), longest), PAD, np.int64)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return torch.from_numpy(table).to(on)


def encode(parameters: Parameters, ids: Tensor, dropout: float = 0.0) -> Tensor:
    """h_t of every position (rows x positions x hidden); padding at the end changes nothing before it."""
    vectors = _vectors(parameters, ids, dropout)
    zero = vectors.new_zeros(len(ids), parameters["encoder.hidden"].shape[1])
    return _lstm(parameters, "encoder", vectors, DecoderState(zero, zero))


def entries_of(parameters: Parameters, weights: Tensor, profiles: Sequence[Rows], on: device) -> ProfileEntries | None:
    """The memories of rows with these profiles, a profile being sentences of ids; None where all are empty.

    `weights` are the alpha of the vocabulary.
    """
    import torch
    from torch.nn.functional import embedding, linear

    most = max(map(len, profiles), default=0)
    if "attention" not in parameters or not most:
        return None
    sentences = padded([ids for profile in profiles for ids in (*profile, *[()] * (most - len(profile)))], on)
    sentences = sentences.view(len(profiles), most, sentences.shape[1])
    shares = torch.where(sentences == PAD, 0.0, weights[sentences])
    entries = (embedding(sentences, parameters["embedding"]) * shares[..., None]).sum(dim=2)
    counts = torch.tensor([len(profile) for profile in profiles], device=on)
    missing = torch.arange(most, device=on) >= counts[:, None]
    width = entries.shape[-1]
    return ProfileEntries(entries @ parameters["attention"], linear(entries, parameters["combine"][:, :width]), missing)


def start_of(hidden: Tensor) -> DecoderState:
    """The decoder's first state from the encoder's last h."""
    return DecoderState(hidden, hidden)


def decode(
    parameters: Parameters, state: DecoderState, entries: ProfileEntries | None, ids: Tensor, dropout: float = 0.0
) -> Tensor:
    """h_t of every position, the words before it given (rows x positions x hidden)."""
    import torch
    from torch.nn.functional import dropout as drop

    vectors = _vectors(parameters, ids, dropout)
    if entries is None:
        states = _lstm(parameters, "decoder", vectors, state)
    else:
        projected = _projected(parameters, vectors)
        steps = []
        for position in range(ids.shape[1]):
            state = _step(parameters, state, entries, vectors[:, position], projected[:, position])
            steps.append(state.hidden)
        states = torch.stack(steps, dim=1)
    return drop(states, dropout, dropout > 0)


def step(parameters: Parameters, state: DecoderState, entries: ProfileEntries | None, ids: Tensor) -> DecoderState:
    """The state after one more word of each row."""
    vectors = _vectors(parameters, ids, 0.0)
    return _step(parameters, state, entries, vectors, vectors if entries is None else _projected(parameters, vectors))


def log_softmax(parameters: Parameters, hidden: Tensor) -> Tensor:
    """The log-probability of each token of the vocabulary as the next."""
    from torch.nn.functional import linear

    return linear(hidden, parameters["output.weight"], parameters["output.bias"]).log_softmax(dim=-1)


def _vectors(parameters: Parameters, ids: Tensor, dropout: float) -> Tensor:
    from torch.nn.functional import dropout as drop
    from torch.nn.functional import embedding

    return drop(embedding(ids, parameters["embedding"]), dropout, dropout > 0)


def _projected(parameters: Parameters, vectors: Tensor) -> Tensor:
    """The words' half of W_c [c, x]."""
    from torch.nn.functional import linear

    return linear(vectors, parameters["combine"][:, vectors.shape[-1] :])


def _step(
    parameters: Parameters, state: DecoderState, entries: ProfileEntries | None, vectors: Tensor, projected: Tensor
) -> DecoderState:
    import torch

    shares = None
    if entries is not None:
        scores = torch.einsum("neh,nh->ne", entries.keys, state.hidden)
        shares = scores.masked_fill(entries.missing, -1e9).softmax(dim=1)
        attended = torch.tanh(torch.einsum("ne,new->nw", shares, entries.values) + projected)
        vectors = torch.where(entries.missing.all(dim=1)[:, None], vectors, attended)
    weights = _weights(parameters, "decoder")
    hidden, cell = torch.lstm_cell(vectors, (state.hidden, state.cell), *weights)
    return DecoderState(hidden, cell, shares)


def _lstm(parameters: Parameters, part: str, vectors: Tensor, state: DecoderState) -> Tensor:
    import torch

    start = (state.hidden[None].contiguous(), state.cell[None].contiguous())
    weights, is_training = list(_weights(parameters, part)), torch.is_grad_enabled()  # cuDNN keeps more to go back
    hidden: Tensor = torch.lstm(vectors, start, weights, True, 1, 0.0, is_training, False, True)[0]
    return hidden


def _weights(parameters: Parameters, part: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As torch wants them: it adds a second bias, which has nothing to add to the first."""
    import torch

    bias = parameters[f"{part}.bias"]
    return parameters[f"{part}.input"], parameters[f"{part}.hidden"], bias, torch.zeros_like(bias)


# What the two LSTM models of PersonaChat share: they write replies word by word, and give a text its probability.
#
#     log_probs   ln P(w_t | context, w_1 .. w_t-1) of each token of a text, then of its end
#     score       mean of the log_probs               the paper ranks by likelihood: their sum
#     reply       the most probable word at each step (greedy), up to the end or 40 tokens
#
# A reply has no `<unk>` and at least one word; words that were not in the vocabulary are `<unk>` in a text whose
# probability is asked (see `word_tokens`). What the model reads of a situation is the own profile and that of the one
# faced, if it has one, and the turns so far.


LONGEST = 512  # tokens of a context
MAX_REPLY = 40  # tokens
MAX_WIDTH, MAX_HIDDEN = 4096, 16_384
BATCH = 256  # contexts encoded, or replies written, at once
LOGITS = 1 << 26  # of a batch: tokens times vocabulary


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What the encoder reads, and the sentences of the memory."""

    context: Sequence[int]
    memory: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """A reply as ids, with their log-probabilities and the mean attention over the memory."""

    ids: list[int]
    log_probs: list[float]
    attention: list[float]


class LSTMAgent(ABC):
    """Writes replies, ranks candidates, and is a language model of replies."""

    name: ClassVar[str]
    has_memory: ClassVar[bool]

    def __init__(self, model: Path | ModelFolder, device: str | None = None) -> None:
        """`model` is a folder that `understudy train` made; `device` is 'cpu' or 'cuda', by default a GPU if any."""
        try:
            import torch
        except ImportError as error:
            raise MissingExtra(f"'{self.name}'", "train") from error
        folder = model if isinstance(model, ModelFolder) else read_model(model, self.name)
        self.card = dict(folder.card)
        self.vocabulary = TokenVocabulary(folder.texts("words"))
        width = folder.integer("settings", "width", low=1, high=MAX_WIDTH)
        hidden = folder.integer("settings", "hidden", low=1, high=MAX_HIDDEN)
        self._on = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        shapes = parameter_shapes(len(self.vocabulary), width, hidden, has_memory=self.has_memory)
        self._parameters = {
            name: torch.from_numpy(np.array(folder.tensor(name, *shape))).to(self._on) for name, shape in shapes.items()
        }
        weights = folder.tensor("memory.weights", len(self.vocabulary)) if self.has_memory else np.zeros(0, np.float32)
        self._weights = torch.from_numpy(np.array(weights)).to(self._on)

    @staticmethod
    @abstractmethod
    def model_input(
        vocabulary: TokenVocabulary, own: Sequence[str], partner: Sequence[str], turns: Sequence[tuple[bool, str]]
    ) -> ModelInput:
        """What the model reads of the profiles and the turns (is it mine?, text)."""

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        """Each candidate by itself: in a batch, the last digits depend on the others."""
        if not candidates:
            return []
        inputs = [self._input(situation, history)]
        states = self._encoded(inputs)
        return [mean_log_prob(self._log_probs(inputs, states, [(0, text)])[0]) for text in candidates]

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        return [[mean_log_prob(values) for values in of_texts] for of_texts in self.log_probs_many(questions)]

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        return self.log_probs_many([(situation, history, [text])])[0][0]

    def log_probs_many(self, questions: Sequence[Question]) -> list[list[list[float]]]:
        inputs = [self._input(situation, history) for situation, history, _ in questions]
        states = self._encoded(inputs)
        asked = [(number, text) for number, (_, _, texts) in enumerate(questions) for text in texts]
        values = iter(self._log_probs(inputs, states, asked))
        return [[next(values) for _ in texts] for _, _, texts in questions]

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return self.reply_many([(situation, history)])[0]

    def reply_many(self, questions: Sequence[tuple[Situation, Sequence[Turn]]]) -> list[Reply]:
        inputs = [self._input(situation, history) for situation, history in questions]
        written = [
            reply for start in range(0, len(inputs), BATCH) for reply in self._write(inputs[start : start + BATCH])
        ]
        return [self._reply(situation, reply) for (situation, _), reply in zip(questions, written)]

    def _input(self, situation: Situation, history: Sequence[Turn]) -> ModelInput:
        own_name = fold(situation.persona.name)
        turns = [(fold(turn.speaker) == own_name, turn.text) for turn in history]
        return self.model_input(self.vocabulary, *_profiles(situation), turns)

    def _encoded(self, inputs: Sequence[ModelInput]) -> Tensor:
        """The encoder's last h of each input."""
        import torch

        states = torch.zeros(len(inputs), self._parameters["encoder.hidden"].shape[1], device=self._on)
        order = sorted(range(len(inputs)), key=lambda index: len(inputs[index].context))
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                ids = padded([inputs[row].context for row in rows], self._on)
                last = torch.tensor([len(inputs[row].context) - 1 for row in rows], device=self._on)
                hidden = encode(self._parameters, ids)
                states[rows] = hidden[torch.arange(len(rows), device=self._on), last]
        return states

    def _entries(self, inputs: Sequence[ModelInput]) -> ProfileEntries | None:
        return entries_of(self._parameters, self._weights, [each.memory for each in inputs], self._on)

    def _log_probs(
        self, inputs: Sequence[ModelInput], states: Tensor, asked: Sequence[tuple[int, str]]
    ) -> list[list[float]]:
        """Those of each (number of its input, text)."""
        import torch

        texts = [self.vocabulary.ids(text) for _, text in asked]
        results: list[list[float]] = [[]] * len(asked)
        with torch.inference_mode():
            room = LOGITS // len(self.vocabulary)
            for rows in length_batches([len(ids) + 1 for ids in texts], lambda count, longest: count * longest <= room):
                numbers = [asked[row][0] for row in rows]
                used = sorted(set(numbers))
                entries = self._entries([inputs[number] for number in used])
                if entries is not None:
                    position = {number: index for index, number in enumerate(used)}
                    entries = entries.take(torch.tensor([position[number] for number in numbers], device=self._on))
                ids = padded([(START, *texts[row]) for row in rows], self._on)
                hidden = decode(self._parameters, start_of(states[numbers]), entries, ids)
                lengths = [len(texts[row]) + 1 for row in rows]
                targets = torch.tensor([index for row in rows for index in (*texts[row], END)], device=self._on)
                sizes = torch.tensor(lengths, device=self._on)
                real = torch.arange(ids.shape[1], device=self._on) < sizes[:, None]
                log_probs = log_softmax(self._parameters, hidden[real])
                values = iter(log_probs.gather(1, targets[:, None])[:, 0].tolist())
                for row, length in zip(rows, lengths):
                    results[row] = list(islice(values, length))
        return results

    def _write(self, inputs: Sequence[ModelInput]) -> Iterator[WrittenReply]:
        """A reply to each of a batch."""
        import torch

        size = len(inputs)
        chosen: list[Tensor] = []
        values: list[Tensor] = []
        shares: list[Tensor] = []
        with torch.inference_mode():
            state: DecoderState = start_of(self._encoded(inputs))
            entries = self._entries(inputs)
            words = torch.full((size,), START, device=self._on)
            is_over = torch.zeros(size, dtype=torch.bool, device=self._on)
            for position in range(MAX_REPLY):
                state = step(self._parameters, state, entries, words)
                log_probs = log_softmax(self._parameters, state.hidden)
                allowed = log_probs.clone()
                allowed[:, [index for index in range(len(SPECIAL)) if index != END or not position]] = -torch.inf
                words = allowed.argmax(dim=1)
                chosen.append(words)
                values.append(log_probs.gather(1, words[:, None])[:, 0])
                if state.attention is not None:
                    shares.append(state.attention)
                is_over |= words == END
                if bool(is_over.all()):
                    break
        ids, log_probs_of = torch.stack(chosen, dim=1).tolist(), torch.stack(values, dim=1).tolist()
        attention = torch.stack(shares, dim=1).tolist() if shares else None
        for row in range(size):
            length = ids[row].index(END) if END in ids[row] else len(ids[row])
            mean = np.mean(attention[row][: length + 1], axis=0).tolist() if attention is not None else []
            yield WrittenReply(ids[row][:length], log_probs_of[row][: length + 1], mean)

    def _reply(self, situation: Situation, written: WrittenReply) -> Reply:
        text = self.vocabulary.text(written.ids)
        candidate = Candidate(text, mean_log_prob(written.log_probs), source="writer")
        evidence = [Evidence("notice", f"written by {self.name}, word by word")]
        sentences = [sentence for profile in _profiles(situation) for sentence in profile]
        if written.attention and sentences:  # the longest look was at this one
            best = int(np.argmax(written.attention[: len(sentences)]))
            evidence.insert(0, Evidence("profile", sentences[best]))
        return Reply(text, (candidate,), tuple(evidence), log_probs=tuple(written.log_probs))


def mean_log_prob(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _profiles(situation: Situation) -> tuple[list[str], list[str]]:
    """The sentences of the own profile and of that of the one faced."""
    faced = () if situation.faced is None else situation.faced.profile
    own, partner = ([text for text in profile if text.strip()] for profile in (situation.persona.profile, faced))
    return own, partner


# Seq2Seq of PersonaChat: an LSTM reads the profile and the talk so far, another writes the reply.
#
#     input      <s> profile sentences, turns           the profile is simply prepended
#     P(reply) = product over t of P(w_t | input, w_1 .. w_t-1)
#
# `lstm` has the network. Without a profile the input is the turns alone.


class Seq2Seq(LSTMAgent):
    name = "seq2seq"
    has_memory = False

    @staticmethod
    def model_input(
        vocabulary: TokenVocabulary, own: Sequence[str], partner: Sequence[str], turns: Sequence[tuple[bool, str]]
    ) -> ModelInput:
        return ModelInput(vocabulary.context(own, partner, turns, LONGEST))


# The Generative Profile Memory network of PersonaChat: the decoder looks at the profile before each word.
#
#     input     <s> turns
#     memory    f_i = sum_j alpha_j p_ij           of each profile sentence, its words' vectors
#     alpha   = 1 / (1 + ln(1 + tf)),   tf = 1e6 / rank^1.07          rank of the word by frequency, from 1
#
# `lstm` has the attention. Trained without profiles there is no memory, and the model is Seq2Seq. A model that was
# trained with profiles was never without a memory: asked without a profile, it has one of a single empty entry, f = 0.


MAX_ENTRIES, LONGEST_ENTRY = 64, 64  # sentences of a profile, words of a sentence


class GenerativeMemory(LSTMAgent):
    name = "generative-memory"
    has_memory = True

    def _input(self, situation: Situation, history: Sequence[Turn]) -> ModelInput:
        read = super()._input(situation, history)
        return read if read.memory or self.card.get("condition") == "none" else replace(read, memory=[()])

    @staticmethod
    def model_input(
        vocabulary: TokenVocabulary, own: Sequence[str], partner: Sequence[str], turns: Sequence[tuple[bool, str]]
    ) -> ModelInput:
        sentences = [vocabulary.ids(sentence)[:LONGEST_ENTRY] for sentence in (*own, *partner)[:MAX_ENTRIES]]
        return ModelInput(vocabulary.context((), (), turns, LONGEST), sentences)


def rarity_weights(ranks: NDArray[np.int64]) -> NDArray[np.float32]:
    """alpha of words by their ranks."""
    frequencies = 1e6 / ranks.astype(np.float64) ** 1.07
    return (1 / (1 + np.log1p(frequencies))).astype(np.float32)
