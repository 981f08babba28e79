from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats import read
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.relation_fit import relation_fit
from understudy.metrics.samples import Samples
from understudy.story.dialogue import Situation, situation_at
from understudy.story.persona import Other, Persona
from understudy.story.types import Moment, Relation


def fit_of(situation: Situation) -> LineMetric:
    return relation_fit(Samples({"Ines": ["Ahoy."]}, situation.persona.language), situation)


def facing(affection: int, language: str = "en") -> Situation:
    tie = Relation("Ines", "Tobias", "affection", affection, Moment((1,)))
    return Situation(Persona("Ines", relations=(tie,), language=language), faced=Other("Tobias", relations=(tie,)))


@pytest.mark.parametrize(
    ("language", "warm", "cold"),
    [
        ("en", "Thank you, my friend.", "Get out, you liar!"),
        ("ja", "ありがとう、会いたかった。", "黙れ、裏切り者め。"),
        ("zh", "谢谢你，多保重。", "滚出去，骗子！"),
    ],
)
def test_warm_to_an_enemy_and_cold_to_a_friend_do_not_fit(language: str, warm: str, cold: str) -> None:
    friend, enemy = fit_of(facing(8, language)), fit_of(facing(-8, language))
    (to_friend_warm, to_friend_cold), (to_enemy_warm, to_enemy_cold) = friend([warm, cold]), enemy([warm, cold])
    assert to_friend_warm.value == to_enemy_cold.value == 1
    assert to_friend_cold.value is not None and to_friend_cold.value < 0.6
    assert to_enemy_warm.value is not None and to_enemy_warm.value < 0.6
    assert to_friend_cold.reason.startswith("cold") and to_enemy_warm.reason.startswith("warm")


def test_the_stronger_the_feeling_the_worse_the_misfit() -> None:
    fits = [fit_of(facing(level))(["I hate you."])[0].value for level in (0, 2, 5, 10)]
    assert fits == sorted(fits, key=lambda fit: -(fit or 0)) and fits[0] == 1 and len(set(fits)) == 4


def test_a_plain_line_fits_anybody() -> None:
    assert [fit_of(facing(level))(["The tide is out."])[0].value for level in (-10, 10)] == [1, 1]


def test_without_a_feeling_or_somebody_faced_there_is_a_reason(story: Path) -> None:
    (score,) = fit_of(Situation(Persona("Ines")))(["Hello."])
    assert score.value is None and "before whom" in score.reason
    (score,) = fit_of(Situation(Persona("Ines"), faced=Other("Mara")))(["Hello."])
    assert score.value is None and "Mara" in score.reason
    opened = read(story)
    for moment, cold_fits in (("1.2", False), ("2.1.1", True)):  # 7 at first, then -6
        (score,) = fit_of(situation_at(opened, "Ines", moment, "Tobias"))(["Go away, liar."])
        assert score.value is not None and (score.value == 1) is cold_fits


@given(st.text(max_size=60), st.integers(-10, 10), st.sampled_from(["en", "ja", "zh"]))
def test_any_line_scores_between_nothing_and_one(line: str, level: int, language: str) -> None:
    (score,) = fit_of(facing(level, language))([line])
    assert (score.value is None and "no words" in score.reason) or 0 <= (score.value or 0) <= 1
