"""Runs of capitalised words as names."""

from __future__ import annotations

import pytest

from novel_texts import called, names_of, quoted_prose
from understudy.novels.cast import find_cast
from understudy.novels.lexicon import lexicon_of
from understudy.novels.names import lower_counts, name_mentions


def surfaces(text: str) -> list[str]:
    mentions = name_mentions(quoted_prose(text), lexicon_of(text, "en"), lower_counts(text))
    assert all(text[mention.start : mention.end].split() == mention.form.surface.split() for mention in mentions)
    return [mention.form.surface for mention in mentions]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a word to Mr. Vane of it", ["Mr. Vane"]),
        ("and Mr.\nVane came", ["Mr. Vane"]),
        ("with Ada's brother Paul", ["Ada", "Paul"]),
        ("of Ada's Paul", ["Ada", "Paul"]),
        ("that J. B. Priest sang", ["J. B. Priest"]),
        ("for Sir Percy O'Dowd and Mr. M'Gill", ["Sir Percy O'Dowd", "Mr. M'Gill"]),
        ("to Ada Mr. Vane was kind", ["Ada", "Mr. Vane"]),
        ("saw St. John Vane there", ["St. John Vane"]),
        ("said Ada.\n\nPaul saw Ada and Paul", ["Ada", "Paul", "Ada", "Paul"]),
        ("and THE END of Ada", ["Ada"]),
        ("met _Ada_ again", ["Ada"]),
    ],
)
def test_names_of_a_text(text: str, names: list[str]) -> None:
    assert surfaces(text) == names


def test_the_head_of_a_sentence_is_a_name_if_it_is_one_elsewhere() -> None:
    assert surfaces("He frowned. Poor Ada wept. Doors shut. The doors, he said. But Ada saw.") == ["Ada", "Ada"]


# Names in Japanese and Chinese prose.


def test_japanese_names_stand_before_honorifics_and_verbs_of_speech() -> None:
    text = "「早いね」と、美咲は言った。「うん」健太が答えた。美咲さんは笑った。彼女は寝た。健太は叫んだ。彼は言った。"
    cast = find_cast(quoted_prose(text, "ja"))
    assert names_of(called(cast, "美咲")) == {"美咲", "美咲さん"}
    assert {character.name for character in cast} == {"美咲", "健太"}


def test_chinese_names_are_a_surname_with_one_or_two_characters() -> None:
    text = (
        "李小梅说：“走吧。”王强笑道：“好。”李小梅问：“你呢？”她看着王强。王强说：“我也去。”他笑了。李小梅叫道：“快！”"
    )
    assert {character.name for character in find_cast(quoted_prose(text, "zh"))} == {"李小梅", "王强"}
