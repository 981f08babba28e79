from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from realdata import folder
from understudy.errors import InputError
from understudy.formats.personachat import READER, examples
from understudy.sources import CastEntry, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

TWO = """\
1 your persona: i mend clocks.
2 your persona: i have no brothers.
3 partner's persona: i sail.
4 hello , what do you do ?\ti mend clocks .\t\ti bake .|i mend clocks .
5 in this town ?\tjust off the square .\t\tjust off the square .|no .
1 your persona: i bake.
2 __SILENCE__\tgood morning .\t\tbye .|good morning .
3 good morning !\twhat a day .\t\twhat a day .|what a day .|rain .
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.txt"
    path.write_text(TWO, encoding="utf-8")
    return path


def test_a_dialogue_is_a_scene_of_two_people_with_profiles(two: Path) -> None:
    events = events_of(READER, two)
    assert [scene.present for scene in of_kind(events, SceneStart)] == [
        ("Person 1A", "Person 1B"),
        ("Person 2A", "Person 2B"),
    ]
    profiles = {entry.character.name: entry.character.profile for entry in of_kind(events, CastEntry)}
    assert profiles == {
        "Person 1A": ("i sail.",),
        "Person 1B": ("i mend clocks.", "i have no brothers."),
        "Person 2A": (),
        "Person 2B": ("i bake.",),
    }


def test_the_partner_speaks_first_unless_there_is_silence(two: Path) -> None:
    said = [(speech.speakers[0], speech.text) for speech in of_kind(events_of(READER, two), Speech)]
    assert said[:2] == [("Person 1A", "hello , what do you do ?"), ("Person 1B", "i mend clocks .")]
    assert said[4] == ("Person 2B", "good morning .")


def test_an_example_knows_only_what_was_said_before(two: Path) -> None:
    found = list(examples(SourceFile(two)))
    assert [example.name for example in found] == ["1.1", "1.2", "2.1", "2.2"]
    second = found[1]
    assert [(turn.speaker, turn.text) for turn in second.history] == [
        ("Person 1A", "hello , what do you do ?"),
        ("Person 1B", "i mend clocks ."),
        ("Person 1A", "in this town ?"),
    ]
    assert second.situation.persona.profile == ("i mend clocks.", "i have no brothers.")
    assert second.situation.faced is not None
    assert second.situation.faced.profile == ("i sail.",)
    assert found[2].history == ()


def test_gold_is_every_place_of_the_reply_among_the_candidates(two: Path) -> None:
    found = list(examples(SourceFile(two)))
    assert [(example.candidates[min(example.gold)], set(example.gold)) for example in found] == [
        ("i mend clocks .", {1}),
        ("just off the square .", {0}),
        ("good morning .", {1}),
        ("what a day .", {0, 1}),
    ]


def test_without_candidates_the_reply_is_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 hi .\thello .\n2 how so ?\tjust so .\n", encoding="utf-8")
    assert recognises(READER, path.read_bytes(), path)
    assert [example.candidates for example in examples(SourceFile(path))] == [("hello .",), ("just so .",)]


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("1 a\tb\nhello\n", 2, "begins with its number"),
        ("1 a\tb\n3 c\td\n2 e\tf\n", 3, "begin at 1 and rise"),
        ("2 a\tb\n", 1, "begin at 1"),
    ],
)
def test_lines_that_do_not_fit_are_errors(text: str, line: int, word: str) -> None:
    with pytest.raises(InputError, match=word) as raised:
        read_bytes(READER, text.encode())
    assert raised.value.line == line


def test_a_reply_that_is_no_candidate_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_text("1 a\tb\t\tc|d\n", encoding="utf-8")
    with pytest.raises(InputError, match="not among its candidates"):
        list(examples(SourceFile(path)))


def test_lines_without_words_are_listed() -> None:
    events = read_bytes(READER, b"1 your persona:\n2 \t\n3 a\tb\n")
    assert [unread.source.line for unread in of_kind(events, Unread)] == [1, 2]


TEXT = st.text(alphabet="ab ?|\t:'", max_size=12)
LINES = st.lists(
    st.tuples(st.sampled_from(["your persona: ", "partner's persona: ", ""]), TEXT), min_size=1, max_size=6
)


@given(st.lists(LINES, min_size=1, max_size=4))
def test_every_line_is_accounted_for(dialogues: list[list[tuple[str, str]]]) -> None:
    lines = [f"{number} {kind}{text}\n" for dialogue in dialogues for number, (kind, text) in enumerate(dialogue, 1)]
    read_bytes(READER, "".join(lines).encode())


@given(damage(TWO.encode()))
def test_damage_is_an_error_or_can_be_read(content: bytes) -> None:
    stands(READER, content)


@pytest.mark.parametrize(
    "variant",
    [
        "none_original",
        "both_revised",
        *(
            pytest.param(variant, marks=pytest.mark.thorough)
            for variant in ("both_original", "self_original", "self_revised", "other_original", "other_revised")
        ),
    ],
)
def test_the_validation_split(variant: str) -> None:
    path = folder("personachat") / f"valid_{variant}.txt"
    assert recognises(READER, SourceFile(path).head(), path)
    events = events_of(READER, path)
    assert len(of_kind(events, SceneStart)) == 1000
    assert len(of_kind(events, Speech)) == 15_602
    assert not of_kind(events, Unread)
    found = list(examples(SourceFile(path)))
    assert len(found) == 7801
    assert all(len(example.candidates) == 20 and 19 in example.gold for example in found)
    assert all(bool(example.situation.persona.profile) == variant.startswith(("self", "both")) for example in found)


def test_the_training_split_without_candidates() -> None:
    path = folder("personachat") / "train_both_original_no_cands.txt"
    events = events_of(READER, path)
    assert (len(of_kind(events, SceneStart)), len(of_kind(events, Speech))) == (1355, 19_998)
