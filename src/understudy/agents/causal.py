"""A causal language model fine-tuned on dialogues: it reads the situation and the turns, and writes the reply.

    ln P(reply) = sum over its tokens w_i, its end among them, of ln P(w_i | prompt, w_1 .. w_i-1)
    score(c)    = ln P(c) / number of its tokens
    reply       = the most probable token after the other, up to the end of the reply (greedy)

The prompt is `causal_prompt`'s. Candidates of one question are read behind one copy of their prompt: a mask keeps them
from seeing each other, and each has the positions it would have alone.

    my-model/                          all weights                   or an adapter on a base model
        model.json                     the card                      the card, with source and digest of the base
        model.safetensors, config.json weights                       adapter.safetensors
        tokenizer.json ...             tokenizer                     tokenizer
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy.agents.causal_prompt import DialogueFormat
from understudy.agents.dialogue_context import said_before
from understudy.agents.profile_replies import plainly
from understudy.backends.base_model import find_base
from understudy.backends.causal_lm import PromptedReplies, reply_log_probs, write_greedily
from understudy.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.dialogue import Candidate, Evidence, Reply, Situation, Turn
from understudy.errors import InputError
from understudy.model_folder import ModelFolder, read_card, read_tensors

__all__ = ["ADAPTER", "NAME", "CausalAgent", "load_transformer", "read_window"]

NAME = "causal"
ADAPTER = "adapter.safetensors"
LONGEST = 1024  # tokens that are read, if the model reads as many
REPLY_SHARE = 4  # one of so many tokens of the window is for the reply
MAX_TOKENS = 48  # of a written reply
WRITTEN_TOGETHER = 64

Question = tuple[Situation, Sequence[Turn], Sequence[str]]


class CausalAgent:
    """Writes replies, scores candidates, and gives the log-probabilities of texts."""

    def __init__(self, model: Path, device: str = "auto") -> None:
        self.card: dict[str, Any] = read_card(model, NAME)
        if "speakers" not in self.card:
            raise InputError(
                "has learnt a character's lines, not dialogues: use it with 'understudy score --metrics uppl --model', "
                "or train one that answers with 'understudy train causal --data DIR'",
                model,
            )
        self._model = load_transformer(model, self.card, device)
        window = read_window(self._model)
        self._format = DialogueFormat(self._model.tokenizer, window)
        self._prompt_room = window - window // REPLY_SHARE

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        return self.log_probs_many([(situation, history, [text])])[0][0]

    def log_probs_many(self, questions: Sequence[Question]) -> list[list[list[float]]]:
        return reply_log_probs(self._model, [self._tokenized(*question) for question in questions])

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        """The mean log-probability of a candidate's tokens, its end among them.

        Each candidate is read alone, so that no digit of its score depends on the others.
        """
        return [_mean(self.log_probs(situation, history, text)) for text in candidates]

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """The scores of many questions: to the last few digits those of `score`, and much faster."""
        return [[_mean(values) for values in texts] for texts in self.log_probs_many(questions)]

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return self.reply_many([(situation, history)])[0]

    def reply_many(self, questions: Sequence[tuple[Situation, Sequence[Turn]]]) -> list[Reply]:
        prompts = [self._format.prompt(situation, history, self._prompt_room) for situation, history in questions]
        order = sorted(range(len(questions)), key=lambda index: len(prompts[index]))
        replies: dict[int, Reply] = {}
        for first in range(0, len(order), WRITTEN_TOGETHER):
            rows = order[first : first + WRITTEN_TOGETHER]
            most = min(MAX_TOKENS, self._format.window - self._prompt_room)
            written = write_greedily(self._model, [prompts[row] for row in rows], self._format.end, most)
            for row, (ids, log_probs) in zip(rows, written):
                replies[row] = self._reply(*questions[row], len(prompts[row]), ids, log_probs)
        return [replies[index] for index in range(len(questions))]

    def _reply(
        self, situation: Situation, history: Sequence[Turn], prompt: int, ids: list[int], log_probs: list[float]
    ) -> Reply:
        written = self._format.text(ids)
        text = written.partition("\n")[0].strip()  # what follows a line end is another turn
        if not text:
            return plainly(situation, said_before(situation.persona, history))
        notice = Evidence("notice", f"written by a causal language model from a prompt of {prompt:,} tokens")
        candidate = Candidate(text, _mean(log_probs), source="writer")
        return Reply(text, (candidate,), (notice,), log_probs=tuple(log_probs) if text == written else None)

    def _tokenized(self, situation: Situation, history: Sequence[Turn], texts: Sequence[str]) -> PromptedReplies:
        prompt = self._format.prompt(situation, history, self._prompt_room)
        room = self._format.window - len(prompt)
        return PromptedReplies(prompt, [self._format.reply(text)[:room] for text in texts])


def load_transformer(folder: Path, card: dict[str, Any], device: str = "auto") -> Transformer:
    """The model of a folder; an adapter is added to the weights of its base."""
    if not (folder / ADAPTER).is_file():
        model = open_transformer(folder, device)
    else:
        from understudy.backends.lora import merge_adapters

        base = card.get("base")
        model = open_transformer(find_base(base if isinstance(base, dict) else {}, folder), device, folder)
        scale = ModelFolder(card, {}, folder).number("settings", "scale", low=0)
        merge_adapters(model.network, read_tensors(folder / ADAPTER)[0], scale)
    if model.kind != CAUSAL:
        raise InputError(f"is a {model.kind} model, where a causal one belongs", folder)
    return model


def read_window(model: Transformer) -> int:
    """How many tokens a model reads at once."""
    windows = (
        LONGEST,
        getattr(model.network.config, "max_position_embeddings", None),
        model.tokenizer.model_max_length,
    )
    return int(min(window for window in windows if window))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
