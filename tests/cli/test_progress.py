from __future__ import annotations

import io
from pathlib import Path

import pytest

from understudy.cli.progress import read_showing
from uploading import NOVEL


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
    monkeypatch.setattr("understudy.cli.progress.SHOWN_AFTER_S", 0.0)
    assert read_showing(long_script).count() == (1, 20_000)
    assert "Reading" in screen.getvalue()
    assert "MB" in screen.getvalue()


def test_the_bar_of_a_novel_says_what_is_done_to_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    novel = tmp_path / "novel.txt"
    novel.write_text(NOVEL)
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("understudy.cli.progress.SHOWN_AFTER_S", 0.0)
    seen = list[str]()
    monkeypatch.setattr("rich.progress.Progress.update", lambda *_, description, **__: seen.append(description))
    read_showing(novel)
    assert seen[0] == "Looking for chapters and quotations"
    assert [one for one in seen if one.startswith("Chapter")] == ["Chapter 1 of 2", "Chapter 2 of 2"]


def test_no_bar_elsewhere_or_for_what_is_read_at_once(
    monkeypatch: pytest.MonkeyPatch, long_script: Path, story: Path
) -> None:
    for screen, script in ((io.StringIO(), long_script), (Terminal(), story)):
        monkeypatch.setattr("sys.stderr", screen)
        read_showing(script)
        assert screen.getvalue() == ""
