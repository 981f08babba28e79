"""What the reranker reads, token by token: the one format for training and for running.

    Harry: Vernon is family. I am not fond of Vernon. I am 11.     ties to the one faced and the own profile
    The Dursleys are at breakfast.                                 the setting

    Vernon: Where is the post?                                     the turns
    Harry:                                                         here the reply begins: a space, its text, a line end

Of ties and profile the first 64 tokens are read, of a turn the last 128, of a reply the first 48. Turns come first: the
newest that fit, with 96 tokens left for a setting if there is one; then the setting has what room is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from understudy.agents.profile_replies import ties_to_faced
from understudy.dialogue import Situation, Turn
from understudy.errors import InputError
from understudy.wording import tie_sentence

__all__ = ["RerankerFormat", "about_persona"]

PROMPT_TOKENS = 288
ABOUT_TOKENS, TURN_TOKENS, REPLY_TOKENS = 64, 128, 48
SETTING_TOKENS = 96  # that turns leave to a setting
FEWEST = 16  # tokens of a setting, and half as many of the newest turn, whatever there is room for
CACHED = 1 << 16  # texts whose tokens are remembered

Ids = list[int]


def about_persona(situation: Situation) -> str:
    """Ties to the one faced and the profile, in one line."""
    persona = situation.persona
    ties = (tie_sentence(tie, persona.language) for tie in ties_to_faced(situation))
    return " ".join((*ties, *persona.profile))


class RerankerFormat:
    """Prompts and replies as the token ids of one tokenizer."""

    def __init__(self, tokenizer: Any, window: int | None = None) -> None:
        """`window` is how many tokens the model reads at once; prompts and replies are shorter in a small one."""
        share = 1.0 if window is None else min(1.0, window / (PROMPT_TOKENS + REPLY_TOKENS + 2))
        self._prompt_tokens, self._reply_tokens = int(PROMPT_TOKENS * share), max(int(REPLY_TOKENS * share), 1)
        self._ids = lru_cache(CACHED)(
            lambda text: tuple(tokenizer(text, add_special_tokens=False)["input_ids"])  # of texts as they come
        )
        ends = [*self._ids("\n"), tokenizer.eos_token_id]
        first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if first is None or ends[0] is None:
            raise InputError("the model's tokenizer has no token for the beginning or the end: choose another model")
        self._first, self._line_end = int(first), int(ends[0])

    def prompt(self, situation: Situation, history: Sequence[Turn]) -> Ids:
        name = " ".join(situation.persona.name.split())
        turns = [(" ".join(turn.speaker.split()), turn.text) for turn in history]
        return self.put_together(name, about_persona(situation), situation.setting, turns)

    def put_together(self, name: str, about: str, setting: str, turns: Sequence[tuple[str, str]]) -> Ids:
        """The prompt of whoever answers; turns are pairs of speaker and text."""
        label = self._ids(f"{name}:")
        room = max(self._prompt_tokens - len(label) - 2, FEWEST // 2)
        said: list[Ids] = []
        for speaker, text in reversed(turns):
            turn = [*self._ids(f"{speaker}: "), *self._ids(text)[-TURN_TOKENS:], self._line_end]
            if said and len(turn) > room - (SETTING_TOKENS if setting else 0):
                break
            said.insert(0, turn[-max(room, FEWEST // 2) :])
            room -= len(said[0])
        before: Ids = []
        if about:
            before += [*self._ids(f"{name}: {about}")[:ABOUT_TOKENS], self._line_end]
        if setting:
            before += [*self._ids(setting)[: max(room, FEWEST)], self._line_end]
        if before:
            before = [*before, self._line_end][: max(room, 0)]
        return [self._first, *before, *(token for turn in said for token in turn), *label]

    def reply(self, text: str) -> Ids:
        return [*self._ids(f" {text}")[: self._reply_tokens], self._line_end]
