from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.metrics import Samples, copying, glove_ranks, p_cover, p_f1
from understudy.metrics.overlap import unigram_f1

PROFILE = ["I keep the keys of the harbour.", "I like strong tea and cold mornings.", "The!"]
NOTHING = Samples({})


def test_p_f1_by_hand() -> None:
    line = "Strong tea, the harbour, and my keys"  # strong tea harbour keys
    (score,) = p_f1(NOTHING, PROFILE)([line])
    recall, precision = max(2 / 3, 2 / 5), 2 / 4  # of keep keys harbour; of like strong tea cold mornings
    assert score.value == pytest.approx(2 * recall * precision / (recall + precision))
    assert score.reason == "harbour, keys: I keep the keys of the harbour."


def test_a_word_counts_once() -> None:
    once, many = p_f1(NOTHING, PROFILE)(["keys", "keys keys keys"])
    assert once.value == many.value == pytest.approx(2 * (1 / 3) * 1 / (1 / 3 + 1))


def test_p_cover_by_hand() -> None:
    ranks = {"tea": 10, "strong": 200}

    def weight(rank: int) -> float:
        return 1 / (1 + math.log(1 + 1e6 / rank**1.07))

    tea, both, unranked = p_cover(NOTHING, PROFILE, ranks)(["Tea!", "strong tea", "harbour"])
    assert tea.value == pytest.approx(weight(10))
    assert both.value == pytest.approx((weight(10) + weight(200)) / 2)
    assert unranked.value == pytest.approx(weight(3)), "after all that are ranked"


def test_without_a_file_words_rank_as_in_the_sample_lines() -> None:
    samples = Samples({"Ines": ["tea tea harbour", "tea"], "Tobias": ["harbour tea strong"]})
    tea, harbour, strong = (score.value for score in p_cover(samples, PROFILE)(["tea", "harbour", "strong"]))
    assert tea is not None and harbour is not None and strong is not None
    assert tea < harbour < strong, "a rarer word is worth more"


@pytest.mark.parametrize("metric", [p_f1, p_cover])
def test_what_is_not_shared_is_nothing_and_what_is_not_there_is_missing(metric: object) -> None:
    stranger, stops, empty = metric(NOTHING, PROFILE)(["quantum flux", "and the", "..."])  # type: ignore[operator]
    assert (stranger.value, stranger.reason) == (0.0, "shares no telling word with the description")
    assert stops.value == 0.0
    assert empty.value is None
    (score,) = metric(NOTHING, ["The!"])(["the keys"])  # type: ignore[operator]
    assert (score.value, score.reason) == (None, "no description of the persona")


def test_words_of_the_description_need_not_be_in_the_samples_nor_in_every_line() -> None:
    samples = Samples({"Ines": ["keys"]})
    metric = p_f1(samples, PROFILE)
    assert [score.value for score in metric(["harbour keys", "zzz"])] == [
        metric(["harbour keys"])[0].value,
        metric(["zzz"])[0].value,
    ]


def test_ranks_from_a_glove_file(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("the 0.1 0.2\ntea 0.3 0.4\nthe 0.5 0.6\n", encoding="utf-8")
    assert glove_ranks(path) == {"the": 1, "tea": 2}
    path.write_text("the\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"glove.txt:1: is not a GloVe file"):
        glove_ranks(path)
    path.write_bytes(b"\xff\xfe 1\n")
    with pytest.raises(InputError, match="is not UTF-8"):
        glove_ranks(path)
    with pytest.raises(InputError, match="cannot be opened"):
        glove_ranks(tmp_path / "nowhere.txt")


SENTENCES = ["I keep the keys of the harbour.", "Cold tea.", "Yes!"]
WORDS = st.lists(st.sampled_from(["key", "lamp", "boat", "tide"]), max_size=8)


@pytest.mark.parametrize(
    ("line", "share", "reason"),
    [
        ("I keep the keys of the harbour", 1.0, "repeats: i keep the keys of the harbour"),
        ("Well, I keep the boat", 3 / 5, "repeats: i keep the"),
        ("I keep, the keys: cold tea", 1.0, "repeats: i keep the keys cold tea"),
        ("the keys the harbour", 0.0, "repeats no run of the profile"),
        ("Yes, harbour tea", 0.0, "repeats no run of the profile"),
        ("Do I keep the cat, or keys of the cat?", 6 / 10, "repeats: i keep the, keys of the"),
    ],
)
def test_the_share_that_is_word_for_word(line: str, share: float, reason: str) -> None:
    (score,) = copying(Samples({}), SENTENCES)([line])
    assert score.value == pytest.approx(share)
    assert score.reason == reason


@given(st.lists(WORDS, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
def test_it_is_the_obvious_count(profile: list[list[str]], lines: list[list[str]]) -> None:
    runs = {
        tuple(sentence[at : at + min(3, len(sentence))])
        for sentence in profile
        if len(sentence) > 1
        for at in range(len(sentence) - min(3, len(sentence)) + 1)
    }
    scores = copying(Samples({"a": ["key"]}), [" ".join(words) for words in profile])(
        [" ".join(words) for words in lines]
    )
    for line, score in zip(lines, scores):
        copied = {
            at + step
            for run in runs
            for at in range(len(line) - len(run) + 1)
            if tuple(line[at : at + len(run)]) == run
            for step in range(len(run))
        }
        assert score.value == (pytest.approx(len(copied) / len(line)) if line and runs else None)


def test_without_a_profile_there_is_no_value() -> None:
    (score,) = copying(Samples({}), ["Yes!"])(["yes"])
    assert (score.value, score.reason) == (None, "no profile of the persona")


def test_words_in_common() -> None:
    assert unigram_f1("i mend clocks", "I mend clocks.") == 1.0
    assert unigram_f1("i mend old clocks", "i mend") == pytest.approx(2 * 2 / (4 + 2))
    assert unigram_f1("no no", "no") == pytest.approx(2 * 1 / 3)
    assert unigram_f1("yes", "no") == unigram_f1("", "") == unigram_f1("...", "no") == 0.0
