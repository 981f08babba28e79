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

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from understudy.agents.dialogue_context import said_before
from understudy.agents.plain_replies import plainly
from understudy.errors import InputError
from understudy.language.backends.causal_lm import PromptedReplies, find_base, reply_log_probs, write_greedily
from understudy.language.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.language.model_folder import ModelFolder, read_card, read_tensors
from understudy.story.dialogue import Candidate, Evidence, Question, Reply, Situation, Turn
from understudy.story.wording import tie_sentence

NAME = "causal"
ADAPTER = "adapter.safetensors"
LONGEST = 1024  # tokens that are read, if the model reads as many
REPLY_SHARE = 4  # one of so many tokens of the window is for the reply
MAX_TOKENS = 48  # of a written reply
WRITTEN_TOGETHER = 64


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
        from understudy.language.backends.lora import merge_adapters

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


# What a causal language model reads of a dialogue, token by token: the one format for training and for running.
#
#   The Dursleys are at breakfast.                          the setting
#   About Harry: I am 11. I have black hair.                the profile of whoever answers
#   Harry is not fond of Vernon.                            their ties to those who are there
#   About Vernon: Vernon is very fat.                       what they know of those who are there
#
#   Vernon says: Where is the post?<end>                    the turns
#   Harry says:                                             here the reply begins: a space, its text, <end>
#
# A line that has nothing to say is left out. The text of a turn stands as it was written, on one line. Where all is
# too long, the context keeps half of the room, from its beginning, and the turns the rest, from their end. People who
# are only numbered (PersonaChat's 'Person 12A') go by their letter.

END = "<|im_end|>"
NUMBERED = re.compile(r"Person \d+([AB])")
CACHED = 1 << 16  # texts whose tokens are remembered

Ids = list[int]


class TokenizedDialogue(NamedTuple):
    """A dialogue as token ids, and the positions of those that are learnt."""

    ids: Ids
    learnt: list[int]


def speaker_label(name: str) -> str:
    """What a speaker is called in a prompt."""
    numbered = NUMBERED.fullmatch(name)
    return numbered[1] if numbered else " ".join(name.split())


def context_lines(situation: Situation) -> list[list[str]]:
    """What stands before the turns: lines of pieces, each of which can be left out from the end."""
    persona = situation.persona
    others = {other.name: other for other in situation.listeners}
    ties = [tie_sentence(tie, persona.language) for tie in persona.relations if tie.to in others]
    lines = [
        [_line(situation.setting)],
        _about(persona.name, persona.profile),
        [f" {_line(sentence)}" if index else _line(sentence) for index, sentence in enumerate(ties)],
        *(_about(other.name, other.profile) for other in others.values()),
    ]
    return [line for line in lines if any(line)]


def prompt_text(situation: Situation, history: Sequence[Turn]) -> str:
    """The prompt as text, with nothing left out."""
    context = "".join("".join(line) + "\n" for line in context_lines(situation))
    turns = "".join(f"{_says(turn.speaker)} {_line(turn.text)}<end>\n" for turn in history)
    return f"{context}\n{turns}{_says(situation.persona.name)}" if context else turns + _says(situation.persona.name)


class DialogueFormat:
    """Prompts, replies and whole dialogues as tokens of a model, of at most `window` tokens with their reply."""

    def __init__(self, tokenizer: Any, window: int) -> None:
        self.window = window
        self.end = _end_token(tokenizer)
        self._tokenizer = tokenizer
        control = sorted({*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, control))) if control else None
        self._ids = lru_cache(CACHED)(self._tokenize)

    def prompt(self, situation: Situation, history: Sequence[Turn], room: int) -> Ids:
        """The prompt for a reply by the situation's persona, in at most `room` tokens."""
        last = self._join([_says(situation.persona.name)])[:room]
        context = self._context(situation, (room - len(last)) // 2)
        left = room - len(last) - len(context)
        turns: Ids = []
        for turn in reversed(history):
            ids = self._turn(turn)[0]
            if not turns:
                ids = ids[-left:] if left > 0 else []
            if len(ids) + len(turns) > left:
                break
            turns = ids + turns
        return context + turns + last

    def reply(self, text: str) -> Ids:
        """A reply as tokens, its end among them."""
        said = _line(text)
        return [*(self._ids(f" {said}") if said else ()), self.end]

    def text(self, ids: Sequence[int]) -> str:
        """The text of a reply's tokens."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text.strip()

    def windows(self, situation: Situation, turns: Sequence[Turn]) -> Iterator[tuple[int, int, int]]:
        """A dialogue in parts that fit the window: from which turn it is read, which is the first new one, and the end.

        A part repeats as many of the turns before it as take half of its room.
        """
        sizes = [len(self._turn(turn)[0]) for turn in turns]
        room = self.window - len(self._context(situation, self.window // 2))
        first = 0
        while first < len(turns):
            start, stop = first, first + 1
            while start and sum(sizes[start - 1 : first]) <= room // 2:
                start -= 1
            while stop < len(turns) and sum(sizes[start : stop + 1]) <= room:
                stop += 1
            yield start, first, stop
            first = stop

    def dialogue(self, situation: Situation, turns: Sequence[Turn], learnt: Collection[int]) -> TokenizedDialogue:
        """A dialogue of which some turns are learnt; up to each of these it reads as the prompt of a reply does."""
        ids, positions = self._context(situation, self.window // 2), list[int]()
        for index, turn in enumerate(turns):
            turn_ids, label = self._turn(turn)
            if index in learnt:
                positions += range(len(ids) + label, len(ids) + len(turn_ids) - len(self._ids("\n")))
            ids += turn_ids
        positions = [position for position in positions if position < self.window]
        return TokenizedDialogue(ids[: positions[-1] + 1] if positions else [], positions)

    def _context(self, situation: Situation, room: int) -> Ids:
        ids: Ids = []
        line_end = self._ids("\n")
        for line in context_lines(situation):
            pieces = list[int]()
            for piece in line:
                if len(ids) + len(pieces) + len(self._ids(piece)) + 2 * len(line_end) > room:
                    break
                pieces += self._ids(piece)
            if not pieces:
                break
            ids += [*pieces, *line_end]
        return [*ids, *line_end] if ids else []

    def _turn(self, turn: Turn) -> tuple[Ids, int]:
        """The tokens of a turn, and how many of them say who speaks."""
        label = self._ids(_says(turn.speaker))
        return [*label, *self.reply(turn.text), *self._ids("\n")], len(label)

    def _join(self, pieces: Iterable[str]) -> Ids:
        return [token for piece in pieces for token in self._ids(piece)]

    def _tokenize(self, text: str) -> tuple[int, ...]:
        text = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be encoded
        if self._control is not None:  # what somebody says must not end a turn or begin another
            text = self._control.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _about(name: str, profile: Sequence[str]) -> list[str]:
    return [f"About {speaker_label(name)}:", *(f" {_line(sentence)}" for sentence in profile)] if profile else []


def _says(name: str) -> str:
    return f"{speaker_label(name)} says:"


def _line(text: str) -> str:
    return " ".join(text.splitlines()).strip()


def _end_token(tokenizer: Any) -> int:
    """The token that ends a reply: ChatML's where the tokenizer has it, whatever it takes for the end of a text."""
    ids: Ids = tokenizer(END, add_special_tokens=False)["input_ids"]
    if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
        return ids[0]
    end = next((token for token in (tokenizer.eos_token_id, tokenizer.sep_token_id) if token is not None), None)
    if end is None:
        raise InputError("the model's tokenizer has no token for the end of a text: choose another model")
    return int(end)
