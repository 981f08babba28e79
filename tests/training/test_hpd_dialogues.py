from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models import TRADES, tiny_base, tiny_cross_encoder
from people import hearing
from realdata import folder
from understudy.agents import agent_named
from understudy.errors import InputError
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.training.cross_encoder import CrossEncoderSettings
from understudy.training.dialogues import (
    ALL_PARTS,
    held_back_sessions,
    hpd_dialogues,
    hpd_training_file,
    parse_given,
)


def session(number: int, **more: Any) -> dict[str, Any]:
    mine, theirs = sorted(TRADES)[number % 12], sorted(TRADES)[(number + 5) % 12]
    return {
        "position": f"Book1-chapter{number + 1}",
        "speakers": ["Harry", "Ron"],
        "scene": f"Harry and Ron look at {mine} in the square.",
        "dialogue": [
            f"Ron: hello , i {TRADES[theirs]} {theirs} , and you ?",
            f"Harry: i {TRADES[mine]} {mine} all day .",
            "Ron: where do you live ?",
            "Harry: by the mill .",
        ],
        "attributes": {"Harry": {"name": "Harry", "talents": f"{TRADES[mine]} {mine}", "hobbies": "None"}},
        "relations with Harry": {"Ron": {"friend": 1.0, "Harry's affection to him": 7.0}, "Draco": {"enemy": 1.0}},
        **more,
    }


def written(path: Path, sessions: int = 24, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({f"Session-{n}": session(n, **more) for n in range(sessions)}), encoding="utf-8")
    return path


def test_what_is_given_is_in_harrys_profile(tmp_path: Path) -> None:
    path = written(tmp_path / "en_train_set.json", 1)
    [whole] = hpd_dialogues(path, parse_given(ALL_PARTS))
    scene, *sentences = whole.profiles[1]
    assert scene == "Harry and Ron look at bees in the square."
    assert whole.profiles[0] == (scene,)
    assert any("Ron" in text for text in sentences) and any("keep bees" in text for text in sentences)
    assert not any("Draco" in text for text in sentences), "he does not speak here"
    assert [mine for mine, _ in whole.turns] == [0, 1, 0, 1]
    assert whole.turns[3] == (1, "by the mill .")
    [bare] = hpd_dialogues(path, parse_given("dialogue"))
    assert bare.profiles == ((), ()) and bare.turns == whole.turns
    [related] = hpd_dialogues(path, parse_given("dialogue+relations"))
    assert related.profiles == ((), tuple(text for text in sentences if "Ron" in text))


def test_only_what_there_is_can_be_given() -> None:
    assert parse_given("dialogue+scene") == {"scene"}
    with pytest.raises(InputError, match="did you mean 'attributes'"):
        parse_given("dialogue+atributes")
    with pytest.raises(InputError, match="'scene' cannot be given"):
        parse_given("scene")


def test_test_sets_are_not_learnt_from(tmp_path: Path) -> None:
    assert hpd_training_file(tmp_path) is None
    written(tmp_path / "en_test_set.json", 2, positive_response="yes .", negative_response=["no ."])
    with pytest.raises(InputError, match="only test sets"):
        hpd_training_file(tmp_path)
    chinese = written(tmp_path / "cn_train_set.json", 2, dialogue=["Ron: 你好，你是谁？", "Harry: 我是哈利。"])
    english = written(tmp_path / "en_train_set.json", 2)
    assert hpd_training_file(tmp_path) == english != chinese


def test_sessions_are_held_back_whole(tmp_path: Path) -> None:
    dialogues = hpd_dialogues(written(tmp_path / "en_train_set.json"), parse_given(ALL_PARTS))
    split = held_back_sessions(dialogues, 0.25, 0)
    assert (len(split.training), len(split.held)) == (18, 6)
    assert all(profile in split.asked for dialogue in split.held for profile in dialogue.profiles)
    with pytest.raises(InputError, match="too few"):
        held_back_sessions(dialogues, 0.99, 0)


def test_a_cross_encoder_learns_from_sessions_and_reads_the_scene(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="training needs the extra 'train'")
    from understudy.training import train
    from understudy.training.encoder import EncoderSettings
    from understudy.training.post_training import PostTrainingSettings

    data = written(tmp_path / "hpd" / "en_train_set.json").parent
    base = tiny_base(tmp_path / "base")
    encoder = tiny_cross_encoder(tmp_path / "beside") / "encoder"
    settings = CrossEncoderSettings(
        epochs=1, batch=32, drawn=8, hardest=2, others=2, held_back=0.1,
        towers=EncoderSettings(runs=1, epochs=1, batch=64), post_training=PostTrainingSettings(epochs=1),
    )  # fmt: skip
    model = train("cross-encoder", data, tmp_path / "model", settings=settings, base=base, origin=encoder, device="cpu")
    assert model.card["data"]["given"] == ALL_PARTS and model.card["reads_setting"]
    assert model.card["settings"]["post_training"]["epochs"] == 1
    agent = agent_named(str(tmp_path / "model"))
    asked = hearing("where do you live ?")
    here = Situation(Persona("Harry", profile=("i keep bees.",)), setting="the lighthouse , the harbour , the boat .")
    nowhere = Situation(Persona("Harry", profile=("i keep bees.",)))
    assert agent._context(here, asked).own == (here.setting, "i keep bees.")
    assert agent._context(nowhere, asked).own == ("i keep bees.",)


def test_the_real_sessions(tmp_path: Path) -> None:
    """The test sessions without their replies, as a training set has them."""
    sessions = json.loads((folder("hpd") / "en_test_set.part1.json").read_text(encoding="utf-8"))
    for member in sessions.values():
        del member["positive_response"], member["negative_response"]
    path = tmp_path / "en_train_set.json"
    path.write_text(json.dumps(sessions), encoding="utf-8")
    assert hpd_training_file(tmp_path) == path
    dialogues = hpd_dialogues(path, parse_given(ALL_PARTS))
    assert len(dialogues) > 60
    assert sum(len(dialogue.profiles[1]) for dialogue in dialogues) / len(dialogues) > 5
    assert all(any(mine for mine, _ in dialogue.turns) or dialogue.turns for dialogue in dialogues)
