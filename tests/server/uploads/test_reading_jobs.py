"""Reading in a process of its own: limits that hold, and nothing left of it however it ends."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from samples import SCRIPT
from understudy.errors import InputError
from understudy.formats.prose.corrections import read_corrections
from understudy.server.uploads import reading_jobs
from understudy.server.uploads.reader_process import (
    MIB,
    SENT_FOLDER,
    STORY_FILE,
    USED_CAST,
    USED_QUOTATIONS,
    UploadLimits,
    _system_failure,
)
from understudy.server.uploads.reading_jobs import read_in_process
from understudy.story.storyfile import Story
from uploading import NOVEL


def work_with(tmp_path: Path, **files: bytes) -> Path:
    work = tmp_path / "work"
    (work / SENT_FOLDER).mkdir(parents=True)
    for name, content in files.items():
        (work / SENT_FOLDER / name.replace("_", ".")).write_bytes(content)
    return work


def long_script(scenes: int) -> bytes:
    scene = "".join(f"ODILE: This is line {number} of a scene with many.\n" for number in range(500))
    return "".join(f"# act {act}\n## scene 1\n{scene}" for act in range(1, scenes + 1)).encode()


def children() -> set[int]:
    """Processes that this one has started and that are not gone."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
        return {int(number) for number in file.read().split()}


def reading(work: Path, limits: UploadLimits | None = None) -> tuple[bool, list[float]]:
    shares: list[float] = []
    before = children()
    try:
        return asyncio.run(
            read_in_process(work, limits or UploadLimits(), lambda share, _: shares.append(share))
        ), shares
    finally:
        assert children() <= before


def test_a_script_becomes_a_story_file(tmp_path: Path) -> None:
    work = work_with(tmp_path, act_txt=SCRIPT.encode(), cast_toml=b'title = "The Quarrel"\n')
    fixable, shares = reading(work)
    assert fixable
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert (work / STORY_FILE).stat().st_size > 0
    assert (work / USED_CAST).read_text() == 'title = "The Quarrel"\n'


def test_a_novel_tells_its_steps_and_lists_what_is_doubtful(tmp_path: Path) -> None:
    work = work_with(tmp_path, novel_txt=NOVEL.encode())
    steps: list[tuple[float, str]] = []

    def note(share: float, step: str | None) -> None:
        if step is not None:
            steps.append((share, step))

    assert asyncio.run(read_in_process(work, UploadLimits(), note))
    assert list(dict.fromkeys(step for _, step in steps)) == [
        "Looking for chapters and quotations", "Finding out who is in it", "Working out who says what",
        "Chapter 1 of 2", "Chapter 2 of 2", "Writing the story",
    ]  # fmt: skip
    shares = [share for share, _ in steps]
    assert shares == sorted(shares)
    assert len(set(shares)) >= 5, "it moves with the work"
    doubtful = Story.open(work / STORY_FILE).attributed_lines().doubtful
    assert len(read_corrections(work / USED_QUOTATIONS).entries) == doubtful


def test_files_are_read_as_the_format_that_is_named(tmp_path: Path) -> None:
    work = work_with(tmp_path, act_txt=b"Odile: No.\nBastien: Yes.\n")
    asyncio.run(read_in_process(work, UploadLimits(), lambda *_: None, "transcript"))
    assert Story.open(work / STORY_FILE).files()[0].format == "transcript"


def test_what_cannot_be_read_is_told_in_the_readers_words_and_by_the_files_own_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^act\.txt: is in no form that can be read"):
        reading(work_with(tmp_path, act_txt=b"\x7fELF no script at all"))


def test_a_wrong_cast_toml_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^cast\.toml:2: 'spelt' is unknown") as caught:
        reading(work_with(tmp_path, act_txt=SCRIPT.encode(), cast_toml=b'\n[[character]]\nname = "Odile"\nspelt = 1'))
    assert caught.value.line == 2


def test_time_is_limited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes longer than 1 s|took more than 1 s"):
        reading(work_with(tmp_path, act_txt=long_script(300)), UploadLimits(timeout_s=1))


def test_one_that_hangs_without_working_is_stopped(tmp_path: Path) -> None:
    work = work_with(tmp_path)
    os.mkfifo(work / SENT_FOLDER / "act.txt")  # opening it waits for somebody to write
    with pytest.raises(InputError, match="takes longer than 2 s"):
        reading(work, UploadLimits(timeout_s=2))


def test_memory_is_limited(tmp_path: Path) -> None:
    wide = b"# act 1\n## scene 1\n" + (b"ODILE: " + b"no " * (2 * MIB) + b"\n") * 3
    with pytest.raises(InputError, match="needs more than 64 MB of memory"):
        reading(work_with(tmp_path, act_txt=wide), UploadLimits(memory_bytes=64 * MIB))
    (tmp_path / "work").rename(tmp_path / "earlier")
    assert reading(work_with(tmp_path, act_txt=wide))[0]


def test_the_size_of_the_story_is_limited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="would need over 1 MB"):
        reading(work_with(tmp_path, act_txt=long_script(60)), UploadLimits(story_bytes=MIB))


def test_a_failure_of_the_system_is_told_for_what_it_is(tmp_path: Path) -> None:
    work = work_with(tmp_path, act_txt=SCRIPT.encode())
    (work / "script").write_text("a file where the reader makes a folder")
    with pytest.raises(InputError, match=r"File exists") as caught:
        reading(work)
    assert "disk is full" not in str(caught.value) and str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "over 1 MB, or the disk is full"),
        (OSError(errno.EFBIG, "File too large"), "over 1 MB, or the disk is full"),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "/srv/data/reading"),
            "No such file or directory",
        ),
        (sqlite3.OperationalError("unable to open database file"), "unable to open database file"),
    ],
)
def test_only_a_full_disk_is_called_one(error: OSError | sqlite3.OperationalError, expected: str) -> None:
    message = _system_failure(error, UploadLimits(story_bytes=MIB))
    assert expected in message and "/srv" not in message
    assert ("disk is full" in message) == ("disk is full" in expected)


def test_one_that_is_killed_is_told_of(tmp_path: Path) -> None:
    before = children()

    async def killed() -> None:
        work = work_with(tmp_path, act_txt=long_script(300))
        task = asyncio.create_task(read_in_process(work, UploadLimits(), lambda *_: None))
        while not (started := children() - before):
            await asyncio.sleep(0)
        for process in started:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with pytest.raises(InputError, match="send it in parts"):
            await task

    asyncio.run(killed())


def test_one_that_is_given_up_is_gone(tmp_path: Path) -> None:
    before = children()

    async def cancelled() -> None:
        work = work_with(tmp_path, act_txt=long_script(300))
        task = asyncio.create_task(read_in_process(work, UploadLimits(), lambda *_: None))
        while not children() - before:
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert children() <= before

    asyncio.run(cancelled())


def test_nothing_secret_is_handed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNDERSTUDY_API_KEY", "a key that nobody else may know")
    assert not any(
        "key" in name.lower() or "key" in value for name, value in reading_jobs._environment(tmp_path).items()
    )
