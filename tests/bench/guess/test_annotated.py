"""Which annotation is about whom."""

from __future__ import annotations

from dataclasses import replace

from guesses import annotation, scene
from understudy.bench.guess.annotated import annotated, flows, shows_of

FRIENDS = [
    *scene("m", "FRIENDS", 1, ["Rachel Green", "Ross"], ["Ross", "Ross"]),
    *scene("m", "FRIENDS", 2, ["Ross", "Joey"], ["Ross", "Joey"]),
]
OTHER = scene("m", "Frasier", 2, ["Niles", "Daphne"], ["Niles", "Niles"])


def test_a_table_is_about_the_show_that_has_most_of_its_scenes() -> None:
    labels = [annotation(1, 0, source="a"), annotation(2, 0, source="a"), annotation(2, 1, source="b")]
    assert shows_of([*OTHER, *FRIENDS], labels[:2]) == {"a": "FRIENDS"}
    assert set(annotated([*OTHER, *FRIENDS], labels[:2])) == {FRIENDS[0].key, FRIENDS[2].key}
    assert annotated(OTHER, [annotation(7, 0)]) == {}


def test_a_speaker_is_known_by_scene_and_place_whatever_they_are_called() -> None:
    labels = [annotation(1, 1), annotation(2, 1), annotation(2, 5)]
    assert annotated(FRIENDS, labels) == {FRIENDS[1].key: labels[0], FRIENDS[3].key: labels[1]}
    swapped = [replace(item, who="Somebody") for item in FRIENDS]
    assert annotated(swapped, labels) == annotated(FRIENDS, labels)


def test_flows_count_every_kind_of_evidence_and_keep_the_order_of_kinds() -> None:
    labels = [
        annotation(1, 0, ["memory", "personality"], "direct", "default conjunction"),
        annotation(1, 1, ["memory"], "none"),
        annotation(2, 0, ["memory"], "direct"),
    ]
    history, reasoning = flows(labels, {"table": "FRIENDS"})
    assert (history["show"], history["to"], history["n"]) == ("FRIENDS", "history", 3)
    assert history["evidence"] == ["personality", "memory"]
    assert history["ends"] == ["none", "direct"]
    assert history["links"] == [
        {"evidence": "personality", "history": "direct", "count": 1},
        {"evidence": "memory", "history": "none", "count": 1},
        {"evidence": "memory", "history": "direct", "count": 2},
    ]
    assert [link["count"] for link in reasoning["links"]] == [1, 2, 1]
    assert flows(labels, {})[0]["show"] == "table"
