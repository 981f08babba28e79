"""What was written down is there after a crash, and a cut-off line is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.database import RecordLog
from understudy.errors import InputError


def test_records_are_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log.jsonl"
    RecordLog(path).add([{"key": "a", "text": "ä"}, {"key": "b", "text": "two"}])
    RecordLog(path).add([{"key": "a", "text": "newer"}])
    assert {key: record["text"] for key, record in RecordLog(path).records.items()} == {"a": "newer", "b": "two"}


def test_a_line_that_was_cut_off_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    RecordLog(path).add([{"key": "a"}])
    path.write_bytes(path.read_bytes() + b'{"key": "b", "te')
    log = RecordLog(path)
    assert list(log.records) == ["a"]
    log.add([{"key": "b"}])
    assert list(RecordLog(path).records) == ["a", "b"]


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"key": "a"}\n{"other": 1}\n')
    with pytest.raises(InputError, match="delete the file") as error:
        RecordLog(path)
    assert "log.jsonl" in str(error.value)


def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    log = RecordLog(None, "item")
    log.add([{"item": "a"}])
    assert list(log.records) == ["a"]
    assert list(tmp_path.iterdir()) == []
