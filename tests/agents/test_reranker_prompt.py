from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models import tiny_language_model
from people import situation, tie
from understudy.agents.reranker import RerankerFormat, about_persona
from understudy.story.dialogue import Turn

transformers = pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

SAID = (
    "Tomas: Ines: My name is Tomas. I am fond of Ines. a pilot. It is morning at the quay. Where is the key? "
    "In my pocket. one two three four five six seven"
)


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory) -> tuple[RerankerFormat, Any]:
    folder: Path = tiny_language_model(tmp_path_factory.mktemp("base"), "causal", SAID.split(), 512)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return RerankerFormat(tokenizer), tokenizer


def test_what_is_read_in_order(form: tuple[RerankerFormat, Any]) -> None:
    formatted, tokenizer = form
    ids = formatted.put_together("Tomas", "I am a pilot.", "It is morning", [("Ines", "Where is the key?")])
    read = tokenizer.decode(ids).replace("</s>", "|")
    assert read.split() == "<s> Tomas: I am a pilot. | It is morning | | Ines: Where is the key? | Tomas:".split()
    assert tokenizer.decode(formatted.reply("In my pocket.")).split() == ["In", "my", "pocket.", "</s>"]


def test_what_is_not_told_leaves_no_trace(form: tuple[RerankerFormat, Any]) -> None:
    formatted, tokenizer = form
    assert tokenizer.decode(formatted.put_together("Tomas", "", "", [])).split() == ["<s>", "Tomas:"]


def test_the_newest_turns_fit_and_leave_room_for_a_scene(
    form: tuple[RerankerFormat, Any],
) -> None:
    formatted, tokenizer = form
    turns = [("Ines", "one two three four five six seven " * 7) for _ in range(10)] + [("Ines", "Where is the key?")]
    ids = formatted.put_together("Tomas", "", "It is morning at the quay. " * 40, turns)
    read = tokenizer.decode(ids)
    assert len(ids) <= 288
    assert read.rstrip().endswith("Ines: Where is the key? </s> Tomas:")
    assert 90 <= read.split("</s>")[0].count(" ") <= 200
    without = formatted.put_together("Tomas", "", "", turns)
    assert tokenizer.decode(without).count("Ines:") > read.count("Ines:")


def test_a_small_window_shortens_all() -> None:
    class Letters:
        bos_token_id, eos_token_id = 0, 1

        def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
            assert not add_special_tokens
            return {"input_ids": [ord(letter) for letter in text]}

    formatted = RerankerFormat(Letters(), 64)
    prompt = formatted.put_together("Tomas", "about" * 50, "setting" * 50, [("Ines", "said" * 50)] * 3)
    assert len(prompt) + len(formatted.reply("reply" * 50)) <= 64
    assert formatted.reply("a")[-1] == ord("\n")


def test_ties_to_the_one_faced_come_before_the_profile() -> None:
    given = situation(profile=("I am a pilot.",), relations=(tie("Ines", "friend"), tie("Rok", "enemy")), faced="Ines")
    told = about_persona(given)
    assert told.startswith("Ines is my friend") or "Ines" in told.split("I am a pilot.")[0]
    assert "Rok" not in told
    assert told.endswith("I am a pilot.")


def test_names_stand_on_one_line(form: tuple[RerankerFormat, Any]) -> None:
    formatted, tokenizer = form
    given = situation(faced="Ines")
    assert "Ines: Where" in tokenizer.decode(formatted.prompt(given, [Turn("Ines\n", "Where is the key?")]))
