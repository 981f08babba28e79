from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.language.encoding import SentenceEncoder
from understudy.people.claims import SceneSpeech
from understudy.people.statements import statements, statements_in_talk
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
