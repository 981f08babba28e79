"""BERT over BERT as an agent: writes a reply token by token, and says how probable a text is as one.

    score(c) = (1 / |c|) sum over t of ln p(c_t | c<t, context, persona)

over the word pieces of the candidate and its end; p is the consistency decoder's, or the response decoder's if that is
asked for. Texts are lower-cased and split at punctuation first, as the base's tokenizer does. It reads English.

    my-bob/
        model.json            the card: what it was trained on, input, sizes, figures
        weights.safetensors   half precision
        tokenizer.json
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.agents.bob_network import CONSISTENCY, DECODERS, RESPONSE, AttentionMemory, BertOverBert, padded
from understudy.agents.fit import build_context
from understudy.errors import InputError
from understudy.language.backends.transformer import length_batches
from understudy.language.encoding import Context, SequenceFormat, Sequencer
from understudy.language.encoding.encoder import read_tokenizer
from understudy.language.model_folder import ModelFolder, Tensors, atomic_folder, read_model, write_card, write_tensors
from understudy.story.dialogue import Candidate, Evidence, Question, Reply, Situation, Turn

if TYPE_CHECKING:
    from torch import Tensor


NAME = "bob"
TOKENIZER, WEIGHTS = "tokenizer.json", "weights.safetensors"
REPLY_TOKENS = 64
TEXT_TOKENS = 256  # of a text whose probability is asked for
BATCH_TOKENS = {"cpu": 1024, "cuda": 16_384}
BATCH_QUESTIONS = {"cpu": 16, "cuda": 128}

ScoredTexts = list[list[list[float]]]
"""For each question, for each of its texts, the log-probability of each token."""


def write_bob(folder: Path, card: dict[str, Any], tensors: Tensors, tokenizer: Path) -> ModelFolder:
    """Write a model folder; weights are stored in half precision."""
    halved = {name: np.asarray(tensor, np.float16) for name, tensor in tensors.items()}
    with atomic_folder(folder) as partial:
        (partial / TOKENIZER).write_bytes(tokenizer.read_bytes())
        write_tensors(partial / WEIGHTS, halved)
        write_card(partial, card)
    return ModelFolder(card, halved, folder)


class BobAgent:
    """Writes replies with a trained BERT over BERT; ranks by likelihood."""

    def __init__(self, model: Path, beams: int = 1, decoder: str = CONSISTENCY, device: str = "cpu") -> None:
        """`decoder` is 'consistency' (the model as it is meant) or 'response' (its first half alone)."""
        import torch

        folder = read_model(model, NAME)
        if decoder not in DECODERS:
            raise InputError(f"there is no decoder '{decoder}': choose from {', '.join(DECODERS)}")
        if not (model / TOKENIZER).is_file():
            raise folder.error(f"it has no {TOKENIZER}")
        self.card = dict(folder.card)
        self._device, self._decoder, self._beams = torch.device(device), decoder, beams
        parameters = {
            name: torch.from_numpy(np.array(tensor, np.float32)).to(self._device)
            for name, tensor in folder.tensors.items()
        }
        layers, heads = (folder.integer("network", name, low=1, high=1024) for name in ("layers", "heads"))
        self._network = BertOverBert(parameters, layers, heads, folder.number("network", "epsilon", low=0, high=1))
        words = folder.integer("network", "words", low=1, high=10_000_000)
        input_kind = str(self.card.get("input"))
        self._sequencer = DialogueSequencer(read_sequence_format(folder, words), model / TOKENIZER, words, input_kind)
        try:
            log_probs = self._log_probs([Context()], [""], [0])[0]
        except (KeyError, RuntimeError) as error:  # a tensor that is missing, or of another shape
            raise folder.error(f"its weights are not those of such a network ({error})") from error
        if not np.isfinite(log_probs).all():
            raise folder.error("its weights hold numbers that are not finite")

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return self.reply_many([(situation, history)])[0]

    def reply_many(self, questions: Sequence[tuple[Situation, Sequence[Turn]]]) -> list[Reply]:
        """A reply to each question, written side by side."""
        contexts = [conditioned_context(situation, history) for situation, history in questions]
        size = BATCH_QUESTIONS[self._device.type]
        return [
            self._written(reply)
            for start in range(0, len(contexts), size)
            for reply in self._search(contexts[start : start + size])
        ]

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        # one by one: in a batch the last digits depend on the others
        context = [conditioned_context(situation, history)]
        values = self._log_probs(context, candidates, [0] * len(candidates), batch_tokens=1)
        return [_mean(own) for own in values]

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        return [[_mean(values) for values in texts] for texts in self.log_probs_many(questions)]

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        return self._log_probs([conditioned_context(situation, history)], [text], [0])[0]

    def log_probs_many(self, questions: Sequence[Question]) -> ScoredTexts:
        """For each question, for each of its texts, what `log_probs` gives to about five digits."""
        results: ScoredTexts = []
        size = BATCH_QUESTIONS[self._device.type]
        for start in range(0, len(questions), size):
            batch = questions[start : start + size]
            contexts = [conditioned_context(situation, history) for situation, history, _ in batch]
            owners = [index for index, (_, _, texts) in enumerate(batch) for _ in texts]
            values = iter(self._log_probs(contexts, [text for _, _, texts in batch for text in texts], owners))
            results += [[next(values) for _ in texts] for _, _, texts in batch]
        return results

    def _log_probs(
        self, contexts: Sequence[Context], texts: Sequence[str], owners: Sequence[int], batch_tokens: int | None = None
    ) -> list[list[float]]:
        """Log-probabilities of texts, each in the context that its owner is the number of."""
        import torch

        sequences = self._sequencer.replies(texts, TEXT_TOKENS)
        results: list[list[float]] = [[] for _ in texts]
        with torch.inference_mode():
            context, persona = self._memories(contexts)
            room = batch_tokens or BATCH_TOKENS[self._device.type]
            lengths = [len(sequence) for sequence in sequences]
            for rows in length_batches(lengths, lambda count, longest: count * longest <= room):
                replies = padded([sequences[row] for row in rows], self._device)
                index = torch.tensor([owners[row] for row in rows], device=self._device)
                inputs, targets, predicting = replies.predictions()
                states = self._states(inputs, context.rows(index), persona.rows(index))
                logits = self._network.logits(self._decoder, states.flatten(0, 1)[predicting])
                values = logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(dim=1)
                remaining = iter(values.tolist())
                for row in rows:
                    results[row] = [next(remaining) for _ in sequences[row][1:]]
        return results

    def _search(self, contexts: Sequence[Context]) -> list[Hypothesis]:
        import torch

        with torch.inference_mode():
            context, persona = self._memories(contexts)

            def next_log_probs(beginnings: Sequence[Sequence[int]], questions: Sequence[int]) -> Tensor:
                index = torch.tensor(questions, device=self._device)
                ids = torch.tensor(beginnings, device=self._device)
                states = self._states(ids, context.rows(index), persona.rows(index))
                return self._network.logits(self._decoder, states[:, -1]).log_softmax(dim=-1)

            sequencer = self._sequencer
            return beam_search(
                next_log_probs, len(contexts), sequencer.first, sequencer.last, sequencer.unspeakable, self._beams,
                REPLY_TOKENS,
            )  # fmt: skip

    def _memories(self, contexts: Sequence[Context]) -> tuple[AttentionMemory, AttentionMemory]:
        read = padded(self._sequencer.contexts(contexts), self._device)
        personas = padded(self._sequencer.personas(contexts), self._device)
        return self._network.encode(read), self._network.persona(personas)

    def _states(self, replies: Tensor, context: AttentionMemory, persona: AttentionMemory) -> Tensor:
        response = self._network.response(replies, context)
        return response if self._decoder == RESPONSE else self._network.consistency(replies, persona, response)

    def _written(self, reply: Hypothesis) -> Reply:
        text = self._sequencer.text([token for token in reply.tokens if token != self._sequencer.last])
        evidence = Evidence("notice", f"written by {NAME}'s {self._decoder} decoder")
        return Reply(text, (Candidate(text, reply.score, source="writer"),), (evidence,), log_probs=reply.log_probs)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


# Beam search over next-token probabilities, for many questions at once.
#
#   score(y) = (1 / |y|) sum over t of ln p(y_t | y<t)
#
# Of every question the `beams` best unfinished beginnings are extended; one beam is greedy decoding. No reply repeats
# a run of `NO_REPEAT` tokens, and none is shorter than `SHORTEST`. Equal scores go to the lower token id, so the same
# probabilities always give the same reply.

NO_REPEAT = 3
SHORTEST = 2

NextLogProbs = Callable[[Sequence[Sequence[int]], Sequence[int]], "Tensor"]
"""From beginnings of one length and the question of each to the log-probability of each word to come next."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A reply or its beginning: the tokens after the first, and the log-probability of each."""

    question: int
    tokens: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()

    @property
    def score(self) -> float:
        return sum(self.log_probs) / max(len(self.log_probs), 1)

    def extended(self, token: int, log_prob: float) -> Hypothesis:
        return Hypothesis(self.question, (*self.tokens, token), (*self.log_probs, log_prob))


def beam_search(
    next_log_probs: NextLogProbs,
    questions: int,
    first: int,
    last: int,
    unspeakable: Sequence[int],
    beams: int = 1,
    longest: int = 64,
) -> list[Hypothesis]:
    """The best reply to each question; its last token is `last`, unless it reached the `longest` number of tokens."""
    finished: list[list[Hypothesis]] = [[] for _ in range(questions)]
    live = [Hypothesis(question) for question in range(questions)]
    for length in range(1, longest + 1):
        log_probs = next_log_probs([[first, *reply.tokens] for reply in live], [reply.question for reply in live])
        log_probs[:, list(unspeakable)] = -float("inf")
        if length <= SHORTEST:
            log_probs[:, last] = -float("inf")
        repeating = [(row, token) for row, reply in enumerate(live) for token in _repeating(reply.tokens)]
        if repeating:  # in one assignment: on a GPU each costs a transfer
            log_probs[[row for row, _ in repeating], [token for _, token in repeating]] = -float("inf")
        extended: list[list[Hypothesis]] = [[] for _ in range(questions)]
        best = log_probs.topk(min(2 * beams, log_probs.shape[1]))
        for reply, values, tokens in zip(live, best.values.tolist(), best.indices.tolist()):
            extended[reply.question] += [reply.extended(*option) for option in zip(tokens, values)]
        live = []
        for question, options in enumerate(extended):
            options.sort(key=lambda option: (-sum(option.log_probs), option.tokens))
            if length == longest:
                finished[question] += options[:beams]
                continue
            finished[question] += [option for option in options[:beams] if option.tokens[-1] == last]
            if len(finished[question]) < beams:
                live += [option for option in options if option.tokens[-1] != last][:beams]
        if not live:
            break
    return [min(replies, key=lambda reply: (-reply.score, reply.tokens)) for replies in finished]


def _repeating(tokens: tuple[int, ...]) -> list[int]:
    """Tokens that would end a run that stands in the reply already."""
    if len(tokens) < NO_REPEAT:
        return []
    begun = tokens[len(tokens) - NO_REPEAT + 1 :]
    return [
        tokens[start + NO_REPEAT - 1]
        for start in range(len(tokens) - NO_REPEAT + 1)
        if tokens[start : start + NO_REPEAT - 1] == begun
    ]


# What BERT over BERT reads and writes: contexts, personas and replies as token ids, and token ids as text.
#
#     context   [CLS] query (own sentence)* (their sentence)* (they said | I said)* [SEP]     at most 128 tokens
#     persona   [CLS] query (own sentence)* (their sentence)* [SEP]                           at most 64
#     reply     [CLS] tokens [SEP]                                                            at most 64 in training
#
# A context that is too long loses its oldest turns, a persona its last sentences; ties to the one faced come first, so
# that they are never lost. With the input `ori` only what was said is read, with `per` the persona too.


ORI, PER = "ori", "per"
INPUTS = (ORI, PER)
CONTEXT_TOKENS, PERSONA_TOKENS = 128, 64
MARKERS = ("said", "heard", "own", "theirs", "query")
MAX_REPLY_CHARACTERS = 20_000

SPECIAL = re.compile(r"\[.+\]")
CONTINUED = re.compile(r" ##")
CLOSED_UP = re.compile(r" ([.,!?;:)\]}%…])|([(\[{$]) ")
APOSTROPHE = re.compile(r"(\w) ' (s|t|m|d|ll|re|ve|em|all)\b")
HYPHEN = re.compile(r"(\w) - (\w)")
SENTENCE = re.compile(r"(?:^|(?<=[.!?…] ))[a-z]")
PRONOUN = re.compile(r"\bi\b")


def conditioned_context(situation: Situation, history: Sequence[Turn]) -> Context:
    """Ties to the one faced and the profile, the profile of the one faced, and what was said."""
    return build_context(situation, history, ties_first=True)


def read_sequence_format(model: ModelFolder, words: int) -> SequenceFormat:
    """The special tokens that a card names."""

    def token(*names: str) -> int:
        return model.integer("sequences", *names, low=0, high=words - 1)

    return SequenceFormat(token("first"), token("last"), {role: token("markers", role) for role in MARKERS})


class DialogueSequencer:
    """Token ids of contexts, personas and replies for the input `ori` or `per`; replies from token ids."""

    def __init__(self, sequence_format: SequenceFormat, tokenizer: Path, words: int, input_kind: str) -> None:
        if input_kind not in INPUTS:
            raise InputError(f"there is no input '{input_kind}': choose from {', '.join(INPUTS)}")
        self.first, self.last = sequence_format.first, sequence_format.last
        self._input_kind = input_kind
        self._tokenizer = read_tokenizer(tokenizer)
        self._contexts, self._personas = (
            Sequencer(
                SequenceFormat(self.first, self.last, sequence_format.markers, {"query": longest}), self._tokenize
            )
            for longest in (CONTEXT_TOKENS, PERSONA_TOKENS)
        )
        written = (self._tokenizer.id_to_token(index) for index in range(words))
        self.unspeakable = tuple(
            index
            for index, word in enumerate(written)
            if index != self.last and (word is None or SPECIAL.fullmatch(word))
        )
        """Special tokens and markers, which no reply has."""

    def contexts(self, contexts: Sequence[Context]) -> list[list[int]]:
        return self._contexts.contexts([self._shown(context) for context in contexts])

    def personas(self, contexts: Sequence[Context]) -> list[list[int]]:
        """The personas of contexts."""
        shown = (self._shown(context) for context in contexts)
        return self._personas.contexts([Context(context.own, context.theirs) for context in shown])

    def premises(self, sentences: Sequence[str]) -> list[list[int]]:
        """Sentences in the place of a persona, whatever the input is."""
        return self._personas.contexts([Context((sentence,)) for sentence in sentences])

    def replies(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        tokenized = self._tokenize([text[:MAX_REPLY_CHARACTERS] for text in texts])
        return [[self.first, *ids[: longest - 2], self.last] for ids in tokenized]

    def text(self, ids: Sequence[int]) -> str:
        """A reply to be read: word pieces joined, punctuation closed up, sentences and 'I' capitalised."""
        pieces = " ".join(self._tokenizer.id_to_token(index) or "" for index in ids)
        joined = CLOSED_UP.sub(r"\1\2", HYPHEN.sub(r"\1-\2", APOSTROPHE.sub(r"\1'\2", CONTINUED.sub("", pieces))))
        capitalised = PRONOUN.sub("I", SENTENCE.sub(lambda match: match[0].upper(), joined.removeprefix("##")))
        return capitalised.strip()

    def _shown(self, context: Context) -> Context:
        return context if self._input_kind == PER else Context(turns=context.turns)

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
