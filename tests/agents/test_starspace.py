from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import tiny_model
from people import hearing, situation
from understudy.agents.bag_ranker import BagRanker, unit
from understudy.agents.starspace import Starspace
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Starspace:
    return Starspace(tiny_model("starspace", tmp_path_factory.mktemp("models") / "starspace"))


def test_the_score_is_the_cosine_with_message_and_profile(agent: Starspace) -> None:
    given = situation(profile=("My harbour.", "The pilot."))
    of = agent.vectors.of
    query = of("where is the key") + 0.5 * (of("my harbour") + of("the pilot"))
    expected = unit(query) @ unit(of("the key of the pilot"))
    assert agent.score(given, hearing("Where is the key?"), ["The key of the pilot."]) == pytest.approx([expected])


def test_only_the_last_turn_is_the_message(agent: Starspace) -> None:
    given = situation()
    long = agent.score(given, hearing("The boat!", "Where is the key?"), ["the boat", "the key"])
    assert long == agent.score(given, hearing("Where is the key?"), ["the boat", "the key"])
    assert long[1] > long[0]


def test_own_their_both_or_no_profile(agent: Starspace) -> None:
    candidates = ["harbour pilot", "brass boat"]

    def scores(own: tuple[str, ...], theirs: tuple[str, ...]) -> list[float]:
        given = Situation(Persona("Tomas", profile=own), faced=Other("Ines", theirs))
        return agent.score(given, hearing("Where is the key?"), candidates)

    none = scores((), ())
    assert agent.score(Situation(Persona("Tomas")), hearing("Where is the key?"), candidates) == none
    own, theirs, both = (
        scores(("Harbour pilot.",), ()),
        scores((), ("Brass boat.",)),
        scores(("Harbour pilot.",), ("Brass boat.",)),
    )
    assert own[0] > none[0] and theirs[1] > none[1]
    assert none[0] < both[0] < own[0] and none[1] < both[1] < theirs[1]


def test_with_nothing_to_go_by_all_are_equal(agent: Starspace) -> None:
    assert agent.score(situation(), [], ["the key", "the boat", ""]) == [0, 0, 0]


def test_many_questions_score_as_one_by_one(agent: Starspace) -> None:
    given = situation(profile=("Harbour pilot.",))
    questions = [(given, hearing(text), ("the key", "a boat")) for text in ("Where is the key?", "Boat!")]
    assert agent.score_many(questions) == [agent.score(*question) for question in questions]


def test_it_answers_with_its_own_lines_and_says_why(agent: Starspace) -> None:
    given = situation(
        ("Ines", "Well?", "The key is in my pocket."), ("Ines", "Now?", "A boat."), profile=("Brass key.",)
    )
    reply = agent.reply(given, hearing("Where is the key?"))
    assert reply.text == "The key is in my pocket."
    assert [candidate.text for candidate in reply.candidates] == ["The key is in my pocket.", "A boat."]
    assert reply.candidates[0].moment is not None
    assert [evidence.kind for evidence in reply.evidence] == ["exchange", "memory", "profile"]
    assert reply.evidence[0].text == "Ines: Well?"
    assert reply.evidence[2].text == "Brass key. (attention 1.00)"


def test_what_was_said_is_not_said_again(agent: Starspace) -> None:
    given = situation(("Ines", "Well?", "The key is in my pocket."), profile=("I have a brass key.",))
    history = [*hearing("Where is the key?"), Turn("Tomas", "The key is in my pocket."), *hearing("Where is the key?")]
    assert agent.reply(given, history).text == "I have a brass key."


def test_a_long_past_is_scored_in_blocks(agent: Starspace, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [("Ines", "So?", f"Word{number}.") for number in range(20)]
    given = situation(*lines, ("Ines", "So?", "The brass key."))
    monkeypatch.setattr("understudy.agents.bag_ranker.BLOCK", 4)
    assert agent.reply(given, hearing("Where is the key?")).text == "The brass key."


def test_the_card_says_what_it_was_trained_on(agent: BagRanker) -> None:
    assert (agent.card["agent"], agent.card["trained_on"]) == ("starspace", "original")
    assert np.isfinite(agent.balance)


def test_a_folder_or_its_name_will_do(tmp_path: Path) -> None:
    assert Starspace(tiny_model("starspace", tmp_path / "model")).turns == 1
