from __future__ import annotations

import pytest

from understudy.metrics.overlap import unigram_f1


def test_words_in_common() -> None:
    assert unigram_f1("i mend clocks", "I mend clocks.") == 1.0
    assert unigram_f1("i mend old clocks", "i mend") == pytest.approx(2 * 2 / (4 + 2))
    assert unigram_f1("no no", "no") == pytest.approx(2 * 1 / 3)
    assert unigram_f1("yes", "no") == unigram_f1("", "") == unigram_f1("...", "no") == 0.0
