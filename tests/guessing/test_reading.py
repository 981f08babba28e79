"""A scene read for clues."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkers import scene
from understudy.guessing.names import Names
from understudy.guessing.reading import Mention, named_in, read_scene, words_of

NAMES = Names({"Ross": ("Ross",), "Monica": ("Monica",)})


def mentions(text: str, names: Names = NAMES, language: str = "en") -> list[tuple[str, str]]:
    (line,) = read_scene(scene(("P0", text)), names, language).lines
    return [(one.word, one.kind) for one in line.mentions]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ross, look!", "called"),
        ("Hey Ross!", "called"),
        ("Look at this, Ross.", "called"),
        ("Well, Ross, I tried.", "called"),
        ("Ross", "called"),
        ("it hurts, Ross—stop", "called"),
        ("we saw Ross there", "talked"),
        ("with Ross.", "talked"),
        ("Ross said so", "talked"),
        ("hi, my name is Ross.", "introduced"),
        ("hi, I'm Ross.", "introduced"),
        ("it’s Ross, open the door", "introduced"),
    ],
)
def test_a_name_is_called_talked_of_or_introduced(text: str, kind: str) -> None:
    assert ("ross", kind) in mentions(text)


def test_words_with_a_capital_may_be_nicknames_and_single_letters_are_not() -> None:
    assert mentions("Pheebs, I need a Coffee") == [("pheebs", "called"), ("coffee", "talked")]


@pytest.mark.parametrize(("text", "owned"), [("we took Ross's coat", True), ("we took Ross’s coat", True),
                                            ("we took Ross home", False)])  # fmt: skip
def test_something_of_theirs_is_not_themselves(text: str, owned: bool) -> None:
    (line,) = read_scene(scene(("P0", text)), NAMES, "en").lines
    assert line.mentions == (Mention("ross", "talked", owned),)


def test_directions_inside_a_line_are_read_apart() -> None:
    (line,) = read_scene(scene(("P0", "(to Ross) Hey. [sits] Stay（泣く）here.")), NAMES, "en").lines
    assert line.asides == ("to Ross", "sits", "泣く")
    assert line.words == ("hey", "stay", "here")
    assert [one.word for one in line.mentions] == ["hey", "stay"]  # and not Ross, whom nobody named


def test_a_description_is_one_direction_and_says_nothing() -> None:
    read = read_scene(scene((None, "Ross enters."), ("P0", "Hi."), setting="A bar"), NAMES, "en")
    assert read.lines[0].asides == ("Ross enters.",)
    assert (read.lines[0].words, read.lines[0].mentions) == ((), ())
    assert [line.speaker for line in read.spoken()] == ["P0"]
    assert read.setting == "A bar"


def test_words_have_telling_marks_and_small_letters() -> None:
    assert words_of("Oh... you DIDN’T?! I—well", "en") == ("oh", "...", "you", "didn't", "?", "!", "i", "—", "well")


def test_in_japanese_names_are_found_without_spaces() -> None:
    names = Names({"花": ("花",), "花子": ("花子",), "太郎": ("太郎",)}, "ja")
    assert mentions("花子、太郎は来た？", names, "ja") == [("花子", "called"), ("太郎", "talked")]
    assert "来" in "".join(words_of("太郎は来た", "ja"))


def test_directions_name_people_with_the_words_around_them() -> None:
    meant = {"ross": "Ross", "will": "Will"}
    assert named_in("She turns to Ross, and WILL enters.", meant) == [("Ross", "to", "and"), ("Will", "and", "enters")]
    assert named_in("Rossini plays", meant) == []


def test_a_small_word_names_nobody() -> None:
    assert named_in("They will wait", {"will": "Will"}) == []


def test_in_japanese_directions_the_longest_name_counts_each_time() -> None:
    meant = {"花子": "花子", "花": "花", "太郎": "太郎"}
    assert [who for who, _, _ in named_in("太郎が花子を見る。花子は泣く。", meant)] == ["太郎", "花子", "花子"]
    assert named_in("太郎が来る", {}) == []


@settings(deadline=None)  # a dictionary is read first
@given(st.text(), st.sampled_from(["en", "ja"]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    (line,) = read_scene(scene(("P0", text)), NAMES, language).lines
    assert all(one.kind in ("called", "talked", "introduced") for one in line.mentions)
    assert all(word == word.lower() for word in line.words) or language == "ja"
