"""What the words around a mask say about who it is."""

from __future__ import annotations

import numpy as np
import pytest

from talkers import NAMES, PEOPLE, scenes
from understudy.guessing.bags import SPACES
from understudy.guessing.opinions import OPINIONS, Evidence, Judges
from understudy.guessing.parts import told_parts
from understudy.guessing.terms import Terms
from understudy.lexical.rows import Ints, Rows
from understudy.story import Scene

TOLD = scenes(30)


def learned(told: list[Scene]) -> tuple[Terms, Rows, Ints]:
    parts = [told_parts(one, PEOPLE, NAMES, "en") for one in told]
    bags = [bag for one in parts for bag in one.listed()]
    labels = np.array([PEOPLE.index(who) for one in parts for who in one.speakers])
    terms = Terms(bags, SPACES)
    return terms, terms.counted(bags), labels


def test_each_opinion_finds_people_by_their_words() -> None:
    terms, counted, labels = learned(TOLD)
    seen, fresh = np.arange(60), np.arange(60, 90)
    judges = Judges(terms, Evidence(counted.take(seen)), labels[seen], 3)
    scores = judges.scores(Evidence(counted.take(fresh)))
    assert scores.shape == (30, 3, len(OPINIONS) + 1)
    for place in range(len(OPINIONS)):
        assert (scores[:, :, place].argmax(axis=1) == labels[fresh]).mean() > 0.9
    assert not scores[:, :, -1].any()  # without an encoder nothing is known of meaning


def test_meaning_is_judged_where_lines_have_vectors() -> None:
    terms, counted, labels = learned(TOLD)
    rng = np.random.default_rng(0)
    starts = np.arange(0, 2 * len(labels) + 1, 2)
    vectors = (np.eye(3)[np.repeat(labels, 2)] + rng.normal(0, 0.1, (2 * len(labels), 3))).astype(np.float32)
    evidence = Evidence(counted, vectors, starts)
    judges = Judges(terms, evidence.some(np.arange(60)), labels[:60], 3)
    scores = judges.scores(evidence.some(np.arange(60, 90)))[:, :, -1]
    assert (scores.argmax(axis=1) == labels[60:]).all()


def test_some_of_the_evidence_keeps_vectors_with_their_masks() -> None:
    _, counted, _ = learned(TOLD[:1])
    vectors = np.arange(6, dtype=np.float32)[:, None]
    some = Evidence(counted, vectors, np.array([0, 1, 4, 6])).some(np.array([2, 0]))
    assert some.vectors is not None and some.starts is not None
    assert some.vectors.ravel().tolist() == [4, 5, 0]
    assert some.starts.tolist() == [0, 2, 3]
    assert some.counted.values.tolist() == pytest.approx(counted.take(np.array([2, 0])).values.tolist())
