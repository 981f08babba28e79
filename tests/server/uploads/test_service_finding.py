"""Who the people of an upload are is looked for behind it: it is served before, and what is decided stays."""

from __future__ import annotations

import asyncio
from pathlib import Path

from understudy.people.draft import reject
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads.fixes import Rename
from understudy.server.uploads.routes import upload_report
from understudy.server.uploads.service import UploadService
from understudy.story.storyfile.found import REJECTED, read_found
from uploading import opened, sent

TALK = b"""[Scene: A kitchen.]
Odile: You know my sister Marguerite.
Bastien: I never met your sister Marguerite.
Odile: Marguerite is my sister.
Marguerite: I am a nurse, Odile. You are my sister.
Odile: Marguerite, my sister, is a nurse.
"""


async def found(uploads: UploadService, upload: str) -> None:
    while (job := uploads.finding.get(upload)) is not None and job.task is not None:
        await asyncio.wait({job.task})


def test_people_are_looked_for_once_a_story_is_served(tmp_path: Path) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry, looks_for_people=True) as uploads:
            report = await sent(uploads, ("talk.txt", TALK))
            assert (report.state, report.finding) == ("ready", True)
            await found(uploads, report.id)
            assert not (await upload_report(uploads, report.id)).finding
            story = registry.story(report.story or "")
            assert ("Odile", "Marguerite", "sibling") in {(tie.of, tie.to, tie.kind) for tie in story.relations()}
            assert not list(tmp_path.glob("reading/*"))
        async with opened(tmp_path, looks_for_people=True) as again:
            assert again.finding.get(report.id) is None, "what has been looked for is not looked for again"

    asyncio.run(scenario())


def test_a_corrected_cast_is_looked_through_again_and_decisions_stay(tmp_path: Path) -> None:
    async def scenario() -> None:
        registry = StoryRegistry({})
        async with opened(tmp_path, registry, looks_for_people=True) as uploads:
            report = await sent(uploads, ("talk.txt", TALK))
            await found(uploads, report.id)
            story = registry.story(report.story or "")
            assert story.found_file is not None
            file = read_found(story.found_file, story.levels, story.schema)
            reject(file, [entry.id for entry in file.entries if entry.kind != "sibling"]).write()
            await uploads.fix(report.id, Rename("Bastien", "Uncle Bastien"))
            await found(uploads, report.id)
            file = read_found(story.found_file, story.levels, story.schema)
            assert {entry.kind == "sibling" for entry in file.entries if entry.decision.verdict != REJECTED} == {True}

    asyncio.run(scenario())


def test_a_deleted_story_is_looked_through_no_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path, looks_for_people=True) as uploads:
            report = await sent(uploads, ("talk.txt", TALK))
            await uploads.delete(report.id)
            assert uploads.finding.get(report.id) is None

    asyncio.run(scenario())
