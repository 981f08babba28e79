from __future__ import annotations

import pytest

from understudy.formats.prose.novel import align_levels
from understudy.novels.parsing import parse_prose

TEXT = '\n\nIt rained. "Come in," said Odile, and she held the door for him until he was inside.\n\n'


def numbers(*heads: str) -> list[list[tuple[int, ...]]]:
    files = [parse_prose(head.replace("/", TEXT) + TEXT) for head in heads]
    return [[chapter.numbers for chapter in part.chapters] for part in align_levels(files)]


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (["CHAPTER I", "CHAPTER II"], [[(1,)], [(2,)]]),
        (
            ["VOLUME I\n\nCHAPTER I", "CHAPTER II", "VOLUME II\n\nCHAPTER I", "CHAPTER II"],
            [[(1,), (1, 1)], [(1, 2)], [(2,), (2, 1)], [(2, 2)]],
        ),
        (["CHAPTER I", "VOLUME II\n\nCHAPTER I", "CHAPTER II"], [[(1, 1)], [(2,), (2, 1)], [(2, 2)]]),
        (["CHAPTER I", "CHAPTER II/VOLUME II", "CHAPTER I"], [[(1, 1)], [(1, 2), (2,), (2, 1)], [(2, 1)]]),
    ],
)
def test_chapters_are_in_the_volume_that_was_begun_before(
    heads: list[str], expected: list[list[tuple[int, ...]]]
) -> None:
    assert numbers(*heads) == expected


def test_what_counts_in_another_way_is_left_as_it_is() -> None:
    assert numbers("", "CHAPTER I") == [[], [(1,)]]
    assert numbers("BOOK I", "CHAPTER II/CHAPTER III") == [[(1,)], [(2,), (3,)]]
