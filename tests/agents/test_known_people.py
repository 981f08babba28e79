from __future__ import annotations

from understudy.agents.dialogue_context import KnownPeople, uncontradicted
from understudy.agents.direct_answers import direct_answers
from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.judging.guards.contradiction import against_ties
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import Moment, Relation

OULD = Other("Casimir Ould", aliases=("the Prior", "Prior"))


def tie(to: str, kind: str, level: int | None, since: int) -> Relation:
    return Relation("Zita", to, kind, level, Moment((since,)))


def zita(*ties: Relation, faced: Other | None = None) -> Situation:
    persona = Persona("Zita", relations=ties)
    return Situation(persona, faced=faced, acquaintances=(OULD, Other("Pia Lenk", aliases=("Sparrow",))))


def test_somebody_faced_under_another_name_is_the_one_who_is_known() -> None:
    trusted = tie("Casimir Ould", "affection", 8, 1)
    situation = zita(trusted, faced=Other("the Prior", profile=("the Prior is a man.",)))
    known = KnownPeople.of(situation)
    assert [other.name for other in known.people] == ["Casimir Ould", "Pia Lenk"]
    assert known.is_same("the Prior", "Casimir Ould") and not known.is_same("the Prior", "Pia Lenk")
    assert known.ties(situation, "the Prior") == [trusted]
    assert "the Prior is a man." in known.people[0].profile


def test_a_name_that_two_people_share_joins_nobody() -> None:
    sparrows = (Other("Zita Karst", aliases=("Sparrow",)), Other("Pia Lenk", aliases=("Sparrow",)))
    situation = Situation(Persona("Magda"), faced=Other("Sparrow"), acquaintances=sparrows)
    known = KnownPeople.of(situation)
    assert {other.name for other in known.people} == {"Zita Karst", "Pia Lenk", "Sparrow"}
    assert known.name_of("Sparrow") == "Sparrow"


def test_the_newest_tie_holds() -> None:
    friend, hated = tie("Casimir Ould", "friend", None, 1), tie("Casimir Ould", "affection", -7, 2)
    family, known = tie("Casimir Ould", "spouse", None, 1), tie("Casimir Ould", "familiarity", 9, 1)
    assert uncontradicted([friend, hated, family, known]) == [hated, family, known]
    loved = tie("Casimir Ould", "affection", 7, 3)
    assert uncontradicted([friend, loved]) == [friend, loved]


def test_a_tie_that_a_newer_one_contradicts_neither_answers_nor_stops_a_reply() -> None:
    friend, hated = tie("Casimir Ould", "friend", None, 1), tie("the Prior", "affection", -7, 2)
    situation, ask = zita(friend, hated), "Is the Prior your friend?"
    history = (Turn("Pia Lenk", ask),)
    answers = [draft.text for draft in direct_answers(situation, ask)]
    assert answers and all(text.startswith("No.") for text in answers)
    recalled, _ = OldLines(EncoderAgent(cache=False)).drafts(situation, history)
    assert not any("is my friend" in draft.text for draft in recalled)
    assert against_ties(situation, history, Draft("No. I cannot stand him.", "writer")).passed
    assert not against_ties(situation, history, Draft("Yes, he is my friend.", "writer")).passed


def test_who_is_loved_may_have_lied() -> None:
    situation = zita(tie("Casimir Ould", "affection", 8, 1))
    history = (Turn("Pia Lenk", "Do you trust the Prior?"),)
    reply = Draft("Not yet. He gave me my father's stool, and he lied to me about a boat.", "writer")
    assert against_ties(situation, history, reply).passed
    assert not against_ties(situation, history, Draft("No. I hate him.", "writer")).passed
