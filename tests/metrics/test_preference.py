from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measured import bounds
from understudy.errors import InputError
from understudy.metrics.preference import BradleyTerry, PairwiseChoice, bradley_terry, win_rate
from understudy.metrics.statistics import wilson

# Agresti, Categorical Data Analysis: games that the row won against the column, American League East 1987
BASEBALL = {
    "Milwaukee": [0, 7, 9, 7, 7, 9, 11],
    "Detroit": [6, 0, 7, 5, 11, 9, 9],
    "Toronto": [4, 6, 0, 7, 7, 8, 12],
    "New York": [6, 8, 6, 0, 6, 7, 10],
    "Boston": [6, 2, 6, 7, 0, 7, 12],
    "Cleveland": [4, 4, 5, 6, 6, 0, 6],
    "Baltimore": [2, 4, 1, 3, 1, 7, 0],
}


def choices(wins: Mapping[str, Sequence[int]], items: int = 10) -> list[PairwiseChoice]:
    games = [(row, column) for row, won in wins.items() for column, n in zip(wins, won) for _ in range(n)]
    return [PairwiseChoice(f"i{n % items}", "p", min(pair), max(pair), pair[0]) for n, pair in enumerate(games)]


def values(result: BradleyTerry) -> dict[str, float]:
    return {agent: math.nan if each.value is None else each.value for agent, each in result.strengths.items()}


def test_bradley_terry_strengths_of_baseball_teams_as_published() -> None:
    found = values(bradley_terry(choices(BASEBALL), prior=0, resamples=1))
    assert [found[team] - found["Baltimore"] for team in BASEBALL] == pytest.approx(
        [1.581, 1.436, 1.294, 1.248, 1.108, 0.684, 0], abs=0.001
    )
    assert list(found) == list(BASEBALL), "the strongest first"
    assert sum(found.values()) == pytest.approx(0)


def test_two_agents_by_hand_with_ties_and_prior() -> None:
    """Six wins, two losses and two ties are odds of 7 to 3; a tenth of a comparison more makes them 7.05 to 3.05."""
    won = [PairwiseChoice(str(n), "p", "a", "b", "a" if n < 6 else "b" if n < 8 else None) for n in range(10)]
    for prior, odds in ((0.0, 7 / 3), (0.1, 7.05 / 3.05)):
        result = bradley_terry(won, prior)
        assert values(result)["a"] - values(result)["b"] == pytest.approx(math.log(odds))
        assert bounds(result.wins["a", "b"]).value == pytest.approx(odds / (1 + odds))
    _, low, high = bounds(bradley_terry(won).wins["a", "b"])
    assert 0.3 < low < 0.6 < 0.85 < high < 1
    rate = win_rate(won, "a")
    assert bounds(rate) == wilson(0.7, 10) and rate.n == 10


def test_win_rates_against_all_and_against_one() -> None:
    games = choices(BASEBALL)
    assert win_rate(games, "Detroit").value == pytest.approx(47 / 78)
    assert bounds(win_rate(games, "Detroit", "Boston")) == wilson(11 / 13, 13)
    assert win_rate(games, "Detroit", "Oakland").reason == "Detroit was not compared with Oakland"
    assert win_rate(games, "Oakland").value is None


def test_strengths_are_where_expected_wins_are_those_seen() -> None:
    """The condition of the largest likelihood: each agent wins as often as its probabilities say."""
    result = bradley_terry(choices(BASEBALL), prior=0, resamples=1)
    for team, won in BASEBALL.items():
        expected = sum(13 * bounds(result.wins[team, other]).value for other in BASEBALL if other != team)
        assert expected == pytest.approx(sum(won), abs=1e-4)


def test_who_always_wins_is_strong_by_the_prior_and_has_no_bound_without() -> None:
    chain = [PairwiseChoice(str(n), "p", f"a{i}", f"a{i + 1}", f"a{i}") for i in range(6) for n in range(20)]
    result = bradley_terry(chain)
    differences = -np.diff(list(values(result).values()))
    assert differences == pytest.approx([math.log(20.05 / 0.05)] * 6, abs=1e-4)
    assert result.strengths["a0"].low is None and "rests on the prior" in result.strengths["a0"].reason
    upset = bradley_terry([*chain, PairwiseChoice("20", "p", "a0", "a1", "a1")]).wins
    assert upset["a0", "a1"].low is not None and upset["a1", "a2"].low is None, (
        "only two of them have each beaten the other"
    )
    without = bradley_terry(chain, prior=0)
    assert all(math.isnan(value) for value in values(without).values())
    assert (
        without.reason == "a0 is above a1 in every chain of comparisons, so that its strength has no bound: use a prior"
    )


def test_groups_that_never_met_have_no_common_scale() -> None:
    apart = [PairwiseChoice("i", "p", "a", "b", "a"), PairwiseChoice("i", "p", "c", "d", None)]
    result = bradley_terry(apart)
    assert result.reason == "nobody of a, b was compared with anybody of c, d: there is no common scale"
    assert result.strengths["c"].value is None and result.strengths["c"].reason == result.reason
    assert result.strengths["c"].n == 1 and not result.wins
    assert bradley_terry([]).reason == "nothing was compared"


def test_one_item_has_no_interval_and_items_are_drawn_whole() -> None:
    one = [PairwiseChoice("i", f"p{n}", "a", "b", "a" if n < 7 else "b") for n in range(10)]
    assert bradley_terry(one).strengths["a"].low is None
    rng = np.random.default_rng(0)
    liked = rng.random(60) < 0.6
    alone = [PairwiseChoice(str(n), "p", "a", "b", "a" if won else "b") for n, won in enumerate(liked)]
    _, low, high = bounds(bradley_terry(alone).wins["a", "b"])
    tenfold = [PairwiseChoice(c.item, f"p{n}", c.first, c.second, c.chosen) for c in alone for n in range(10)]
    _, low_tenfold, high_tenfold = bounds(bradley_terry(tenfold).wins["a", "b"])
    assert high_tenfold - low_tenfold == pytest.approx(high - low, rel=0.05), "ten people who agree are not ten items"
    assert high - low == pytest.approx(
        wilson(float(liked.mean()), 60).high - wilson(float(liked.mean()), 60).low, rel=0.15
    )


tables = st.lists(st.lists(st.integers(0, 6), min_size=4, max_size=4), min_size=4, max_size=4)


@given(tables, st.permutations("abcd"))
def test_other_names_and_the_other_way_round(table: list[list[int]], names: list[str]) -> None:
    wins = {name: [0 if i == j else table[i][j] for j in range(4)] for i, name in enumerate("abcd")}
    games = choices(wins)
    result = bradley_terry(games, resamples=1)
    assume(games and not result.reason)
    found = values(result)
    renamed = dict(zip("abcd", names))
    swapped = [
        PairwiseChoice(c.item, c.person, renamed[c.second], renamed[c.first], renamed[str(c.chosen)]) for c in games
    ]
    again = values(bradley_terry(swapped, resamples=1))
    assert {renamed[agent]: value for agent, value in found.items()} == pytest.approx(again, abs=1e-4)
    losers = [
        PairwiseChoice(c.item, c.person, c.first, c.second, c.second if c.chosen == c.first else c.first) for c in games
    ]
    mirrored = values(bradley_terry(losers, resamples=1))
    assert {agent: -value for agent, value in mirrored.items()} == pytest.approx(found, abs=1e-4)
    for first, second in result.wins:
        there, back = result.wins[first, second].value, result.wins[second, first].value
        assert there is not None and back is not None and there + back == pytest.approx(1)


def test_a_choice_is_one_of_the_two() -> None:
    with pytest.raises(InputError, match="with itself"):
        PairwiseChoice("i", "p", "a", "a", None)
    with pytest.raises(InputError, match="'c' was chosen on item 'i', but a and b were compared"):
        PairwiseChoice("i", "p", "a", "b", "c")
