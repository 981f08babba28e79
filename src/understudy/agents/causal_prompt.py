"""What a causal language model reads of a dialogue, token by token: the one format for training and for running.

    The Dursleys are at breakfast.                          the setting
    About Harry: I am 11. I have black hair.                the profile of whoever answers
    Harry is not fond of Vernon.                            their ties to those who are there
    About Vernon: Vernon is very fat.                       what they know of those who are there

    Vernon says: Where is the post?<end>                    the turns
    Harry says:                                             here the reply begins: a space, its text, <end>

A line that has nothing to say is left out. The text of a turn stands as it was written, on one line. Where all is too
long, the context keeps half of the room, from its beginning, and the turns the rest, from their end. People who are
only numbered (PersonaChat's 'Person 12A') go by their letter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from understudy.dialogue import Situation, Turn
from understudy.errors import InputError
from understudy.wording import tie_sentence

__all__ = ["DialogueFormat", "TokenizedDialogue", "context_lines", "prompt_text", "speaker_label"]

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
    others = {other.name: other for other in (*((situation.faced,) if situation.faced else ()), *situation.present)}
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
