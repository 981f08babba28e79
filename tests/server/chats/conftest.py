"""Events of a chat's stream, and an agent that records what it was given."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from understudy.server.context import AppContext
from understudy.story.dialogue import Candidate, Evidence, Reply, Situation, Turn

Events = list[tuple[str, Any]]


def events_of(response: httpx.Response) -> Events:
    """(name, data) of every event of a stream."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    events: Events = []
    for block in response.text.split("\n\n"):
        if block:
            name, data = block.split("\n")
            events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


class Remembering:
    """Replies with how much it has heard, records what it was given, and considers three replies."""

    def __init__(self) -> None:
        self.heard: list[tuple[Situation, tuple[Turn, ...]]] = []

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.heard.append((situation, tuple(history)))
        own = sum(turn.speaker == situation.persona.name for turn in history)
        texts = [f"{situation.persona.name} has heard {len(history)} things and said {own}.", "Second best.", "Third."]
        moment = situation.persona.moment
        return Reply(
            texts[0],
            tuple(Candidate(text, 1 - number / 10, moment) for number, text in enumerate(texts)),
            (Evidence("exchange", "Tobias Rook: Was it?", moment), Evidence("memory", "The quay.", moment)),
        )


@pytest.fixture
def remembering(make_context: Callable[..., AppContext]) -> tuple[Remembering, AppContext]:
    agent = Remembering()
    return agent, make_context(agent)
