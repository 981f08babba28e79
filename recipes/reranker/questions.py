"""A question of the reranker's training, and those that chats put: which of these replies comes next?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from understudy.training.dialogues import ProfiledDialogue

__all__ = ["CANDIDATES", "ChatQuestions", "NextReply", "QuestionSource"]

CANDIDATES = 8
TURNS = (1, 2, 3, 5, 8)
NEAR = 2  # replies of the same dialogue among the wrong ones
TOLD = 0.5  # share of questions with the profile of whoever answers
PROFILE = (2, 4, 5)  # sentences of it
NAMES = "Anna Tom Mary John Lucy Peter Kate Paul Emma Jack Rose Sam Alice Henry Clara Frank Nora Will Ruth Ben".split()


@dataclass(frozen=True, slots=True)
class NextReply:
    """Who answers, what they are and where, what was said, and the replies to choose from: the first is right."""

    name: str
    about: str
    setting: str
    turns: tuple[tuple[str, str], ...]
    replies: tuple[str, ...]

    @property
    def repeated(self) -> list[bool]:
        """Which of the others say the same as the right one."""
        right = self.replies[0].strip().lower()
        return [index > 0 and reply.strip().lower() == right for index, reply in enumerate(self.replies)]


class QuestionSource(Protocol):
    """Questions that are drawn anew each time: other turns, other wrong replies."""

    def __len__(self) -> int: ...
    def draw(self, index: int, rng: Random) -> NextReply: ...


class ChatQuestions:
    """What comes next in chats of two people, who get names; sometimes with the profile of whoever answers."""

    def __init__(self, dialogues: Sequence[ProfiledDialogue]) -> None:
        self._dialogues = dialogues
        self._places = [
            (number, index) for number, dialogue in enumerate(dialogues) for index in range(1, len(dialogue.turns))
        ]
        self._said = [text for dialogue in dialogues for _, text in dialogue.turns]

    def __len__(self) -> int:
        return len(self._places)

    def draw(self, index: int, rng: Random) -> NextReply:
        number, position = self._places[index]
        dialogue = self._dialogues[number]
        names = rng.sample(NAMES, 2)
        who, right = dialogue.turns[position]
        before = dialogue.turns[max(0, position - rng.choice(TURNS)) : position]
        profile = list(dialogue.profiles[who])
        rng.shuffle(profile)
        about = " ".join(profile[: rng.choice(PROFILE)]) if rng.random() < TOLD else ""
        rest = [text for place, (_, text) in enumerate(dialogue.turns) if abs(place - position) > 1]
        wrong = [rng.choice(rest or self._said) for _ in range(NEAR)]
        wrong += rng.choices(self._said, k=CANDIDATES - 1 - NEAR)
        turns = tuple((names[speaker], text) for speaker, text in before)
        return NextReply(names[who], about, "", turns, (right, *wrong))
