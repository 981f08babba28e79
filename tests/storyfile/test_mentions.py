from __future__ import annotations

import pytest

from understudy.storyfile.mentions import NameFinder

INES, TOBIAS, ROSS, JACK, PIP_A, PIP_B, WILL, CHINATSU = range(1, 9)
FINDER = NameFinder(
    [
        (INES, "Ines Vale"),
        (TOBIAS, "Tobias Rook"),
        (TOBIAS, "Tob"),
        (ROSS, "Ross Geller"),
        (JACK, "Mr. Geller"),
        (PIP_A, "Philippa Stone"),
        (PIP_A, "Pip"),
        (PIP_B, "Pip"),
        (PIP_B, "Philip Marsh"),
        (WILL, "Will"),
        (CHINATSU, "千夏"),
    ]
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ines Vale has the key.", {INES}),
        ("Ask Ines's brother.", {INES}),
        ("INES! Come down!", {INES}),
        ("Tob and Vale are late", {TOBIAS, INES}),
        ("Mr. Geller called, not Ross.", {JACK, ROSS}),
        ("the Gellers; a Geller", set()),
        ("Pip knows.", set()),
        ("Philippa knows.", {PIP_A}),
        ("will you come?", set()),
        ("Not Will, surely.", {WILL}),
        ("Inescapable.", set()),
        ("それは千夏さんのです", {CHINATSU}),
        ("", set()),
    ],
)
def test_names_are_found_as_people_say_them(text: str, named: set[int]) -> None:
    assert set(FINDER.find(text)) == named
