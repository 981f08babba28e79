"""Who meets somebody for the second time as if for the first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from understudy.people.continuity import Fault

Find = Callable[..., list[Fault]]
TALK = "INES: A cold day.\nTOBIAS: Very.\nINES: And long.\nTOBIAS: Too long."
BOTH = "Present: Ines Vale, Tobias Rook\n"


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
    faults = find(BOTH + TALK, f"{BOTH}INES: {line}\nTOBIAS: What?")
    assert [fault.kind for fault in faults if fault.confidence >= 0.5] == ["met"] * is_fault
    assert not find(f"{BOTH}INES: {line}\nTOBIAS: What?\n{TALK}")


def test_somebody_new_who_is_there_may_be_greeted(find: Find) -> None:
    assert not find(BOTH + TALK, "Present: Ines Vale, Tobias Rook, Odo Fenn\nINES: Nice to meet you.\nODO: Likewise.")


def test_a_talk_on_the_telephone_is_no_meeting(find: Find) -> None:
    phone = TALK.replace("A cold", "(on the phone) A cold")
    assert not find(BOTH + phone, f"{BOTH}INES: Nice to meet you at last.\nTOBIAS: Yes.")


def test_who_has_taken_another_name_introduces_themselves_again(find: Find) -> None:
    mask = '[[fact]]\nwho = "Ines Vale"\nattribute = "goes by"\nvalue = "Anna Berg"\nfrom = "1.2"\n'
    assert not find(BOTH + TALK, f"{BOTH}INES: Pleased to meet you.\nTOBIAS: Charmed.", facts=mask)
