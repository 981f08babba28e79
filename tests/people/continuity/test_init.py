"""A whole story: in story order, with progress, few false alarms, and fast enough for a show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing import cpu_seconds
from understudy.errors import InputError
from understudy.formats import read
from understudy.people.continuity import KINDS, Dismissals, Fault, check_continuity, dismissals_path
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment

MakeStory = Callable[..., Story]

LEAST = 0.5


def test_faults_come_in_story_order_and_progress_is_told(make_story: MakeStory) -> None:
    died = '[[fact]]\nwho = "Odo Fenn"\nattribute = "died"\nvalue = "of a fever"\nfrom = "1.2"\n'
    scene = "Present: Ines Vale, Odo Fenn\nINES: So.\nODO: So.\nINES: Yes.\nODO: Nice to meet you."
    told = list[tuple[int, int]]()
    found = check_continuity(make_story(scene, scene, facts=died), lambda _, done, total: told.append((done, total)))
    moments = [fault.line.moment for fault in found.faults]
    assert moments == sorted(moments) and {fault.kind for fault in found.faults} == {"dead", "met"}
    assert {fault.kind for fault in found.faults} <= set(KINDS) and found.lines == 8
    assert told == [(0, 2), (1, 2)]


def test_the_demo_has_few_false_alarms() -> None:
    for name, most in (("demo", 2), ("demo-ja", 0), ("demo-zh", 0)):
        found = check_continuity(read(name))
        sure = [fault for fault in found.faults if fault.confidence >= LEAST]
        assert len(sure) <= most, [(fault.line.moment.dotted, fault.reason) for fault in sure]


def test_the_time_is_in_proportion_to_the_lines(make_story: MakeStory) -> None:
    scene = (
        "Present: Ines Vale, Tobias Rook\n" + "INES: I have seen Varrenholm in the rain, Tobias.\nTOBIAS: So.\n" * 20
    )
    short, long = make_story(*[scene] * 12), make_story(*[scene] * 96)
    assert check_continuity(long).lines == 96 * 40
    assert cpu_seconds(lambda: check_continuity(long), 2) < 30 * cpu_seconds(lambda: check_continuity(short))


# False alarms are dismissed for good: by what is said, in a file beside the story.


FAULT = Fault("unknown", Line(Moment((1, 2, 3)), "Mara", "Nobody sails."), "Varrenholm", "because", (), 0.7)


def test_a_dismissal_is_kept_by_what_is_said_not_by_where(tmp_path: Path) -> None:
    path = tmp_path / "continuity.toml"
    Dismissals(path).dismiss([FAULT])
    moved = replace(FAULT, line=replace(FAULT.line, moment=Moment((7, 1, 1))), confidence=0.6)
    said_otherwise = replace(FAULT, line=replace(FAULT.line, text="Nobody rows."))
    again = Dismissals(path)
    assert moved in again and said_otherwise not in again and len(again) == 1


def test_a_dismissal_is_taken_back(tmp_path: Path) -> None:
    dismissals = Dismissals(tmp_path / "continuity.toml")
    dismissals.dismiss([FAULT])
    with pytest.raises(InputError, match="was not dismissed"):
        dismissals.restore([FAULT.id, "00000000"])
    assert FAULT in Dismissals(dismissals.path)
    dismissals.restore([FAULT.id])
    assert FAULT not in Dismissals(dismissals.path)


def test_the_file_lies_beside_the_story(tmp_path: Path) -> None:
    assert dismissals_path(tmp_path) == tmp_path / "continuity.toml"
    assert dismissals_path(tmp_path / "friends.story") == tmp_path / "friends.continuity.toml"


@pytest.mark.parametrize("text", ["dismissed = 3", "[[dismissed]]\nid = 'x'", "= nothing", "\xff\xfe"])
def test_a_file_that_is_wrong_is_an_error_that_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "continuity.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        Dismissals(path)


@given(text=st.text(), who=st.text(min_size=1))
def test_any_text_can_be_dismissed(tmp_path: Path, text: str, who: str) -> None:
    fault = replace(FAULT, line=replace(FAULT.line, text=text, speaker=who))
    path = tmp_path / "continuity.toml"
    Dismissals(path).dismiss([fault])
    assert fault in Dismissals(path)
    path.unlink()


# Who names what was only brought up where they were not; and who may.

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
