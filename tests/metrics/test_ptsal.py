from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import realdata
from measured import term_salience
from understudy.formats import read
from understudy.metrics import Samples, ptsal, ptsal_ends

WORDS = st.sampled_from(["key", "lamp", "boat", "...", "!"])
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=5).map(lambda words: " ".join(["key", *words])), min_size=1)


def terms(line: str) -> list[tuple[str, str]]:
    return list(pairwise(["", *line.split(), ""]))


def obvious(said: dict[str, list[str]], name: str, line: str) -> float:
    counted = [own for own in said.values() if len(own) >= 5]
    counted = list(said.values()) if len(counted) < 2 else counted

    def salience(term: tuple[str, str]) -> float:
        containing = sum(term in terms(line) for line in said[name])
        users = sum(any(term in terms(line) for line in own) for own in counted)
        return containing / len(said[name]) * math.log(len(counted) / max(users, 1))

    saliences = [salience(term) for term in terms(line)]
    return sum(saliences) / len(saliences)


@given(LINES, LINES, LINES, LINES)
def test_it_is_the_papers_formula(ours: list[str], theirs: list[str], others: list[str], lines: list[str]) -> None:
    said = {"a": ours, "b": theirs, "c": others}
    independent = term_salience(said, "a")
    for line, score in zip([*lines, "lamp unheard key"], ptsal(Samples(said), "a")([*lines, "lamp unheard key"])):
        assert score.value == pytest.approx(independent(line), abs=1e-12)


def test_it_is_the_papers_formula_on_a_play() -> None:
    story = read(realdata.folder("shakespeare") / "hamlet.xml")
    samples = Samples.of_story(story, "3.1")
    said = {name: samples.lines(name) for name in samples.names}
    assert min(map(len, said.values())) < 5, "some have few lines, and count"
    lines = [line.text for scene in story.scenes() for line in scene.lines if line.speaker]
    for name in ("Hamlet", "Ophelia"):
        independent = term_salience(said, name)
        for line, score in zip(lines, ptsal(samples, name)(lines)):
            assert score.value == pytest.approx(independent(line), abs=1e-12), line


@given(LINES, LINES, LINES, LINES)
def test_with_ends_it_is_the_formula_over_them_too(
    ours: list[str], theirs: list[str], others: list[str], lines: list[str]
) -> None:
    said = {"a": ours, "b": theirs, "c": others}
    scores = ptsal_ends(Samples(said), "a")([*lines, "lamp unheard key"])
    for line, score in zip([*lines, "lamp unheard key"], scores):
        assert score.name == "ptsal-ends"
        assert score.value == pytest.approx(obvious(said, "a", line), abs=1e-12)


def test_a_line_of_one_word_has_no_pair() -> None:
    samples = Samples({"Ines": ["My key is gone", "Key"], "Tobias": ["The tide is gone"]})
    (score,) = ptsal(samples, "Ines")(["Key"])
    assert (score.value, score.reason) == (None, "the line is one word, and has no pair of words")
    assert ptsal_ends(samples, "Ines")(["Key"])[0].value is not None


def test_reasons_name_the_terms_that_are_the_personas_own() -> None:
    samples = Samples({"Ines": ["My key is gone", "my key, my word"], "Tobias": ["The tide is gone"]})
    asked = ["Where is my key?", "The tide is gone", "My own word"]
    inside = ptsal(samples, "Ines")(asked)
    assert [score.reason for score in inside] == ["Ines's own: my key", *["no pair of its words is Ines's own"] * 2]
    own, none, ends = ptsal_ends(samples, "Ines")(asked)
    assert own.reason == "Ines's own: my key"
    assert (none.value, none.reason) == (0.0, "no pair of its words is Ines's own")
    assert ends.reason == "Ines's own: my at the beginning, word at the end"


def test_marks_are_written_as_they_are() -> None:
    samples = Samples({"Ines": ["My key... gone"], "Tobias": ["The tide"]})
    (score,) = ptsal(samples, "Ines")(["The key..."])
    assert score.reason == "Ines's own: key..."


def test_japanese_terms_are_written_without_spaces() -> None:
    samples = Samples({"リーファ": ["お兄ちゃん、行こう"], "キリト": ["俺は行く"]}, "ja")
    (score,) = ptsal(samples, "リーファ")(["お兄ちゃんと一緒"])
    assert score.value is not None and score.value > 0
    assert "お兄" in score.reason


@pytest.mark.parametrize(
    ("said", "reason"), [({}, "no sample lines of Ines"), ({"Ines": ["The key."]}, "nobody but Ines")]
)
def test_without_evidence_there_is_no_value(said: dict[str, list[str]], reason: str) -> None:
    (score,) = ptsal(Samples(said), "Ines")(["The key."])
    assert score.value is None
    assert reason in score.reason
