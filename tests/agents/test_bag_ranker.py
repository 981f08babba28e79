from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import tiny_model
from people import hearing, situation
from understudy.agents.bag_ranker import (
    BagRanker,
    KeyValueMemory,
    ProfileMemory,
    Starspace,
    WordVectors,
    attention,
    spelled,
    unit,
)
from understudy.errors import InputError
from understudy.language.model_folder import read_model, texts_as_tensor, write_model
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona

OKRA = [-0.942809, 0.000000, -0.471405, -0.942809]
VECTORS = WordVectors(["boat", "key"], np.array([[1, 0], [0, 2]], np.float32))


def test_a_text_is_the_sum_of_its_words() -> None:
    np.testing.assert_array_equal(VECTORS.of("Key, boat, key!"), [1, 4])
    np.testing.assert_array_equal(VECTORS.of(""), [0, 0])
    np.testing.assert_allclose(VECTORS.direction("key"), [0, 1])


def test_a_word_never_seen_is_told_by_its_spelling() -> None:
    np.testing.assert_array_equal(VECTORS.of("lantern"), spelled("lantern", 2))
    np.testing.assert_array_equal(VECTORS.of("key lantern"), spelled("lantern", 2) + np.array([0, 2]))


def test_words_spelled_alike_are_alike() -> None:
    first, second, unlike = (unit(spelled(word, 2048)) for word in ("hunting", "hunt", "okra"))
    assert first @ second > 0.2
    assert abs(first @ unlike) < 0.1
    assert np.linalg.norm(spelled("hunting", 2048)) < 1.5


def test_spelling_gives_the_same_vector_everywhere() -> None:
    """Models depend on it: they begin with these vectors, and meet words they do not have."""
    np.testing.assert_allclose(spelled("okra", 4), OKRA, atol=1e-6)


def test_odd_words_have_vectors_too() -> None:
    for word in ("", "é", "\ud800", "x" * 100_000):
        assert np.isfinite(spelled(word, 16)).all()
    assert unit(np.zeros(3, np.float32)).tolist() == [0, 0, 0]


@pytest.fixture(scope="module")
def starspace(tmp_path_factory: pytest.TempPathFactory) -> Starspace:
    return Starspace(tiny_model("starspace", tmp_path_factory.mktemp("models") / "starspace"))


def test_the_score_is_the_cosine_with_message_and_profile(starspace: Starspace) -> None:
    given = situation(profile=("My harbour.", "The pilot."))
    of = starspace.vectors.of
    query = of("where is the key") + 0.5 * (of("my harbour") + of("the pilot"))
    expected = unit(query) @ unit(of("the key of the pilot"))
    assert starspace.score(given, hearing("Where is the key?"), ["The key of the pilot."]) == pytest.approx([expected])


def test_only_the_last_turn_is_the_message(starspace: Starspace) -> None:
    given = situation()
    long = starspace.score(given, hearing("The boat!", "Where is the key?"), ["the boat", "the key"])
    assert long == starspace.score(given, hearing("Where is the key?"), ["the boat", "the key"])
    assert long[1] > long[0]


def test_own_their_both_or_no_profile(starspace: Starspace) -> None:
    candidates = ["harbour pilot", "brass boat"]

    def scores(own: tuple[str, ...], theirs: tuple[str, ...]) -> list[float]:
        given = Situation(Persona("Tomas", profile=own), faced=Other("Ines", theirs))
        return starspace.score(given, hearing("Where is the key?"), candidates)

    none = scores((), ())
    assert starspace.score(Situation(Persona("Tomas")), hearing("Where is the key?"), candidates) == none
    own, theirs, both = (
        scores(("Harbour pilot.",), ()),
        scores((), ("Brass boat.",)),
        scores(("Harbour pilot.",), ("Brass boat.",)),
    )
    assert own[0] > none[0] and theirs[1] > none[1]
    assert none[0] < both[0] < own[0] and none[1] < both[1] < theirs[1]


def test_with_nothing_to_go_by_all_are_equal(starspace: Starspace) -> None:
    assert starspace.score(situation(), [], ["the key", "the boat", ""]) == [0, 0, 0]


def test_many_questions_score_as_one_by_one(starspace: Starspace) -> None:
    given = situation(profile=("Harbour pilot.",))
    questions = [(given, hearing(text), ("the key", "a boat")) for text in ("Where is the key?", "Boat!")]
    assert starspace.score_many(questions) == [starspace.score(*question) for question in questions]


def test_it_answers_with_its_own_lines_and_says_why(starspace: Starspace) -> None:
    given = situation(
        ("Ines", "Well?", "The key is in my pocket."), ("Ines", "Now?", "A boat."), profile=("Brass key.",)
    )
    reply = starspace.reply(given, hearing("Where is the key?"))
    assert reply.text == "The key is in my pocket."
    assert [candidate.text for candidate in reply.candidates] == ["The key is in my pocket.", "A boat."]
    assert reply.candidates[0].moment is not None
    assert [evidence.kind for evidence in reply.evidence] == ["exchange", "memory", "profile"]
    assert reply.evidence[0].text == "Ines: Well?"
    assert reply.evidence[2].text == "Brass key. (attention 1.00)"


def test_what_was_said_is_not_said_again(starspace: Starspace) -> None:
    given = situation(("Ines", "Well?", "The key is in my pocket."), profile=("I have a brass key.",))
    history = [*hearing("Where is the key?"), Turn("Tomas", "The key is in my pocket."), *hearing("Where is the key?")]
    assert starspace.reply(given, history).text == "I have a brass key."


def test_a_long_past_is_scored_in_blocks(starspace: Starspace, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [("Ines", "So?", f"Word{number}.") for number in range(20)]
    given = situation(*lines, ("Ines", "So?", "The brass key."))
    monkeypatch.setattr("understudy.agents.bag_ranker.BLOCK", 4)
    assert starspace.reply(given, hearing("Where is the key?")).text == "The brass key."


def test_the_card_says_what_it_was_trained_on(starspace: BagRanker) -> None:
    assert (starspace.card["agent"], starspace.card["trained_on"]) == ("starspace", "original")
    assert np.isfinite(starspace.balance)


def test_a_folder_or_its_name_will_do(tmp_path: Path) -> None:
    assert Starspace(tiny_model("starspace", tmp_path / "model")).turns == 1


@pytest.fixture(scope="module")
def profile_memory(tmp_path_factory: pytest.TempPathFactory) -> ProfileMemory:
    return ProfileMemory(tiny_model("profile-memory", tmp_path_factory.mktemp("models") / "memory"))


def test_attention_is_a_softmax_of_cosines() -> None:
    rows = np.array([[3, 0], [0, 5], [0, 0]], np.float32)
    shares = attention(np.array([2, 0], np.float32), rows)
    grown = np.exp([1, 0, 0])
    np.testing.assert_allclose(shares, grown / grown.sum(), rtol=1e-6)


def test_two_hops_over_the_profile(profile_memory: ProfileMemory) -> None:
    assert profile_memory.hops == 2
    rows = np.stack([profile_memory.vectors.of("brass key"), profile_memory.vectors.of("harbour pilot")])
    query = profile_memory.vectors.of("where is the key")
    for _ in range(2):
        cosines = np.array([unit(query) @ unit(row) for row in rows])
        shares = np.exp(cosines) / np.exp(cosines).sum()
        query = query + 0.5 * shares @ rows
    given = situation(profile=("Brass key.", "Harbour pilot."))
    expected = [unit(query) @ unit(profile_memory.vectors.of(text)) for text in ("key", "pilot")]
    scores = profile_memory.score(given, hearing("Where is the key?"), ["Key", "Pilot"])
    assert scores == pytest.approx(expected, abs=1e-6)


def test_the_sentence_that_fits_gets_the_attention(profile_memory: ProfileMemory) -> None:
    given = situation(("Ines", "So?", "Here."), profile=("Harbour pilot.", "Brass key."))
    evidence = profile_memory.reply(given, hearing("Where is the key?")).evidence
    sentences = [item.text for item in evidence if item.kind == "profile"]
    assert sentences[0].startswith("Brass key. (attention 0.")
    shares = [float(text.split("attention ")[1].rstrip(")")) for text in sentences]
    assert sum(shares) == pytest.approx(1, abs=0.011)


def test_without_a_profile_it_is_starspace(profile_memory: ProfileMemory) -> None:
    query = profile_memory.query(situation(), hearing("Where is the key?"))
    np.testing.assert_allclose(query.direction, unit(profile_memory.vectors.of("where is the key")))
    assert query.hops == ()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model("kv-memory", tmp_path_factory.mktemp("models") / "kv")


@pytest.fixture(scope="module")
def kv_memory(model: Path) -> KeyValueMemory:
    return KeyValueMemory(model)


def test_the_second_hop_brings_in_the_replies_of_like_messages(kv_memory: KeyValueMemory) -> None:
    of = kv_memory.vectors.of
    query = unit(of("where is the key"))
    keys = [unit(of(text)) for text in ("where is the key", "who are you", "where is the boat")]
    values = np.stack([unit(of(text)) for text in ("in my pocket", "the pilot", "by the quay")])
    grown = np.exp([10 * query @ key for key in keys])
    recalled = unit(((grown / grown.sum()) @ values).astype(np.float32))
    expected = unit(query + np.float32(0.4) * recalled) @ unit(of("my pocket"))
    scores = kv_memory.score(situation(), hearing("Where is the key?"), ["My pocket."])
    assert scores == pytest.approx([expected], abs=1e-6)


def test_the_memory_is_evidence(kv_memory: KeyValueMemory) -> None:
    given = situation(("Ines", "So?", "Pocket."), profile=("Harbour pilot.",))
    evidence = kv_memory.reply(given, hearing("Where is the key?")).evidence
    recalled = [item.text for item in evidence if item.kind == "memory" and "->" in item.text]
    assert recalled[0].startswith("where is the key ? -> in my pocket . (attention 0.")
    assert any(item.kind == "profile" for item in evidence)


def test_kv_memory_scores_many_questions_as_one_by_one(kv_memory: KeyValueMemory) -> None:
    given = situation(profile=("Harbour pilot.",))
    questions = [(given, hearing(text), ("the key", "a boat")) for text in ("Where is the key?", "Boat!", "")]
    for many, single in zip(kv_memory.score_many(questions), (kv_memory.score(*question) for question in questions)):
        assert many == pytest.approx(single, abs=1e-6)
    assert kv_memory.score_many([]) == []


def test_a_memory_that_is_not_whole(model: Path, tmp_path: Path) -> None:
    folder = read_model(model, "kv-memory")
    broken = {**folder.tensors, "memory.said": texts_as_tensor(["one"])}
    write_model(tmp_path / "broken", folder.card, broken)
    with pytest.raises(InputError, match="3 messages and 1 replies"):
        KeyValueMemory(tmp_path / "broken")


def test_an_empty_memory_is_a_profile_memory(model: Path) -> None:
    folder = read_model(model, "kv-memory")
    empty = {**folder.tensors, "memory.said": texts_as_tensor([]), "memory.heard": texts_as_tensor([])}
    kv_memory = KeyValueMemory(type(folder)(folder.card, empty))
    query = kv_memory.query(situation(), hearing("Where is the key?"))
    np.testing.assert_allclose(query.direction, unit(kv_memory.vectors.of("where is the key")))
    assert kv_memory.score_many([(situation(), hearing("key"), ["key"])])[0] == pytest.approx([1.0])
