"""An agent with a fixed list of replies, for tests of programs that talk to an agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from understudy.errors import AgentError
from understudy.story.dialogue import Candidate, Evidence, Reply, Situation, Turn

__all__ = ["Scripted"]

NUMBERED = tuple(f"Line {number}." for number in range(1, 101))


class Scripted:
    """Gives the n-th of its replies where the character has spoken n - 1 times in the history.

    It holds no state: the history says which reply is due, so one instance serves any number of chats.
    """

    def __init__(self, replies: Iterable[str] = NUMBERED) -> None:
        self.replies = tuple(replies)
        for number, reply in enumerate(self.replies, 1):
            if not reply.strip():
                raise AgentError(f"scripted reply {number} is blank: give every reply some text")

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        number = _spoken(situation, history)
        if number >= len(self.replies):
            raise AgentError(
                f"the script has {len(self.replies)} replies, and {situation.persona.name} has spoken {number} times: "
                f"give Scripted at least {number + 1} replies, or a shorter history"
            )
        text = self.replies[number]
        evidence = Evidence("script", f"reply {number + 1} of {len(self.replies)}")
        return Reply(text, (Candidate(text, 1.0),), (evidence,))

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        """1 for the reply that comes next in the script, 0 for any other."""
        number = _spoken(situation, history)
        due = self.replies[number] if number < len(self.replies) else None
        return [float(candidate == due) for candidate in candidates]


def _spoken(situation: Situation, history: Sequence[Turn]) -> int:
    return sum(turn.speaker == situation.persona.name for turn in history)
