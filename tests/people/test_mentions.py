"""Lines read for names, and names that the cast list does not have."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkers import NAMES as THREE
from talkers import scene
from understudy.guessing.scenes import Masking
from understudy.people.mentions import (
    NameUse,
    ReadScene,
    learned_words,
    named_in,
    read_scene,
    with_learned_names,
    words_of,
)
from understudy.people.names import HIDDEN, CharacterNames
from understudy.story.types import Scene

NAMES = CharacterNames({"Ross": ("Ross",), "Monica": ("Monica",)})


def mentions(text: str, names: CharacterNames = NAMES, language: str = "en") -> list[tuple[str, str]]:
    (line,) = read_scene(scene(("P0", text)), names, language).lines
    return [(item.word, item.kind) for item in line.mentions]


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
    assert line.mentions == (NameUse("ross", "talked", owned),)


def test_directions_inside_a_line_are_read_apart() -> None:
    (line,) = read_scene(scene(("P0", "(to Ross) Hey. [sits] Stay（泣く）here.")), NAMES, "en").lines
    assert line.asides == ("to Ross", "sits", "泣く")
    assert line.words == ("hey", "stay", "here")
    assert [item.word for item in line.mentions] == ["hey", "stay"]  # and not Ross, whom nobody named


def test_a_description_is_one_direction_and_says_nothing() -> None:
    read = read_scene(scene((None, "Ross enters."), ("P0", "Hi."), setting="A bar"), NAMES, "en")
    assert read.lines[0].asides == ("Ross enters.",)
    assert (read.lines[0].words, read.lines[0].mentions) == ((), ())
    assert [line.speaker for line in read.spoken()] == ["P0"]
    assert read.setting == "A bar"


def test_words_have_telling_marks_and_small_letters() -> None:
    assert words_of("Oh... you DIDN’T?! I—well", "en") == ("oh", "...", "you", "didn't", "?", "!", "i", "—", "well")


def test_in_japanese_names_are_found_without_spaces() -> None:
    names = CharacterNames({"花": ("花",), "花子": ("花子",), "太郎": ("太郎",)}, "ja")
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


@settings()  # a dictionary is read first
@given(st.text(), st.sampled_from(["en", "ja"]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    (line,) = read_scene(scene(("P0", text)), NAMES, language).lines
    assert all(item.kind in ("called", "talked", "introduced") for item in line.mentions)
    assert all(word == word.lower() for word in line.words) or language == "ja"


FLATMATES = ("Phoebe", "Monica", "Ross", "Howard")


def read(item: Scene, names: CharacterNames = THREE) -> ReadScene:
    return read_scene(item, names, "en")


def nicknamed(word: str, times: int, small: bool = False) -> list[Scene]:
    """Ann answers to a word; the others answer one another."""
    call: list[tuple[str | None, str]] = [("Ben", f"Hey {word}, look."), ("Ann", "What?")]
    answer = f"a {word.lower()} flies" if small else "yes"
    remaining: list[tuple[str | None, str]] = [("Ben", "so it goes"), ("Cleo", answer)]
    return [scene(*call, ("Cleo", "no"), *remaining * 3, at=(1, number)) for number in range(times)]


def test_nicknames_are_learned_by_who_answers() -> None:
    learned = learned_words(THREE, [read(item) for item in nicknamed("Sparrow", 6)])
    assert learned == {"ann": "Ann", "ben": "Ben", "cleo": "Cleo", "sparrow": "Ann"}


def test_a_word_called_a_few_times_or_also_written_small_is_no_nickname() -> None:
    assert "sparrow" not in learned_words(THREE, [read(item) for item in nicknamed("Sparrow", 4)])
    assert "sparrow" not in learned_words(THREE, [read(item) for item in nicknamed("Sparrow", 6, small=True)])


def test_who_answers_everybody_owns_no_word() -> None:
    always = [scene(("Ben", "Hey Lord, look."), ("Ann", "What?"), at=(1, number)) for number in range(9)]
    assert "lord" not in learned_words(THREE, [read(item) for item in always])


def test_what_two_people_are_called_says_nothing() -> None:
    names = CharacterNames({"Ann Bell": ("Ann Bell",), "Cleo Bell": ("Cleo Bell",), "Ben": ("Ben",)})
    remaining: list[tuple[str | None, str]] = [("Ben", "so"), ("Cleo Bell", "yes")]
    story_scenes = [
        scene(("Ben", "Hey Bell, look."), ("Ann Bell", "What?"), *remaining * 3, at=(1, index)) for index in range(8)
    ]
    assert learned_words(names, [read(item, names) for item in story_scenes]) == {
        "ann": "Ann Bell", "cleo": "Cleo Bell", "ben": "Ben",
    }  # fmt: skip


def flat(times: int = 6) -> list[Scene]:
    """Four people who are called by more than their first names."""
    talk: list[tuple[str | None, str]] = [
        ("Ross", "Hey Pheebs, look!"),
        ("Phoebe", "What?"),
        ("Monica", "so it goes"),
        ("Ross", "I said Monica Geller is my sister."),
        ("Monica", "Ross Geller, you did not. Mrs. Geller would know."),
        ("Howard", "no"),
        ("Ross", "Come on, Howie, say it."),
        ("Monica", "He won't say it."),
        ("Ross", "why not"),
        ("Howard", "It is a green day, PHEEBS."),
    ]
    return [scene(*talk, at=(1, number)) for number in range(1, times + 1)]


def flat_names() -> CharacterNames:
    return with_learned_names(CharacterNames({who: (who,) for who in FLATMATES}), flat())


@pytest.mark.parametrize("word", ["Pheebs", "PHEEBS", "Geller", "Howie", "Monica", "MONICA"])
def test_what_main_characters_are_called_is_covered(word: str) -> None:
    assert flat_names().hidden(f"so, {word}'s green coat") == f"so, {HIDDEN}'s green coat"


def test_a_surname_of_two_says_nothing_about_which_of_them() -> None:
    assert dict(flat_names().words())["Geller"] is None
    assert dict(flat_names().words())["Pheebs"] == "Phoebe"


def test_nothing_is_learned_from_a_covered_text_that_names_anybody() -> None:
    names = flat_names()
    masking = Masking(FLATMATES, names, how="mask")
    covered = [masking.with_names(item) for item in flat()]
    assert learned_words(names, [read(item, names) for item in covered]).keys() == {
        word.lower() for word, who in names.words() if who is not None
    }
    text = " ".join(line.text for item in covered for line in item.lines)
    assert not any(word in text for word in ("Pheebs", "PHEEBS", "Geller", "Howie"))


def test_supporting_characters_and_common_words_keep_their_names() -> None:
    lines: list[tuple[str | None, str]] = [("Ben", "Hey Howell, Monday then."), ("Howell", "yes"), ("Ben", "so it is")]
    names = with_learned_names(
        CharacterNames({"Howard": ("Howard",), "Ben": ("Ben",)}),
        [scene(*lines, ("Howard", "Howell, no. monday."), at=(1, number)) for number in range(5)],
    )
    assert [word for word, _ in names.words()] == ["Howard", "Ben"]


def test_where_words_are_not_spaced_nothing_is_learned() -> None:
    names = CharacterNames({"太郎": ("太郎",)}, "ja")
    assert with_learned_names(names, flat(), "ja") is names


@given(st.lists(st.tuples(st.sampled_from(["Ann", "Ben", "Cleo", None]), st.text(max_size=40)), max_size=12))
def test_more_names_never_cover_less(lines: list[tuple[str | None, str]]) -> None:
    story_scenes = scene(*lines) if lines else scene(("Ann", "yes"))
    names = with_learned_names(THREE, [story_scenes])
    assert set(THREE.words()) <= set(names.words())
    assert names.people == THREE.people
