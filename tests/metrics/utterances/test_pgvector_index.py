"""Searching more vectors than are compared one by one on PostgreSQL, with a bound so low that few vectors are many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import pytest
from numpy.typing import NDArray

from understudy.metrics.utterances import UtteranceStore, open_store, vector_indexes
from understudy.metrics.utterances.record import APPROVED, REJECTED, Utterance
from understudy.metrics.utterances.vector_indexes import UtterancePostgres

WIDTH = 16
INDEXES = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('utterances_by_vector_16')"


def clustered(count: int, seed: int = 0) -> NDArray[np.float32]:
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((20, WIDTH))
    vectors = centres[random.integers(0, len(centres), count)] + 0.6 * random.standard_normal((count, WIDTH))
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.fixture
def store(location: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[UtteranceStore]:
    monkeypatch.setattr(vector_indexes, "EXACT_UP_TO", 100)
    opened = open_store(location)
    lines = [Utterance(f"Line {number}.", ("Ines", "Tobias")[number % 2]) for number in range(300)]
    opened.add(lines, APPROVED, "filter", list(clustered(300)))
    yield opened
    opened.close()


def numbers(store: UtteranceStore, query: NDArray[np.float32], count: int = 10, **conditions: Any) -> list[int]:
    return [stored.number for stored in store.nearest(query, count, **conditions)]


def exact(store: UtteranceStore, query: NDArray[np.float32], count: int = 10, **conditions: Any) -> list[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_indexes, "EXACT_UP_TO", 10**9)
        return numbers(store, query, count, **conditions)


pytestmark = pytest.mark.parametrize("location", ["postgres"], indirect=True)


def test_above_the_bound_an_index_is_created_and_finds_nearly_all_of_the_nearest(store: UtteranceStore) -> None:
    queries, hits = clustered(20, seed=1), 0
    exact(store, queries[0])
    assert store.database.rows(INDEXES) == []
    numbers(store, queries[0])
    assert store.database.rows(INDEXES) == [(True,)]
    store.database.rows("SELECT set_config('enable_seqscan', 'off', false)")  # as with many rows
    value = store.database.vector_value(queries[0])
    plan = store.database.rows(
        """EXPLAIN SELECT id FROM utterances WHERE vector IS NOT NULL
           ORDER BY CAST(vector AS vector(16)) <=> CAST(? AS vector(16)) LIMIT 10""",
        (value,),
    )
    assert "utterances_by_vector_16" in str(plan)
    conditions: list[dict[str, Any]] = [{}, {"character": "Ines"}]
    for condition in conditions:
        for query in queries:
            results = store.nearest(query, 10, **condition)
            assert len(results) == 10
            hits += len({stored.number for stored in results} & set(exact(store, query, **condition)))
    assert hits / (2 * 10 * len(queries)) >= 0.95


def test_new_lines_are_found(store: UtteranceStore) -> None:
    numbers(store, clustered(1)[0])
    new = clustered(3, seed=2)
    store.add([Utterance(f"New {number}.", "Ines") for number in range(3)], APPROVED, "filter", list(new))
    assert [store.nearest(vector, 1)[0].utterance.text for vector in new] == ["New 0.", "New 1.", "New 2."]


def test_where_too_few_neighbours_match_all_that_do_are_compared(
    store: UtteranceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_indexes.UtterancePostgres, "largest_k", 64)
    vectors = clustered(300)
    for index in np.argsort(vectors @ vectors[0])[:120].tolist():  # none of them among the nearest 64
        store.decide(index + 1, REJECTED, "Mara")
    assert numbers(store, vectors[0], 10, decision=REJECTED) == exact(store, vectors[0], 10, decision=REJECTED)


def test_what_is_left_of_a_stopped_creation_is_replaced(store: UtteranceStore) -> None:
    store.database.rows("CREATE INDEX utterances_by_vector_16 ON utterances (id)")
    store.database.rows(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('utterances_by_vector_16')"
    )
    numbers(store, clustered(1)[0])
    assert store.database.rows(INDEXES) == [(True,)]


def test_who_may_create_no_index_searches_without_one(store: UtteranceStore, location: str) -> None:
    for statement in ("DROP OWNED BY visitor", "DROP ROLE visitor"):
        if store.database.rows("SELECT 1 FROM pg_roles WHERE rolname = 'visitor'"):
            store.database.rows(statement)
    store.database.rows("CREATE ROLE visitor LOGIN")
    store.database.rows("GRANT SELECT ON ALL TABLES IN SCHEMA public TO visitor")
    url = urlsplit(location)
    address = urlunsplit(url._replace(netloc=f"visitor@{url.netloc.rpartition('@')[2]}"))
    visiting = UtteranceStore(UtterancePostgres(address))
    query = clustered(1, seed=3)[0]
    assert numbers(visiting, query) == exact(visiting, query)
    assert store.database.rows(INDEXES) == []
    visiting.close()


def test_within_a_transaction_no_index_is_created_which_would_wait_for_it(store: UtteranceStore) -> None:
    query = clustered(1, seed=3)[0]
    with store.database.transaction():
        assert numbers(store, query) == exact(store, query)
    assert store.database.rows(INDEXES) == []
    numbers(store, query)
    assert store.database.rows(INDEXES) == [(True,)]
