"""Who speaks while dead, or after leaving."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from understudy.people.continuity import Fault

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
