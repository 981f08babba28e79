"""Uploads from being sent to being on stage, and back: nothing half done, nothing left over, nothing lost."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from samples import SAMPLES, SCRIPT, TRANSCRIPT
from stories import ACT_1, ACT_2, CAST
from understudy.errors import InputError, UnknownStory
from understudy.formats import read
from understudy.server.problems import Refused
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads import service
from understudy.server.uploads.fixes import AddAlias, Merge, Rename, SetTitle, WriteCast
from understudy.server.uploads.reader_process import UploadLimits
from understudy.server.uploads.routes import all_uploads, upload_report
from uploading import FORM, File, form, in_chunks, opened, read_in_thread, sent, zipped

BRASS_KEY: list[File] = [("cast.toml", CAST.encode()), ("act-1.txt", ACT_1.encode()), ("act-2.txt", ACT_2.encode())]
QUARREL = b"Odile: You sold the piano.\nBastien: I sold the noise.\nOdile: All of it?\nBast: Every key.\n"
LAUGHS = (  # entities of entities: a few lines that would become a gigabyte
    b'<?xml version="1.0"?><!DOCTYPE TEI [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10))
    + b']><TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><sp><l>&a9;</l></sp></body></text></TEI>'
)


def left(folder: Path) -> list[str]:
    """Files beside the database."""
    beside = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("server.sqlite"))
    return sorted(str(path.relative_to(folder)) for path in beside)


def rows(folder: Path) -> dict[str, int]:
    tables = ("uploads", "upload_files", "upload_pieces", "upload_fixes")
    connection = sqlite3.connect(folder / "server.sqlite")
    try:
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    finally:
        connection.close()


NOTHING = {"uploads": 0, "upload_files": 0, "upload_pieces": 0, "upload_fixes": 0}


@pytest.mark.parametrize("is_in_process", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_every_kind_of_file_goes_on_stage_and_comes_back_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_in_process: bool
) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry, UploadLimits(uploads=len(SAMPLES))) as uploads:
            for kind, (name, make) in SAMPLES.items():
                content = make()
                report = await sent(uploads, (name, content))
                assert report.state == "ready", kind
                assert report.report is not None, kind
                total = report.report.total
                assert total.units == total.lines + total.descriptions + total.headings + total.unread, kind
                assert report.story is not None, kind
                assert registry.story(report.story).title == report.title, kind
                someone = "Odile" if "PersonaChat" not in kind else "Person 1A"
                assert someone in {person.name for person in report.report.cast}, kind
                row = await uploads.store.get(report.id)
                assert b"".join([piece async for piece in uploads.store.pieces(row.files[0])]) == content, kind
        assert len(left(tmp_path)) == len(SAMPLES)

    if not is_in_process:
        monkeypatch.setattr(service, "read_in_process", read_in_thread)
    asyncio.run(scenario())


def test_a_story_is_the_same_however_it_is_sent(tmp_path: Path, story: Path) -> None:
    made = tmp_path / "made.story"
    read(story, into=made)
    ways: dict[str, list[File]] = {
        "files": BRASS_KEY,
        "zip": [("brass.zip", zipped((f"brass/{name}", content) for name, content in BRASS_KEY))],
        "story file": [("made.story", made.read_bytes())],
    }
    expected = read(story)

    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path / "data", registry) as uploads:
            for way, files in ways.items():
                report = await sent(uploads, *files)
                on = registry.story(report.story or "")
                assert list(on.scenes()) == list(expected.scenes()), way
                assert on.cast() == expected.cast(), way
                assert on.relations() == expected.relations(), way
                assert report.title == "The Brass Key"
                assert report.fixable == (way != "story file")
        assert [name for name, _ in registry] == ["the-brass-key", "the-brass-key-2", "the-brass-key-3"]

    asyncio.run(scenario())


BAD: list[tuple[list[File], str]] = [
    ([("act.txt", b"")], r"act\.txt: is empty"),
    ([("a.bin", b"\x00\x01\x02" * 50)], r"a\.bin.*(NUL|no form)"),
    ([("cast.toml", CAST.encode())], "no scripts"),
    ([("act-1.txt", ACT_1.encode()), ("cast.toml", b"[[character]]\nnme = 1")], r"cast\.toml:1: 'nme' is unknown"),
    ([("x.zip", zipped([("../a.txt", b"A: b")]))], r"x\.zip: holds a file that would lie outside"),
    ([("x.zip", zipped([("a.txt", ACT_1.encode())])), ("act-2.txt", ACT_2.encode())], "is a zip among other files"),
    ([("x.story", b"SQLite format 3\0" + bytes(200))], r"x\.story: is still being written|is not a story file"),
    ([("x.xml", b"<TEI><a>" * 3)], r"x\.xml"),
    ([("laughs.xml", LAUGHS)], r"laughs\.xml"),
    ([("deep.json", b"[" * 100_000)], r"deep\.json"),
]


def test_a_bad_upload_says_what_is_wrong_and_leaves_nothing(tmp_path: Path) -> None:
    async def refused() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            for files, message in BAD:
                with pytest.raises(InputError, match=message) as caught:
                    await sent(uploads, *files)
                assert str(tmp_path) not in str(caught.value)
                assert list(registry) == [], message
                (failed,) = await all_uploads(uploads)
                assert (failed.state, failed.problem, failed.can_retry) == ("failed", str(caught.value), True)
                await uploads.delete(failed.id)
                assert await all_uploads(uploads) == [], message
                assert left(tmp_path) == [], message
            assert (await sent(uploads, ("act.txt", SCRIPT.encode()))).state == "ready"  # the server goes on

    asyncio.run(refused())
    assert rows(tmp_path)["uploads"] == 1


@pytest.mark.usefixtures("reading_in_thread")
def test_notes_that_are_sent_by_themselves_are_a_script(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as uploads:
            report = await sent(uploads, ("Notes on a quarrel.txt", TRANSCRIPT.encode()))
            assert report.lines == 9
            assert report.title == "Notes on a quarrel"

    asyncio.run(scenario())


@pytest.mark.usefixtures("reading_in_thread")
def test_the_same_files_are_the_same_story(tmp_path: Path) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            first = await sent(uploads, *BRASS_KEY)
            again = await sent(uploads, *reversed(BRASS_KEY))
            assert (first.already, again.already) == (False, True)
            assert first.id == again.id
            both = await asyncio.gather(*(sent(uploads, ("act.txt", SCRIPT.encode())) for _ in range(2)))
            assert both[0].id == both[1].id
            assert len(list(registry)) == 2
            other = await sent(uploads, ("another.txt", SCRIPT.encode()))
            assert not other.already

    asyncio.run(scenario())
    assert rows(tmp_path)["uploads"] == 3


def test_a_server_that_starts_again_finds_everything(tmp_path: Path) -> None:
    async def before() -> str:
        async with opened(tmp_path) as uploads:
            upload = (await sent(uploads, *BRASS_KEY)).id
            await uploads.fix(upload, Rename("Mara Quill", "Mara of the Quay"))
            return upload

    async def after(story_file: str) -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            await uploads.jobs.wait(upload)
            report = await upload_report(uploads, upload)
            assert report.state == "ready", story_file
            assert registry.story("the-brass-key").character("Mara").name == "Mara of the Quay"
            assert [fix.what for fix in report.fixes] == ["Renamed Mara Quill to Mara of the Quay"]

    upload = asyncio.run(before())
    asyncio.run(after("is there"))
    (story_file,) = (tmp_path / "stories").iterdir()  # of before the fix nothing is kept when it starts again
    story_file.unlink()
    asyncio.run(after("is missing"))
    (story_file,) = (tmp_path / "stories").iterdir()
    story_file.write_bytes(b"no story")
    asyncio.run(after("is damaged"))
    assert len(left(tmp_path)) == 1


@pytest.mark.usefixtures("reading_in_thread")
def test_a_story_file_that_is_older_than_its_readers_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            report = await sent(uploads, *BRASS_KEY)
        (first,) = left(tmp_path)
        monkeypatch.setattr("understudy.server.uploads.storage.__version__", "a newer one")
        async with opened(tmp_path, StoryRegistry({})) as uploads:
            await uploads.jobs.wait(report.id)
            assert left(tmp_path) != [first]
            assert len(left(tmp_path)) == 1

    asyncio.run(scenario())


@pytest.mark.usefixtures("reading_in_thread")
def test_what_a_killed_server_left_is_cleared_away(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as uploads:
            await sent(uploads, *BRASS_KEY)
        connection = sqlite3.connect(tmp_path / "server.sqlite")
        with connection:
            connection.execute("INSERT INTO uploads VALUES ('half', 'half', 'x', '2026', 1, 0, NULL, '')")
            connection.execute("INSERT INTO upload_files VALUES (99, 'half', 'a.txt', 1)")
            connection.execute("INSERT INTO upload_pieces VALUES (99, 0, x'00')")
        connection.close()
        (tmp_path / "reading" / "work").mkdir(parents=True)
        (tmp_path / "reading" / "work" / "a.txt").write_text("left")
        async with opened(tmp_path) as uploads:
            assert len(await all_uploads(uploads)) == 1
        assert len(left(tmp_path)) == 1

    asyncio.run(scenario())
    assert rows(tmp_path) == {"uploads": 1, "upload_files": 3, "upload_pieces": 3, "upload_fixes": 1}


@pytest.mark.usefixtures("reading_in_thread")
def test_a_name_that_the_command_line_takes_is_left_to_it(tmp_path: Path, story: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path / "data") as uploads:
            await sent(uploads, *BRASS_KEY)
        own = read(story)
        registry = StoryRegistry({"the-brass-key": own})
        async with opened(tmp_path / "data", registry) as uploads:
            assert registry.story("the-brass-key") is own
            (upload,) = await all_uploads(uploads)
            assert upload.story == "the-brass-key-2"
            assert registry.story("the-brass-key-2").title == "The Brass Key"

    asyncio.run(scenario())


@pytest.mark.usefixtures("reading_in_thread")
def test_fixes_are_read_again_told_and_undone(tmp_path: Path) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            upload = (await sent(uploads, ("quarrel.txt", QUARREL))).id
            as_sent = registry.story("quarrel").cast()
            change = await uploads.fix(upload, Merge("Bast", "Bastien"))
            assert (change.gone, change.new, change.lines) == (["Bast"], [], {"Bastien": (1, 2)})
            merged = registry.story("quarrel").cast()
            assert {member.character.name: member.lines for member in merged} == {"Odile": 2, "Bastien": 2}
            change = await uploads.fix(upload, AddAlias("Bastien", "Bee"))
            assert registry.story("quarrel").character("bee").name == "Bastien"
            await uploads.fix(upload, SetTitle("The Quarrel"))
            assert registry.story("quarrel").title == "The Quarrel"  # the name in addresses stays
            for _ in range(2):
                await uploads.undo(upload)
            assert registry.story("quarrel").cast() == merged
            change = await uploads.undo(upload)
            assert change.new == ["Bast"]
            assert registry.story("quarrel").cast() == as_sent
            with pytest.raises(Refused, match="nothing to undo"):
                await uploads.undo(upload)
        assert len(left(tmp_path)) == 2  # as it stands, and as it was before the last change

    asyncio.run(scenario())


def test_a_fix_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            upload = (await sent(uploads, *BRASS_KEY)).id
            before = (registry.story("the-brass-key"), left(tmp_path), rows(tmp_path))
            for text, reason in (
                ("title = ", r"cast\.toml: is not TOML"),
                ("language = 'tlh'", "language is 'tlh'"),
            ):
                with pytest.raises(InputError, match=reason):
                    await uploads.fix(upload, WriteCast(text))
            with pytest.raises(InputError, match="change nothing"):
                await uploads.fix(upload, WriteCast(CAST))
            assert (registry.story("the-brass-key"), left(tmp_path), rows(tmp_path)) == before
            await uploads.fix(upload, WriteCast(""))  # no cast.toml at all: everybody by the labels of the scripts
            assert registry.story("the-brass-key").title != "The Brass Key"
            assert list(registry.story("the-brass-key").relations()) == []

    asyncio.run(scenario())


@pytest.mark.usefixtures("reading_in_thread")
def test_cards_and_plays_can_be_put_right_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            for kind in ("card", "card, PNG", "TEI drama", "HPD sessions", "transcript, HTML"):
                name, make = SAMPLES[kind]
                report = await sent(uploads, (name, make()))
                change = await uploads.fix(report.id, Rename("Odile", "Odile the Stern"))
                assert change.new == ["Odile the Stern"], kind
                assert registry.story(report.story or "").character("Odile").name == "Odile the Stern"

    asyncio.run(scenario())


def test_the_cast_of_a_story_file_is_settled(tmp_path: Path, story: Path) -> None:
    read(story, into=tmp_path / "made.story")

    async def scenario() -> None:
        async with opened(tmp_path / "data") as uploads:
            upload = (await sent(uploads, ("made.story", (tmp_path / "made.story").read_bytes()))).id
            with pytest.raises(Refused, match="story file"):
                await uploads.fix(upload, SetTitle("Another"))

    asyncio.run(scenario())


@pytest.mark.usefixtures("reading_in_thread")
def test_deleting_can_be_taken_back_for_a_while(tmp_path: Path) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            upload = (await sent(uploads, *BRASS_KEY)).id
            await uploads.delete(upload)
            with pytest.raises(UnknownStory):
                registry.story("the-brass-key")
            (put_away,) = await all_uploads(uploads)
            assert (put_away.state, put_away.title, put_away.story) == ("deleted", "The Brass Key", None)
            with pytest.raises(Refused, match="not on stage"):
                await uploads.fix(upload, SetTitle("Another"))
        async with opened(tmp_path, registry) as uploads:
            assert list(registry) == []
            await uploads.restore(upload)
            assert registry.story("the-brass-key").title == "The Brass Key"
            await uploads.delete(upload)
            again = await sent(uploads, *BRASS_KEY)
            assert not again.already
            with pytest.raises(Refused, match="no such upload"):  # sent again, so the one put away is gone
                await uploads.restore(upload)
            assert len(left(tmp_path)) == 1
            await uploads.delete(again.id)
        async with opened(tmp_path, registry, UploadLimits(restore_s=-1)) as uploads:
            assert await all_uploads(uploads) == []

    asyncio.run(scenario())
    assert left(tmp_path) == []
    assert rows(tmp_path) == NOTHING


@pytest.mark.usefixtures("reading_in_thread")
def test_there_is_room_for_so_much_and_no_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        size = len(SCRIPT.encode())
        async with opened(
            tmp_path, limits=UploadLimits(uploads=2, upload_bytes=size + 10, total_bytes=2 * size, files=3)
        ) as uploads:
            with pytest.raises(Refused, match="send it in parts") as caught:
                await sent(uploads, ("a.txt", SCRIPT.encode() * 2))
            assert caught.value.status == 413
            with pytest.raises(Refused, match="more than 3 files"):
                await sent(uploads, *((f"{number}.txt", b"A: b\n") for number in range(4)))
            await sent(uploads, ("a.txt", SCRIPT.encode()))
            with pytest.raises(Refused, match="delete one first"):
                await sent(uploads, ("b.txt", SCRIPT.encode() + b"\n"))
            await sent(uploads, ("c.txt", b"Odile: No.\nBastien: Yes.\n"))
            with pytest.raises(Refused, match="2 stories are here already"):
                await sent(uploads, ("d.txt", b"Odile: No.\nBastien: Oh.\n"))
        assert len(left(tmp_path)) == 2

    asyncio.run(scenario())


def test_a_form_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    async def breaking_off() -> AsyncIterator[bytes]:
        yield form([("a.txt", SCRIPT.encode())])[:200]
        raise ConnectionResetError

    async def scenario() -> None:
        async with opened(tmp_path) as uploads:
            with pytest.raises(OSError):
                await uploads.receive(FORM, breaking_off())
            for body in (form([("a.txt", SCRIPT.encode())])[:200], b"no form at all", b""):
                with pytest.raises(Refused, match="broke off|no file"):
                    await uploads.receive(FORM, in_chunks(body))
            for kind in ("application/json", "multipart/form-data", "multipart/form-data; boundary="):
                with pytest.raises(Refused, match="send files as a form") as caught:
                    await uploads.receive(kind, in_chunks(b""))
                assert caught.value.status == 415

    asyncio.run(scenario())
    assert left(tmp_path) == []
    assert list((tmp_path / "reading").iterdir()) == []


@pytest.mark.usefixtures("reading_in_thread")
def test_a_script_can_be_pasted(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as uploads:
            body = form([], {"title": "../The <b>Quarrel</b>", "text": TRANSCRIPT})
            upload, _ = await uploads.receive(FORM, in_chunks(body, 7))
            await uploads.jobs.wait(upload)
            report = await upload_report(uploads, upload)
            assert report.files[0].name == "b-.txt" or "Quarrel" in report.files[0].name
            assert report.lines == 9

    asyncio.run(scenario())


@pytest.mark.usefixtures("reading_in_thread")
def test_a_full_disk_loses_nothing_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise Refused("the server's database cannot take this now", 507)

    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            upload = (await sent(uploads, *BRASS_KEY)).id
            with monkeypatch.context() as patched:
                patched.setattr(uploads.store, "_add_file", full)
                with pytest.raises(Refused, match="cannot take this"):
                    await sent(uploads, ("act.txt", SCRIPT.encode()))
                patched.setattr(uploads.store, "add_fix", full)
                with pytest.raises(Refused, match="cannot take this"):
                    await uploads.fix(upload, SetTitle("Another"))
            assert [name for name, _ in registry] == ["the-brass-key"]
            assert registry.story("the-brass-key").title == "The Brass Key"
            assert rows(tmp_path)["uploads"] == 1

    asyncio.run(scenario())


def test_a_disk_that_is_full_while_reading_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            upload = (await sent(uploads, *BRASS_KEY)).id
            for method in ("new_work_folder", "adopt"):
                with monkeypatch.context() as patched:
                    patched.setattr(uploads._files, method, full)
                    with pytest.raises(Refused, match="no room") as caught:
                        await sent(uploads, ("act.txt", SCRIPT.encode()))
                    assert caught.value.status == 507
                    with pytest.raises(Refused, match="no room"):
                        await uploads.fix(upload, SetTitle("Another"))
            assert registry.story("the-brass-key").title == "The Brass Key"
            assert len(left(tmp_path)) == 1

    asyncio.run(scenario())


def test_a_server_that_stops_stops_its_readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    async def for_ever(*_: object) -> bool:
        begun.set()
        await asyncio.Event().wait()
        return True

    async def scenario() -> None:
        async with opened(tmp_path) as uploads:
            monkeypatch.setattr(service, "read_in_process", for_ever)
            upload, _ = await uploads.receive(FORM, in_chunks(form([("act.txt", SCRIPT.encode())])))
            await begun.wait()
            report = await upload_report(uploads, upload)
            assert (report.state, report.report) == ("reading", None)
            with pytest.raises(Refused):
                await uploads.delete(upload)
        assert left(tmp_path) == []

    asyncio.run(scenario())
    assert rows(tmp_path) == NOTHING


def test_only_so_many_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, most = 0, 0

    async def counted(*_: object) -> bool:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        await asyncio.sleep(0)
        reading -= 1
        raise InputError("was counted")

    async def scenario() -> None:
        monkeypatch.setattr(service, "read_in_process", counted)
        async with opened(tmp_path, limits=UploadLimits(concurrency=2)) as uploads:
            taken = [
                await uploads.receive(FORM, in_chunks(form([(f"{number}.txt", b"A: b\n")]))) for number in range(6)
            ]
            for upload, _ in taken:
                with pytest.raises(InputError, match="was counted"):
                    await uploads.jobs.wait(upload)

    asyncio.run(scenario())
    assert 1 <= most <= 2


def test_asking_for_uploads_that_are_not_there_leaves_nothing(tmp_path: Path) -> None:

    async def scenario() -> None:
        async with opened(tmp_path) as uploads:
            for number in range(50):
                with pytest.raises(Refused, match="no such upload"):
                    await uploads.delete(f"nobody-{number}")
            assert len(uploads._locks) <= 1

    asyncio.run(scenario())


@pytest.mark.usefixtures("reading_in_thread")
def test_uploads_that_come_at_once_do_not_pass_the_limit_together(tmp_path: Path) -> None:
    def script(number: int) -> bytes:
        return (SCRIPT + f"ODILE: This is number {number}.\n" * 200).encode()

    size = len(script(1))
    fitting = 2

    async def run() -> None:
        async with opened(tmp_path, limits=UploadLimits(total_bytes=fitting * size + size // 2)) as uploads:
            sending = (sent(uploads, (f"{number}.txt", script(number))) for number in range(6))
            done = await asyncio.gather(*sending, return_exceptions=True)
            refused = [result for result in done if isinstance(result, Refused)]
            assert len(done) - len(refused) <= fitting
            assert all(error.status == 409 and "all uploads together" in str(error) for error in refused)
            stored = len(await uploads.store.all())
            for number in range(10, 10 + fitting - stored):  # what a refused one had taken is free again
                await sent(uploads, (f"{number}.txt", script(number)))
            with pytest.raises(Refused, match="all uploads together"):
                await sent(uploads, ("more.txt", script(7)))
        async with opened(tmp_path, limits=UploadLimits(total_bytes=fitting * size + size // 2)) as uploads:
            with pytest.raises(Refused, match="all uploads together"):
                await sent(uploads, ("more.txt", script(7)))

    asyncio.run(run())


def test_an_upload_that_breaks_off_or_cannot_be_read_takes_no_room(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield form([("a.txt", b"x" * 900)])[:-60]

    async def run() -> None:
        async with opened(tmp_path, limits=UploadLimits(total_bytes=2000)) as uploads:
            for _ in range(4):
                with pytest.raises(Refused, match="broke off"):
                    await uploads.receive(FORM, broken())
                with pytest.raises(InputError):
                    await sent(uploads, ("a.txt", b"\x7fELF" + b"x" * 900))
            await sent(uploads, ("act.txt", SCRIPT.encode()))
            assert (await sent(uploads, ("act.txt", SCRIPT.encode()))).already

    asyncio.run(run())
