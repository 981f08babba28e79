from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics.generation import (
    SetLikelihood,
    corpus_bleu,
    delta_p_by_item,
    delta_p_of_sets,
    distinct,
    perplexity,
    reference_f1,
    repeated_share,
    repeats_turn,
    tokenize_replies,
    word_units,
)
from understudy.metrics.statistics import interval

WORDS = st.lists(st.sampled_from(["key", "lamp", "boat", "tide"]), max_size=9)
REPLIES = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=6)


def words(*texts: str) -> list[list[str]]:
    return [text.split() for text in texts]


def test_the_example_of_the_paper_of_bleu() -> None:
    """Papineni et al. 2002: 'the' is clipped to 2 of 7; of their words example 1's candidates have 17/18 and 8/14."""
    the = [words("the cat is on the mat", "there is a cat on the mat")]
    assert corpus_bleu(words("the the the the the the the"), the, order=1).value == pytest.approx(2 / 7)
    references = words(
        "it is a guide to action that ensures that the military will forever heed party commands",
        "it is the guiding principle which guarantees the military forces always being under the command of the party",
        "it is the practical guide for the army always to heed the directions of the party",
    )
    good = words("it is a guide to action which ensures that the military always obeys the commands of the party")
    poor = words("it is to insure the troops forever hearing the activity guidebook that party direct")
    assert corpus_bleu(good, [references], order=1).value == pytest.approx(17 / 18)
    short = math.exp(1 - 16 / 14)  # its 14 words stand beside a reference of 16
    assert corpus_bleu(poor, [references], order=1).value == pytest.approx(8 / 14 * short)
    # bigrams 10/17 and 1/13, as the paper counts them
    assert corpus_bleu(good, [references], order=2).value == pytest.approx(math.sqrt(17 / 18 * 10 / 17))
    assert corpus_bleu(poor, [references], order=2).value == pytest.approx(math.sqrt(8 / 14 * 1 / 13) * short)


def test_counts_are_summed_over_the_corpus_before_they_are_divided() -> None:
    replies, references = words("a b c d e", "x"), [words("a b c d e"), words("y z")]
    figure = corpus_bleu(replies, references)
    expected = (5 / 6 * 4 / 4 * 3 / 3 * 2 / 2) ** (1 / 4) * math.exp(1 - 7 / 6)
    assert figure.value == pytest.approx(expected)
    assert corpus_bleu(words("a b c"), [words("a b c")]).value == 0.0  # no 4-gram, and nothing is smoothed


@given(REPLIES, st.integers(1, 4))
def test_it_is_multi_bleu_written_out(pairs: list[tuple[list[str], list[list[str]]]], order: int) -> None:
    shared, totals, length, reference_length = [0] * order, [0] * order, 0, 0
    for reply, references in pairs:
        length += len(reply)
        reference_length += min((abs(len(each) - len(reply)), len(each)) for each in references)[1]
        for n in range(1, order + 1):
            ours = Counter(tuple(reply[at : at + n]) for at in range(len(reply) - n + 1))
            totals[n - 1] += ours.total()
            for gram, count in ours.items():
                most = max(
                    sum(tuple(each[at : at + n]) == gram for at in range(len(each) - n + 1)) for each in references
                )
                shared[n - 1] += min(count, most)
    value = 0.0
    if all(shared):
        value = math.exp(sum(math.log(a / b) for a, b in zip(shared, totals)) / order)
        value *= math.exp(1 - reference_length / length) if length < reference_length else 1.0
    figure = corpus_bleu([reply for reply, _ in pairs], [references for _, references in pairs], order)
    assert figure.value == pytest.approx(value)
    assert 0 <= figure.low <= figure.high <= 1


def test_f1_by_hand_as_parlai_normalises() -> None:
    # {i, mend, old, clocks} and {i, mend, clock}: 2 shared, P = 2/4, R = 2/3
    assert reference_f1("I mend the old clocks.", ["i mend a clock !"]) == pytest.approx(
        2 * (1 / 2) * (2 / 3) / (7 / 6)
    )
    # punctuation is a blank: don't -> don, t
    assert reference_f1("don't", ["don t"]) == 1.0
    assert reference_f1("a an the", ["the"]) == 0.0
    assert reference_f1("no no", ["no"]) == pytest.approx(2 / 3)
    assert reference_f1("yes", ["no", "yes !"]) == 1.0
    # an article beside a sign that is no ASCII punctuation goes, and the sign stays
    assert reference_f1("a…", ["…"]) == 1.0


@given(st.text(alphabet="abt he.'!-", max_size=30), st.lists(st.text(alphabet="abt he.'!-", max_size=30), min_size=1))
def test_f1_has_its_bounds_and_does_not_mind_the_order_of_words(reply: str, references: list[str]) -> None:
    value = reference_f1(reply, references)
    assert 0 <= value <= 1
    assert reference_f1(" ".join(reversed(reply.split())), references[::-1]) == pytest.approx(value)


def test_distinct_by_hand() -> None:
    replies = words("i see", "i see the sea", "")
    assert distinct(replies, 1).value == pytest.approx(4 / 6)
    assert distinct(replies, 2).value == pytest.approx(3 / 4)
    with pytest.raises(ValueError, match="3 words"):
        distinct(words("i see"), 3)


@given(st.lists(st.tuples(WORDS, st.integers(0, 3)), min_size=2, max_size=8), st.integers(1, 2))
def test_the_jackknife_leaves_out_a_group_at_a_time(said: list[tuple[list[str], int]], n: int) -> None:
    def dist(replies: list[list[str]]) -> tuple[int, int]:
        grams = [tuple(reply[at : at + n]) for reply in replies for at in range(len(reply) - n + 1)]
        return len(set(grams)), len(grams)

    replies, groups = [reply for reply, _ in said], [group for _, group in said]
    if not dist(replies)[1]:
        return
    figure = distinct(replies, n, groups)
    different, total = dist(replies)
    assert figure.value == pytest.approx(different / total)
    without = [dist([reply for reply, group in said if group != left]) for left in sorted(set(groups))]
    values = [a / b for a, b in without if b]
    if len(values) > 1:
        mean = sum(values) / len(values)
        error = math.sqrt((len(values) - 1) / len(values) * sum((value - mean) ** 2 for value in values))
        assert figure.high == pytest.approx(min(1, figure.value + 1.959964 * error))
        assert figure.low == pytest.approx(max(0, figure.value - 1.959964 * error))


def test_repetition_by_hand() -> None:
    # 'i like the sea' twice: 5 4-grams in 8 words, of them 4 different
    (reply,) = words("i like the sea i like the sea")
    assert repeated_share(reply) == pytest.approx(1 / 5)
    assert repeated_share(["no", "no", "no"]) == 0.0
    assert repeats_turn("I mend clocks!", ["hello .", "i mend clocks ."])
    assert not repeats_turn("i mend clocks", ["i mend old clocks"])
    assert not repeats_turn("...", ["!"])


def test_words_and_marks_in_lower_case() -> None:
    assert tokenize_replies(["I don't know...", "No!"]) == [["i", "don't", "know", "..."], ["no", "!"]]


LOG_PROB = st.floats(-200, -0.01)
ITEMS = st.lists(st.tuples(LOG_PROB, st.integers(1, 30)), min_size=1, max_size=12)


def likelihood(pairs: list[tuple[float, int]]) -> SetLikelihood:
    return SetLikelihood([log_prob for log_prob, _ in pairs], [units for _, units in pairs])


def test_words_and_one_end() -> None:
    assert [word_units(text) for text in ("i mend old clocks .", "", "  yes  ")] == [6, 1, 2]
    assert word_units("私は時計を直す。", "ja") == 9


def test_it_is_the_ratio_of_sums_and_no_mean_of_perplexities() -> None:
    """A reply of 1 word at 1/2 and one of 3 words at 1/8 each: 10 bits in 4 words."""
    replies = likelihood([(math.log(1 / 2), 1), (3 * math.log(1 / 8), 3)])
    assert perplexity(replies).value == pytest.approx(2 ** (10 / 4))


def test_a_uniform_model_of_v_words_has_a_perplexity_of_v() -> None:
    replies = likelihood([(units * math.log(1 / 50), units) for units in (3, 9, 1)])
    assert perplexity(replies) == pytest.approx((50, 50, 50))


def test_groups_are_drawn_whole_and_the_ratio_taken_anew() -> None:
    """Two dialogues, one easy and long, one hard: a resample has either, both, or one twice."""
    replies = likelihood([(-2.0, 10), (-2.0, 10), (-6.0, 2)])
    figure = perplexity(replies, ["a", "a", "b"])
    assert figure.low == pytest.approx(math.exp(4 / 20))
    assert figure.high == pytest.approx(math.exp(3))
    assert figure.value == pytest.approx(math.exp(10 / 22))


def test_a_very_improbable_reply_is_no_overflow() -> None:
    assert math.isfinite(perplexity(likelihood([(-1e6, 2)])).value)
    with pytest.raises(ValueError, match="without words"):
        perplexity(likelihood([(-1.0, 0)]))


def test_delta_p_by_hand() -> None:
    """PPL of the positive 4, of the negatives together 12: (12 - 4) / (12 + 4)."""
    positive, negative = likelihood([(2 * math.log(1 / 4), 2)]), likelihood([(5 * math.log(1 / 12), 5)])
    assert delta_p_by_item(positive, negative) == pytest.approx([0.5])
    assert delta_p_of_sets(positive, negative).value == pytest.approx(0.5)


def test_the_mean_over_items_and_the_sets_differ() -> None:
    positive = likelihood([(math.log(1 / 4), 1), (math.log(1 / 4), 1)])
    negative = likelihood([(math.log(1 / 12), 1), (math.log(1 / 4), 1)])
    assert interval(delta_p_by_item(positive, negative)).value == pytest.approx(0.25)
    of_sets = math.sqrt(12 * 4)
    assert delta_p_of_sets(positive, negative).value == pytest.approx((of_sets - 4) / (of_sets + 4))


@given(ITEMS, st.randoms(use_true_random=False))
def test_order_does_not_matter_and_a_perplexity_is_at_least_one(pairs: list[tuple[float, int]], chance: object) -> None:
    value = perplexity(likelihood(pairs)).value
    shuffled = list(pairs)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert value >= 1
    assert perplexity(likelihood(shuffled)).value == pytest.approx(value)


@given(ITEMS)
def test_delta_p_lies_between_its_bounds_and_turns_with_its_sides(pairs: list[tuple[float, int]]) -> None:
    positive = likelihood(pairs)
    negative = likelihood(pairs[::-1])
    values = delta_p_by_item(positive, negative)
    assert (np.abs(values) <= 1).all()
    assert delta_p_by_item(negative, positive) == pytest.approx(-values)
    assert delta_p_of_sets(positive, positive).value == 0
    figure = delta_p_of_sets(positive, negative)
    assert -1 <= figure.low <= figure.high <= 1
