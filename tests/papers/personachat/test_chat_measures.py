from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from understudy.formats.chat_records import ChatLine, ChatRecord
from understudy.metrics.statistics import spearman
from understudy.papers.personachat.chat_measures import chat_measures, folds_of, out_of_fold
from understudy.story.dialogue import Situation, Turn

PROFILES = ("i keep bees.", "my dog is old."), ("i sail boats.", "i live by the sea.")


def record(*turns: tuple[int, str], name: str = "1") -> ChatRecord:
    return ChatRecord(name, ("human", "bot"), PROFILES, tuple(ChatLine(*turn) for turn in turns))


TALK = record(
    (0, "hello , how are you ?"), (1, "i sail boats by the sea"), (0, "you just said that ."),
    (1, "i sail boats by the sea"), (0, "ok bye"), (1, "what ?"),
)  # fmt: skip
SILENT = record((0, "is anybody there ?"), name="2")
COPY = record((0, "i keep bees."), (1, "i sail boats."), name="3")
CHATS = [TALK, SILENT, COPY]


class Even:
    """Every word has the same probability, and the end as well."""

    def __init__(self) -> None:
        self.heard: list[tuple[tuple[str, ...], list[str], str]] = []

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        self.heard.append((situation.persona.profile, [turn.text for turn in history], text))
        return [math.log(0.25)] * (len(text.split()) + 1)


def test_counts_by_hand() -> None:
    measures = chat_measures(CHATS)
    assert measures["turns", "bot"].tolist() == [3, 0, 1]
    assert measures["turns", "both"].tolist() == [6, 1, 2]
    assert measures["words", "bot"].tolist() == [13, 0, 3]
    assert measures["message_words", "bot"][0] == pytest.approx(13 / 3)
    assert measures["rep_turn", "bot"][0] == pytest.approx(1 / 3)
    assert measures["questions", "bot"][0] == pytest.approx(1 / 3)
    assert measures["questions", "human"][0] == pytest.approx(1 / 3)
    assert measures["complaints", "human"][0] == pytest.approx(1 / 3)
    assert measures["greeting", "human"].tolist() == [1, 0, 0]
    assert measures["ending", "human"].tolist() == [1, 0, 0]
    assert measures["dist-1", "bot"][0] == pytest.approx(8 / 14), "i sail boats by the sea what ?"
    for name in ("dist-1", "rep_turn", "questions", "p_f1", "message_words", "greeting"):
        assert np.isnan(measures[name, "bot"][1]), name


def test_who_is_asked_the_same_again_complains() -> None:
    asked = record((1, "do you sail ?"), (0, "you already asked that ."), (0, "i do ."))
    assert chat_measures([asked])["complaints", "human"].tolist() == [0.5]


def test_profiles_are_those_of_the_side() -> None:
    measures = chat_measures(CHATS)
    assert measures["copying", "bot"][2] == measures["copying", "human"][2] == 1
    assert measures["p_f1", "bot"][2] == 1 and measures["p_f1_partner", "bot"][2] == 0
    assert measures["p_f1", "human"][0] == 0


def test_meanings_by_the_encoder() -> None:
    measures = chat_measures(CHATS)
    assert np.isnan(measures["coherence", "bot"][1]) and np.isnan(measures["coherence", "human"][2])
    assert measures["persona_similarity", "bot"][2] > measures["persona_similarity", "human"][0]
    assert 0 <= measures["contradiction", "bot"][2] < 0.5


def test_a_model_is_asked_for_each_message_after_what_came_before_it() -> None:
    model = Even()
    measures = chat_measures([TALK, SILENT], model=model)
    assert measures["perplexity", "bot"][0] == pytest.approx(4)
    assert np.isnan(measures["perplexity", "bot"][1])
    profile, history, text = model.heard[1]
    assert (profile, text) == (PROFILES[1], "i sail boats by the sea")
    assert history == [turn.text for turn in TALK.turns[:3]]


class EvenBatch(Even):
    def log_probs_many(
        self, questions: Sequence[tuple[Situation, Sequence[Turn], Sequence[str]]]
    ) -> list[list[list[float]]]:
        return [[self.log_probs(situation, said, text) for text in texts] for situation, said, texts in questions]


def test_a_model_may_be_asked_for_a_chat_at_once() -> None:
    alone, at_once = Even(), EvenBatch()
    one, other = (chat_measures(CHATS, model=model)["perplexity", "human"] for model in (alone, at_once))
    assert np.array_equal(one, other) and at_once.heard == alone.heard


def test_words_of_training_are_expected() -> None:
    training = ["i sail boats by the sea", "i sail boats every day", "hello , how are you ?"] * 5
    measures = chat_measures([TALK, SILENT, COPY], training)
    assert measures["ngram_perplexity", "bot"][2] < measures["ngram_perplexity", "human"][2]
    assert ("ngram_perplexity", "bot") not in chat_measures(CHATS)


def test_a_person_is_never_on_both_sides() -> None:
    people = [f"p{number % 7}" for number in range(50)]
    judged: list[int] = []
    for learnt, held_back in folds_of(people, 4, seed=1):
        assert {people[index] for index in learnt}.isdisjoint(people[index] for index in held_back)
        judged += held_back.tolist()
    assert sorted(judged) == list(range(50))
    assert len(folds_of(["a", "a", "b"], 10, 0)) == 2


def test_what_is_there_is_found_and_what_is_not_is_not() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(1, 6, 300).astype(float)
    telling, noise = target + rng.normal(0, 2, 300), rng.normal(size=(300, 12))
    people = [str(index // 2) for index in range(300)]
    alone = spearman(telling, target)
    with_noise = spearman(out_of_fold(np.column_stack([np.exp(telling), noise]), target, people), target)
    assert with_noise == pytest.approx(alone, abs=0.06)
    assert abs(spearman(out_of_fold(noise, target, people), target)) < 0.15


def test_missing_values_are_no_news() -> None:
    rng = np.random.default_rng(1)
    target = rng.normal(size=200)
    features = np.column_stack([target + 0.1 * rng.normal(size=200), np.full(200, np.nan)])
    features[::5, 0] = np.nan
    predicted = out_of_fold(features, target, list(range(200)))
    assert not np.isnan(predicted).any()
    assert spearman(predicted, target) > 0.7
