"""Who says that they have what they no longer have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from understudy.people.continuity import Fault
from understudy.people.continuity.belongings import Thing

Find = Callable[..., list[Fault]]
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
