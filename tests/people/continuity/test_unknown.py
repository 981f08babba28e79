"""Who names what was only brought up where they were not; and who may."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from understudy.people.continuity import Fault

Find = Callable[..., list[Fault]]
TOLD = """Present: Ines Vale, Tobias Rook
INES: They say the boat came from old Varrenholm at night.
TOBIAS: From Varrenholm?"""
ASKED = "Present: Mara Quill, Odo Fenn\nODO: Good evening.\nMARA: Nobody sails from Varrenholm in winter."
FILLER = 12


def test_a_name_that_was_brought_up_elsewhere_is_not_known(find: Find) -> None:
    (fault,) = find(TOLD, ASKED, filler=FILLER)
    assert (fault.kind, fault.who, fault.about) == ("unknown", "Mara Quill", "Varrenholm")
    assert fault.line.moment.dotted == "1.14.2" and [source.dotted for source in fault.sources] == ["1.13.1", "1.13.2"]
    assert fault.confidence >= 0.5


def test_who_is_told_in_between_may_name_it(find: Find) -> None:
    told = "Present: Tobias Rook, Mara Quill\nTOBIAS: Somebody came from Varrenholm.\nMARA: Oh."
    assert not find(TOLD, told, ASKED, filler=FILLER)


def test_who_left_before_it_was_said_has_not_heard_it(find: Find) -> None:
    scene = "Present: Ines Vale, Tobias Rook, Mara Quill\nMARA: Good night.\n[Mara leaves.]\n" + TOLD.split("\n", 1)[1]
    (fault,) = find(scene, ASKED, filler=FILLER)
    assert fault.about == "Varrenholm"


def test_what_the_story_begins_with_is_less_sure(find: Find) -> None:
    (early,) = find(TOLD, ASKED, *["Present: Odo Fenn\nODO: Rain."] * 20)
    assert early.confidence < 0.5


def test_a_name_that_english_has_anyway_is_no_secret(find: Find) -> None:
    assert not find(TOLD.replace("Varrenholm", "London"), ASKED.replace("Varrenholm", "London"), filler=FILLER)


SECRET = """
[[fact]]
who = "Ines Vale"
attribute = "belongings"
value = ["the copper kettle"]
from = "1.1"
known_to = ["Tobias Rook"]
"""


@pytest.mark.parametrize(("who", "count"), [("MARA", 1), ("TOBIAS", 0), ("INES", 0)])
def test_a_thing_is_known_to_its_owner_and_whom_the_fact_names(find: Find, who: str, count: int) -> None:
    scenes = (
        "Present: Ines Vale, Odo Fenn\nINES: I keep tea in the copper kettle.\nODO: I see.",
        f"Present: Tobias Rook, Mara Quill, Ines Vale\n{who}: Fetch the copper kettle.\nODO: Now?",
    )
    faults = [fault for fault in find(*scenes, facts=SECRET, filler=FILLER) if fault.about == "copper kettle"]
    assert len(faults) == count


MASK = """
[[fact]]
who = "Odo Fenn"
attribute = "goes by"
value = "Claus Berg"
from = "1.1"

[[relation]]
of = "Tobias Rook"
to = "Odo Fenn"
kind = "confidant"
from = "1.1"
"""


@pytest.mark.parametrize(("who", "count"), [("MARA", 1), ("TOBIAS", 0)])
def test_a_true_name_is_known_to_confidants_only(find: Find, who: str, count: int) -> None:
    scenes = (
        "Present: Tobias Rook, Ines Vale\nINES: Dull.\nTOBIAS: Very.",
        f"Present: Tobias Rook, Mara Quill\n{who}: I never trusted that man Fenn.\nINES: No?",
        "Present: Tobias Rook, Odo Fenn\nTOBIAS: Careful, Fenn.\nODO: Claus.",
    )
    faults = [fault for fault in find(*scenes, facts=MASK, filler=2) if fault.confidence >= 0.5]
    assert [fault.who for fault in faults] == ["Mara Quill"] * count


def test_a_name_of_somebody_met_may_be_said(find: Find) -> None:
    scenes = (
        "Present: Ines Vale, Tobias Rook\nINES: Where is Odo?\nTOBIAS: Out.",
        "Present: Mara Quill\nMARA: I saw Odo by the water.",
    )
    assert not find(*scenes, filler=2)
    apart = [
        "Present: Ines Vale, Odo Fenn\nINES: I am glad you came, Odo.\nODO: So am I.",
        "Present: Tobias Rook, Mara Quill\nTOBIAS: Rain.\nMARA: Yes.",
    ] * 8
    (fault,) = find(*apart, "Present: Mara Quill\nMARA: I never liked Odo.")
    assert (fault.who, fault.about) == ("Mara Quill", "Odo Fenn")
