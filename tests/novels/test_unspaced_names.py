"""Names in Japanese and Chinese prose."""

from __future__ import annotations

from quoted_prose import called, names_of, prose_of
from understudy.novels.cast import find_cast


def test_japanese_names_stand_before_honorifics_and_verbs_of_speech() -> None:
    text = "「早いね」と、美咲は言った。「うん」健太が答えた。美咲さんは笑った。彼女は寝た。健太は叫んだ。彼は言った。"
    cast = find_cast(prose_of(text, "ja"))
    assert names_of(called(cast, "美咲")) == {"美咲", "美咲さん"}
    assert {character.name for character in cast} == {"美咲", "健太"}


def test_chinese_names_are_a_surname_with_one_or_two_characters() -> None:
    text = (
        "李小梅说：“走吧。”王强笑道：“好。”李小梅问：“你呢？”她看着王强。王强说：“我也去。”他笑了。李小梅叫道：“快！”"
    )
    assert {character.name for character in find_cast(prose_of(text, "zh"))} == {"李小梅", "王强"}
