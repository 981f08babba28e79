from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.formats.transcript.headings import present
from understudy.sources.directions import EVERYBODY, comings_and_goings, ends_open, without_brackets


@pytest.mark.parametrize(
    ("text", "enter", "leave"),
    [
        ("Ross enters.", ("Ross",), ()),
        ("(Joey and Chandler leave)", (), ("Joey", "Chandler")),
        ("Dr Mott, Pip and Ada Quill leave, muttering.", (), ("Dr Mott", "Pip", "Ada Quill")),
        ("Enter Hamlet, Horatio, and Marcellus.", ("Hamlet", "Horatio", "Marcellus"), ()),
        ("Exit Ghost.", (), ("Ghost",)),
        ("Exeunt.", (), (EVERYBODY,)),
        ("They all exit.", (), (EVERYBODY,)),
        ("Exeunt all but Hamlet.", (), ()),
        ("田所 leaves.", (), ("田所",)),
        ("Miranda falls asleep.", (), ("Miranda",)),
        ("(Alonso sleeps.)", (), ("Alonso",)),
        ("Joey is asleep on the couch. Miranda wakes up.", ("Miranda",), ("Joey",)),
        ("Ann sleeps with Bob. Ann wakes Bob.", (), ()),
        ("All sink down asleep except Alonso, Antonio, and Sebastian.", (), ("All",)),  # nobody's name
        ("She turns; Monica exits as Rachel enters.", ("Rachel",), ("Monica",)),
        ("He enters the room.", ("He",), ()),  # nobody's name: whoever resolves it drops it
        ("Rain on the roof.", (), ()),
        ("the cat leaves", (), ()),
    ],
)
def test_who_comes_and_who_goes(text: str, enter: tuple[str, ...], leave: tuple[str, ...]) -> None:
    cues = comings_and_goings(text)
    assert tuple(cue.name for cue in cues if cue.kind == "enter") == enter
    assert tuple(cue.name for cue in cues if cue.kind == "leave") == leave


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("Ines leaves for the quay. Ines returns with the key.", ["leave Ines", "enter Ines"]),
        ("Ines enters, looks about. Ines leaves.", ["enter Ines", "leave Ines"]),
        ("Exit Ghost. Enter Hamlet. Ghost returns.", ["leave Ghost", "enter Hamlet", "enter Ghost"]),
        ("Enter Hamlet. Exeunt.", ["enter Hamlet", "leave *"]),
    ],
)
def test_they_come_and_go_in_the_order_of_the_text(text: str, cues: list[str]) -> None:
    assert [f"{cue.kind} {cue.name}" for cue in comings_and_goings(text)] == cues


def test_who_leaves_and_returns_in_one_direction_hears_what_comes_after(tmp_path: Path) -> None:
    path = tmp_path / "play.txt"
    path.write_text(
        "# scene 1: The quay\nPresent: Ines, Tobias\nINES: One.\n[Ines leaves. After a while Ines returns.]\n"
        "TOBIAS: Two.\nTOBIAS: Three.\n"
    )
    story = read(path)
    (scene,) = story.scenes()
    assert story.presence_intervals(scene.moment) == (("Ines", 1, 4), ("Tobias", 1, 4))


@pytest.mark.parametrize("text", ["A" * 200_000, "Ann, " * 20_000, "Ann and Bob " * 10_000, "A-" * 50_000])
def test_a_text_without_an_end_takes_no_time_without_an_end(text: str) -> None:
    assert comings_and_goings(text) == ()
    assert present(text) is not None


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("(Ann leaves.)", "Ann leaves."),
        ("[Ann (the old one) leaves]", "Ann (the old one) leaves"),
        ("{Ann leaves]", "Ann leaves"),
        ("[Ann leaves", "Ann leaves"),
        ("[Ann leaves] [Bob too]", "[Ann leaves] [Bob too]"),
        ("Ann (leaves)", "Ann (leaves)"),
        ("()", "()"),
    ],
)
def test_only_outer_brackets_go(text: str, inner: str) -> None:
    assert without_brackets(text) == inner


def test_the_last_bracket_decides() -> None:
    assert ends_open("well (he goes")
    assert not ends_open("well (he goes) out")
    assert not ends_open("well")
