from __future__ import annotations

import numpy as np
import pytest

from understudy.people.claims import Claim
from understudy.people.merging import Found, merged
from understudy.people.own_words import statement
from understudy.story.types import Moment


def found(sentence: str, scene: int, confidence: float, axis: int, is_chat: bool = True) -> Found:
    vector = np.zeros(8, np.float32)
    vector[axis] = 1.0
    claim = Claim("Ada", statement(sentence, "said"), 1, 0.0, 0.0, False)
    return Found(claim, Moment((scene, 1)), ("Ada", f"Witness {scene}"), is_chat, confidence, vector)


def test_what_says_the_same_is_one_finding_and_surer() -> None:
    items = [found("I am a nurse", 3, 0.6, 0), found("I work as a nurse", 1, 0.3, 0)]
    (finding,) = merged(items)
    assert finding.sentence == "I am a nurse"
    assert finding.confidence == pytest.approx(1 - 0.4 * 0.9)
    assert [moment.numbers[0] for moment in finding.sources] == [1, 3]
    assert finding.witnesses == ("Ada", "Witness 1", "Witness 3")


def test_the_same_line_counts_once() -> None:
    (finding,) = merged([found("I am a nurse", 1, 0.6, 0), found("I am a nurse", 1, 0.6, 0)])
    assert finding.confidence == pytest.approx(0.6)


def test_not_and_numbers_tell_sentences_apart() -> None:
    items = [
        found("I have two dogs", 1, 0.5, 0),
        found("I have three dogs", 2, 0.5, 0),
        found("I do not have dogs", 3, 0.5, 0),
    ]
    assert len(merged(items)) == 3


def test_the_later_home_ends_the_earlier() -> None:
    findings = {
        finding.sentence: finding.until
        for finding in merged([found("I live in Porto", 1, 0.6, 0), found("I live in Lisbon", 4, 0.6, 1)])
    }
    assert findings == {"I live in Porto": Moment((4, 1)), "I live in Lisbon": None}


def test_what_is_said_again_has_not_ended() -> None:
    items = [
        found("I live in Porto", 1, 0.6, 0),
        found("I live in Lisbon", 4, 0.6, 1),
        found("I live in Porto", 5, 0.6, 0),
    ]
    assert all(finding.until is None for finding in merged(items))


def test_in_a_script_a_job_is_surer_than_a_remark() -> None:
    job, remark = merged(
        [found("I am a nurse", 1, 0.4, 0, is_chat=False), found("I carry bags", 2, 0.4, 1, is_chat=False)]
    )
    assert (job.sentence, remark.sentence) == ("I am a nurse", "I carry bags")
    assert job.confidence > remark.confidence


def test_nothing_makes_no_findings() -> None:
    assert merged([]) == []
