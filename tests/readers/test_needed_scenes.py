"""Which earlier scenes were needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.readers.annotations import Instance
from understudy.readers.needed_scenes import read_needed_scenes

GOOD = '{"episode": "09x01", "scene": 2510, "place": 0, "needed": [2501, 2504, 2501]}'


def test_scenes_are_told_by_speaker(tmp_path: Path) -> None:
    path = tmp_path / "needed.jsonl"
    path.write_text(f'{GOOD}\n\n{{"episode": "10x12", "scene": 3, "place": 2, "needed": []}}\n')
    assert read_needed_scenes(path) == {Instance((9, 1), 2510, 0): {2501, 2504}, Instance((10, 12), 3, 2): frozenset()}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[]", "should be an object with 'episode'"),
        ('{"episode": "09x01", "scene": 1, "place": 0}', "'needed'"),
        ('{"episode": "nine", "scene": 1, "place": 0, "needed": []}', "it should look like '09x01'"),
        ('{"episode": "09x01", "scene": "1", "place": 0, "needed": []}', "whole numbers"),
        ('{"episode": "09x01", "scene": 1, "place": 0, "needed": [true]}', "whole numbers"),
        ('{"episode": "09x01", "scene": 1, "place": -1, "needed": []}', "whole numbers"),
        (GOOD, "twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "needed.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_needed_scenes(path)
    assert told in str(caught.value) and caught.value.line == 2
