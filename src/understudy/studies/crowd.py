"""A crowd of made-up participants, to try a study before people are paid for it.

They go the way of real ones: each has a link, agrees, is given items and answers them, until nothing is left for them.
Their answers are the kind's `simulate` at a given skill, and stand in a database of their own, never beside people's.
In a chat nobody is kept waiting, and agents say what made-up people say.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from understudy.dialogue import Reply, Situation, Turn
from understudy.progress import Progress, ignore_progress
from understudy.studies.chatting import ChatView, chat_view, owed_reply, reply_as_agent, say
from understudy.studies.item import Item
from understudy.studies.kinds import kind_of
from understudy.studies.participation import give_answer, give_consent, view
from understudy.studies.store import StudyStore
from understudy.studies.study import Study

__all__ = ["simulate_crowd"]

SAID = ("Hello, how are you?", "That sounds nice.", "What do you do all day?", "I have never tried.", "Tell me more.")
DELAYS = ("arrives_s", "writes_s")
MOST_WAITS = 50
"""Times that a made-up person looks for a partner's message in vain before they leave: nobody else is there."""


def simulate_crowd(
    store: StudyStore,
    name: str,
    study: Study,
    items: Sequence[Item],
    people: int,
    skill: float,
    progress: Progress = ignore_progress,
) -> None:
    """Open the study in an empty store and let `people` of one skill answer it."""
    store.add_study(name, study, [_without_delays(item) for item in items])
    tokens = store.invite(name, people)
    for token in tokens:
        give_consent(store, token, dict.fromkeys(study.ask, "made up"))
    crowd = [_MadeUp(store, study, token, skill, f"{study.seed} {number}") for number, token in enumerate(tokens)]
    left = list(crowd)
    while left:  # in turns, since those of a chat wait for each other
        left = [person for person in left if person.step()]
        progress("People", people - len(left), people)


def _without_delays(item: Item) -> Item:
    return replace(item, hidden={key: [0, 0] if key in DELAYS else value for key, value in item.hidden.items()})


class _MadeUp:
    """One made-up participant, and the agents it talks with."""

    def __init__(self, store: StudyStore, study: Study, token: str, skill: float, seed: str) -> None:
        self._store, self._token, self._skill = store, token, skill
        self._kind = kind_of(study.kind)
        self._rng = random.Random(seed)  # noqa: S311
        self._waits = 0

    def step(self) -> bool:
        """Do one thing; False where nothing is left to do."""
        shown = view(self._store, self._token)
        if shown.state == "chat":
            return self._talk()
        if shown.item is None or shown.assignment is None:
            return False
        simulate = _to_check if shown.item.is_check else self._kind.simulate
        answer = simulate(shown.item, self._skill, self._rng)
        give_answer(self._store, self._token, shown.assignment, answer, seconds=self._rng.uniform(5, 60))
        return True

    def _talk(self) -> bool:
        chat = chat_view(self._store, self._token)
        if chat.item is None:
            return False
        self._waits += 1
        if chat.turn == "mine":
            said = say(self._store, self._token, self._rng.choice(SAID), f"{chat.item} {len(chat.messages)}")
            self._waits = 0 if isinstance(said, ChatView) else self._waits  # what breaks a rule is not said
        elif owed := owed_reply(self._store, self._token):
            reply_as_agent(self._store, owed[0], self)
        return self._waits < MOST_WAITS

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:  # noqa: ARG002
        """What an agent says that this person talks with."""
        return Reply(self._rng.choice(SAID))


def _to_check(item: Item, skill: float, rng: random.Random) -> dict[str, Any]:
    """The answer to an attention check: as asked, or anything."""
    if item.expected is not None and rng.random() < skill:
        return dict(item.expected)
    return {
        question.name: int(chosen.key) if question.type == "scale" else chosen.key
        for question in item.questions
        for chosen in [rng.choice(question.options)]
    }
