from __future__ import annotations

from pathlib import Path

import pytest

from models import tiny_data
from realdata import folder
from understudy.errors import InputError
from understudy.training.dialogues import ProfiledDialogue, dialogues_of, held_back, questions_of, training_file

TWO = """\
1 your persona: i mend clocks.
2 your persona: i have no brothers.
3 partner's persona: i sail.
4 hello .\thi , i mend clocks .
5 i sail .\tfar ?
1 your persona: i bake.
2 __SILENCE__\tgood morning .
3 so it is .\twhat a day .
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "train_both_original_no_cands.txt"
    path.write_text(TWO, encoding="utf-8")
    return path


def test_a_dialogue_has_two_profiles_and_all_its_turns(two: Path) -> None:
    first, second = dialogues_of(two)
    assert first.profiles == (("i sail.",), ("i mend clocks.", "i have no brothers."))
    assert first.turns == ((0, "hello ."), (1, "hi , i mend clocks ."), (0, "i sail ."), (1, "far ?"))
    assert second.profiles == ((), ("i bake.",))
    assert [who for who, _ in second.turns] == [1, 0, 1]


def test_both_chairs_are_asked(two: Path) -> None:
    questions = list(questions_of(dialogues_of(two), "self"))
    assert [(question.reply, question.own[0]) for question in questions[:4]] == [
        ("hello .", "i sail."),
        ("hi , i mend clocks .", "i mend clocks."),
        ("i sail .", "i sail."),
        ("far ?", "i mend clocks."),
    ]
    assert questions[3].history == ((False, "hello ."), (True, "hi , i mend clocks ."), (False, "i sail ."))
    assert questions[3].message(1) == "i sail ."
    assert questions[3].message(2) == "hi , i mend clocks . i sail ."
    assert questions[0].message(1) == ""


@pytest.mark.parametrize(
    ("condition", "count", "shown"),
    [
        ("none", 7, ()),
        ("self", 6, ("i mend clocks.", "i have no brothers.")),
        ("their", 5, ("i sail.",)),
        ("both", 4, ("i mend clocks.", "i have no brothers.", "i sail.")),
    ],
)
def test_who_lacks_the_profile_that_is_to_be_shown_is_not_asked(
    two: Path, condition: str, count: int, shown: tuple[str, ...]
) -> None:
    questions = list(questions_of(dialogues_of(two), condition))
    assert len(questions) == count
    far = next(question for question in questions if question.reply == "far ?")
    assert far.shown(condition) == shown


def test_the_file_with_most_to_learn_from_is_taken(tmp_path: Path) -> None:
    for name in ("train_self_original.txt", "train_none_original.txt"):
        (tmp_path / name).touch()
    assert training_file(tmp_path, "original", "self").name == "train_self_original.txt"
    assert training_file(tmp_path, "revised", "none").name == "train_none_original.txt"
    (tmp_path / "train_both_original_no_cands.txt").touch()
    assert training_file(tmp_path, "original", "self").name == "train_both_original_no_cands.txt"
    with pytest.raises(InputError, match="with revised personas: it needs one of train_both_revised_no_cands"):
        training_file(tmp_path, "revised", "self")
    with pytest.raises(InputError, match="no such folder"):
        training_file(tmp_path / "nowhere", "original", "self")


def test_whoever_is_held_back_takes_part_in_no_training_dialogue(tmp_path: Path) -> None:
    dialogues = dialogues_of(training_file(tiny_data(tmp_path), "original", "self"))
    split = held_back(dialogues, 0.2, seed=0)
    assert split.asked
    assert len(split.training) + len(split.held) == len(dialogues)
    assert all(split.asked.isdisjoint(dialogue.profiles) for dialogue in split.training)
    assert all(question.own in split.asked for question in questions_of(split.held, "self", split.asked))
    assert held_back(dialogues, 0.2, seed=0) == split
    assert held_back(dialogues, 0.2, seed=1).asked != split.asked
    assert held_back(dialogues, 0, seed=0).held == []


def test_profiles_that_share_two_sentences_are_one_person() -> None:
    profiles: list[tuple[str, ...]] = [("a.", "b.", "c."), ("c.", "b."), ("a.", "x.")]
    first, part, last = profiles
    dialogues = [ProfiledDialogue((first, part), ()), ProfiledDialogue((last, ()), ())]
    split = held_back(dialogues, 0.5, seed=0)
    assert set(split.asked) in ({first, part}, {last})


def test_without_profiles_dialogues_are_held_back() -> None:
    split = held_back([ProfiledDialogue(((), ()), ((0, f"hello {number} ."),)) for number in range(10)], 0.2, seed=0)
    assert (len(split.training), len(split.held)) == (8, 2)
    assert len(list(questions_of(split.held, "none", split.asked))) == 2


def test_nothing_to_train_on(tmp_path: Path, two: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 your persona: i bake.\n", encoding="utf-8")
    with pytest.raises(InputError, match="no dialogue"):
        dialogues_of(path)
    with pytest.raises(InputError, match="too few"):
        held_back(dialogues_of(two), 0.99, seed=0)


def test_the_real_training_dialogues() -> None:
    dialogues = dialogues_of(training_file(folder("personachat"), "original", "self"))
    assert len(dialogues) == 1355
    assert sum(len(dialogue.turns) for dialogue in dialogues) == 19_998
    split = held_back(dialogues, 0.05, seed=0)
    assert 80 < len(split.held) < 200
