from __future__ import annotations

import pytest

import realdata
from measured import speaker_probability
from understudy.formats import read
from understudy.metrics import (
    Samples,
    Speakers,
    persona_accuracy,
    personality_classification_accuracy,
    psprob,
    weighted_psprob,
)
from understudy.metrics.psprob import drawn_from, speaker_classes

SAID = {
    "Ines": ["The key was on its hook.", "My key, my hook.", "Keys of the harbour.", "Who has the key?"] * 3,
    "Tobias": ["The tide is out.", "Boats go with the tide.", "No boat today.", "I row the boat."] * 3,
    "Mara": ["Light the lamp.", "The lamp is lit."],
}


def lines_learnt(speakers: Speakers) -> list[dict[str, list[str]]]:
    """Of each draw, the lines of each speaker."""
    samples = speakers.samples
    said = [(name, line) for name in samples.names for line in samples.lines(name)]
    return [
        {name: [said[row][1] for row in rows.tolist() if said[row][0] == name] for name in speakers.names}
        for rows in speakers.draws
    ]


def test_it_is_the_papers_formula_where_all_have_as_many_lines() -> None:
    said = {name: lines[:8] for name, lines in SAID.items()} | {"Mara": ["Light the lamp.", "The lamp is lit."] * 4}
    independent = speaker_probability(said, "Ines")
    lines = ["Is the key on the hook?", "Row, row the boat!", "The lamp, the key, the tide.", "Supercalifragilistic"]
    for line, score in zip(lines, psprob(Samples(said), "Ines")(lines)):
        assert score.value == pytest.approx(independent(line), abs=2e-3), line


def test_it_is_the_papers_formula_on_a_play() -> None:
    story = read(realdata.folder("shakespeare") / "hamlet.xml")
    samples = Samples.of_story(story, "3.1")
    draws = lines_learnt(Speakers.drawn(samples, "Hamlet"))
    enough = {name: list(samples.lines(name)) for name in samples.names if samples.count(name) >= 20}
    fewest = min(map(len, enough.values()))
    assert all({name: len(lines) for name, lines in drawn.items()} == dict.fromkeys(enough, fewest) for drawn in draws)
    independent = [speaker_probability(drawn, "Hamlet") for drawn in draws]
    lines = [line.text for scene in story.scenes() for line in scene.lines if line.speaker][400:460]
    for line, score in zip(lines, psprob(samples, "Hamlet")(lines)):
        mean = sum(probability(line) for probability in independent) / len(independent)
        assert score.value is None or score.value == pytest.approx(mean, abs=2e-3), line


@pytest.mark.parametrize(
    ("counts", "always", "expected"),
    [
        ({"a": 100, "b": 90, "c": 20, "d": 19}, None, "abc"),
        ({"a": 100, "b": 90, "c": 20, "d": 19}, "d", "abcd"),
        ({"a": 100, "b": 3}, "b", "ab"),
        ({"a": 30, "b": 19, "c": 18, "d": 1}, "a", "abc"),
        ({"a": 12, "b": 12, "c": 2}, None, "ab"),
        ({"a": 12, "b": 12, "c": 2}, "c", "abc"),
        ({"a": 8, "b": 8, "c": 8}, "c", "abc"),
        ({"a": 8}, "a", "a"),
        ({}, None, ""),
    ],
)
def test_lines_are_drawn_of_those_who_have_enough(counts: dict[str, int], always: str | None, expected: str) -> None:
    assert drawn_from(counts, always) == tuple(expected)


def test_as_many_lines_of_everybody_are_learnt_from_as_the_one_with_the_fewest_has() -> None:
    for drawn in lines_learnt(Speakers.drawn(Samples(SAID), "Mara")):
        assert {name: len(lines) for name, lines in drawn.items()} == {"Ines": 2, "Tobias": 2, "Mara": 2}


def test_a_draw_is_the_same_whoever_else_there_is() -> None:
    with_mara, without = (
        [drawn["Ines"] for drawn in lines_learnt(Speakers.drawn(Samples({"Tobias": SAID["Tobias"][:7], **said})))]
        for said in ({"Ines": SAID["Ines"]}, {"Ines": SAID["Ines"], "Mara": SAID["Mara"]})
    )
    assert with_mara == without


def test_the_one_who_talks_like_this_is_the_most_probable() -> None:
    samples = Samples(SAID)
    speakers = Speakers.weighted(samples)
    scores = {name: weighted_psprob(samples, name, speakers)(["Is the key on the hook?"])[0] for name in speakers.names}
    assert set(scores) == {"Ines", "Tobias"}
    ines, tobias = scores["Ines"].value, scores["Tobias"].value
    assert ines is not None and tobias is not None
    assert ines > 0.5 > tobias
    assert ines + tobias < 1, "it may have been somebody else"
    assert scores["Ines"].name == "psprob-weighted"


def test_a_persona_with_two_lines_counts_as_much_as_the_others() -> None:
    samples = Samples(SAID)
    metric = weighted_psprob(samples, "Mara")
    lamp, boat, unheard = metric(["Light the lamp!", "Row the boat!", "Supercalifragilistic"])
    assert lamp.value is not None and boat.value is not None and unheard.value is not None
    assert lamp.value > 1 / 3 > boat.value
    assert unheard.value > 1 / 6, "she is not unlikely to speak for having two lines of 26"
    assert lamp.reason.startswith("for: ")
    assert "lamp" in lamp.reason


@pytest.mark.parametrize(
    ("counts", "always", "expected"),
    [
        ({"a": 100, "b": 90, "c": 5}, None, ("a", "b")),
        ({"a": 100, "b": 90, "c": 5}, "c", ("a", "b", "c")),
        ({"a": 100, "b": 9, "c": 8}, "a", ("a", "b")),
        ({"a": 3, "b": 0}, "a", ("a",)),
        ({f"{n}": 30 - n for n in range(15)}, "14", (*(f"{n}" for n in range(11)), "14")),
        ({}, None, ()),
    ],
)
def test_those_who_talk_most_are_told_apart(
    counts: dict[str, int], always: str | None, expected: tuple[str, ...]
) -> None:
    assert speaker_classes(counts, always) == expected


def test_who_is_not_told_apart_is_one_of_the_others() -> None:
    samples = Samples(SAID)
    speakers = Speakers.weighted(samples)
    (score,) = weighted_psprob(samples, "Mara", speakers)(["Light the lamp!"])
    assert (score.value, score.reason) == (None, "Mara is not among those told apart")
    assert speakers.probabilities(samples.tokenize(["Light the lamp!"])).argmax() == 2


def test_marks_are_part_of_how_somebody_talks() -> None:
    samples = Samples({"Ines": ["Well... the tide", "The boat..."] * 6, "Tobias": ["Well! The tide", "The boat!"] * 6})
    off, shouted = psprob(samples, "Ines")(["The hook...", "The hook!"])
    assert off.value is not None and shouted.value is not None
    assert off.value > 0.6 > 0.4 > shouted.value
    assert off.reason.startswith("for: ...")
    assert "against: !" in shouted.reason


@pytest.mark.parametrize(
    ("said", "name", "line", "reason"),
    [
        (SAID, "Nobody", "The key.", "no sample lines of Nobody"),
        ({"Ines": ["The key."]}, "Ines", "The key.", "nobody but Ines has sample lines"),
        (SAID, "Ines", "?!", "the line has no words"),
        (SAID, "Ines", "", "the line has no words"),
    ],
)
def test_without_evidence_there_is_no_value(said: dict[str, list[str]], name: str, line: str, reason: str) -> None:
    (score,) = psprob(Samples(said), name)([line])
    assert score.value is None
    assert reason in score.reason


def test_unheard_words_are_said_to_be() -> None:
    (score,) = psprob(Samples(SAID), "Ines")(["Supercalifragilistic"])
    assert score.value == pytest.approx(1 / 2, abs=0.1)
    assert "none of its words" in score.reason


def test_lines_cut_once_serve_every_metric() -> None:
    samples = Samples(SAID)
    lines = samples.tokenize(["The key.", "The boat."])
    metric = psprob(samples, "Ines")
    assert [score.value for score in metric(lines)] == metric.values(lines).tolist()
    assert metric([]) == []


SETS = {
    "Ines": ["The key was on its hook.", "My key, my hook.", "Keys of the harbour.", "Who has the key?"],
    "Tobias": ["The tide is out.", "Boats go with the tide.", "No boat today.", "I row the boat."],
}


def test_the_share_of_a_set_that_is_taken_for_the_persona() -> None:
    score = personality_classification_accuracy(Samples(SETS), "Ines")(
        ["My key!", "Who has my hook?", "Row the boat!", "..."]
    )
    assert score.value == 2 / 3, "a line without words is no line"
    assert score.reason == "2 of 3 lines; by chance 0.50"


def test_the_share_of_a_set_that_expresses_the_description() -> None:
    metric = persona_accuracy(["I love tea", "tea please", "more tea"], ["No boat", "the tide is out", "row on"])
    assert metric(["a cup of tea", "no boat today"]).value == 0.5
    assert metric(["tea", "tea"]).value == 1.0


def test_an_accuracy_without_evidence_has_no_value() -> None:
    metric = personality_classification_accuracy(Samples(SETS), "Mara")
    assert metric(["My key!"]).value is None
    assert "'Mara'" in metric(["My key!"]).reason
    nothing = personality_classification_accuracy(Samples(SETS), "Ines")(["", "?"])
    assert (nothing.value, nothing.reason) == (None, "no line has words")
    assert persona_accuracy([], ["no"])(["yes"]).value is None
