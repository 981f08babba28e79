"""An upload that could not be read can be tried as another format, without being sent again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.server.problems import Refused
from understudy.server.uploads.reader_process import SENT_FOLDER, UploadLimits
from understudy.server.uploads.routes import all_uploads, upload_report
from understudy.server.uploads.storage import FailedUpload, FailedUploads, ReceivedFile, ReceivedForm, distinct
from uploading import opened, sent

LINES = ("notes.txt", b"Odile: You sold it.\n")


def test_another_format_may_take_what_was_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as uploads:
            with pytest.raises(InputError):
                await sent(uploads, ("notes.txt", b"Dear all,\n\nthe meeting is at noon. Bring: papers.\n"))
            (failed,) = await all_uploads(uploads)
            await uploads.retry(failed.id, "prose")
            with pytest.raises(InputError, match="nobody speaks here"):
                await uploads.jobs.wait(failed.id)
            assert (await upload_report(uploads, failed.id)).can_retry, "again and again"
            with pytest.raises(Refused, match="there is no format 'nonsense'"):
                await uploads.retry(failed.id, "nonsense")
            with pytest.raises(Refused, match="here no more"):
                await uploads.retry("nobody", "")

    asyncio.run(run())


def test_a_story_that_is_read_at_last_is_as_if_it_had_been_sent_so(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path) as uploads:
            with pytest.raises(InputError):
                await sent(uploads, LINES)
            (failed,) = await all_uploads(uploads)
            await uploads.retry(failed.id, "transcript")
            await uploads.jobs.wait(failed.id)
            report = await upload_report(uploads, failed.id)
            assert (report.state, report.form, report.can_retry, report.lines) == ("ready", "transcript", False, 1)
            assert (await all_uploads(uploads))[0].id == failed.id
        async with opened(tmp_path) as uploads:
            assert (await upload_report(uploads, failed.id)).state == "ready"

    asyncio.run(run())


def test_a_server_that_starts_again_has_forgotten_them(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, limits=UploadLimits(total_bytes=400)) as uploads:
            for name in ("a.txt", "b.txt"):  # they take no room
                with pytest.raises(InputError):
                    await sent(uploads, (name, LINES[1]))
            assert [upload.can_retry for upload in await all_uploads(uploads)] == [True, True]
        async with opened(tmp_path) as uploads:
            assert await all_uploads(uploads) == []
            assert not any(path.is_file() for path in tmp_path.glob("reading/**/*"))

    asyncio.run(run())


def test_the_oldest_make_room_and_only_what_was_sent_is_left(tmp_path: Path) -> None:
    kept = FailedUploads(max_bytes=10)
    for name, size in (("a", 6), ("b", 4), ("c", 5)):
        work = tmp_path / name
        (work / SENT_FOLDER).mkdir(parents=True)
        (work / "script-of").mkdir()
        (work / "made.story").write_text("half")
        (work / SENT_FOLDER / "x.txt").write_bytes(b"x" * size)
        kept.keep(name, FailedUpload(work, ReceivedForm([ReceivedFile("x.txt", work / "x", size, "0")])))
        assert [path.name for path in work.iterdir()] == [SENT_FOLDER]
    assert ["a" in kept, "b" in kept, "c" in kept] == [False, True, True]
    assert not (tmp_path / "a").exists()
    assert kept.take("b") is not None and "b" not in kept and (tmp_path / "b").exists()
    kept.discard("c")
    assert not (tmp_path / "c").exists()


@given(st.lists(st.sampled_from(["a.txt", "A.txt", "a (2).txt", "b", "B"]), max_size=8))
def test_names_of_one_upload_differ_whatever_their_case(names: list[str]) -> None:
    result = distinct(names)
    assert len({name.casefold() for name in result}) == len(names)
    assert all(new.casefold().startswith(name[0].casefold()) for name, new in zip(names, result))
