"""The data folder: one server at a time, for its owner alone, and nothing else in it is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from understudy.agents import Scripted
from understudy.errors import InputError
from understudy.server.context import AppContext
from understudy.server.database import DataFolder
from understudy.server.story_registry import StoryRegistry


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_folder_is_held_by_one_and_free_when_closed(tmp_path: Path) -> None:
    first = DataFolder(tmp_path / "data")
    for _ in range(2):
        with pytest.raises(InputError, match=f"process {os.getpid()}.*--data") as caught:
            DataFolder(tmp_path / "data")
        assert str(tmp_path / "data") in str(caught.value)
    DataFolder(tmp_path / "other").close()
    first.close()
    DataFolder(tmp_path / "data").close()


def test_a_server_that_cannot_open_its_database_lets_go_of_the_folder(tmp_path: Path) -> None:
    database = tmp_path / "server.sqlite"
    database.write_text("This is no database, but it is long enough to look like the header of one." * 20)
    for _ in range(2):
        with pytest.raises(InputError, match="cannot be opened as the server's database"):
            AppContext.open(StoryRegistry({}), Scripted(["Yes."]), tmp_path)
    database.unlink()
    AppContext.open(StoryRegistry({}), Scripted(["Yes."]), tmp_path).close()


def test_what_lay_open_is_closed_to_others_and_what_is_not_the_servers_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "stories").mkdir(mode=0o755)
    for name in ("server.sqlite", "stories/one.story", "mine.sh"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    DataFolder(tmp_path).close()
    modes = {str(path.relative_to(tmp_path)): mode(path) for path in tmp_path.rglob("*")}
    assert mode(tmp_path) == 0o700
    assert modes == {
        "server.lock": 0o600, "server.sqlite": 0o600, "stories": 0o700, "stories/one.story": 0o600, "mine.sh": 0o755,
    }  # fmt: skip


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="choose another --data"):
        DataFolder(tmp_path / "file" / "data")
