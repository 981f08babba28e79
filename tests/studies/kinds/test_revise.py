"""Revised personas: what is shared with the original is named, whatever its form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import realdata
from studies.samples import crowd, items_of, study_of
from understudy.errors import InputError
from understudy.formats.chat_records import read_persona_records
from understudy.studies.item import StudyItem, answer_problems
from understudy.studies.kinds import KINDS
from understudy.studies.kinds.personas import shared_forms

KIND = KINDS["revise"]


def _item(tmp_path: Path, *sentences: str) -> StudyItem:
    quoted = ", ".join(f'"{sentence}"' for sentence in sentences)
    (tmp_path / "mine.jsonl").write_text(f'{{"persona": [{quoted}]}}\n', encoding="utf-8")
    (item,) = items_of(KIND, study_of(KIND, tmp_path, story=None, personas="mine.jsonl"))
    return item


@pytest.mark.parametrize(
    ("original", "rewritten", "shared"),
    [
        ("I ski.", "I went skiing.", [("skiing", "ski")]),
        ("I have two cats.", "My cat is old.", [("cat", "cats")]),
        ("My hobbies are many.", "A hobby of mine is chess.", [("hobby", "hobbies")]),
        ("I love to ski.", "Winter is my favourite season.", []),
        ("I am a nurse and I have a dog.", "I am at the hospital, and you would have a pet there.", []),
        ("I love dogs, and dogs love me.", "Dogs I love.", [("dogs", "dogs"), ("love", "love")]),
    ],
)
def test_words_of_meaning_are_compared_by_their_stems(
    original: str, rewritten: str, shared: list[tuple[str, str]]
) -> None:
    assert shared_forms(original, rewritten, "en") == shared


def test_japanese_and_chinese_words_are_compared_as_they_are() -> None:
    assert shared_forms("猫が好きです。", "猫と暮らす。", "ja") == [("猫", "猫")]
    assert shared_forms("我喜欢滑雪。", "冬天是最美的季节。", "zh") == []
    assert shared_forms("我喜欢滑雪。", "我每年滑雪。", "zh") == [("滑雪", "滑雪")]


def test_what_is_shared_is_named_with_its_sentence(tmp_path: Path) -> None:
    item = _item(tmp_path, "I ski.", "I have two cats.")
    problems = KIND.problems(item, {"sentences": ["Skiing is what I do.", "Two pets live with me."]})
    assert [(problem.index, problem.message.split(":")[0]) for problem in problems] == [
        (0, "'skiing' shares its stem with 'ski'"),
        (1, "'two' stands in the original"),
    ]
    assert KIND.problems(item, {"sentences": ["Snow suits me.", "Small animals live here."]}) == []


def test_a_sentence_is_compared_with_its_own_original_while_others_are_blank(tmp_path: Path) -> None:
    item = _item(tmp_path, "I ski.", "I have two cats.")
    begun = {"sentences": ["", "Skiing is what I do."]}
    assert answer_problems(item, begun, is_final=False) == KIND.problems(item, begun) == []
    (problem,) = KIND.problems(item, {"sentences": ["", "Cats live with me."]})
    assert (problem.index, problem.message.split(":")[0]) == (1, "'cats' stands in the original")
    moved = {"sentences": ["Snow suits me.", "", "Small animals live here."]}
    (problem,) = answer_problems(item, moved)
    assert problem.message == "3 sentences, and 2 are allowed: remove some" and KIND.problems(item, moved) == []


def test_there_is_a_sentence_for_each_of_the_original(tmp_path: Path) -> None:
    (question,) = _item(tmp_path, "I ski.", "I knit.", "I sail.").questions
    assert (question.least, question.most, question.most_words) == (3, 3, 15)


def test_the_cast_of_a_story_can_be_revised(tmp_path: Path) -> None:
    items = items_of(KIND, study_of(KIND, tmp_path, limit=4))
    assert len(items) == 4
    assert all(item.blocks[0].lines for item in items)


def test_a_revised_persona_is_written_with_its_original(tmp_path: Path) -> None:
    item = _item(tmp_path, "I ski.", "I knit.")
    (given,) = crowd(KIND, [item], people=1)
    KIND.outputs["personas"](study_of(KIND, tmp_path), [given], tmp_path / "revised.jsonl")
    (record,) = read_persona_records(tmp_path / "revised.jsonl")
    assert record.original == ("I ski.", "I knit.")
    assert list(record.sentences) == given.answer["sentences"]


def test_a_persona_in_another_order_is_the_same(tmp_path: Path) -> None:
    personas = (["I ski.", "I knit."], ["I sail."], ["I knit.", "I ski."])
    lines = "".join(f'{{"persona": {json.dumps(persona)}}}\n' for persona in personas)
    (tmp_path / "mine.jsonl").write_text(lines, encoding="utf-8")
    items = items_of(KIND, study_of(KIND, tmp_path, story=None, personas="mine.jsonl"))
    assert [[line.text for line in item.blocks[0].lines] for item in items] == [["I ski.", "I knit."], ["I sail."]]


def test_either_a_story_or_personas(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="either"):
        items_of(KIND, study_of(KIND, tmp_path, personas="mine.jsonl"))


def test_personachats_people_can_be_revised(tmp_path: Path) -> None:
    path = realdata.folder("personachat") / "valid_self_original.txt"
    text = path.read_text(encoding="utf-8")
    start = [index for index, line in enumerate(text.split("\n")) if line.startswith("1 ")][3]
    (tmp_path / "three.txt").write_text("\n".join(text.split("\n")[:start]) + "\n", encoding="utf-8")
    items = items_of(KIND, study_of(KIND, tmp_path, story="three.txt"))
    assert len(items) == 3
    assert all(4 <= len(item.blocks[0].lines) <= 5 for item in items)


def test_personachats_own_revisions_pass_the_rule() -> None:
    """None shares a word, as its rule was; one in twenty shares a stem, which its rule did not look at."""
    folder = realdata.folder("personachat")
    original, revised = (_profiles(folder / f"valid_self_{wording}.txt") for wording in ("original", "revised"))
    both = [(ours, theirs) for ours, theirs in zip(original, revised, strict=True) if len(ours) == len(theirs)]
    pairs = {pair for ours, theirs in both for pair in zip(ours, theirs)}
    shared = [shared_forms(sentence, rewritten, "en") for sentence, rewritten in sorted(pairs)]
    assert len(shared) > 900
    assert not any(word == other for words in shared for word, other in words)
    assert sum(not words for words in shared) / len(shared) == pytest.approx(0.956, abs=0.005)


def _profiles(path: Path) -> list[list[str]]:
    profiles: list[list[str]] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        number, _, sentence = line.partition(" your persona: ")
        if sentence and number.isdigit():
            profiles += [[]] if number == "1" else []
            profiles[-1].append(sentence)
    return profiles
