from __future__ import annotations

import pytest

from people import hearing, situation
from understudy.agents import Scripted
from understudy.errors import AgentError
from understudy.story.dialogue import Turn


def test_replies_come_in_order_by_how_often_the_character_has_spoken() -> None:
    agent = Scripted(["First.", "Second."])
    before = [*hearing("Well?"), Turn("Tomas", "Anything."), *hearing("And?")]
    assert agent.reply(situation(), hearing("Well?")).text == "First."
    assert agent.reply(situation(), before).text == "Second."
    assert agent.reply(situation(), hearing("Well?")).text == "First."


def test_evidence_is_the_place_in_the_script() -> None:
    [evidence] = Scripted(["First.", "Second."]).reply(situation(), []).evidence
    assert (evidence.kind, evidence.text) == ("script", "reply 1 of 2")


def test_running_out_says_what_to_do() -> None:
    with pytest.raises(AgentError, match="give Scripted at least 2 replies"):
        Scripted(["First."]).reply(situation(), [Turn("Tomas", "First.")])


def test_a_blank_reply_is_refused() -> None:
    with pytest.raises(AgentError, match="scripted reply 2 is blank"):
        Scripted(["First.", " "])


def test_the_reply_that_comes_next_scores_one() -> None:
    agent = Scripted(["First.", "Second."])
    assert agent.score(situation(), [], ["Second.", "First."]) == [0.0, 1.0]
    assert agent.score(situation(), [Turn("Tomas", "")] * 2, ["Second.", "First."]) == [0.0, 0.0]
