from __future__ import annotations

from understudy.metrics import Samples, persona_accuracy, personality_classification_accuracy

SAID = {
    "Ines": ["The key was on its hook.", "My key, my hook.", "Keys of the harbour.", "Who has the key?"],
    "Tobias": ["The tide is out.", "Boats go with the tide.", "No boat today.", "I row the boat."],
}


def test_the_share_of_a_set_that_is_taken_for_the_persona() -> None:
    score = personality_classification_accuracy(Samples(SAID), "Ines")(
        ["My key!", "Who has my hook?", "Row the boat!", "..."]
    )
    assert score.value == 2 / 3, "a line without words is no line"
    assert score.reason == "2 of 3 lines; by chance 0.50"


def test_the_share_of_a_set_that_expresses_the_description() -> None:
    metric = persona_accuracy(["I love tea", "tea please", "more tea"], ["No boat", "the tide is out", "row on"])
    assert metric(["a cup of tea", "no boat today"]).value == 0.5
    assert metric(["tea", "tea"]).value == 1.0


def test_without_evidence_there_is_no_value() -> None:
    metric = personality_classification_accuracy(Samples(SAID), "Mara")
    assert metric(["My key!"]).value is None
    assert "'Mara'" in metric(["My key!"]).reason
    nothing = personality_classification_accuracy(Samples(SAID), "Ines")(["", "?"])
    assert (nothing.value, nothing.reason) == (None, "no line has words")
    assert persona_accuracy([], ["no"])(["yes"]).value is None
