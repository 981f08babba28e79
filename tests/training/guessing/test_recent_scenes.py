"""What happened just before a scene."""

from __future__ import annotations

import pytest

from speakers import CAST, scene, tiny_reader
from understudy.language.backends.transformer import open_transformer
from understudy.training.guessing.scene_tokens import RecentScenes, SceneTokenizer, scenes_with_history

pytest.importorskip("transformers", reason="training needs the extra 'train'")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> SceneTokenizer:
    model = open_transformer(tiny_reader(tmp_path_factory.mktemp("base") / "causal", "causal"), "cpu")
    return SceneTokenizer(model.tokenizer, model.network.config)


def text(words: SceneTokenizer, tokens: list[int]) -> str:
    return " ".join(words.tokenizer.decode(tokens, skip_special_tokens=True).split())


def test_the_scenes_of_a_chapter_are_read_with_their_names(words: SceneTokenizer) -> None:
    told = [
        scene(1, ("Ines", "I like keys")),
        scene(2, ("Pilot", "no more dawn")),
        scene(1, ("Vera", "no more wax"), chapter=2),
        scene(2, ("Vera", "I like wax"), chapter=2),
    ]
    before = [tokens for _, tokens in scenes_with_history(told, RecentScenes(words, CAST, "Keys", 96, 96))]
    first = words.tokenizer("Scene from Keys with Ines. Ines: I like keys", add_special_tokens=False)["input_ids"]
    assert before[0] == before[2] == []  # a chapter begins with nothing before it
    assert [token for token in before[1] if token not in words.split] == first
    assert "Vera" in text(words, before[3]) and "Ines" not in text(words, before[3])


def test_of_a_long_past_the_last_lines_are_read(words: SceneTokenizer) -> None:
    recent = RecentScenes(words, CAST, "Keys", 96, 20)
    told = [("bees" if number < 8 else "wax", number) for number in range(1, 9)]
    for what, number in told:
        recent.remember(scene(number, ("Ines", "I like keys"), ("Vera", f"no more {what}")))
    past = recent.before(scene(9, ("P0", "I like keys")))
    assert len(past) <= 20 and text(words, past).endswith("Vera : no more wax")


def test_of_no_length_nothing_is_remembered(words: SceneTokenizer) -> None:
    recent = RecentScenes(words, CAST, "Keys", 96, 0)
    recent.remember(scene(1, ("Ines", "I like keys")))
    assert recent.before(scene(2, ("P0", "I like keys"))) == []
