"""A whole story: in story order, with progress, few false alarms, and fast enough for a show."""

from __future__ import annotations

from collections.abc import Callable

from timing import cpu_seconds
from understudy.formats import read
from understudy.people.continuity import KINDS, check_continuity
from understudy.story.storyfile import Story

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
