from __future__ import annotations

from pathlib import Path

import pytest

from understudy.readers.transcript.episode import episode_numbers, episode_title


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("0101.html", (1, 1)),
        ("1012.html", (10, 12)),
        ("0212-0213.html", (2, 12)),
        ("0423uncut.html", (4, 23)),
        ("01x01.txt", (1, 1)),
        ("3x24+25.txt", (3, 24)),
        ("Harbour S02E11 final.txt", (2, 11)),
        ("harbour.txt", None),
    ],
)
def test_the_name_says_where(name: str, where: tuple[int, int] | None) -> None:
    assert episode_numbers(Path(name), b"Ann: One.\n") == where


def test_else_the_top_of_the_file_does() -> None:
    assert episode_numbers(Path("a.txt"), b"Harbour\nSeason 2, Episode 7\n") == (2, 7)
    assert episode_numbers(Path("a.txt"), b"03x04 - The Oar\nAnn: One.\n") == (3, 4)


def test_titles() -> None:
    assert episode_title(Path("a.html"), b"<html><title>\nThe  Oar &amp; I</title>") == "The Oar & I"
    assert episode_title(Path("a.txt"), b"x\n03x04 - The Oar\n") == "The Oar"
    assert episode_title(Path("0304.txt"), b"Ann: One.\n") == "0304"
