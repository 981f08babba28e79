"""All speakers of a scene at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkers import COMMON, NAMES, PEOPLE, WORDS, masked, passing, personas, scene, scenes, talk, training_scenes
from understudy.errors import AgentError, StoryError
from understudy.guessing.baselines import Vectors
from understudy.guessing.features import SPACES, Terms, named_scene_features
from understudy.guessing.joint import ABLATIONS, CLUES, SUB_MODELS, Joint, MaskFeatures, SubModels
from understudy.guessing.scenes import Guesses, Masking, TrainingScenes, guess_in_order
from understudy.language.lexical.rows import Ints, SparseRows
from understudy.people.names import CharacterNames
from understudy.story.persona import Persona
from understudy.story.types import Moment, Relation, Scene

CALLED = scenes(60, seed=1, called=0.5, own=1)
FRESH = scenes(60, seed=2, called=0.5, own=1)


@pytest.fixture(scope="module")
def joint() -> Joint:
    return Joint(training_scenes(CALLED))


def asked(guesser: Joint, item: Scene, seed: int = 0) -> tuple[Guesses, dict[str, str]]:
    hidden = masked(item, seed)
    return guesser.guess(hidden.scene, personas(hidden.candidates)), dict(hidden.answers)


def accuracy(guesser: Joint, story_scenes: Sequence[Scene]) -> float:
    right = []
    for item in story_scenes:
        results, answers = asked(guesser, item)
        right += [max(results[mask], key=lambda name: results[mask][name]) == who for mask, who in answers.items()]
    return float(np.mean(right))


def test_it_learns_who_is_who_far_beyond_chance(joint: Joint) -> None:
    assert accuracy(joint, FRESH) > 0.9


def test_without_names_nothing_tells_where_only_names_told() -> None:
    """Nobody was ever called in the training_scenes: what names are worth is known beforehand."""
    story_scenes, fresh = scenes(40, seed=3, own=0), scenes(40, seed=4, called=0.7, own=0)
    assert accuracy(Joint(training_scenes(story_scenes)), fresh) > 0.7
    assert accuracy(Joint(training_scenes(story_scenes), without=("names",)), fresh) < 0.6


def test_without_words_nothing_tells_where_only_words_told() -> None:
    """History would still know the words, and context hear them."""
    story_scenes, fresh = scenes(40, seed=5, own=1), scenes(40, seed=6, own=1)
    assert accuracy(Joint(training_scenes(story_scenes)), fresh) > 0.95
    assert accuracy(Joint(training_scenes(story_scenes), without=("words", "history", "context")), fresh) < 0.6


def test_without_context_nothing_tells_where_only_others_told() -> None:
    """Nobody but the vicar says anything of one's own, to each in turn."""
    story_scenes, fresh = ([_by_vicar(item) for item in scenes(40, seed=seed, own=0)] for seed in (11, 12))
    assert accuracy(Joint(training_scenes(story_scenes)), fresh) > 0.9
    assert accuracy(Joint(training_scenes(story_scenes), without=("context",)), fresh) < 0.6


def _by_vicar(item: Scene) -> Scene:
    lines: list[tuple[str | None, str]] = []
    for line in item.lines:
        lines += [("Vicar", f"{WORDS[str(line.speaker)][0]} amen."), (line.speaker, line.text)]
    return scene(*lines, at=item.moment.numbers)


def test_without_history_nothing_tells_where_topics_pass_from_one_to_another() -> None:
    """For some scenes each goes on about a thing, then they take each other's: only the last scenes tell."""
    story_scenes, fresh = passing(160, seed=13), passing(60, seed=14)
    assert _share_right(Joint(training_scenes(story_scenes)), fresh) > 0.6
    assert _share_right(Joint(training_scenes(story_scenes), without=("history",)), fresh) < 0.45


def _share_right(guesser: Joint, story_scenes: Sequence[Scene]) -> float:
    request = ((item, True) for item in story_scenes)
    results = guess_in_order(guesser, request, Masking(PEOPLE, NAMES), lambda names, _scene: personas(names))
    return float(np.mean([
        max(shares, key=lambda name: shares[name]) == hidden.answers[mask]
        for hidden, guesses in results for mask, shares in guesses.items()
    ]))  # fmt: skip


def test_without_assignment_two_masks_may_be_the_same_one(joint: Joint) -> None:
    """Both speak as Ben does; one of them a little less."""
    twins = scene(("P0", "bread oven flour crust yeast."), ("P1", "bread oven flour so tide."))
    both = personas(["Ann", "Ben"])
    alone = Joint(training_scenes(CALLED), without=("assignment",)).guess(twins, both)
    assert alone["P0"]["Ben"] > 0.5 and alone["P1"]["Ben"] > 0.5
    together = joint.guess(twins, both)
    assert together["P0"]["Ben"] > 0.5 and together["P1"]["Ann"] > 0.5
    assert sum(shares["Ben"] for shares in together.values()) == pytest.approx(1)


def test_history_goes_on_after_the_lessons_and_without_it_nothing_is_remembered() -> None:
    later = scenes(6, seed=9, own=2)
    question = masked(scenes(1, seed=10, own=1)[0])
    for without, changes in (((), True), (("history",), False)):
        guesser = Joint(training_scenes(scenes(20, seed=8, own=1)), without=without)
        before = guesser.guess(question.scene, personas(question.candidates))
        for item in later:
            guesser.remember(item)
        assert (guesser.guess(question.scene, personas(question.candidates)) != before) is changes


def test_without_context_what_others_say_does_not_count() -> None:
    guesser = Joint(training_scenes(CALLED), without=("context",))
    calm = scene(("P0", "bread and so."), ("P1", "tide and so."))
    stirred = scene(("P0", "bread and so."), ("Vicar", "Ann! The oar, the net."), ("P1", "tide and so."))
    among = personas(["Ann", "Ben"])
    quiet, loud = guesser.clues(calm, among)[1], guesser.clues(stirred, among)[1]
    counted = np.array([guesser.weights[index] != 0 for index in range(len(CLUES))])
    content = [clue for clue, keep in zip(CLUES, counted) if keep]
    changed = {
        clue for clue, a, b in zip(content, quiet[..., counted].T, loud[..., counted].T) if not np.allclose(a, b)
    }
    assert changed <= {"never names", "never calls"}


def test_without_facts_what_is_known_does_not_count(joint: Joint) -> None:
    tie = Relation("Ann", "Zoe", "friend", None, Moment((1,)))
    tied = Persona("Ann", profile=("I keep a lantern.",), relations=(tie,))
    talk = scene(("P0", "my lantern, Zoe, so there."), ("P1", "so it is there."))
    known, unknown = [tied, Persona("Ben")], personas(["Ann", "Ben"])
    assert joint.guess(talk, known)["P0"]["Ann"] > joint.guess(talk, unknown)["P0"]["Ann"]
    blind = Joint(training_scenes(CALLED), without=("facts",))
    assert blind.guess(talk, known) == blind.guess(talk, unknown)


@pytest.mark.parametrize("part", ABLATIONS)
def test_each_part_takes_its_clues_along(part: str, joint: Joint) -> None:
    weights = dict(zip(CLUES, Joint(training_scenes(CALLED[:10]), without=(part,)).weights.tolist()))
    gone = {clue for clue in CLUES if ABLATIONS[part](clue)}
    assert all(weights[clue] == 0 for clue in gone)
    assert gone or part == "assignment"
    assert any(weight for clue, weight in weights.items() if clue not in gone)


def test_an_unknown_part_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(AgentError, match="without luck: choose from assignment, history, names"):
        Joint(training_scenes(CALLED[:3]), without=("luck",))


def test_the_order_of_candidates_and_the_labels_of_masks_do_not_matter(joint: Joint) -> None:
    hidden = masked(FRESH[0])
    results = joint.guess(hidden.scene, personas(hidden.candidates))
    permuted = joint.guess(hidden.scene, personas(hidden.candidates[::-1]))
    label = {"P0": "P2", "P1": "P0", "P2": "P1"}
    renamed = replace(hidden.scene, lines=tuple(
        replace(line, speaker=label[str(line.speaker)]) for line in hidden.scene.lines
    ))  # fmt: skip
    relabelled = joint.guess(renamed, personas(hidden.candidates))
    for mask, shares in results.items():
        assert permuted[mask] == pytest.approx(shares)
        assert relabelled[label[mask]] == pytest.approx(shares)


def test_probabilities_are_of_one_each(joint: Joint) -> None:
    for item in FRESH[:5]:
        results, _ = asked(joint, item)
        table = np.array([list(shares.values()) for shares in results.values()])
        assert table.sum(axis=1) == pytest.approx(np.ones(3))
        assert table.sum(axis=0) == pytest.approx(np.ones(3))


def test_a_mask_that_says_nothing_known_is_told_by_the_others(joint: Joint) -> None:
    strange = scene(("P0", "bread, the oven, the yeast."), ("P1", "zzyx qwrt."), ("P2", "piano, a song, a tune."))
    results = joint.guess(strange, personas(PEOPLE))
    assert results["P1"]["Ann"] > 0.9
    assert all(np.isfinite(list(shares.values())).all() for shares in results.values())
    even = joint.guess(scene(("P0", "?"), ("P1", "!")), personas(["Ann", "Ben"]))
    assert sum(even["P0"].values()) == pytest.approx(1)


def test_a_scene_of_three_hundred_lines(joint: Joint) -> None:
    rng = np.random.default_rng(3)
    lines = [line for number in range(50) for line in talk(rng, PEOPLE, (9, number)).lines]
    long = scene(*((line.speaker, line.text) for line in lines), at=(9, 1))
    assert len(long.lines) == 300
    results, answers = asked(joint, long)
    assert {mask: max(shares, key=lambda name: shares[name]) for mask, shares in results.items()} == answers


def test_a_cast_of_two_hundred_is_told_apart() -> None:
    """Everybody has a word of their own and all are in one room at last."""
    people = tuple(f"Guest{number}" for number in range(200))
    rng = np.random.default_rng(4)

    def said(who: str, times: int) -> str:
        return " ".join([f"word{who[5:]}"] * times + [str(word) for word in rng.choice(COMMON, 3)])

    story_scenes = [
        scene(*((who, said(who, 2)) for who in people[start : start + 5]), at=(turn, start + 1))
        for turn in range(1, 4)
        for start in range(0, 200, 5)
    ]
    names = CharacterNames({who: (who,) for who in people})
    joint = Joint(TrainingScenes(story_scenes, people, names))
    hidden = Masking(people, names).masked(scene(*((who, said(who, 3)) for who in people), at=(9, 9)))
    results = joint.guess(hidden.scene, personas(hidden.candidates))
    assert len(results) == 200
    table = np.array([list(shares.values()) for shares in results.values()])
    assert table.sum(axis=1) == pytest.approx(np.ones(200))
    right = [max(shares, key=lambda name: shares[name]) == hidden.answers[mask] for mask, shares in results.items()]
    assert np.mean(right) > 0.95


def test_very_little_to_learn_from_is_enough_to_begin() -> None:
    """By what clues usually fit_weights: who is called answers."""
    guesser = Joint(training_scenes([scene(("Ann", "tide."), ("Ben", "bread."))]))
    results = guesser.guess(scene(("P0", "Ben, come here now."), ("P1", "Coming.")), personas(["Ann", "Ben"]))
    assert results["P1"]["Ben"] > 0.9


def test_nobody_to_learn_from_is_said() -> None:
    with pytest.raises(StoryError, match="no main character speaks"):
        TrainingScenes([scene(("Vicar", "Amen."))], PEOPLE, NAMES)


@settings(max_examples=8)
@given(st.integers(0, 5), st.integers(6, 11))
def test_nothing_later_changes_a_guess(kept: int, other: int) -> None:
    """Guesses of the first scenes are the same whatever scenes come after them."""
    first, second = (_guessed([*scenes(3, seed=20), *scenes(3, seed=after)]) for after in (30 + kept, 30 + other))
    assert first[:3] == second[:3]
    assert first[3:] != second[3:]


def _guessed(story_scenes: Sequence[Scene]) -> list[Guesses]:
    guesser = Joint(training_scenes(CALLED[:6]))
    masking = Masking(PEOPLE, NAMES)
    request = ((item, True) for item in story_scenes)
    return [results for _, results in guess_in_order(guesser, request, masking, lambda names, _scene: personas(names))]


class ByWord:
    """Vectors that tell whose words a text has."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        counts = [[sum(word in text for word in words) for words in WORDS.values()] for text in texts]
        return np.array(counts, dtype=np.float32).reshape(-1, len(WORDS))


def test_an_encoder_adds_what_lines_mean() -> None:
    encoder = ByWord()
    guesser = Joint(training_scenes(CALLED), encoder=encoder)
    index = list(CLUES).index("what its lines mean")
    assert guesser.weights[index] > 0.1
    assert encoder.read
    assert Joint(training_scenes(CALLED)).weights[index] == pytest.approx(0, abs=1e-3)
    assert accuracy(guesser, FRESH) > 0.9


def test_the_words_that_tell_and_who_is_named(joint: Joint) -> None:
    hidden = scene(("P0", "the oven, the bread, Cleo."), ("P1", "so."))
    parts, _ = joint.clues(hidden, personas(["Ann", "Ben"]))
    telling = joint.telling_terms(parts, "P0", "Ben", "Ann")
    assert {"oven", "bread"} <= set(telling)
    assert "tide" not in telling
    assert joint.named_in("Cleo and Ben's cat") == {"Ben", "Cleo"}


TOLD = scenes(30)


def learned(story_scenes: list[Scene]) -> tuple[Terms, SparseRows, Ints]:
    parts = [named_scene_features(item, PEOPLE, NAMES, "en") for item in story_scenes]
    bags = [bag for item in parts for bag in item.listed()]
    labels = np.array([PEOPLE.index(who) for item in parts for who in item.speakers])
    terms = Terms(bags, SPACES)
    return terms, terms.counted(bags), labels


def test_each_opinion_finds_people_by_their_words() -> None:
    terms, counted, labels = learned(TOLD)
    seen, fresh = np.arange(60), np.arange(60, 90)
    judges = SubModels(terms, MaskFeatures(counted.take(seen)), labels[seen], 3)
    scores = judges.scores(MaskFeatures(counted.take(fresh)))
    assert scores.shape == (30, 3, len(SUB_MODELS) + 1)
    for index in range(len(SUB_MODELS)):
        assert (scores[:, :, index].argmax(axis=1) == labels[fresh]).mean() > 0.9
    assert not scores[:, :, -1].any()  # without an encoder nothing is known of meaning


def test_meaning_is_judged_where_lines_have_vectors() -> None:
    terms, counted, labels = learned(TOLD)
    rng = np.random.default_rng(0)
    starts = np.arange(0, 2 * len(labels) + 1, 2)
    vectors = (np.eye(3)[np.repeat(labels, 2)] + rng.normal(0, 0.1, (2 * len(labels), 3))).astype(np.float32)
    evidence = MaskFeatures(counted, vectors, starts)
    judges = SubModels(terms, evidence.some(np.arange(60)), labels[:60], 3)
    scores = judges.scores(evidence.some(np.arange(60, 90)))[:, :, -1]
    assert (scores.argmax(axis=1) == labels[60:]).all()


def test_some_of_the_evidence_keeps_vectors_with_their_masks() -> None:
    _, counted, _ = learned(TOLD[:1])
    vectors = np.arange(6, dtype=np.float32)[:, None]
    some = MaskFeatures(counted, vectors, np.array([0, 1, 4, 6])).some(np.array([2, 0]))
    assert some.vectors is not None and some.starts is not None
    assert some.vectors.ravel().tolist() == [4, 5, 0]
    assert some.starts.tolist() == [0, 2, 3]
    assert some.counted.values.tolist() == pytest.approx(counted.take(np.array([2, 0])).values.tolist())
