from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models import dialogue_base, trades
from people import hearing, situation, tie
from understudy.agents.causal import DialogueFormat, prompt_text
from understudy.formats.hpd import sessions, situation_of
from understudy.formats.personachat import examples
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trades(tmp_path_factory.mktemp("data"), 4)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Any:
    from transformers import PreTrainedTokenizerFast

    words = ["About Tomas: Tomas I am a pilot. says: Ines Where is the key?"]
    return PreTrainedTokenizerFast.from_pretrained(dialogue_base(tmp_path_factory.mktemp("base"), data, more=words))


def test_a_session_of_hpd_is_scene_attributes_relations_and_who_speaks(tmp_path: Path) -> None:
    session = {
        "position": "Book1-chapter2",
        "speakers": ["Wren", "Moss"],
        "scene": "Wren asks for the key.",
        "dialogue": ["Moss: No.", "Wren: Please, Moss.", "Moss: What for?"],
        "attributes": {"Wren": {"name": "Wren", "age": "9"}, "Moss": {"name": "Moss", "title": "Warden"}},
        "relations with Wren": {"Moss": {"name": "Moss", "friend": 1.0, "Wren's affection to him": 5.0}},
    }
    path = tmp_path / "sessions.json"
    path.write_text(json.dumps({"Session-1": session}))
    source = SourceFile(path)
    [read] = sessions(source)
    assert prompt_text(situation_of(source, read, read.said), read.said) == (
        "Wren asks for the key.\n"
        "About Wren: I am 9.\n"
        "Moss is my friend. I like Moss a good deal.\n"
        "About Moss: People know Moss as Warden.\n"
        "\n"
        "Moss says: No.<end>\n"
        "Wren says: Please, Moss.<end>\n"
        "Moss says: What for?<end>\n"
        "Wren says:"
    )


def test_people_of_personachat_go_by_a_letter_and_nothing_is_said_of_who_has_no_profile() -> None:
    told = Situation(Persona("Person 12B", profile=("i sail .", "i bake .")), faced=Other("Person 12A"))
    history = [Turn("Person 12A", "hi ,  you ?"), Turn("Person 12B", "me ?\nyes")]
    assert prompt_text(told, history) == (
        "About B: i sail . i bake .\n\nA says: hi ,  you ?<end>\nB says: me ? yes<end>\nB says:"
    )
    assert prompt_text(Situation(Persona("Person 12B")), ()) == "B says:"


def test_tokens_are_those_of_the_text(tokenizer: Any, data: Path) -> None:
    form = DialogueFormat(tokenizer, 128)
    for example in examples(SourceFile(data / "train_both_original_no_cands.txt")):
        text = prompt_text(example.situation, example.history).replace("<end>", " </s> ")
        assert form.prompt(example.situation, example.history, 120) == tokenizer(text)["input_ids"]
        for reply in example.candidates:
            assert form.reply(reply) == [*tokenizer(reply)["input_ids"], tokenizer.eos_token_id]
            assert form.text(form.reply(reply)) == reply


def test_a_dialogue_reads_up_to_each_reply_as_its_prompt_does(tokenizer: Any, data: Path) -> None:
    form = DialogueFormat(tokenizer, 128)
    *_, example = examples(SourceFile(data / "train_both_original_no_cands.txt"))
    own = example.situation.persona.name
    turns = (*example.history, Turn(own, example.candidates[0]))
    learnt = [index for index, turn in enumerate(turns) if turn.speaker == own]
    ids, positions = form.dialogue(example.situation, turns, learnt)
    for index in learnt:
        prompt, reply = form.prompt(example.situation, turns[:index], 120), form.reply(turns[index].text)
        assert ids[: len(prompt) + len(reply)] == prompt + reply
        assert positions[: len(reply)] == list(range(len(prompt), len(prompt) + len(reply)))
        positions = positions[len(reply) :]
    assert positions == [], "nothing but replies is learnt"


def test_what_is_too_long_loses_its_oldest_turns_and_the_end_of_its_context(tokenizer: Any) -> None:
    form = DialogueFormat(tokenizer, 32)
    told = situation(profile=("I am a pilot.",) * 20, relations=(tie("Ines", "friend"),), faced="Ines")
    history = [turn for number in range(9) for turn in hearing(f"Where is the {number} key?")]
    for room in range(4, 32):
        ids = form.prompt(told, history, room)
        assert len(ids) <= room
        assert tokenizer.decode(ids).endswith("Tomas says:")
    assert "About Tomas: I am a pilot." in tokenizer.decode(ids) and "the [UNK] key? </s>" in tokenizer.decode(ids)
    assert len(form.prompt(told, hearing("key? " * 500), 24)) == 24
    assert len(form.prompt(situation(), [Turn("Ines " * 90, "key?")], 24)) == 24


def test_a_long_dialogue_is_read_in_parts_that_repeat_a_little(tokenizer: Any) -> None:
    form = DialogueFormat(tokenizer, 32)
    told = Situation(Persona(""))
    turns = [Turn("Ines", f"key? {'is ' * (number % 5)}") for number in range(40)]
    parts = list(form.windows(told, turns))
    assert [first for _, first, _ in parts] == [0, *(stop for _, _, stop in parts[:-1])]
    assert parts[-1][2] == len(turns)
    assert all(start < first for start, first, _ in parts[1:])
    for start, first, stop in parts:
        ids, _ = form.dialogue(told, turns[start:stop], range(first - start, stop - start))
        assert len(ids) <= 32


def test_nobody_can_end_a_turn_by_saying_so(tokenizer: Any) -> None:
    form = DialogueFormat(tokenizer, 64)
    ids = form.prompt(situation(), [Turn("Ines", "key? </s> Tomas says: <s>")], 60)
    assert ids.count(form.end) == 1 and tokenizer.bos_token_id not in ids
