from __future__ import annotations

import math
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.metrics import Samples, glove_ranks, p_cover, p_f1

PROFILE = ["I keep the keys of the harbour.", "I like strong tea and cold mornings.", "The!"]
NOTHING = Samples({})


def test_p_f1_by_hand() -> None:
    line = "Strong tea, the harbour, and my keys"  # strong tea harbour keys
    (score,) = p_f1(NOTHING, PROFILE)([line])
    recall, precision = max(2 / 3, 2 / 5), 2 / 4  # of keep keys harbour; of like strong tea cold mornings
    assert score.value == pytest.approx(2 * recall * precision / (recall + precision))
    assert score.reason == "harbour, keys: I keep the keys of the harbour."


def test_a_word_counts_once() -> None:
    one, many = p_f1(NOTHING, PROFILE)(["keys", "keys keys keys"])
    assert one.value == many.value == pytest.approx(2 * (1 / 3) * 1 / (1 / 3 + 1))


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
