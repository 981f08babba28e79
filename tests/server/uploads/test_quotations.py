"""Doubtful quotations of an uploaded novel: listed with the text around them, decided, undone, and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads.fixes import Fix, Merge, NotSpeech, Rename, SetSpeaker, SplitAlias
from understudy.server.uploads.quotations import ListedQuotation, QuotationFilter, QuotationListing
from understudy.server.uploads.routes import quotations_of, upload_report
from understudy.server.uploads.service import UploadService
from understudy.story.storyfile import Story
from uploading import NOVEL, File, NovelReadings, opened, read_novels_here, sent

NAME = "The Tin Whistle.txt"
SCHOOL, TELL, PIANO, KEY = "I was at school!", "Then you had better", "All of it?", "Every key."


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> NovelReadings:
    return read_novels_here(monkeypatch)


class Desk:
    """An author with one upload before them."""

    def __init__(self, uploads: UploadService, registry: StoryRegistry, upload: str) -> None:
        self.uploads, self.registry, self.upload = uploads, registry, upload

    @property
    def story(self) -> Story:
        return self.registry.story("the-tin-whistle")

    async def listing(self, wanted: QuotationFilter | None = None) -> QuotationListing:
        return await quotations_of(self.uploads, self.upload, wanted or QuotationFilter())

    async def quotation(self, words: str) -> ListedQuotation:
        """The doubtful or decided quotation that begins so."""
        for decided in (False, True):
            for quotation in (await self.listing(QuotationFilter(decided=decided))).quotations:
                if quotation.text.startswith(words):
                    return quotation
        raise AssertionError(words)

    async def decide(self, words: str, to: str | None) -> str:
        found = (await self.quotation(words)).id
        fix: Fix = NotSpeech(found) if to is None else SetSpeaker(found, to)
        return (await self.uploads.fix(self.upload, fix)).what

    async def settled(self) -> None:
        """Until what was decided is in the story."""
        await self.uploads.jobs.wait(self.upload)

    async def fixes(self) -> list[str]:
        return [fix.what for fix in (await upload_report(self.uploads, self.upload)).fixes]

    def speaker(self, words: str) -> str | None:
        (line,) = (line for scene in self.story.scenes() for line in scene.lines if words in line.text)
        return line.speaker


def at_desk(folder: Path, work: Callable[[Desk], Awaitable[None]], *files: File) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(folder, registry) as uploads:
            report = await sent(uploads, *(files or ((NAME, NOVEL.encode()),)))
            await work(Desk(uploads, registry, report.id))

    asyncio.run(scenario())


def test_the_least_sure_come_first_with_the_text_around_them(tmp_path: Path, readings: NovelReadings) -> None:
    async def look(desk: Desk) -> None:
        listing = await desk.listing()
        assert [quotation.confidence for quotation in listing.quotations] == [0.2, 0.3, 0.4, 0.55]  # 0.8 is sure enough
        school = listing.quotations[0]
        assert (school.guess, school.chapter, school.moment) == ("Bastien", "2", "2.1.4")
        assert [(line.speaker, line.text) for line in school.before] == [
            (None, "In the evening they sat in the kitchen. Nobody had lit the lamp."),
            ("Odile", "It was mine."),
            ("Corvin Pell", "It was everybody's."),
        ]
        assert school.after[0].text == "So you were. And who paid for that, do you think?"
        assert school.after[1].speaker is None
        assert [(one.name, one.probability) for one in school.candidates] == [("Bastien", 0.2), ("Odile", 0.19)]
        told = listing.quotations[1]
        assert told.text == 'Then you had better tell Mother," she said at last, "before the neighbours do.'
        report = await upload_report(desk.uploads, desk.upload)
        assert report.doubtful == listing.doubtful == 4

    at_desk(tmp_path, look)


def test_they_are_chosen_by_chapter_and_speaker_some_at_a_time(tmp_path: Path, readings: NovelReadings) -> None:
    async def look(desk: Desk) -> None:
        listing = await desk.listing(QuotationFilter(chapter="1", limit=2))
        assert [quotation.chapter for quotation in listing.quotations] == ["1", "1"]
        assert (listing.total, listing.doubtful) == (3, 4)
        assert [(one.chapter, one.title, one.count) for one in listing.chapters] == [
            ("1", "The Ferry", 3),
            ("2", "The Stool", 1),
        ]
        rest = await desk.listing(QuotationFilter(chapter="1", limit=2, offset=2))
        assert [quotation.text for quotation in rest.quotations] == ["Every key. You may have the stool, if you like."]
        assert {one.name: one.count for one in listing.speakers} == {"Odile": 2, "Bastien": 2}
        of_odile = await desk.listing(QuotationFilter(speaker="Odile"))
        assert [quotation.guess for quotation in of_odile.quotations] == ["Odile", "Odile"]
        assert (await desk.listing(QuotationFilter(chapter="9"))).quotations == []

    at_desk(tmp_path, look)


def test_a_decision_holds_and_can_be_undone(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        assert desk.speaker(SCHOOL) == "Bastien"
        assert await desk.decide(SCHOOL, "odile") == "“I was at school!” is said by Odile"
        listing = await desk.listing()
        assert (listing.doubtful, listing.decided) == (3, 1)
        await desk.settled()
        assert desk.speaker(SCHOOL) == "Odile"
        (decided,) = (await desk.listing(QuotationFilter(decided=True))).quotations
        assert (decided.speaker, decided.guess) == ("Odile", "Bastien")
        assert await desk.decide(SCHOOL, None) == "“I was at school!” is said by nobody"
        await desk.settled()
        assert desk.speaker(SCHOOL) is None
        assert (await desk.quotation(SCHOOL)).not_speech
        assert (await desk.uploads.undo(desk.upload)).what == "Undone: “I was at school!” is said by nobody"
        await desk.settled()
        assert desk.speaker(SCHOOL) == "Odile"
        await desk.uploads.undo(desk.upload)
        await desk.settled()
        assert desk.speaker(SCHOOL) == "Bastien"
        assert (await desk.listing()).doubtful == 4

    at_desk(tmp_path, work)


def test_somebody_new_joins_the_cast(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        assert (await desk.decide(PIANO, "The  Dog")).endswith("is said by The Dog, who is new")
        await desk.settled()
        assert desk.speaker(PIANO) == "The Dog"
        assert "The Dog" in {member.character.name for member in desk.story.cast()}

    at_desk(tmp_path, work)


def test_decisions_and_fixes_of_the_cast_are_one_list(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        await desk.decide(SCHOOL, "Corvin")
        await desk.uploads.fix(desk.upload, Rename("Corvin Pell", "Corvin the Elder"))
        assert desk.speaker(SCHOOL) == "Corvin the Elder"  # whatever a fix of the cast reads, the decisions are in it
        assert [one.name for one in (await desk.quotation(PIANO)).candidates][1] == "Corvin the Elder"
        await desk.decide(KEY, "Corvin the Elder")
        await desk.uploads.fix(desk.upload, Merge("Corvin the Elder", "Odile"))
        assert desk.speaker(SCHOOL) == desk.speaker(KEY) == "Odile"
        assert [one.name for one in (await desk.quotation(PIANO)).candidates] == ["Odile", "Bastien"]
        assert len(await desk.fixes()) == 4
        for left in (3, 2, 1, 0):
            await desk.uploads.undo(desk.upload)
            assert len(await desk.fixes()) == left
        await desk.settled()
        assert (desk.speaker(SCHOOL), desk.speaker(KEY)) == ("Bastien", "Bastien")

    at_desk(tmp_path, work)


def test_an_alias_of_a_novel_becomes_somebody_who_speaks(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        await desk.uploads.fix(desk.upload, Rename("Corvin Pell", "C. Pell"))
        await desk.uploads.fix(desk.upload, SplitAlias("C. Pell", "Corvin"))
        assert desk.speaker("It was everybody's") == "Corvin"
        names = {member.character.name: member.character.aliases for member in desk.story.cast()}
        assert "Corvin" not in names["C. Pell"]

    at_desk(tmp_path, work)


def test_what_was_decided_outlives_the_story_file_and_the_server(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        await desk.decide(SCHOOL, "Odile")
        await desk.settled()

    at_desk(tmp_path, work)
    for story in (tmp_path / "stories").glob("*"):
        story.unlink()

    async def again() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            ((upload, _),) = uploads.jobs.all()
            await uploads.jobs.wait(upload)
            desk = Desk(uploads, registry, upload)
            assert desk.speaker(SCHOOL) == "Odile"
            assert (await desk.listing()).decided == 1

    asyncio.run(again())


def test_a_server_that_stops_before_a_decision_is_read_reads_it_later(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        readings.gate = asyncio.Event()
        await desk.decide(SCHOOL, "Odile")

    at_desk(tmp_path, work)
    readings.gate = None

    async def again() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry) as uploads:
            ((upload, _),) = uploads.jobs.all()
            await uploads.jobs.wait(upload)
            assert Desk(uploads, registry, upload).speaker(SCHOOL) == "Odile"

    asyncio.run(again())


def test_many_decisions_wait_for_no_reading_and_are_read_together(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        readings.gate, before = asyncio.Event(), readings.count
        for words in (SCHOOL, TELL, PIANO, KEY):
            await desk.decide(words, "Corvin")
            report = await upload_report(desk.uploads, desk.upload)
            assert (report.state, report.updating) == ("ready", True)
        assert desk.speaker(SCHOOL) == "Bastien"  # on stage as it was
        readings.gate.set()
        await desk.settled()
        assert {desk.speaker(words) for words in (SCHOOL, TELL, PIANO, KEY)} == {"Corvin Pell"}
        assert readings.count <= before + 2
        assert not (await upload_report(desk.uploads, desk.upload)).updating
        assert len(list((tmp_path / "stories").glob("*.story"))) == 2

    at_desk(tmp_path, work)


def test_a_reading_that_fails_keeps_the_decision_and_the_story(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        readings.problem = "takes longer than 60 s to read"
        await desk.decide(SCHOOL, "Odile")
        with pytest.raises(InputError, match="takes longer"):
            await desk.settled()
        report = await upload_report(desk.uploads, desk.upload)
        assert (report.state, report.updating, report.problem) == ("ready", False, "takes longer than 60 s to read")
        assert desk.speaker(SCHOOL) == "Bastien"
        readings.problem = ""
        await desk.decide(KEY, "Odile")
        await desk.settled()
        assert (desk.speaker(SCHOOL), desk.speaker(KEY)) == ("Odile", "Odile")

    at_desk(tmp_path, work)


def test_decisions_that_are_sent_with_a_novel_count(tmp_path: Path, readings: NovelReadings) -> None:
    decided = f'[[quotation]]\nquote = "{SCHOOL}"\nspeaker = "Odile"\n'

    async def work(desk: Desk) -> None:
        assert desk.speaker(SCHOOL) == "Odile"
        assert ((await desk.listing()).decided, await desk.fixes()) == (1, [])
        await desk.decide(KEY, "Odile")
        await desk.settled()
        assert (desk.speaker(SCHOOL), desk.speaker(KEY)) == ("Odile", "Odile")

    at_desk(tmp_path, work, (NAME, NOVEL.encode()), ("quotations.toml", decided.encode()))


def test_what_cannot_be_decided_is_refused(tmp_path: Path, readings: NovelReadings) -> None:
    async def work(desk: Desk) -> None:
        with pytest.raises(InputError, match="no doubtful quotation has the id 'nothing'"):
            await desk.uploads.fix(desk.upload, SetSpeaker("nothing", "Odile"))
        for name in ("", " ", "x" * 101, "a\0b"):
            with pytest.raises(InputError, match="a speaker is a name"):
                await desk.decide(SCHOOL, name)
        await desk.decide(SCHOOL, "Odile")
        with pytest.raises(InputError, match="would change nothing"):
            await desk.decide(SCHOOL, "Odile")
        assert len(await desk.fixes()) == 1

    at_desk(tmp_path, work)
