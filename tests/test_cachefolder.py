"""A folder whose content is executed or unpickled by a library must be this user's alone."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from understudy.cachefolder import cache_folder, private_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "caches"))
    return tmp_path / "caches"


def test_it_is_made_for_its_owner_alone(caches: Path) -> None:
    made = private_folder("numba")
    assert made == caches / "numba" == cache_folder() / "numba"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert private_folder("numba") == made


def test_one_that_others_may_write_to_is_not_used(caches: Path) -> None:
    (caches / "numba").mkdir(parents=True)
    (caches / "numba").chmod(0o777)
    assert private_folder("numba") is None


def test_one_that_leads_elsewhere_is_not_used(caches: Path, tmp_path: Path) -> None:
    caches.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (caches / "numba").symlink_to(tmp_path / "elsewhere")
    assert private_folder("numba") is None


def test_where_none_can_be_made_there_is_none(caches: Path) -> None:
    caches.write_text("a file where a folder belongs")
    assert private_folder("numba") is None
