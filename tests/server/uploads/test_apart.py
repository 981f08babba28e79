"""Reading in a process of its own: limits that hold, and nothing left of it however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from samples import SCRIPT
from understudy.errors import InputError
from understudy.server.uploads import apart
from understudy.server.uploads.apart import read_apart
from understudy.server.uploads.limits import MIB, Limits
from understudy.server.uploads.reading import MADE, SENT, USED


def work_with(tmp_path: Path, **files: bytes) -> Path:
    work = tmp_path / "work"
    (work / SENT).mkdir(parents=True)
    for name, content in files.items():
        (work / SENT / name.replace("_", ".")).write_bytes(content)
    return work


def long_script(scenes: int) -> bytes:
    scene = "".join(f"ODILE: This is line {number} of a scene with many.\n" for number in range(500))
    return "".join(f"# act {act}\n## scene 1\n{scene}" for act in range(1, scenes + 1)).encode()


def children() -> set[int]:
    """Processes that this one has started and that are not gone."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
        return {int(number) for number in file.read().split()}


def reading(work: Path, limits: Limits | None = None) -> tuple[bool, list[float]]:
    told: list[float] = []
    before = children()
    try:
        return asyncio.run(read_apart(work, limits or Limits(), told.append)), told
    finally:
        assert children() <= before


def test_a_script_becomes_a_story_file(tmp_path: Path) -> None:
    work = work_with(tmp_path, act_txt=SCRIPT.encode(), cast_toml=b'title = "The Quarrel"\n')
    fixable, told = reading(work)
    assert fixable
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert (work / MADE).stat().st_size > 0
    assert (work / USED).read_text() == 'title = "The Quarrel"\n'


def test_what_cannot_be_read_is_told_in_the_readers_words_and_by_the_files_own_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^act\.txt: is in no form that can be read"):
        reading(work_with(tmp_path, act_txt=b"\x7fELF no script at all"))


def test_a_wrong_cast_toml_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^cast\.toml:2: 'spelt' is unknown") as caught:
        reading(work_with(tmp_path, act_txt=SCRIPT.encode(), cast_toml=b'\n[[character]]\nname = "Odile"\nspelt = 1'))
    assert caught.value.line == 2


def test_time_is_limited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes longer than 1 s|took more than 1 s"):
        reading(work_with(tmp_path, act_txt=long_script(300)), Limits(seconds=1))


def test_one_that_hangs_without_working_is_stopped(tmp_path: Path) -> None:
    work = work_with(tmp_path)
    os.mkfifo(work / SENT / "act.txt")  # opening it waits for somebody to write
    with pytest.raises(InputError, match="takes longer than 2 s"):
        reading(work, Limits(seconds=2))


def test_memory_is_limited(tmp_path: Path) -> None:
    wide = b"# act 1\n## scene 1\n" + (b"ODILE: " + b"no " * (2 * MIB) + b"\n") * 3
    with pytest.raises(InputError, match="needs more than 64 MB of memory"):
        reading(work_with(tmp_path, act_txt=wide), Limits(memory=64 * MIB))
    (tmp_path / "work").rename(tmp_path / "earlier")
    assert reading(work_with(tmp_path, act_txt=wide))[0]


def test_the_size_of_the_story_is_limited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="would need over 1 MB"):
        reading(work_with(tmp_path, act_txt=long_script(60)), Limits(story=MIB))


def test_one_that_is_killed_is_told_of(tmp_path: Path) -> None:
    before = children()

    async def killed() -> None:
        work = work_with(tmp_path, act_txt=long_script(300))
        task = asyncio.create_task(read_apart(work, Limits(), lambda _: None))
        while not (found := children() - before):
            await asyncio.sleep(0)
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with pytest.raises(InputError, match="send it in parts"):
            await task

    asyncio.run(killed())


def test_one_that_is_given_up_is_gone(tmp_path: Path) -> None:
    before = children()

    async def given_up() -> None:
        work = work_with(tmp_path, act_txt=long_script(300))
        task = asyncio.create_task(read_apart(work, Limits(), lambda _: None))
        while not children() - before:
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert children() <= before

    asyncio.run(given_up())


def test_nothing_secret_is_handed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNDERSTUDY_API_KEY", "a key that nobody else may know")
    assert not any("key" in name.lower() or "key" in value for name, value in apart._environment(tmp_path).items())
