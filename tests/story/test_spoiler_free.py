from __future__ import annotations

from pathlib import Path

from understudy.formats import read
from understudy.story.persona import persona_at
from understudy.story.spoiler_free import courses_so_far, most_changed, scenes_before, timeline
from understudy.story.types import Moment

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
        courses = courses_so_far(told, persona_at(told, "Ines", at, before=["Tobias"]))
        assert [level for _, level in courses["Tobias Rook"]] == levels


def test_others_go_by_the_name_she_knows_and_those_she_never_met_are_not_drawn(story: Path) -> None:
    with (story / "cast.toml").open("a") as cast:
        cast.write(FALSE_NAME)
    told = read(story)
    assert list(courses_so_far(told, persona_at(told, "Ines", "2.1"))) == ["Hugo Stern"]
    assert list(courses_so_far(told, persona_at(told, "Ines", "2.2"))) == ["Tobias Rook"]


def test_where_a_feeling_ends_the_one_before_it_holds_again(story: Path) -> None:
    with (story / "cast.toml").open("a") as cast:
        for level, dates in ((4, 'from = "1.1"'), (-9, 'from = "1.2"\nuntil = "2.1"')):
            cast.write(f'[[relation]]\nof = "Mara Quill"\nto = "Ines Vale"\naffection = {level}\n{dates}\n')
    told = read(story)
    persona = persona_at(told, "Mara", "2.2", before=["Ines"])
    assert [tie.level for tie in persona.relations if tie.kind == "affection" and tie.to == "Ines Vale"] == [4]
    course = courses_so_far(told, persona)["Ines Vale"]
    assert [(moment.dotted, level) for moment, level in course] == [("1.1", 4), ("1.2", -9), ("2.1", 4)]


def test_the_tie_that_has_travelled_furthest() -> None:
    at = [Moment((number,)) for number in range(3)]
    there_and_back = [(at[0], 5), (at[1], -5), (at[2], 5)]
    once = [(at[0], -9), (at[1], 9)]
    assert most_changed({"one": there_and_back, "other": once}) == "one"
    assert most_changed({"one": [(at[0], 5)]}) is None
    assert most_changed({}) is None


def test_the_timeline_tells_what_was_reached_and_only_numbers_of_the_rest(story: Path) -> None:
    told = read(story)
    stops = {stop.moment.dotted: stop for stop in timeline(told, told.moment("2.1"))}
    assert [place for place, stop in stops.items() if stop.reached] == ["1", "1.1", "1.2", "2"]
    assert stops["1.2"].setting and stops["1.2"].lines
    for place in ("2.1", "2.2"):
        assert (stops[place].title, stops[place].setting, stops[place].lines) == ("", "", None)


def test_inside_a_scene_the_timeline_counts_the_lines_heard(story: Path) -> None:
    told = read(story)
    (whole,) = (stop.lines for stop in timeline(told, Moment.end()) if stop.moment.dotted == "1.1")
    assert whole is not None and whole > 2
    for line, heard in (("1.1.1", 0), ("1.1.3", 2), ("1.1.99", whole)):
        (stop,) = (stop for stop in timeline(told, Moment.parse(line)) if stop.moment.dotted == "1.1")
        assert stop.lines == heard


def test_scenes_before_a_moment_are_cut_off_there(story: Path) -> None:
    told = read(story)
    *_, last = scenes_before(told, told.moment("2.1.2"))
    assert last.moment.dotted == "2.1" and [line.moment.dotted for line in last.lines] == ["2.1.1"]


def test_who_comes_later_into_a_scene_is_not_in_its_company_yet(tmp_path: Path) -> None:
    path = tmp_path / "door.txt"
    path.write_text("Scene 1: A room\nInes: Alone at last.\nInes: Hark!\n(Enter Tobias.)\nTobias: Good evening.\n")
    told = read(path)
    for moment, company in (("1.2", {"Ines"}), ("1.4", {"Ines", "Tobias"}), ("end", {"Ines", "Tobias"})):
        (scene,) = scenes_before(told, told.moment(moment))
        assert set(scene.present) == company
