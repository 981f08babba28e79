"""What a transformer reads of a scene, and whose each token is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from speakers import CAST, scene, tiny_reader
from understudy.errors import InputError
from understudy.language.backends.transformer import open_transformer
from understudy.training.guessing.network import Trunk, open_trunk
from understudy.training.guessing.scene_tokens import (
    NOBODY,
    InputFormat,
    ReaderInput,
    RecentScenes,
    SceneTokenizer,
    reader_input,
    scenes_with_history,
)

pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("transformers", reason="training needs the extra 'train'")

TALK = scene(
    1, ("P1", "I like keys"), (None, "dawn"), ("Pilot", "no more dawn"), ("P0", "where are the bees"), ("P1", "no wax"),
    setting="the doors",
)  # fmt: skip
PEOPLE = ("Ines", "Vera")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Trunk:
    return open_trunk(tiny_reader(tmp_path_factory.mktemp("masked"), "masked"))


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Trunk:
    return open_trunk(tiny_reader(tmp_path_factory.mktemp("causal"), "causal"))


def read(trunk: Trunk, kind: str, talk: object = TALK, **options: object) -> ReaderInput:
    return reader_input(talk, PEOPLE, "Keys", InputFormat(kind, **options), trunk)  # type: ignore[arg-type]


def own(encoded: ReaderInput, trunk: Trunk, mask: str) -> list[str]:
    """What a mask owns in each sequence."""
    number = encoded.masks.index(mask)
    texts = []
    for tokens, owners in zip(encoded.sequences, encoded.owners):
        assert len(tokens) == len(owners)
        texts.append(text(trunk, [token for token, owner in zip(tokens, owners) if owner == number]))
    return [part for part in texts if part]


def text(trunk: Trunk, tokens: list[int]) -> str:
    return str(trunk.tokenizer.decode(tokens, skip_special_tokens=True))


def test_vanilla_reads_all_that_a_mask_says_and_nothing_else(encoder: Trunk) -> None:
    encoded = read(encoder, "vanilla")
    assert encoded.masks == ("P1", "P0")
    assert [text(encoder, sequence) for sequence in encoded.sequences] == ["I like keys no wax", "where are the bees"]


def test_a_row_is_an_utterance_and_what_was_said_before_nearest_first(encoder: Trunk) -> None:
    encoded = read(encoder, "multi-row")
    last = "P1 : no wax P0 : where are the bees Pilot : no more dawn P1 : I like keys"
    assert text(encoder, encoded.sequences[2]) == last
    assert text(encoder, encoded.sequences[2][-encoded.seconds[2] :]).startswith("P0 : where")
    assert [len(sequence) for sequence in read(encoder, "multi-row", row=8).sequences] == [7, 8, 8]
    assert text(encoder, read(encoder, "multi-row", context=False).sequences[2]) == "P1 : no wax"


def test_rows_come_from_the_end_and_who_has_none_gets_one(encoder: Trunk) -> None:
    long = scene(1, ("P0", "I like keys"), *[("P1", "no more bees")] * 5)
    filled = read(encoder, "multi-row", long, rows=3)
    assert [own(filled, encoder, mask)[0].split(" P1")[0] for mask in ("P0", "P1")] == [
        "P0 : I like keys",
        "P1 : no more bees",
    ]
    assert len(own(filled, encoder, "P1")) == 3
    empty = read(encoder, "multi-row", long, rows=3, fill_empty=False)
    assert own(empty, encoder, "P0") == [] and empty.owning_masks() == {0, 1}  # nothing but where a text begins
    from_start = read(encoder, "multi-row", long, rows=3, from_end=False, fill_empty=False)
    assert own(from_start, encoder, "P0") == ["P0 : I like keys"] and len(own(from_start, encoder, "P1")) == 2


def test_the_scene_is_read_whole_and_a_mask_owns_its_lines(encoder: Trunk) -> None:
    encoded = read(encoder, "scene-pooling")
    assert len(encoded.sequences) == 1 and not encoded.question_ends
    assert text(encoder, encoded.sequences[0]).startswith(
        "Scene from Keys with Ines , Vera . ( the doors ) P1 : I like"
    )
    assert own(encoded, encoder, "P1") == ["P1 : I like keys P1 : no wax"]
    assert own(encoded, encoder, "P0") == ["P0 : where are the bees"]


def test_a_causal_model_is_asked_about_each_mask_at_the_end(causal: Trunk) -> None:
    encoded = read(causal, "scene-pooling")
    tokens = encoded.sequences[0]
    assert text(causal, tokens).endswith("Who is who ? P1 is P0 is")
    assert {(number, text(causal, tokens[at - 1 : at + 1])) for (_, number), at in encoded.question_ends.items()} == {
        (0, "P1 is"),
        (1, "P0 is"),
    }
    assert encoded.owners[0][encoded.question_ends[0, 0]] == NOBODY


@pytest.mark.parametrize("kind", ["encoder", "causal"])
def test_a_long_scene_is_cut_between_lines_and_nobody_is_left_out(kind: str, request: pytest.FixtureRequest) -> None:
    trunk: Trunk = request.getfixturevalue(kind)
    long = scene(1, *[("P0", "where are the bees")] * 12, ("P1", "I like keys"), setting="dawn")
    encoded = read(trunk, "scene-pooling", long, window=64)
    assert len(encoded.sequences) > 1 and all(len(sequence) <= 64 for sequence in encoded.sequences)
    assert " ".join(own(encoded, trunk, "P0")).count("bees") == 12
    assert sum("dawn" in text(trunk, sequence) for sequence in encoded.sequences) == 1
    short = read(trunk, "scene-pooling", long, longest=60)
    assert 0 < " ".join(own(short, trunk, "P0")).count("bees") < 12
    assert own(short, trunk, "P1") == ["P1 : I like keys"]
    assert trunk.causal == any(number == 1 for _, number in short.question_ends)


def test_a_line_longer_than_a_window_is_cut(encoder: Trunk) -> None:
    long = scene(1, ("P0", "bees " * 500), ("P1", "I like keys"))
    for kind in ("vanilla", "multi-row", "scene-pooling"):
        encoded = read(encoder, kind, long, longest=10_000)
        assert max(map(len, encoded.sequences)) <= encoder.longest and encoded.owning_masks() == {0, 1}


@pytest.mark.parametrize("kind", ["encoder", "causal"])
def test_a_crowd_fits_into_what_a_model_reads(kind: str, request: pytest.FixtureRequest) -> None:
    trunk: Trunk = request.getfixturevalue(kind)
    crowd = scene(1, *[(f"P{number}", "where are the bees") for number in range(200)])
    names = [f"Vera {number}" for number in range(200)]
    encoded = reader_input(crowd, names, "Keys", InputFormat("scene-pooling", longest=10_000), trunk)
    assert max(map(len, encoded.sequences)) <= trunk.longest and encoded.owning_masks() == set(range(200))
    assert trunk.causal == bool(encoded.question_ends)


def test_a_reading_that_cannot_be_is_refused() -> None:
    for wrong in ({"kind": "bert"}, {"rows": 0}, {"longest": 0}):
        with pytest.raises(InputError):
            replace(InputFormat(), **wrong)


pytest.importorskip("transformers", reason="training needs the extra 'train'")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> SceneTokenizer:
    model = open_transformer(tiny_reader(tmp_path_factory.mktemp("base") / "causal", "causal"), "cpu")
    return SceneTokenizer(model.tokenizer, model.network.config)


def plain(words: SceneTokenizer, tokens: list[int]) -> str:
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
    assert "Vera" in plain(words, before[3]) and "Ines" not in plain(words, before[3])


def test_of_a_long_past_the_last_lines_are_read(words: SceneTokenizer) -> None:
    recent = RecentScenes(words, CAST, "Keys", 96, 20)
    told = [("bees" if number < 8 else "wax", number) for number in range(1, 9)]
    for what, number in told:
        recent.remember(scene(number, ("Ines", "I like keys"), ("Vera", f"no more {what}")))
    past = recent.before(scene(9, ("P0", "I like keys")))
    assert len(past) <= 20 and plain(words, past).endswith("Vera : no more wax")


def test_of_no_length_nothing_is_remembered(words: SceneTokenizer) -> None:
    recent = RecentScenes(words, CAST, "Keys", 96, 0)
    recent.remember(scene(1, ("Ines", "I like keys")))
    assert recent.before(scene(2, ("P0", "I like keys"))) == []
