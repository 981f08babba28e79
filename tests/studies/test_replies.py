"""Agents' replies are asked for once, whatever comes in between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from understudy.errors import AgentError
from understudy.story.dialogue import Reply, Situation, Turn
from understudy.story.persona import Persona
from understudy.studies import replies as module
from understudy.studies.questions import OWN, AskedQuestion
from understudy.studies.replies import AgentReplies
from understudy.studies.study import Study


class Counting:
    """Says how often it was asked; fails on a word."""

    def __init__(self, card: dict[str, str] | None = None) -> None:
        self.asked = 0
        self.card = card

    def reply(self, _: Situation, history: Sequence[Turn]) -> Reply:
        if history[-1].text == "fail":
            raise AgentError("no connection")
        self.asked += 1
        return Reply(f"(coughs) {history[-1].text} once more")


@pytest.fixture
def agents(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counting]:
    known: dict[str, Counting] = {}

    def load(names: Sequence[str], _: object) -> dict[str, Counting]:
        return {name: known.setdefault(name, Counting()) for name in names}

    monkeypatch.setattr(module, "load_agents", load)
    return known


def _question(text: str, own: str | None = None, **proposed: str) -> AskedQuestion:
    return AskedQuestion(f"q {text}", Situation(Persona("Zita")), (Turn("Tom", text),), own, proposed)


def _study(folder: Path) -> Study:
    return Study("likely", "A study", folder=folder)


def test_a_stopped_run_goes_on(tmp_path: Path, agents: dict[str, Counting]) -> None:
    first = AgentReplies(_study(tmp_path), None)
    assert first.reply("a", _question("hello")) == "hello once more"
    with pytest.raises(AgentError, match="no connection"):
        first.reply("a", _question("fail"))
    again = AgentReplies(_study(tmp_path), None)
    assert again.reply("a", _question("hello")) == "hello once more"
    assert agents["a"].asked == 1


def test_another_question_agent_or_model_is_asked(tmp_path: Path, agents: dict[str, Counting]) -> None:
    replies = AgentReplies(_study(tmp_path), None)
    for name, text in (("a", "hello"), ("b", "hello"), ("a", "goodbye")):
        replies.reply(name, _question(text))
    assert (agents["a"].asked, agents["b"].asked) == (2, 1)
    agents["a"].card = {"trained": "anew"}
    replies.reply("a", _question("hello"))
    assert agents["a"].asked == 3


def test_what_is_known_already_needs_no_agent(tmp_path: Path, agents: dict[str, Counting]) -> None:
    replies = AgentReplies(_study(tmp_path), None)
    asked = _question("hello", "As I said.", a="Proposed.")
    assert replies.reply("a", asked) == "Proposed."
    assert replies.reply(OWN, asked) == "As I said."
    assert replies.reply(OWN, _question("hello")) is None
    assert agents == {}


def test_equal_replies_are_one_with_all_who_gave_it(tmp_path: Path, agents: dict[str, Counting]) -> None:
    replies = AgentReplies(_study(tmp_path), None)
    found = replies.different(["a", "b", "c", OWN], _question("hello", "Go.", c="Stay."))
    assert sorted(found) == [("Go.", [OWN]), ("Stay.", ["c"]), ("hello once more", ["a", "b"])]
    assert set(agents) == {"a", "b"}
