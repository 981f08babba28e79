from __future__ import annotations

from pathlib import Path

from understudy.cli.ties import affection_so_far, most_changed
from understudy.persona import persona_at
from understudy.readers import read
from understudy.story import Moment

FALSE_NAME = """
[[fact]]
who = "Tobias Rook"
attribute = "goes by"
value = "Hugo Stern"
from = "1.1"
until = "2.2"

[[relation]]
of = "Ines Vale"
to = "Mara Quill"
affection = -9
from = "1.1"

[[relation]]
of = "Ines Vale"
to = "Mara Quill"
affection = 9
from = "1.2"
"""


def test_a_course_ends_at_the_moment(story: Path) -> None:
    told = read(story)
    for at, levels in (("1.1", [7]), ("2.1", [7, -6]), ("2.2", [7, -6, 3]), ("end", [7, -6, 3])):
        courses = affection_so_far(told, persona_at(told, "Ines", at, before=["Tobias"]))
        assert [level for _, level in courses["Tobias Rook"]] == levels


def test_others_go_by_the_name_she_knows_and_those_she_never_met_are_not_drawn(story: Path) -> None:
    with (story / "cast.toml").open("a") as cast:
        cast.write(FALSE_NAME)
    told = read(story)
    assert list(affection_so_far(told, persona_at(told, "Ines", "2.1"))) == ["Hugo Stern"]
    assert list(affection_so_far(told, persona_at(told, "Ines", "2.2"))) == ["Tobias Rook"]


def test_the_tie_that_has_travelled_furthest() -> None:
    at = [Moment((number,)) for number in range(3)]
    there_and_back = [(at[0], 5), (at[1], -5), (at[2], 5)]
    once = [(at[0], -9), (at[1], 9)]
    assert most_changed({"one": there_and_back, "other": once}) == "one"
    assert most_changed({"one": [(at[0], 5)]}) is None
    assert most_changed({}) is None
