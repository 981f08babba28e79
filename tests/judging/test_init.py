from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.judging import Labelled, Rule, bound_keeping, curve_of, judge, read_labelled, shares_kept
from understudy.metrics.utterances.record import APPROVED, PENDING, REJECTED
from understudy.story.dialogue import Score

FIT = [Labelled(f"fit {n}", True) for n in range(20)]
UNFIT = [Labelled(f"unfit {n}", False) for n in range(20)]
CLEAR = [0.5 + n / 100 for n in range(20)] + [n / 100 for n in range(20)]


@given(
    st.sampled_from(["psprob", "psprob-weighted", "p_f1"]),
    st.booleans(),
    st.floats(-1e6, 1e6).map(lambda x: round(x, 3)),
)
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


def test_where_values_part_cleanly_the_bound_lies_between() -> None:
    curve = curve_of("psprob", CLEAR, [*FIT, *UNFIT])
    point = curve.for_precision(1.0)
    assert (point.bound, point.precision.value, point.recall.value, point.kept) == (0.5, 1.0, 1.0, 0.5)
    assert str(curve.rule(point)) == "psprob>=0.5"
    assert point.precision.low == 1.0 and point.recall.low == 1.0


def test_less_is_better_for_some_metrics() -> None:
    curve = curve_of("uppl", [-value for value in CLEAR], [*FIT, *UNFIT])
    assert str(curve.rule(curve.for_precision(1.0))) == "uppl<=-0.5"
    assert str(bound_keeping("uppl", [1.0, 2.0, 3.0, 4.0], 0.5)) == "uppl<=2"
    assert str(bound_keeping("psprob", [1.0, 2.0, 3.0, 4.0], 0.5)) == "psprob>=3"


values = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9]), st.booleans()), min_size=40, max_size=80)


@given(values, st.floats(0.05, 1))
def test_a_point_does_what_it_says(pairs: list[tuple[float, bool]], wanted: float) -> None:
    labelled = [Labelled("", fit) for _, fit in pairs]
    try:
        curve = curve_of("psprob", [value for value, _ in pairs], labelled)
    except InputError:
        assert min(sum(fit for _, fit in pairs), sum(not fit for _, fit in pairs)) < 10
        return
    point = curve.for_recall(wanted)
    kept = [fit for value, fit in pairs if value >= point.bound]
    assert point.precision.value == pytest.approx(sum(kept) / len(kept))
    assert (
        point.recall.value == pytest.approx(sum(kept) / sum(fit for _, fit in pairs)) and point.recall.value >= wanted
    )
    assert point.precision.low - 1e-9 <= point.precision.value <= point.precision.high + 1e-9
    stricter = [other_point for other_point in curve.some(99) if other_point.bound > point.bound]
    assert all(other_point.recall.value < wanted for other_point in stricter)


def test_what_cannot_be_had_is_refused_with_the_most_there_is() -> None:
    mixed = [0.5] * 40
    with pytest.raises(InputError, match="50% is the most"):
        curve_of("psprob", mixed, [*FIT, *UNFIT]).for_precision(0.9)
    with pytest.raises(InputError, match="at least 10 of each"):
        curve_of("psprob", [0.1] * 15, [*FIT[:10], *UNFIT[:5]])
    with pytest.raises(InputError, match="no line has"):
        bound_keeping("psprob", [None], 0.5)


def test_labelled_lines_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "labelled.jsonl"
    path.write_text('{"text": "Ahoy.", "fit": true}\n\n{"text": "Nay.", "fit": false}\n')
    assert read_labelled(path) == [Labelled("Ahoy.", True), Labelled("Nay.", False)]
    for wrong in ("Ahoy.", json.dumps({"text": "Ahoy."}), json.dumps({"text": "Ahoy.", "fit": 1})):
        path.write_text('{"text": "Ahoy.", "fit": true}\n' + wrong)
        with pytest.raises(InputError) as raised:
            read_labelled(path)
        assert raised.value.line == 2
    with pytest.raises(InputError, match="no such file"):
        read_labelled(tmp_path / "nowhere.jsonl")


VALUES = st.lists(st.one_of(st.none(), st.floats(-5, 5)), min_size=1)


@given(VALUES, st.floats(0.01, 1), st.sampled_from(["psprob", "uppl"]))
def test_the_strictest_bound_that_keeps_a_share(values: list[float | None], share: float, metric: str) -> None:
    known = [value for value in values if value is not None]
    if not known:
        return
    rule, shares = bound_keeping(metric, values, share), dict(shares_kept(metric, values))
    kept = {bound: sum(Rule(metric, rule.at_least, bound).passes(Score(metric, value)) or False for value in known)
            for bound in shares}  # fmt: skip
    assert all(shares[bound] == pytest.approx(count / len(known)) for bound, count in kept.items())
    enough = [count for count in kept.values() if count / len(known) >= share - 1e-9]
    assert kept[rule.bound] == min(enough)
