from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from understudy.dialogue import Candidate, Evidence, Reply, Score, Situation, Turn
from understudy.judging import FilteredAgent, Rule
from understudy.persona import Persona

INES = Situation(Persona("Ines"))


class Offering:
    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        candidates = tuple(Candidate(text, 1.0 / place) for place, text in enumerate(self._texts, 1))
        return Reply(self._texts[0], candidates, (Evidence("script", self._texts[0]),))


def length(_: Situation) -> Mapping[str, Callable[[Sequence[str]], list[Score]]]:
    return {
        "length": lambda texts: [Score("length", None if "?" in text else len(text), "a question") for text in texts]
    }


SHORT = [Rule("length", False, 8)]


def test_the_best_that_passes_is_said_and_what_was_kept_back_is_told() -> None:
    reply = FilteredAgent(Offering("far too long a reply", "short", "tiny"), SHORT, length).reply(INES, ())
    assert reply.text == "short" and [one.text for one in reply.candidates] == ["short", "tiny"]
    assert [one.kind for one in reply.evidence] == ["notice"] and "1 of 3" in reply.evidence[0].text


def test_a_reply_that_passes_is_left_as_it_is() -> None:
    agent = Offering("short")
    assert FilteredAgent(agent, SHORT, length).reply(INES, ()) == agent.reply(INES, ())


def test_what_cannot_be_judged_does_not_pass() -> None:
    assert FilteredAgent(Offering("Who?", "short"), SHORT, length).reply(INES, ()).text == "short"


def test_where_nothing_passes_something_harmless_that_does_is_said() -> None:
    reply = FilteredAgent(Offering("far too long a reply"), [Rule("length", False, 20)], length).reply(INES, ())
    assert reply.text == "far too long a reply"
    reply = FilteredAgent(Offering("far too long a reply"), [Rule("length", False, 15)], length).reply(INES, ())
    assert len(reply.text) <= 15 and reply.evidence[0].kind == "bank"
    reply = FilteredAgent(Offering("far too long a reply"), [Rule("length", False, 1)], length).reply(INES, ())
    assert reply.text == "..."
