"""Names under which a scene is likeliest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from speakers import CAST, lessons, scene, talk, tiny_reader
from understudy.errors import AgentError, InputError
from understudy.guessing.scenes import Masking
from understudy.language.backends.transformer import open_transformer
from understudy.language.lexical.rows import Ints, Reals
from understudy.story.persona import Persona
from understudy.training.guessing.naming import (
    DRAWN,
    TEMPERATURE,
    NamingGuesser,
    NamingSettings,
    open_naming,
    score_assignments,
    train_naming,
)
from understudy.training.guessing.scene_tokens import SceneTokenizer, chunks, scene_prompts, unmasked
from understudy.training.run import TrainingTask

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("transformers", reason="training needs the extra 'train'")

SETTINGS = NamingSettings(epochs=16, batch=4, rate=5e-3, window=96, history=48)
PEOPLE = [Persona(name) for name in CAST]


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bases")
    return {kind: tiny_reader(folder / kind, kind) for kind in ("causal", "masked")}


@pytest.fixture(scope="module")
def words(bases: Mapping[str, Path]) -> SceneTokenizer:
    model = open_transformer(bases["causal"], "cpu")
    return SceneTokenizer(model.tokenizer, model.network.config)


@pytest.fixture(scope="module")
def trained(bases: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("naming") / "model"
    scenes = [scene for seed in range(1, 9) for scene in talk(24, seed)]
    train_naming(TrainingTask({"Keys": lessons(scenes)}, out, SETTINGS, bases["causal"], device="cpu"))
    return out


def text(words: SceneTokenizer, tokens: list[int]) -> str:
    return str(words.tokenizer.decode(tokens, skip_special_tokens=True))


def test_a_scene_is_told_with_who_is_there_and_who_says_what(words: SceneTokenizer) -> None:
    talking = scene(1, ("Vera", "no more bees"), (None, "dawn"), ("Ines", "I like keys"), setting="the doors")
    ((tokens, heading),) = scene_prompts(talking, ("Vera", "Ines"), "Keys", words, 96)
    assert text(words, tokens[:heading]) == "Scene from Keys with Ines , Vera ."
    assert text(words, tokens[heading:]) == "( the doors ) Vera : no more bees ( dawn ) Ines : I like keys"


def test_a_long_scene_is_told_in_parts_that_lose_nothing(words: SceneTokenizer) -> None:
    talking = scene(1, *[("Vera", "no more bees")] * 20, ("Ines", "keys " * 300))
    parts = scene_prompts(talking, ("Vera", "Ines"), "Keys", words, 48)
    assert all(len(tokens) <= 48 for tokens, _ in parts)
    assert sum(text(words, tokens).count("bees") for tokens, _ in parts) == 20
    assert "keys" in text(words, parts[-1][0])


def test_chunks_hold_scenes_of_one_chapter(words: SceneTokenizer) -> None:
    scenes = [scene(1, ("Vera", "bees")), scene(2, ("Ines", "keys")), scene(1, ("Vera", "wax"), chapter=2)]
    texts = [text(words, chunk) for chunk in chunks(scenes, CAST, "Keys", words, 96)]
    assert texts == [
        "Scene from Keys with Vera . Vera : bees Scene from Keys with Ines . Ines : keys",
        "Scene from Keys with Vera . Vera : wax",
    ]
    assert len(chunks(scenes, CAST, "Keys", words, 20)) == 3


def test_those_who_speak_together_are_named_too() -> None:
    talking = scene(1, ("P1", "keys"), ("P0 and P1", "bees"), ("Pilot", "dawn"), (None, "P0"))
    names = {"P0": "Vera", "P1": "Ines"}
    assert unmasked(talking, names) == ["Ines", "Vera and Ines", "Pilot", None]


def test_who_says_what_is_learned(trained: Path) -> None:
    guesser, taught = open_naming(trained, CAST, "cpu"), lessons(talk(1, seed=1))
    hits = []
    for masked in Masking(CAST, taught.names, seed=9).scenes(talk(12, seed=20)):
        guesses = guesser.guess(masked.scene, [Persona(name) for name in masked.candidates])
        for mask, probabilities in guesses.items():
            assert sum(probabilities.values()) == pytest.approx(1)
            hits.append(max(probabilities, key=lambda name: probabilities[name]) == masked.answers[mask])
        for name in masked.candidates:  # one person behind each mask
            assert sum(probabilities[name] for probabilities in guesses.values()) == pytest.approx(1)
    assert np.mean(hits) > 0.8  # every one, whatever the seed


def test_a_naming_is_as_likely_as_the_whole_text_under_it(trained: Path) -> None:
    """By hand: the whole text of each naming goes through the network, and the scene's own tokens count."""
    guesser = open_naming(trained, CAST, "cpu")
    past = scene(1, ("Ines", "I like dawn"), ("Vera", "no more dawn"), chapter=3)
    masked = scene(2, ("P0", "where are the"), ("Pilot", "no more bees"), ("P1", "I like keys"), chapter=3)
    guesser.remember(past)
    guesses = guesser.guess(masked, PEOPLE[::2])  # Ines and Vera

    model = open_transformer(trained, "cpu")
    words = SceneTokenizer(model.tokenizer, model.network.config)
    ((before, _),) = scene_prompts(past, ("Ines", "Vera"), "Keys", words, 200)
    scores = []
    for first, second in (("Ines", "Vera"), ("Vera", "Ines")):
        told = scene(2, (first, "where are the"), ("Pilot", "no more bees"), (second, "I like keys"), chapter=3)
        ((tokens, heading),) = scene_prompts(told, ("Ines", "Vera"), "Keys", words, 200)
        whole = torch.tensor([[words.first, *before, *tokens]])
        with torch.no_grad():
            logs = model.network(whole).logits[0].log_softmax(-1)
        begin = 1 + len(before) + heading
        scores.append(sum(float(logs[at - 1, whole[0, at]]) for at in range(begin, whole.shape[1])))
    share = 1 / (1 + np.exp(TEMPERATURE * (scores[1] - scores[0])))
    assert guesses["P0"]["Ines"] == pytest.approx(share, abs=1e-5)


def test_the_chapter_so_far_is_read_and_no_other(trained: Path) -> None:
    masked = scene(2, ("P0", "I like dawn"), ("P1", "no more dawn"), chapter=3)

    def guesses(*before: int) -> dict[str, float]:
        guesser = open_naming(trained, CAST, "cpu")
        for chapter in before:
            guesser.remember(scene(1, ("Ines", "I like dawn"), ("Vera", "no more dawn"), chapter=chapter))
        return dict(guesser.guess(masked, PEOPLE[::2])["P0"])

    assert guesses(2) == guesses()
    assert guesses(3) != guesses()
    assert guesses(3, 2) == guesses()


def test_history_leaves_room_for_the_scene(bases: Mapping[str, Path], words: SceneTokenizer) -> None:
    guesser = NamingGuesser(open_transformer(bases["causal"], "cpu"), "Keys", CAST, NamingSettings(history=4096))
    told = [scene(number, ("Ines", "where are the keys"), ("Vera", "no more wax")) for number in range(1, 61)]
    for earlier in told[:-1]:
        guesser.remember(earlier)
    assert words.longest // 4 < len(guesser._recent.before(told[-1])) <= words.longest // 2


def test_of_a_crowd_not_everybody_is_told(words: SceneTokenizer) -> None:
    crowd = [f"Vera {number}" for number in range(200)]
    parts = scene_prompts(scene(1, ("Ines", "I like keys")), crowd, "Keys", words, 96)
    assert len(parts) == 1 and len(parts[0][0]) <= 96 and "I like keys" in text(words, parts[0][0])


def test_what_cannot_be_is_refused(bases: Mapping[str, Path], trained: Path, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="no story with Rolf"):
        open_naming(trained, ("Rolf",), "cpu")
    for told_wrong in ({"epochs": 0}, {"window": 0}, {"history": -1}, {"held_back": 1.0}):
        with pytest.raises(InputError):
            NamingSettings(**told_wrong)


def test_few_namings_are_all_scored() -> None:
    assignments, scores = score_assignments(2, 3, lambda assignments: assignments.sum(axis=1).astype(float))
    assert len(assignments) == 6 and scores.tolist() == assignments.sum(axis=1).tolist()


@pytest.mark.parametrize(("masks", "candidates"), [(5, 5), (6, 6), (5, 8), (12, 12)])
def test_of_many_namings_the_best_is_found_though_few_are_scored(masks: int, candidates: int) -> None:
    chance = np.random.default_rng(5)
    table = chance.normal(size=(masks, candidates)) * 0.3
    right = chance.permutation(candidates)[:masks]
    table[np.arange(masks), right] += 2
    seen: list[tuple[int, ...]] = []

    def scored(assignments: Ints) -> Reals:
        seen.extend(map(tuple, assignments.tolist()))
        totals: Reals = table[np.arange(masks), assignments].sum(axis=1)
        return totals

    assignments, scores = score_assignments(masks, candidates, scored)
    assert assignments[scores.argmax()].tolist() == right.tolist()
    assert len(seen) == len(set(seen)) == len(assignments) <= 2 * DRAWN
