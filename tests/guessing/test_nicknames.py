"""Names that the cast list does not have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkers import NAMES, scene
from understudy.guessing.masking import Masking
from understudy.guessing.names import HIDDEN, Names
from understudy.guessing.nicknames import learned_words, with_learned_names
from understudy.guessing.reading import ReadScene, read_scene
from understudy.story import Scene

FLATMATES = ("Phoebe", "Monica", "Ross", "Howard")


def read(one: Scene, names: Names = NAMES) -> ReadScene:
    return read_scene(one, names, "en")


def nicknamed(word: str, times: int, small: bool = False) -> list[Scene]:
    """Ann answers to a word; the others answer one another."""
    call: list[tuple[str | None, str]] = [("Ben", f"Hey {word}, look."), ("Ann", "What?")]
    answer = f"a {word.lower()} flies" if small else "yes"
    others: list[tuple[str | None, str]] = [("Ben", "so it goes"), ("Cleo", answer)]
    return [scene(*call, ("Cleo", "no"), *others * 3, at=(1, number)) for number in range(times)]


def test_nicknames_are_learned_by_who_answers() -> None:
    learned = learned_words(NAMES, [read(one) for one in nicknamed("Sparrow", 6)])
    assert learned == {"ann": "Ann", "ben": "Ben", "cleo": "Cleo", "sparrow": "Ann"}


def test_a_word_called_a_few_times_or_also_written_small_is_no_nickname() -> None:
    assert "sparrow" not in learned_words(NAMES, [read(one) for one in nicknamed("Sparrow", 4)])
    assert "sparrow" not in learned_words(NAMES, [read(one) for one in nicknamed("Sparrow", 6, small=True)])


def test_who_answers_everybody_owns_no_word() -> None:
    always = [scene(("Ben", "Hey Lord, look."), ("Ann", "What?"), at=(1, number)) for number in range(9)]
    assert "lord" not in learned_words(NAMES, [read(one) for one in always])


def test_what_two_people_are_called_says_nothing() -> None:
    names = Names({"Ann Bell": ("Ann Bell",), "Cleo Bell": ("Cleo Bell",), "Ben": ("Ben",)})
    others: list[tuple[str | None, str]] = [("Ben", "so"), ("Cleo Bell", "yes")]
    told = [scene(("Ben", "Hey Bell, look."), ("Ann Bell", "What?"), *others * 3, at=(1, place)) for place in range(8)]
    assert learned_words(names, [read(one, names) for one in told]) == {
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


def flat_names() -> Names:
    return with_learned_names(Names({who: (who,) for who in FLATMATES}), flat())


@pytest.mark.parametrize("word", ["Pheebs", "PHEEBS", "Geller", "Howie", "Monica", "MONICA"])
def test_what_main_characters_are_called_is_covered(word: str) -> None:
    assert flat_names().hidden(f"so, {word}'s green coat") == f"so, {HIDDEN}'s green coat"


def test_a_surname_of_two_says_nothing_about_which_of_them() -> None:
    assert dict(flat_names().words())["Geller"] is None
    assert dict(flat_names().words())["Pheebs"] == "Phoebe"


def test_nothing_is_learned_from_a_covered_text_that_names_anybody() -> None:
    names = flat_names()
    masking = Masking(FLATMATES, names, how="mask")
    covered = [masking.told(one) for one in flat()]
    assert learned_words(names, [read(one, names) for one in covered]).keys() == {
        word.lower() for word, who in names.words() if who is not None
    }
    text = " ".join(line.text for one in covered for line in one.lines)
    assert not any(word in text for word in ("Pheebs", "PHEEBS", "Geller", "Howie"))


def test_supporting_characters_and_common_words_keep_their_names() -> None:
    lines: list[tuple[str | None, str]] = [("Ben", "Hey Howell, Monday then."), ("Howell", "yes"), ("Ben", "so it is")]
    names = with_learned_names(
        Names({"Howard": ("Howard",), "Ben": ("Ben",)}),
        [scene(*lines, ("Howard", "Howell, no. monday."), at=(1, number)) for number in range(5)],
    )
    assert [word for word, _ in names.words()] == ["Howard", "Ben"]


def test_where_words_are_not_spaced_nothing_is_learned() -> None:
    names = Names({"太郎": ("太郎",)}, "ja")
    assert with_learned_names(names, flat(), "ja") is names


@given(st.lists(st.tuples(st.sampled_from(["Ann", "Ben", "Cleo", None]), st.text(max_size=40)), max_size=12))
def test_more_names_never_cover_less(lines: list[tuple[str | None, str]]) -> None:
    told = scene(*lines) if lines else scene(("Ann", "yes"))
    names = with_learned_names(NAMES, [told])
    assert set(NAMES.words()) <= set(names.words())
    assert names.people == NAMES.people
