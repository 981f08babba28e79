"""Who speaks while dead, or after leaving."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from understudy.people.continuity import Fault
from understudy.people.continuity.detectors import Thing

Find = Callable[..., list[Fault]]
DIED = '[[fact]]\nwho = "Odo Fenn"\nattribute = "died"\nvalue = "of a fever"\nfrom = "1.2"\n'
BOTH = "Present: Ines Vale, Odo Fenn\n"


def test_the_dead_do_not_speak(find: Find) -> None:
    scene = f"{BOTH}INES: Well?\nODO: I feel better."
    (fault,) = find(scene, scene, facts=DIED)
    assert (fault.kind, fault.who, fault.line.moment.dotted) == ("dead", "Odo Fenn", "1.2.2")
    assert fault.confidence > 0.9 and fault.sources[0].dotted == "1.2"


def test_who_was_dead_until_a_moment_lives_again(find: Find) -> None:
    scene = f"{BOTH}INES: Well?\nODO: I feel better."
    assert not find("Present: Ines Vale\nINES: Alone.", f"{BOTH}INES: Odo?", scene, facts=DIED + 'until = "1.3"\n')


@pytest.mark.parametrize("direction", ["Odo dies.", "He dies.", "Dies."])
def test_a_direction_tells_of_a_death(find: Find, direction: str) -> None:
    faults = find(f"{BOTH}ODO: Farewell.\n[{direction}]\nINES: Oh!", f"{BOTH}INES: Alas.\nODO: What is it?")
    assert [(fault.kind, fault.who) for fault in faults] == [("dead", "Odo Fenn")]


def test_who_speaks_on_and_on_was_not_dead(find: Find) -> None:
    assert not find(f"{BOTH}ODO: Bang.\n[Odo dies.]\n" + "INES: Up!\nODO: No.\n" * 6)


LEFT = "Present: Ines Vale, Tobias Rook, Mara Quill\nMARA: Good night.\n[Mara leaves.]\n"


def test_who_has_left_does_not_speak(find: Find) -> None:
    (fault,) = find(f"{LEFT}INES: So.\nTOBIAS: So.\nINES: Is she gone?\nMARA: And another thing.")
    assert (fault.kind, fault.who, fault.line.moment.dotted) == ("absent", "Mara Quill", "1.1.6")
    assert [source.dotted for source in fault.sources] == ["1.1.2"]


@pytest.mark.parametrize(
    "rest",
    [
        "INES: So.\nMARA: And another thing.",  # a direction that stands before the last words
        "INES: So.\nTOBIAS: So.\nMARA: (from outside) And another thing.",
        "INES: So.\nTOBIAS: So.\n[Mara comes back.]\nMARA: And another thing.",
        "INES: So.\nTOBIAS: So.\n[The door opens again.]\nMARA: And another thing.",
    ],
)
def test_who_comes_back_or_is_heard_from_elsewhere_may_speak(find: Find, rest: str) -> None:
    assert not find(LEFT + rest)


def test_leaving_something_is_not_leaving(find: Find) -> None:
    scene = LEFT.replace("Mara leaves.", "Mara leaves a letter on the table.")
    assert not find(f"{scene}INES: So.\nTOBIAS: So.\nINES: What?\nMARA: Read it.")


# Who meets somebody for the second time as if for the first.


TALK = "INES: A cold day.\nTOBIAS: Very.\nINES: And long.\nTOBIAS: Too long."
TWO = "Present: Ines Vale, Tobias Rook\n"


@pytest.mark.parametrize(
    ("line", "is_fault"),
    [
        ("Nice to meet you.", True),
        ("Pleased to finally meet you!", True),
        ("I don't believe we've met.", True),
        ("How do you do? I am Ines.", True),
        ("Hello, I'm Ines.", True),
        ("And you are?", True),
        ("Nice to meet you again.", False),
        ("I'm tired.", False),
        ("I'm Odo's friend.", False),
    ],
)
def test_a_second_first_meeting(find: Find, line: str, is_fault: bool) -> None:
    faults = find(TWO + TALK, f"{TWO}INES: {line}\nTOBIAS: What?")
    assert [fault.kind for fault in faults if fault.confidence >= 0.5] == ["met"] * is_fault
    assert not find(f"{TWO}INES: {line}\nTOBIAS: What?\n{TALK}")


def test_somebody_new_who_is_there_may_be_greeted(find: Find) -> None:
    assert not find(TWO + TALK, "Present: Ines Vale, Tobias Rook, Odo Fenn\nINES: Nice to meet you.\nODO: Likewise.")


def test_a_talk_on_the_telephone_is_no_meeting(find: Find) -> None:
    phone = TALK.replace("A cold", "(on the phone) A cold")
    assert not find(TWO + phone, f"{TWO}INES: Nice to meet you at last.\nTOBIAS: Yes.")


def test_who_has_taken_another_name_introduces_themselves_again(find: Find) -> None:
    mask = '[[fact]]\nwho = "Ines Vale"\nattribute = "goes by"\nvalue = "Anna Berg"\nfrom = "1.2"\n'
    assert not find(TWO + TALK, f"{TWO}INES: Pleased to meet you.\nTOBIAS: Charmed.", facts=mask)


# Who says that they have what they no longer have.


KEY = """
[[fact]]
who = "Ines Vale"
attribute = "belongings"
value = ["the brass key of the harbour", "a lamp"]
from = "1.1"

[[fact]]
who = "Ines Vale"
attribute = "belongings"
value = ["a lamp"]
from = "1.2"

[[fact]]
who = "Tobias Rook"
attribute = "belongings"
value = ["the brass key"]
from = "1.2"
"""
QUAY = "Present: Ines Vale, Tobias Rook\n"


@pytest.mark.parametrize(
    ("line", "is_fault"),
    [
        ("I have the brass key here.", True),
        ("I've got the key.", True),
        ("Here is the brass key, Tobias.", True),
        ("I have a lamp.", False),
        ("I have the iron key.", False),
        ("You have the brass key.", False),
        ("I have no brass key.", False),
        ("My brass key is gone.", False),
        ("I wish I have the brass key one day.", False),
    ],
)
def test_a_thing_that_a_fact_takes_away(find: Find, line: str, is_fault: bool) -> None:
    faults = find(f"{QUAY}INES: {line}\nTOBIAS: Hm.", f"{QUAY}INES: {line}\nTOBIAS: Hm.", facts=KEY)
    assert [fault.line.moment.dotted for fault in faults] == (["1.2.1"] if is_fault else [])
    if is_fault:
        assert faults[0].kind == "gone" and "Tobias Rook has it" in faults[0].reason
        assert [source.dotted for source in faults[0].sources] == ["1.1", "1.2"]


def test_a_thing_that_is_handed_on_and_comes_back(find: Find) -> None:
    given = f"{QUAY}INES: Take it.\n[Ines hands Tobias the copper kettle.]\nTOBIAS: Thank you."
    claim = f"{QUAY}INES: I have the copper kettle.\nTOBIAS: Do you?"
    back = f"{QUAY}INES: Well?\n[Ines takes the copper kettle.]\nTOBIAS: Yours."
    assert [fault.kind for fault in find(given, claim)] == ["gone"]
    assert not find(given, back, claim)
    assert not find(claim, given)


def test_things_are_told_apart_by_their_adjectives() -> None:
    brass, key = Thing.named("the brass key of the harbour"), Thing.named("keys")
    assert brass == Thing("key", frozenset({"brass"})) and key == Thing("key", frozenset())
    assert brass.matches(key) and not brass.matches(Thing("key", frozenset({"iron"})))
    assert Thing.named("the") is None
