"""No route sends what lies after the moment it was asked for: in no body, header or error, nor inside a picture."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generated import NAMES, Plan, plans, plans_with_found
from understudy.formats import read
from understudy.story.spoiler_free import scenes_before
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from walking import Walk, every_template, walk

# Every word in capitals is a canary: its digits are its act and scene, and no response before that may hold it.
CAST = """
title = "The Canaries"
language = "en"

[[character]]
name = "Ann Zqname11"
aliases = ["Ann"]
profile = ["I keep the harbour."]

[[character]]
name = "Bob Zqname11"
aliases = ["Bob"]

[[character]]
name = "Cora Zqname21"
aliases = ["Cora", "Zqalias21"]
profile = ["I am zqprofile21 of the harbour."]

[[character]]
name = "Dov Zqname32"
aliases = ["Dov"]
profile = ["I am zqprofile32."]

[[fact]]
who = "Ann Zqname11"
attribute = "belongings"
value = ["the zqfact11 key"]
from = "1.1"

[[fact]]
who = "Ann Zqname11"
attribute = "belongings"
value = ["the zqfact22 key"]
from = "2.2"

[[fact]]
who = "Bob Zqname11"
attribute = "goes by"
value = "Bob Masked"
from = "1.1"
until = "3.1"

[[fact]]
who = "Dov Zqname32"
attribute = "born"
value = "then"
from = "3.2"

[[relation]]
of = "Ann Zqname11"
to = "Bob Zqname11"
affection = 3
from = "1.1"

[[relation]]
of = "Ann Zqname11"
to = "Cora Zqname21"
kind = "friend"
from = "1.1"

[[relation]]
of = "Ann Zqname11"
to = "Cora Zqname21"
affection = 7
from = "2.2"
"""


def script() -> dict[str, str]:
    """Three acts of two scenes; Cora comes in the middle of 2.1, Dov in 3.2."""
    acts = {}
    for act in (1, 2, 3):
        text = f"# act {act}: The zqtitle{act}1 water\n"
        for scene in (1, 2):
            digits = f"{act}{scene}"
            text += f"## scene {scene}: The zqsetting{digits} quay\nPresent: Ann Zqname11, Bob Zqname11\n"
            text += f"ANN: The harbour is zqline{digits} today.\nBOB: So the harbour zqanswer{digits} it is.\n"
            if digits == "21":
                text += "[Cora Zqname21 enters.]\nCORA: I come to the harbour zqentrance21 late.\n"
            if digits == "32":
                text += "[Dov Zqname32 enters.]\nDOV: The harbour zqbirth32 again.\n"
            text += f"ANN: We shall see the harbour zqlast{digits} then.\n\n"
        acts[f"act-{act}.txt"] = text
    return acts


CANARY = re.compile(  # by its words: the id of a chat is drawn, and may be any letters
    r"(?i)zq(?:name|alias|profile|fact|title|setting|line|answer|entrance|birth|last)(\d)(\d)"
)
STORIES_VIEW = re.compile(r"\w+ (/stories|/api/uploads/form)")
MOMENTS = ("start", "1.1", "1.1.2", "1.2", "2.1", "2.1.3", "2.2", "3.1", "end")


@pytest.fixture(scope="module")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("canaries")
    for name, text in {"cast.toml": CAST, **script()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("at", MOMENTS)
def test_no_route_shows_a_later_canary(canaries: Path, tmp_path: Path, at: str) -> None:
    story = read(canaries)
    walked = walk(story, at, ["Ann", "Bob", "Bob Masked", "Cora", "Dov"], tmp_path)
    assert walked.walked == every_template()
    moment = story.moment(at)
    later = {
        (request, match[0])
        for request, response in walked.told
        for match in CANARY.finditer(response)
        if not _is_known(match[0], (int(match[1]), int(match[2])), moment)
    }
    assert not later
    if moment.is_end:
        assert "zqlast32" in "".join(response for _, response in walked.told)


def _is_known(word: str, scene: tuple[int, int], at: Moment) -> bool:
    """Whether it may be shown: words of a scene that has begun; a title, a fact and who opens the play as it comes."""
    if word.lower().startswith(("zqtitle", "zqfact")):
        return Moment(scene[:1] if "title" in word else scene) <= at
    if word.lower().startswith(("zqentrance", "zqname21", "zqalias21", "zqprofile21")) and scene == (2, 1):
        return Moment((2, 1, 3)) < at
    if word.lower().startswith(("zqbirth", "zqname32", "zqprofile32")):
        return Moment((3, 2)) <= at
    return "zqname11" in word.lower() or Moment(scene) < at


def test_who_goes_by_a_false_name_is_shown_by_it(canaries: Path, tmp_path: Path) -> None:
    story = read(canaries)
    early = walk(story, "2.2", ["Ann", "Bob Masked"], tmp_path)
    late = walk(story, "3.2", ["Ann", "Bob"], tmp_path)
    assert "Bob Masked" in "".join(response for _, response in early.told)
    for request, response in early.told:
        assert "Bob Zqname11" not in response, f"{request} shows who Bob Masked is"
    assert "Bob Zqname11" in "".join(response for _, response in late.told)


@pytest.mark.parametrize(
    ("name", "at", "people"),
    [
        *(("demo", at, ("Zita", "Benedek")) for at in ("1.1", "1.1.2", "1.2", "2.1")),
        *(("demo-ja", at, ("千夏", "重吉")) for at in ("1.1", "1.3", "2.2")),
        *(("demo-zh", at, ("葛长顺", "三十七号")) for at in ("1.1", "1.3", "2.2")),
    ],
)
def test_no_route_tells_what_comes_later_in_the_demos(
    tmp_path: Path, name: str, at: str, people: tuple[str, str]
) -> None:
    story = read(name)
    moment = story.moment(at)
    least = 40 if story.language == "en" else 15
    later = {line.text for scene in story.scenes(moment) for line in scene.lines if len(line.text) > least}
    later |= {scene.setting for scene in story.scenes(moment) if scene.setting}
    later |= {title for heading, title in story.headings() if heading > moment}
    before = " ".join(f"{scene.setting} {line.text}" for scene in scenes_before(story, moment) for line in scene.lines)
    later = {text for text in later if text not in before}  # what was said already is no secret
    unheard = {member.character.name for member in story.cast()} - _named_before(story, moment)
    walked = walk(story, at, people, tmp_path)
    assert len(later) > (100 if name == "demo" else 20)
    leaks = {
        (request, text)
        for request, response in walked.told
        for text in (later if STORIES_VIEW.match(request) else later | unheard)  # that shows who speaks at first
        if text in response
    }
    assert not leaks


def _named_before(story: Story, at: Moment) -> set[str]:
    """Whoever was in a scene that has begun or was named in one, was on when it all began, or is named by a fact."""
    opening = next(story.outline())[0]
    seen = {name for name, *_ in story.presence_intervals(opening)}
    text = ""
    for scene in scenes_before(story, at):
        seen |= set(scene.present)
        text += " ".join(line.text for line in scene.lines)
    seen |= {member.character.name for member in story.cast() if member.character.name in text}
    for fact in story.facts():
        seen |= {
            member.character.name
            for member in story.cast()
            if fact.since <= at and member.character.name in str(fact.values)
        }
    return seen


@settings(max_examples=settings().max_examples // 2, derandomize=True, suppress_health_check=list(HealthCheck))
@given(plan=plans(), data=st.data())
def test_no_route_tells_what_comes_later_in_a_made_up_story(plan: Plan, data: st.DataObject) -> None:
    cast = NAMES[: sum(type(event).__name__ == "CastEntry" for event in plan.events)]
    at = data.draw(st.sampled_from(list(plan.moments())))
    people = data.draw(st.lists(st.sampled_from(cast), min_size=1, max_size=2, unique=True))
    with tempfile.TemporaryDirectory() as folder:
        walked = walk(plan.story(Path(folder)), at.dotted, people, Path(folder))
    _assert_nothing_later(walked, plan, at, set(cast) - set(people))


@settings(max_examples=settings().max_examples // 5, derandomize=True, suppress_health_check=list(HealthCheck))
@given(plan=plans_with_found(), data=st.data())
def test_no_route_tells_what_is_found_before_it_is_said(plan: Plan, data: st.DataObject) -> None:
    at = data.draw(st.sampled_from(list(plan.moments())))
    who = data.draw(st.sampled_from(NAMES[:2]))
    with tempfile.TemporaryDirectory() as folder:
        walked = walk(plan.story(Path(folder)), at.dotted, [who], Path(folder))
    unknown = [fact.values[0] for fact in plan.found_facts if not plan.knows(who, fact, at)]
    assert not [(request, text) for request, response in walked.told for text in unknown if text in response]


def _assert_nothing_later(walked: Walk, plan: Plan, at: Moment, unasked: set[str]) -> None:
    later = {text for moment, _, text, _ in plan.lines if moment >= at}
    later |= {setting for moment, setting in plan.scenes if moment >= at}
    later |= {fact.values[0] for fact in plan.facts if fact.since > at}
    later |= {f"chapter-title-{m.numbers[0]}-{m.numbers[1]}" for m, _ in plan.scenes if Moment(m.numbers[:2]) > at}
    seen = {name for moment, _, text, there in plan.lines if moment < at for name in (*there, *_names_in(text))}
    first_chapter = plan.scenes[0][0].numbers[:2]
    opening = {name for moment, _, _, there in plan.lines if moment.numbers[:2] == first_chapter for name in there}
    if at.is_end:  # the whole cast is shown, with whoever never came
        unasked = set()
    for request, response in walked.told:
        is_of_no_moment = STORIES_VIEW.match(request)  # it shows who speaks in the first chapter
        unseen = unasked - seen - (opening if is_of_no_moment else set())
        for text in later | unseen:
            assert text not in response, f"{request} shows '{text}', which comes later than {at.dotted}"


def _names_in(text: str) -> list[str]:
    return [name for name in NAMES if name in text]
