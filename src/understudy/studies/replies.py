"""What agents reply to the questions of a study, asked for when its items are made.

Replies are written down as they come, in a file beside the study's: a run that was stopped goes on, and items made
again are the same. A reply belongs to its agent, the model behind it, the story and everything it was given.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence

from understudy.agents.passages import plain_line
from understudy.database.record_log import RecordLog
from understudy.errors import AgentError
from understudy.people.draft import story_fingerprint
from understudy.story.dialogue import Agent
from understudy.story.storyfile import Story
from understudy.studies.material import load_agents
from understudy.studies.questions import OWN, AskedQuestion
from understudy.studies.study import Study

__all__ = ["FILE", "AgentReplies"]

FILE = "study-replies.jsonl"


class AgentReplies:
    """Replies by agent and question; an agent is loaded when it is first asked for one."""

    def __init__(self, study: Study, story: Story | None) -> None:
        self._story, self._seed = story, study.seed
        self._fingerprint = "" if story is None else story_fingerprint(story)
        self._agents: dict[str, Agent] = {}
        self._log = RecordLog(study.folder / FILE)

    def reply(self, name: str, question: AskedQuestion) -> str | None:
        """What an agent says, or the story itself; None where it has nothing for this question."""
        if name == OWN:
            return question.own
        if name in question.proposed:
            return question.proposed[name]
        if name not in self._agents:
            self._agents |= load_agents([name], self._story)
        key = self._key(name, question)
        if key not in self._log.records:
            text = plain_line(self._agents[name].reply(question.situation, question.history).text)
            if not text:
                raise AgentError(f"'{name}' gave a blank reply to {question.name}: leave it out, or ask again")
            self._log.add([{"key": key, "agent": name, "question": question.name, "text": text}])
        return str(self._log.records[key]["text"])

    def different(self, names: Sequence[str], question: AskedQuestion) -> list[tuple[str, list[str]]]:
        """Each different reply of some agents, with all who gave it, in an order drawn for the question."""
        speakers: dict[str, list[str]] = {}
        for name in names:
            if (text := self.reply(name, question)) is not None:
                speakers.setdefault(text, []).append(name)
        order = random.Random(f"{self._seed} {question.name}").sample(sorted(speakers), len(speakers))  # noqa: S311
        return [(text, speakers[text]) for text in order]

    def _key(self, name: str, question: AskedQuestion) -> str:
        situation = question.situation
        persona, faced = situation.persona, situation.faced
        card = getattr(self._agents[name], "card", None)
        given = [
            name, card, self._fingerprint, persona.name, persona.moment.dotted, persona.profile, situation.setting,
            faced and (faced.name, faced.profile), [(turn.speaker, turn.text) for turn in question.history],
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(given, default=str).encode()).hexdigest()[:24]
