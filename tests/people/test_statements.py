from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.formats import read
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.people.claims import Claim, SceneSpeech
from understudy.people.own_words import statement
from understudy.people.statements import (
    JudgedClaim,
    MergedClaims,
    attribute_facts,
    attribute_of,
    merged,
    statements,
    statements_in_talk,
)
from understudy.story.types import PROFILE, Fact, Moment, holding_at

SCRIPT = """\
[Scene: A kitchen. Ada, Bela and Cas are there.]
Ada: I'm a nurse. I live in Porto, and I have two brothers.
Bela: I'm so tired. If I were a king, I'd sleep.
Cas: I have to go. (Exit)

[Scene: A harbour. Bela and Cas are there.]
Bela: I work at the bank. My name is Prince Igor.
Cas: I love it! I think I'll stay.

[Scene: The kitchen, a year later. Ada and Bela are there.]
Ada: I live in Lisbon with my husband.
Bela: You're a nurse, Ada!
"""


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> list[Fact]:
    path = tmp_path_factory.mktemp("story") / "kitchen.txt"
    path.write_text(SCRIPT, encoding="utf-8")
    return statements(read(path), encoder=SentenceEncoder(cache=False))


def sentence(facts: list[Fact], who: str, text: str) -> Fact:
    return next(fact for fact in facts if (fact.who, fact.attribute, fact.values) == (who, PROFILE, (text,)))


def test_what_is_stated_is_found_and_what_passes_is_not(facts: list[Fact]) -> None:
    told = {fact.values[0] for fact in facts if fact.attribute == PROFILE}
    assert {"I am a nurse", "I live in Porto", "I have two brothers", "I live in Lisbon with my husband"} <= told
    assert not [text for text in told if "tired" in text or "king" in text or text == "I love it"]


def test_a_fact_is_known_after_its_line_to_those_who_were_there(facts: list[Fact]) -> None:
    fact = sentence(facts, "Ada", "I am a nurse")
    assert fact.found is not None
    line = fact.found.sources[0]
    assert holding_at([fact], line) == []
    assert holding_at([fact], Moment((*line.numbers[:-1], line.numbers[-1] + 1))) == [fact]
    assert {"Ada", "Bela"} <= set(fact.found.witnesses)
    assert len(fact.found.sources) == 2  # she says it, and is told it later


def test_a_new_home_ends_the_old_one(facts: list[Fact]) -> None:
    old, new = (sentence(facts, "Ada", f"I live in {place}") for place in ("Porto", "Lisbon with my husband"))
    assert old.until == new.since
    assert new.until is None


def test_who_gives_another_name_is_not_believed(facts: list[Fact]) -> None:
    assert not [fact for fact in facts if fact.who == "Bela"]


def test_a_title_is_an_attribute(facts: list[Fact]) -> None:
    assert ("Ada", "title", ("a nurse",)) in {(fact.who, fact.attribute, fact.values) for fact in facts}


def test_other_languages_have_none() -> None:
    assert statements(read("demo-ja")) == []


def test_a_chat_is_read_for_every_hint() -> None:
    talk = [
        SceneSpeech("a", "hi ! do you have any pets ?", 1),
        SceneSpeech("b", "yes , two cats . i work as a baker .", 2),
        SceneSpeech("a", "nice . just finished walking my three dogs", 3),
    ]
    found = statements_in_talk(talk, SentenceEncoder(cache=False))
    assert {"I work as a baker", "I have two cats"} <= {item.sentence for item in found["b"]}
    assert "I have three dogs" in {item.sentence for item in found["a"]}


def test_progress_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.txt"
    path.write_text(SCRIPT, encoding="utf-8")
    steps = list[tuple[str, int, int]]()
    statements(read(path), lambda *step: steps.append(step), SentenceEncoder(cache=False))
    assert [step[1] for step in steps] == [1, 2, 3]


def found(sentence: str, scene: int, confidence: float, axis: int, is_chat: bool = True) -> JudgedClaim:
    vector = np.zeros(8, np.float32)
    vector[axis] = 1.0
    claim = Claim("Ada", statement(sentence, "said"), 1, 0.0, 0.0, False)
    return JudgedClaim(claim, Moment((scene, 1)), ("Ada", f"Witness {scene}"), is_chat, confidence, vector)


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


@pytest.mark.parametrize(
    ("sentence", "attribute", "value"),
    [
        ("I am a nurse", "title", "a nurse"),
        ("I am thirty-two years old", "age", "thirty-two years old"),
        ("I am a woman", "gender", "female"),
        ("I have two dogs", "belongings", "two dogs"),
        ("I work at the bank", "affiliation", "the bank"),
        ("I am shy", "character", "shy"),
        ("I have blue eyes", "looks", "blue eyes"),
        ("I love swing music", "hobby", "swing music"),
    ],
)
def test_attributes(sentence: str, attribute: str, value: str) -> None:
    assert attribute_of(sentence) == (attribute, value)


def test_people_are_no_belongings() -> None:
    assert attribute_of("I have a sister") is None


def test_several_values_are_known_to_those_who_heard_all() -> None:
    def item(sentence: str, line: int, *witnesses: str) -> MergedClaims:
        return MergedClaims(sentence, "owned", 0.9, (Moment((1, line)),), witnesses, 1.0, Moment((1, line)))

    found = [item("I own a boat", 1, "Ada", "Bela"), item("I own a car", 5, "Ada", "Cas")]
    facts = list(attribute_facts("Ada", found, lambda line: line))
    assert [fact.values for fact in facts] == [("a boat",), ("a boat", "a car")]
    assert [fact.found and fact.found.witnesses for fact in facts] == [("Ada", "Bela"), ("Ada",)]
