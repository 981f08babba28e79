from __future__ import annotations

import pytest

from understudy.metrics.voice.traits import traits_of


def test_a_manner_of_ending_is_polite_or_plain_and_names_its_auxiliary() -> None:
    assert traits_of("これは手紙ですよ。読みました？").endings == ("polite です", "polite た")
    assert traits_of("これは手紙だ。").endings == ("plain だ",)
    assert traits_of("あの……").endings == ("plain breaking off",)
    assert traits_of("そうですね――").endings == ("polite breaking off",)


@pytest.mark.parametrize(("line", "said"), [("俺が行く", "俺"), ("オレが行く", "俺"), ("わたしが行きます", "私")])
def test_first_persons_are_known_in_any_spelling(line: str, said: str) -> None:
    assert traits_of(line).first_persons == (said,)


def test_what_is_only_spelling_is_not_heard() -> None:
    plain, cooking = traits_of("行くぞ!待て!"), traits_of("「行くぞ！！　待て！」")
    assert {mark for mark in plain.marks if mark[0] == "c"} == {mark for mark in cooking.marks if mark[0] == "c"}


def test_the_skeleton_is_the_same_for_another_topic() -> None:
    magic, cooking = traits_of("魔法が好きなのよ"), traits_of("料理が好きなのよ")
    assert {mark for mark in magic.marks if mark[0] == "e"} == {mark for mark in cooking.marks if mark[0] == "e"}
    assert magic.things == {"魔法"}
    assert cooking.things == {"料理"}


@pytest.mark.parametrize("line", ["", "。。。", "!?", "ok", "\x00", "あ" * 5000])
def test_any_line_has_traits(line: str) -> None:
    assert traits_of(line).text == line


def test_of_a_line_of_a_megabyte_the_beginning_is_heard() -> None:
    assert traits_of("俺は行くぞ。" * 60_000) == traits_of(("俺は行くぞ。" * 60_000)[:10_000])
