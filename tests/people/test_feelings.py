from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.people.feelings import AFFECTION, FAMILIARITY, Acquaintance, feeling_courses, feelings
from understudy.story.storyfile import Story
from understudy.story.types import Relation, holding_at

WARM = ("Thank you, Tom, my dear friend.", "I am so glad you came, Tom.", "I trust you, Tom.")
COLD = ("Get out, you liar.", "I hate you, you thief.", "You disgust me, Mr. Gray.")


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Ada is warm to Tom Reed and cold to Carl Gray, each alone with her by turns."""
    scenes = []
    for number in range(1, 9):
        other, said = (("Tom Reed", WARM), ("Carl Gray", COLD))[number % 2]
        lines = "".join(f"Ada Finch: {text}\n{other}: So you say.\n" for text in said)
        scenes.append(f"# scene {number}: A room\nPresent: Ada Finch, {other}\n\n{lines}\n")
    (tmp_path / "script.txt").write_text("".join(scenes), encoding="utf-8")
    return read(tmp_path / "script.txt")


def level(story: Story, relations: list[Relation], of: str, to: str, kind: str) -> int:
    held = holding_at(relations, story.moment("end"))
    found = next(tie.level for tie in held if tie.key == (of, to, kind))
    assert found is not None
    return found


def test_the_one_who_is_spoken_to_warmly_is_liked_more(story: Story) -> None:
    found = feelings(story)
    assert level(story, found, "Ada Finch", "Tom Reed", AFFECTION) > level(
        story, found, "Ada Finch", "Carl Gray", AFFECTION
    )


def test_familiarity_grows_with_what_is_shared(story: Story) -> None:
    course = [tie for tie in feelings(story) if tie.key == ("Ada Finch", "Tom Reed", FAMILIARITY)]
    levels = [tie.level for tie in course if tie.level is not None]
    assert len(levels) > 1 and levels == sorted(levels) and levels[0] >= 0 and levels[-1] <= 10


def test_affection_waits_for_lines_and_says_how_unsure_it_is(story: Story) -> None:
    first = next(each for each in feeling_courses(story) if each.relation.kind == AFFECTION)
    assert first.relation.since.numbers[0] > 2  # three lines to each in the first two scenes are too few
    assert first.low < (first.relation.level or 0) < first.high
    assert first.relation.found is not None and first.relation.found.confidence < 0.5


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_what_is_found_begins_after_the_lines_that_tell_it(name: str) -> None:
    opened = read(name)
    present = {scene.moment: set(scene.present) for scene in opened.scenes()}
    found = feelings(opened)
    assert {tie.kind for tie in found} == {AFFECTION, FAMILIARITY}
    for tie in found:
        assert tie.found is not None and tie.found.sources
        assert all(source < tie.since for source in tie.found.sources)
        scene = next(moment for moment in present if tie.found.sources[0].within(moment))
        assert set(tie.found.witnesses) <= present[scene]


def test_later_scenes_leave_what_was_told_before_them(story: Story, tmp_path: Path) -> None:
    whole = feelings(story)
    text = (tmp_path / "script.txt").read_text(encoding="utf-8")
    (tmp_path / "half.txt").write_text(text[: text.index("# scene 5")], encoding="utf-8")
    half = feelings(read(tmp_path / "half.txt"))
    until = half[-1].since
    assert [(tie.key, tie.level) for tie in half] == [(tie.key, tie.level) for tie in whole if tie.since <= until]


SCRIPT = """# scene 1: The harbour
Present: Ada Finch, Tom Finch, Bea Moor

Ada Finch: Tom, you are late, thank you for coming.
Tom Finch: I know, Ada.
Bea Moor: Good morning. My name is Bea Moor.
Ada Finch: How do you do, Miss Moor?

# scene 2: A boat
Present: Ada Finch, Tom Finch

Ada Finch: I hate this boat, Tom.
Tom Finch: You hate every boat.
"""


@pytest.fixture
def known(tmp_path: Path) -> Acquaintance:
    (tmp_path / "script.txt").write_text(SCRIPT, encoding="utf-8")
    story = read(tmp_path / "script.txt")
    known = Acquaintance(story)
    for scene in story.scenes():
        known.add(scene)
    return known


def test_an_evening_for_two_counts_more_than_company(known: Acquaintance) -> None:
    assert known.together("Ada Finch", "Tom Finch").close == pytest.approx(1.5)
    assert known.together("Bea Moor", "Tom Finch").close == pytest.approx(0.5)


def test_who_introduces_themselves_was_a_stranger(known: Acquaintance) -> None:
    assert known.together("Ada Finch", "Bea Moor").strangers
    assert not known.together("Ada Finch", "Tom Finch").strangers


def test_first_names_and_titles_are_told_apart(known: Acquaintance) -> None:
    to_tom, to_bea = known.towards["Ada Finch", "Tom Finch"], known.towards["Ada Finch", "Bea Moor"]
    assert (to_tom.informal, to_tom.formal) == (2, 0)
    assert (to_bea.informal, to_bea.formal) == (0, 1)


def test_a_surname_in_common_is_kin(known: Acquaintance) -> None:
    assert known.are_kin("Ada Finch", "Tom Finch") and not known.are_kin("Ada Finch", "Bea Moor")


def test_lines_count_for_whom_they_are_said_to(known: Acquaintance) -> None:
    assert known.towards["Ada Finch", "Tom Finch"].lines > 1.5 > known.towards["Ada Finch", "Bea Moor"].lines
    assert known.towards["Ada Finch", "Tom Finch"].cold > 0.5
