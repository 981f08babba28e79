from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.dialogue import Score
from understudy.errors import InputError
from understudy.judging import Rule, judge
from understudy.utterances import APPROVED, PENDING, REJECTED


@given(st.sampled_from(["psprob", "maxbleu-4", "p_f1"]), st.booleans(), st.floats(-1e6, 1e6).map(lambda x: round(x, 3)))
def test_a_rule_reads_as_it_is_written(metric: str, at_least: bool, bound: float) -> None:
    rule = Rule.parse(f" {metric} {'>=' if at_least else '<='} {bound!r} ")
    assert rule == Rule(metric, at_least, bound)


@pytest.mark.parametrize("text", ["", "psprob", "psprob>0.2", "psprob=0.2", ">=0.2", "psprob>=much", "Psprob>=0.2"])
def test_what_is_not_a_rule_says_how_one_is_written(text: str) -> None:
    with pytest.raises(InputError, match="as in psprob>=0.2"):
        Rule.parse(text)


def test_the_bound_itself_passes() -> None:
    assert Rule.parse("psprob>=0.2").passes(Score("psprob", 0.2)) is True
    assert Rule.parse("anachronism<=0").passes(Score("anachronism", 0.0)) is True
    assert Rule.parse("anachronism<=0").passes(Score("anachronism", 1.0)) is False


def test_all_pass_one_fails_or_one_cannot_be_judged() -> None:
    rules = [Rule.parse("psprob>=0.2"), Rule.parse("anachronism<=0")]

    def verdict(psprob: float | None, late: float | None) -> str:
        scores = {
            "psprob": Score("psprob", psprob, "no sample lines"),
            "anachronism": Score("anachronism", late, "not known yet"),
        }
        return judge(scores, rules).decision

    assert verdict(0.3, 0) == APPROVED
    assert verdict(0.1, 0) == verdict(0.3, 2) == verdict(None, 2) == REJECTED
    assert verdict(None, 0) == PENDING


def test_a_verdict_says_by_which_rule_and_why() -> None:
    verdict = judge({"anachronism": Score("anachronism", 2.0, "not known yet")}, [Rule.parse("anachronism<=0")])
    assert "anachronism<=0" in verdict.why and "not known yet" in verdict.why
