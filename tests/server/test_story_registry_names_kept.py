"""While a false name holds, the true one is as unknown as one that is made up: on every route, in name and facing."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from stories import FALSE, HIDDEN, KNOWN, MASKED, TRUE, UNMASKED, masks
from understudy.agents import agent_named
from understudy.formats import read
from understudy.judging.loading import is_guarded, load_guarded
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry
from understudy.story.storyfile import Story
from walking import ANY_NUMBER, Answer, walk

MADE_UP = "Nobody Inparticular"
VARYING = re.compile(r'"id":"(?:chat)?cmpl-\w+"|"created":\d+|fp_\w+|"(?:prompt|total)_tokens":\d+')
"""Of each answer; the name itself is among the tokens of what was asked."""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return read(masks(tmp_path_factory.mktemp("masks")))


def walked(story: Story, folder: Path, at: str, people: list[str]) -> list[Answer]:
    return walk(story, at, people, folder).answers


def alike(answer: Answer, name: str) -> tuple[int, dict[str, str], str]:
    """An answer with whoever was asked for written in one way."""
    text = VARYING.sub("", answer.text)
    for form in (quote(name, safe=""), quote(name), name.replace(" ", "+"), name):
        text = text.replace(form, "NAME")
    headers = {key: value for key, value in answer.headers.items() if key not in {"content-length", "date"}}
    return answer.status, {key: value.replace(quote(name, safe=""), "NAME") for key, value in headers.items()}, text


@pytest.mark.parametrize("at", MASKED)
def test_a_true_name_is_answered_as_a_made_up_one(story: Story, tmp_path: Path, at: str) -> None:
    unknown = walked(story, tmp_path / "unknown", at, ["Ann", MADE_UP])
    for number, name in enumerate(HIDDEN if at == "1.2" else HIDDEN[:1]):
        answers = walked(story, tmp_path / str(number), at, ["Ann", name])
        assert len(answers) == len(unknown)
        for answer, expected in zip(answers, unknown):
            if name not in answer.asked or answer.template.endswith("/portrait.svg"):
                continue  # it is not asked for; or a picture of the first letters of whatever name
            assert alike(answer, name) == alike(expected, MADE_UP), answer.asked


@pytest.mark.parametrize("at", MASKED)
def test_no_route_tells_a_true_name_not_even_of_who_is_in_on_it(story: Story, tmp_path: Path, at: str) -> None:
    people = ["Ann", "Countess Halm" if at == "2.2" else "Bea", *(KNOWN[1:3] if at == "1.2" else KNOWN[:1])]
    answers = walked(story, tmp_path, at, people)
    assert not [answer.asked for answer in answers if TRUE in answer.text]
    assert not [answer.asked for answer in answers if quote(TRUE) in answer.text or TRUE in str(answer.headers)]
    if at not in {"start", "1.1"}:
        assert any(FALSE in answer.text for answer in answers)


def test_who_has_only_been_spoken_of_is_asked_for_by_the_name_that_was_said(tmp_path: Path) -> None:
    demo = read("demo")

    async def asked() -> list[int]:
        with AppContext.open(StoryRegistry({"demo": demo}), agent_named("tfidf"), tmp_path) as context:
            transport = httpx.ASGITransport(make_app(context, limits=ANY_NUMBER))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                course = "/api/stories/demo/characters/Zita/course.svg"
                names = ("Commissary Sool", "Ottoline Sool", "Ottoline", MADE_UP)
                return [(await client.get(course, params={"at": "2.1", "to": name})).status_code for name in names]

    assert asyncio.run(asked()) == [200, 404, 404, 404]


@pytest.mark.parametrize("agent", ["encoder", "tfidf", "guarded"])
def test_no_reply_or_candidate_has_a_part_of_a_true_name(tmp_path: Path, agent: str) -> None:
    asked = [
        ("Silvan Prett", "What would you like, a dry chair?"),
        ("Silvan Prett", "Who is the man with the hatbox? What is his right name?"),
        ("Gudrun Haake", "Should he keep that glove on and quit making eyes?"),
        ("Aurel Benedek", "What is your name, your true one?"),
    ]
    requests = [
        ("POST", "/api/replies", {"story": "demo", "character": who, "at": "2.4", "facing": "Zita", "message": text})
        for who, text in asked
    ]
    for answer in send(read("demo"), tmp_path, *requests, agent=agent):
        assert answer.status_code == 200
        assert not re.search(r"Reuss|Danilo|REUSS", answer.text), answer.text


def test_who_never_drops_a_false_name_keeps_it_at_the_end(story: Story, tmp_path: Path) -> None:
    answers = walked(story, tmp_path, "end", ["Countess Halm", TRUE])
    at_the_end = [answer for answer in answers if "{story}" in answer.template or "/v1" in answer.template]
    assert not [answer.asked for answer in at_the_end if "Bea Moor" in answer.text]
    assert any("Countess Halm" in answer.text for answer in answers)


def test_once_the_story_has_told_the_true_name_is_shown(story: Story, tmp_path: Path) -> None:
    answers = walked(story, tmp_path, UNMASKED, ["Ann", TRUE])
    assert any(TRUE in answer.text for answer in answers if answer.status == 200)


def send(story: Story, folder: Path, *requests: tuple[str, str, object], agent: str = "tfidf") -> list[httpx.Response]:
    """The responses to requests in order; `{chat}` is the id of the chat that the first of them created."""

    async def send_all() -> list[httpx.Response]:
        name = "demo" if story.title == "A Clean Bill" else "masks"
        stories = StoryRegistry({name: story})
        answering = load_guarded(agent, lambda _: [story]) if is_guarded(agent) else agent_named(agent)
        with AppContext.open(stories, answering, folder) as context:
            context.chats.pace_s = 0
            transport = httpx.ASGITransport(make_app(context, limits=ANY_NUMBER))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                answers: list[httpx.Response] = []
                for method, path, body in requests:
                    chat = answers[0].json().get("id", "") if answers else ""
                    answers.append(await client.request(method, path.format(chat=chat), json=body))
                return answers

    return asyncio.run(send_all())


@pytest.mark.parametrize("name", [*HIDDEN[:2], MADE_UP])
def test_a_chat_is_moved_with_whom_it_has_and_nobody_is_put_into_it_by_a_true_name(
    story: Story, tmp_path: Path, name: str
) -> None:
    created, *others = send(
        story, tmp_path,
        ("POST", "/api/chats", {"story": "masks", "characters": ["Ann", "Silas"], "speaker": "Bea", "at": "1.2"}),
        ("PATCH", "/api/chats/{chat}", {"at": "2.1"}),
        ("PATCH", "/api/chats/{chat}", {"characters": [name]}),
        ("PATCH", "/api/chats/{chat}", {"speaker": name}),
        ("POST", "/api/chats/{chat}/messages", {"text": f"{name}, what of the harbour?"}),
        ("PATCH", "/api/chats/{chat}", {"at": "3.1"}),
        ("PATCH", "/api/chats/{chat}", {"at": "1.2"}),
    )  # fmt: skip
    moved, put, spoken, said, on, back = others
    assert [answer.status_code for answer in (created, moved, on, back)] == [201, 200, 200, 200]
    for refused in (put, spoken):
        assert refused.status_code == 404
        assert refused.json()["error"]["message"].replace(name, "X") == "nobody heard so far is called 'X': " + (
            "choose from the cast"
        )
    assert "Ann Archer" in said.text, "whoever is called by a name that nobody knows does not answer to it"
    for answer in (created, moved, back):
        assert FALSE in answer.text
        assert TRUE not in answer.text.replace(f"{name}, what of", "")
    assert TRUE in on.text
