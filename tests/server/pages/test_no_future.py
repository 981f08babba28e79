"""Nothing after the moment is in any view: every text, name and value of a made-up story is one of a kind."""

from __future__ import annotations

import asyncio
import re
import tempfile
from html import unescape
from pathlib import Path

import httpx
from hypothesis import given
from hypothesis import strategies as st

from generated import NAMES, Plan, plans
from understudy.agents import Scripted
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry
from understudy.story.types import Moment

CHARACTER = "/api/stories/made/characters"


def sent(plan: Plan, folder: Path, paths: list[str]) -> dict[str, str]:
    """What each address answers with, over HTTP."""

    async def asking() -> dict[str, str]:
        with AppContext.open(StoryRegistry({"made": plan.story(folder)}), Scripted(["Yes."]), folder) as context:
            transport = httpx.ASGITransport(make_app(context))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return {path: unescape((await client.get(path)).text) for path in paths}

    return asyncio.run(asking())


def later_things(plan: Plan, at: Moment) -> set[str]:
    lines = {text for moment, _, text, _ in plan.lines if moment >= at}
    settings = {setting for moment, setting in plan.scenes if moment >= at}
    titles = {
        title
        for moment, _ in plan.scenes
        for title, numbers in (
            (f"part-title-{moment.numbers[0]}", moment.numbers[:1]),
            (f"chapter-title-{moment.numbers[0]}-{moment.numbers[1]}", moment.numbers[:2]),
        )
        if Moment(numbers) > at
    }
    facts = {fact.values[0] for fact in plan.facts if fact.since > at}
    return lines | settings | titles | facts


@given(plan=plans(), data=st.data())
def test_no_view_holds_anything_of_later(plan: Plan, data: st.DataObject) -> None:
    cast = NAMES[: sum(type(event).__name__ == "CastEntry" for event in plan.events)]
    at = data.draw(st.sampled_from(list(plan.moments())))
    who = data.draw(st.sampled_from(cast))
    facing = data.draw(st.sampled_from([None, *(name for name in cast if name != who)]))
    chapters = sorted({moment.numbers[:2] for moment, _ in plan.scenes})
    here = f"at={at.dotted}"
    story = [f"/story/made?{here}&see={'.'.join(map(str, chapter))}" for chapter in chapters]
    story += [f"/story/made?{here}&q={word}" for word in ("utterance", "number", "about")]
    about_who = [
        f"/character/made/{who}?{here}&scenes=all" + (f"&facing={facing}" if facing else ""),
        f"{CHARACTER}/{who}/relations.svg?{here}" + (f"&facing={facing}" if facing else ""),
        f"{CHARACTER}/{who}/course.svg?{here}",
    ]
    with tempfile.TemporaryDirectory() as folder:
        answers = sent(plan, Path(folder), [*story, *about_who])

    for path, text in answers.items():
        for thing in later_things(plan, at):
            assert thing not in text, f"{path} tells of '{thing}', which comes later"
        marks = [Moment(tuple(map(int, mark.split(".")))) for mark in re.findall(r'data-moment="([\d.]+)"', text)]
        assert all(mark <= at for mark in marks), f"{path} draws a change that comes later"

    heard = {name for moment, _, text, there in plan.lines if moment < at for name in NAMES if name in text}
    heard |= {name for moment, _, _, there in plan.lines if moment < at for name in there}
    heard |= {name for moment, _, _, there in plan.lines if _begun(moment, at) for name in there}
    for name in set(cast) - heard:
        for path in story:
            assert name not in answers[path], f"{path} names {name}, who has not come"
    for name in set(cast) - heard - {who, facing}:
        for path in about_who:
            assert name not in answers[path], f"{path} names {name}, who has not come"


def _begun(line: Moment, at: Moment) -> bool:
    """Whether a line is the first of a scene that has begun at the moment: those it opens with are there already."""
    return line.numbers[-1] == 1 and line.numbers[:-1] < at.numbers


@given(plan=plans(), data=st.data())
def test_what_was_said_before_is_all_there_to_read(plan: Plan, data: st.DataObject) -> None:
    at = data.draw(st.sampled_from(list(plan.moments())))
    chapters = sorted({moment.numbers[:2] for moment, _ in plan.scenes if moment < at})
    paths = [f"/story/made?at={at.dotted}&see={'.'.join(map(str, chapter))}" for chapter in chapters]
    with tempfile.TemporaryDirectory() as folder:
        html = "".join(sent(plan, Path(folder), paths).values())
    for moment, _, text, _ in plan.lines:
        assert (f'id="m-{moment.dotted}"' in html) == (moment < at)
        assert text in html or moment >= at
