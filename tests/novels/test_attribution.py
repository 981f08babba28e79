from __future__ import annotations

import numpy as np

from novels.dialogue_text import prose_of
from understudy.novels.attribution import Forest, attribute, softmax_of_groups
from understudy.novels.prose import NovelCharacter

CAST = (
    NovelCharacter("Ines Duarte", ("Ines",), "f"),
    NovelCharacter("Tomas Reyes", ("Tomas",), "m"),
    NovelCharacter("Rosa", (), "f"),
)
TEXT = """Ines came down to the quay. Tomas was mending a net, and did not look up.

"You are late," said Tomas.

"The tide was late."

"The tide is never late, Ines."

"Then it was the clock," she said.

Tomas laughed. "Sit down."

"What did Rosa say?"

"That you would be late."
"""


def test_named_tagged_and_alternating_lines_find_their_speakers() -> None:
    found = attribute(prose_of(TEXT), CAST)
    assert [each.speaker for each in found] == [
        "Tomas Reyes", "Ines Duarte", "Tomas Reyes", "Ines Duarte", "Tomas Reyes", "Ines Duarte", "Tomas Reyes"
    ]  # fmt: skip
    assert found[2].addressees == ("Ines Duarte",)
    assert found[0].confidence > 0.9
    for each in found:
        assert each.candidates[0] == (each.speaker, round(each.confidence, 4))
        assert sum(share for _, share in each.candidates) <= 1.001


def test_there_is_one_for_each_quotation_whatever_the_cast() -> None:
    prose = prose_of(TEXT)
    assert attribute(prose_of("Nobody spoke."), CAST) == []
    assert [each.speaker for each in attribute(prose, ())] == [None] * 7
    assert {each.speaker for each in attribute(prose, CAST[:1])} == {"Ines Duarte"}
    crowd = tuple(NovelCharacter(f"Person {chr(65 + number)}") for number in range(26))
    assert len(attribute(prose, crowd + CAST)) == 7


def test_progress_grows_with_the_work() -> None:
    shares: list[float] = []
    attribute(prose_of(TEXT), CAST, progress=shares.append)
    assert shares == sorted(set(shares)) and 0 < shares[0] < shares[-1] < 1


def test_scores_follow_the_questions_of_each_tree() -> None:
    forest = Forest(
        np.array([[0, 1, 1], [1, 0, 0]], np.int32),
        np.array([[0.5, 2.0, -1.0], [np.inf, np.inf, np.inf]], np.float32),
        np.array([[1, 2, 3, 4], [10, 20, 30, 40]], np.float32),
    )
    rows = np.array([[0.5, 2.0], [0.5, 2.5], [0.6, -1.0], [9.0, 0.0]], np.float32)
    assert forest.depth == 2
    assert forest.scores(rows).tolist() == [11, 12, 13, 14]


def test_probabilities_of_a_group_add_up_to_one() -> None:
    scores = np.array([0.0, 0.0, 5.0, 1.0, 1.0, 1.0], np.float32)
    shares = softmax_of_groups(scores, np.array([0, 2]), np.array([0, 0, 1, 1, 1, 1]))
    np.testing.assert_allclose(shares[:2], [0.5, 0.5])
    np.testing.assert_allclose(shares[2:].sum(), 1, rtol=1e-6)
