from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from judged import Baker, Blind, Chimes
from understudy.bench.answers import JudgedAgent
from understudy.bench.run import Items
from understudy.papers.hpd.measures import (
    GENERATION,
    METRICS,
    PAIRED,
    HpdGeneration,
    judge_generation,
    ranking_marks,
    ranking_rows,
    session_ranks,
)
from understudy.papers.hpd.published import hpd_generation_figure, hpd_paper_rows
from understudy.papers.hpd.sessions import what_parts_add
from understudy.story.dialogue import Example, Reply, Situation, Turn
from understudy.story.persona import Persona

ALL = "dialogue+scene+attributes+relations"


def example(name: str, candidates: int = 11) -> Example:
    texts = tuple(f"reply {number}" for number in range(candidates))
    return Example(Situation(Persona("Wren")), (), texts, frozenset({0}), name)


def test_ten_candidates_are_left_without_the_last_wrong_one() -> None:
    scores = [5.0, *range(9), 6.0]  # the last wrong reply beats the right one, and so do three others
    assert session_ranks(scores, {0}) == (6,)
    assert session_ranks(scores, {0}, among=10) == (5,)
    assert session_ranks([9.0, 10.0, 8.0], {0}, among=10) == (2,)  # fewer than ten stay as they are


def test_the_right_reply_is_never_left_out_wherever_it_stands() -> None:
    scores = [*range(10), 9.5]
    assert session_ranks(scores, {10}, among=10) == (1,)  # the wrong reply with 9 is left out


def test_marks_by_hand_and_the_mean_over_repeats() -> None:
    first, second = [0.5] + [0.0] * 9 + [1.0], [0.0] * 11
    marks = ranking_marks([example("a"), example("b")], [[first, second], [first, first]])
    assert marks["mrr"] == pytest.approx([1 / 2, (1 / 11 + 1 / 2) / 2])
    assert marks["p@1"] == [0, 0]
    assert marks["r10@1"] == [1, 0.5]
    assert marks["r10@5"] == [1, 0.5]
    assert marks["map"] == marks["mrr"]


def test_several_right_replies_share_the_recall() -> None:
    one = Example(Situation(Persona("Wren")), (), ("a", "b", "c", "d"), frozenset({0, 2}), "s")
    marks = ranking_marks([one], [[[3.0, 2.0, 1.0, 0.0]]])
    assert marks["r10@1"] == [0.5]
    assert marks["map"] == pytest.approx([(1 + 2 / 3) / 2])


def test_rows_have_the_papers_figures() -> None:
    items = _items("encoder", "dialogue", [1.0, 0.5])
    rows = {row["metric"]: row for row in ranking_rows({"agent": "encoder", "given": "dialogue"}, items, 0)}
    assert set(rows) == set(METRICS)
    assert rows["mrr"]["value"] == 0.75
    assert (rows["mrr"]["paper"], rows["r10@5"]["paper"]) == (0.468, 0.788)


def _items(agent: str, given: str, values: list[float]) -> Items:
    names = [f"Session-{number}" for number in range(len(values))]
    return Items({"file": "f", "agent": agent, "given": given}, names, [], dict.fromkeys(METRICS, values))


SESSIONS = 24


def session(number: int, scene: str = "") -> Example:
    right = f"i mend clock number {number} ."
    wrong = tuple(f"rain and snow of day {number} and {place}" for place in range(3))
    persona = Persona("Harry", profile=("I mend clocks.",))
    return Example(
        Situation(persona, scene),
        (Turn("Ron", "What do you do?"),),
        (right, *wrong),
        frozenset({0}),
        f"Session-{number}",
    )


def sessions(scene: str = "") -> list[Example]:
    return [session(number, scene) for number in range(SESSIONS)]


def letters(texts: Sequence[str]) -> Any:
    """Features of a text: how often it has each letter."""
    return np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], dtype=float)


def judged(*agents: object) -> list[JudgedAgent]:
    return [JudgedAgent(type(agent).__name__, agent, "causal") for agent in agents]


def value(result: HpdGeneration, agent: str, given: str, metric: str) -> Any:
    (row,) = [row for row in result.rows if (row["agent"], row["given"], row["metric"]) == (agent, given, metric)]
    return row


class SceneReader(Chimes):
    """Finds every word twice as probable where it is told the scene."""

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        plain = super().log_probs(situation, history, text)
        return [log_prob + (math.log(2) if situation.setting else 0.0) for log_prob in plain]


class Parrot:
    """Only says what was right, or what was wrong."""

    def __init__(self, candidate: int) -> None:
        self._candidate, self._asked = candidate, 0

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        number = self._asked % SESSIONS
        self._asked += 1
        return Reply(session(number).candidates[self._candidate])


def test_perplexity_and_delta_p_by_hand() -> None:
    result = judge_generation(judged(Chimes()), {"scene": sessions("A shop.")}, encode=letters)
    # six words: one of clocks (1/2), five others (1/8), the end (1/2)
    right = math.exp(-(2 * math.log(1 / 2) + 5 * math.log(1 / 8)) / 7)
    assert value(result, "Chimes", "scene", "perplexity")["value"] == pytest.approx(right)
    assert value(result, "Chimes", "scene", "perplexity_per_token")["value"] == pytest.approx(right)
    wrong = math.exp(-(math.log(1 / 2) + 8 * math.log(1 / 8)) / 9)
    delta = (wrong - right) / (wrong + right)
    assert value(result, "Chimes", "scene", "delta-p")["value"] == pytest.approx(delta)
    assert [row["metric"] for row in result.rows] == list(GENERATION)
    assert value(result, "Chimes", "scene", "perplexity")["paper"] == 18.3
    assert value(result, "Chimes", "scene", "f1")["paper"] is None


def test_delta_m_is_high_for_who_says_what_is_right() -> None:
    agents = [JudgedAgent("right", Parrot(0), "right"), JudgedAgent("wrong", Parrot(2), "wrong")]
    result = judge_generation(agents, {"scene": sessions()}, encode=letters)
    right, wrong = (value(result, agent, "scene", "delta-m")["value"] for agent in ("right", "wrong"))
    assert right > 0.5
    assert wrong < -0.5
    assert value(result, "right", "scene", "mauve")["value"] == pytest.approx(1.0)
    assert value(result, "right", "scene", "f1")["value"] == pytest.approx(1.0)
    assert value(result, "right", "scene", "bleu")["value"] == pytest.approx(1.0)


def test_what_cannot_be_had_is_null_with_a_reason() -> None:
    result = judge_generation(judged(Baker(), Blind()), {"scene": sessions()}, encode=letters)
    probable = value(result, "Baker", "scene", "perplexity")
    assert probable["value"] is None
    assert "no log-probabilities" in probable["reason"]
    assert value(result, "Baker", "scene", "dist-1")["value"] is not None
    ranks = value(result, "Blind", "scene", "delta-m")
    assert ranks["value"] is None
    assert "asked for no replies" in ranks["reason"]
    few = judge_generation(judged(Baker()), {"scene": sessions()[:5]}, encode=letters)
    assert "too few" in value(few, "Baker", "scene", "delta-m")["reason"]


def test_what_a_part_adds_is_told_by_pairs() -> None:
    questions = {"dialogue+scene": sessions("A shop."), "dialogue": sessions()}
    result = judge_generation(judged(SceneReader(), Chimes()), questions, encode=letters)
    added = {(row["agent"], row["metric"]): row for row in what_parts_add(result.items, PAIRED, 0)}
    gain = added["SceneReader", "log_prob_per_word"]
    assert (gain["adds"], gain["to"]) == ("scene", "dialogue")
    assert gain["value"] == pytest.approx(math.log(2))
    assert gain["p_adjusted"] < 0.01
    assert added["Chimes", "log_prob_per_word"]["value"] == 0
    assert added["Chimes", "log_prob_per_word"]["p_value"] == 1
    assert {metric for _, metric in added} == {"log_prob_per_word", "delta-p", "f1"}
    ratio = [value(result, "SceneReader", given, "perplexity")["value"] for given in ("dialogue", "dialogue+scene")]
    assert ratio[0] / ratio[1] == pytest.approx(math.exp(gain["value"]))


def test_only_so_many_replies_where_that_is_wanted() -> None:
    result = judge_generation(judged(Chimes()), {"scene": sessions()}, replies=20, encode=letters)
    assert value(result, "Chimes", "scene", "dist-1")["n"] == 20
    assert value(result, "Chimes", "scene", "perplexity")["n"] == SESSIONS
    assert len(result.samples) == 10
    assert result.items[0].marks["f1"][20:] == [None] * 4


def test_the_papers_figures_stand_beside_the_same_kind_of_model() -> None:
    assert hpd_generation_figure("bob", (), "delta-p") == 0.21
    assert hpd_generation_figure("bob", ("relations",), "delta-p") == 0.08
    assert hpd_generation_figure("bob", ("scene", "relations"), "delta-p") is None
    assert hpd_generation_figure("causal", ("scene",), "mauve") == 0.809
    assert hpd_generation_figure("writer", ("scene",), "mauve") is None
    told = {(row["agent"], row["metric"]): row["paper"] for row in hpd_paper_rows()}
    assert told["Dialog-GPT", "delta-m"] == 0.192
    assert told["ChatGPT", "consistent_relations"] == 31 / 50
    assert told["GPT-2", "fluency"] == 3.34
    assert all(row["value"] is None and row["reason"] for row in hpd_paper_rows())
