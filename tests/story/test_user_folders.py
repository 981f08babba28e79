"""Where caches and data lie; a folder whose content is executed or unpickled by a library must be this user's alone."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from understudy.story.user_folders import cache_folder, config_folder, data_folder, private_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "caches"))
    return tmp_path / "caches"


@pytest.mark.skipif(sys.platform != "linux", reason="the paths of Linux")
def test_the_platforms_folders_are_used_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for kind in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.delenv(f"UNDERSTUDY_{kind}", raising=False)
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "understudy"
    assert data_folder() == tmp_path / ".local" / "share" / "understudy"
    assert config_folder() == tmp_path / ".config" / "understudy"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "d"))
    assert cache_folder() == tmp_path / "c" / "understudy"
    assert data_folder() == tmp_path / "d" / "understudy"


def test_environment_variables_take_precedence(monkeypatch: pytest.MonkeyPatch, caches: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "chats"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "d"))
    monkeypatch.setenv("UNDERSTUDY_CONFIG", str(tmp_path / "settings"))
    assert (cache_folder(), data_folder(), config_folder()) == (caches, tmp_path / "chats", tmp_path / "settings")


def test_a_relative_folder_stays_the_same_wherever_it_is_used_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"UNDERSTUDY_{kind}", kind)
    assert (cache_folder(), config_folder(), data_folder()) == (
        tmp_path / "CACHE",
        tmp_path / "CONFIG",
        tmp_path / "DATA",
    )


def test_it_is_created_for_its_owner_alone(caches: Path) -> None:
    folder = private_folder("numba")
    assert folder == caches / "numba" == cache_folder() / "numba"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert private_folder("numba") == folder


def test_a_folder_that_others_may_write_to_is_not_used(caches: Path) -> None:
    (caches / "numba").mkdir(parents=True)
    (caches / "numba").chmod(0o777)
    assert private_folder("numba") is None


def test_a_link_to_another_folder_is_not_used(caches: Path, tmp_path: Path) -> None:
    caches.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (caches / "numba").symlink_to(tmp_path / "elsewhere")
    assert private_folder("numba") is None


def test_where_no_folder_can_be_created_there_is_none(caches: Path) -> None:
    caches.write_text("a file where a folder belongs")
    assert private_folder("numba") is None
