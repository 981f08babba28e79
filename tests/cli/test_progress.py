from __future__ import annotations

import io
from pathlib import Path

import pytest

from understudy.cli.progress import read_showing


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def long_script(tmp_path: Path) -> Path:
    script = tmp_path / "long.txt"
    line = "INES: I have a good deal to say about the brass key, and I shall say it.\n"
    script.write_text("# scene 1: A hall\n" + line * 20_000)
    return script


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, long_script: Path) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    assert read_showing(long_script).count() == (1, 20_000)
    assert "Reading" in screen.getvalue()
    assert "MB" in screen.getvalue()


def test_no_bar_elsewhere_or_for_what_is_read_at_once(
    monkeypatch: pytest.MonkeyPatch, long_script: Path, story: Path
) -> None:
    for screen, script in ((io.StringIO(), long_script), (Terminal(), story)):
        monkeypatch.setattr("sys.stderr", screen)
        read_showing(script)
        assert screen.getvalue() == ""
