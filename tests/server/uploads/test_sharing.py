"""Two servers over one PostgreSQL and one folder: what one reads in, corrects or deletes, the other serves as well."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conftest import MakeContext, visiting
from server.uploads.test_service import BRASS_KEY, QUARREL
from understudy.errors import UnknownStory
from understudy.server.app import make_app
from understudy.server.problems import Refused
from understudy.server.story_registry import StoryRegistry, slug
from understudy.server.uploads import service
from understudy.server.uploads.fixes import Merge, Rename
from understudy.server.uploads.reader_process import UploadLimits
from understudy.server.uploads.reading_jobs import OnProgress
from understudy.server.uploads.routes import all_uploads, upload_report
from understudy.server.uploads.service import UploadService
from uploading import FORM, form, in_chunks, opened, read_in_thread, sent

Scenario = Callable[[UploadService, UploadService, StoryRegistry], Awaitable[None]]


@pytest.fixture
def two(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario], None]:
    """Runs a scenario with the uploads of two servers, and the second one's stories."""
    monkeypatch.setattr(service, "SYNC_S", 0.1)

    def run(scenario: Scenario) -> None:
        async def running() -> None:
            registry = StoryRegistry({})
            async with AsyncExitStack() as stack:
                here = await stack.enter_async_context(opened(tmp_path, address=address))
                there = await stack.enter_async_context(opened(tmp_path, registry, address=address))
                await scenario(here, there, registry)

        asyncio.run(running())

    return run


@pytest.mark.usefixtures("reading_in_thread")
def test_what_one_reads_fixes_undoes_deletes_and_restores_the_other_serves_so(
    two: Callable[[Scenario], None],
) -> None:
    async def scenario(here: UploadService, there: UploadService, registry: StoryRegistry) -> None:
        async def cast(name: str) -> set[str]:
            await there.sync()
            return {member.character.name for member in registry.story(name).cast()}

        report = await sent(here, ("quarrel.txt", QUARREL))
        assert report.story is not None
        assert await cast(report.story) == {"Odile", "Bastien", "Bast"}
        await here.fix(report.id, Merge("Bast", "Bastien"))
        assert await cast(report.story) == {"Odile", "Bastien"}
        await there.fix(report.id, Rename("Odile", "Odette"))
        await here.sync()
        assert [fix.number for fix in (await upload_report(here, report.id)).fixes] == [1, 2]
        await here.undo(report.id)
        assert await cast(report.story) == {"Odile", "Bastien"}
        await here.delete(report.id)
        with pytest.raises(UnknownStory):
            await cast(report.story)
        await here.restore(report.id)
        assert await cast(report.story) == {"Odile", "Bastien"}

    two(scenario)


def test_a_reading_under_way_and_its_failure_are_seen_through_the_other(
    two: Callable[[Scenario], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read = asyncio.Event()

    async def read_later(
        work: Path, limits: UploadLimits, on_progress: OnProgress, form: str = "", story: Path | None = None
    ) -> bool:
        await may_read.wait()
        return await read_in_thread(work, limits, on_progress, form, story)

    monkeypatch.setattr(service, "read_in_process", read_later)

    async def scenario(here: UploadService, there: UploadService, _: StoryRegistry) -> None:
        upload, _already = await here.receive(FORM, in_chunks(form(BRASS_KEY)))
        await here.sync()
        assert (await upload_report(there, upload)).state == "reading"
        assert [entry.state for entry in await all_uploads(there)] == ["reading"]
        with pytest.raises(Refused, match="being read"):
            await there.delete(upload)
        may_read.set()
        async with asyncio.timeout(120):
            while (await upload_report(there, upload)).state != "ready":
                await asyncio.sleep(0.02)
        failed, _already = await here.receive(FORM, in_chunks(form([("a.bin", b"\x00\x01")])))
        with pytest.raises(Exception, match="a.bin"):
            await here.jobs.wait(failed)
        await here.sync()
        assert (await upload_report(there, failed)).state == "failed"
        await there.delete(failed)
        await here.sync()
        assert here.jobs.get(failed) is None
        assert [entry.id for entry in await all_uploads(there)] == [upload]

    two(scenario)


@pytest.mark.usefixtures("reading_in_thread")
def test_two_stories_of_one_title_that_are_read_at_once_have_two_names(two: Callable[[Scenario], None]) -> None:
    async def scenario(here: UploadService, there: UploadService, registry: StoryRegistry) -> None:
        first, second = await asyncio.gather(
            sent(here, ("quarrel.txt", QUARREL)), sent(there, ("quarrel.txt", QUARREL.replace(b"piano", b"organ")))
        )
        assert {first.story, second.story} == {"quarrel", "quarrel-2"}
        await asyncio.gather(here.sync(), there.sync())
        assert {name for name, _ in registry} == {"quarrel", "quarrel-2"}

    two(scenario)


@pytest.mark.usefixtures("reading_in_thread")
def test_a_fix_of_what_another_has_changed_meanwhile_is_refused(two: Callable[[Scenario], None]) -> None:
    async def scenario(here: UploadService, there: UploadService, _: StoryRegistry) -> None:
        report = await sent(here, ("quarrel.txt", QUARREL))
        await there.sync()
        results = await asyncio.gather(
            here.fix(report.id, Merge("Bast", "Bastien")),
            there.fix(report.id, Rename("Odile", "Odette")),
            return_exceptions=True,
        )
        refused = [result for result in results if isinstance(result, Refused)]
        assert len(refused) == 1 and refused[0].status == 409
        assert len((await here.store.get(report.id)).fixes) == 2

    two(scenario)


@pytest.mark.usefixtures("reading_in_thread")
def test_a_story_that_is_unknown_here_is_looked_up(make_context: MakeContext, address: str) -> None:
    here, there = make_context(database=address), make_context(database=address)

    async def scenario() -> None:
        for context in (here, there):
            await context.uploads.open()
        report = await sent(here.uploads, ("quarrel.txt", QUARREL))
        async with visiting(make_app(there)) as client:
            response = await client.get(f"/api/stories/{report.story}/cast", params={"at": "end"})
            unknown = await client.get("/api/stories/nothing/cast", params={"at": "end"})
        # the other has a folder of its own, as on another machine, and reads the files again
        await there.uploads.jobs.wait(report.id)
        assert report.story is not None
        assert there.stories.story(report.story).title == here.stories.story(report.story).title
        assert (response.status_code, unknown.status_code) == (404, 404)
        for context in (here, there):
            await context.uploads.close()

    asyncio.run(scenario())


@given(st.text(max_size=200))
def test_an_address_holds_letters_digits_and_hyphens(title: str) -> None:
    name = slug(title)
    assert name
    assert all(mark == "-" or mark.isalnum() or unicodedata.category(mark).startswith("M") for mark in name)


def test_addresses_are_in_the_titles_own_script() -> None:
    assert slug("The Brass Key!") == "the-brass-key"
    assert slug("真鍮の鍵") == "真鍮の鍵"
    assert slug("?!") == "story"
