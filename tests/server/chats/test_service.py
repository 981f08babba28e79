"""Talking over HTTP: what is said is kept, answered by the right one, at the right moment, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Event
from typing import Any

import httpx
import pytest

from server.chats.conftest import Remembering, events_of
from server.conftest import Ask, MakeContext, serving, visiting
from understudy.agents import Scripted
from understudy.database import Database
from understudy.errors import AgentError
from understudy.server.app import make_app
from understudy.server.chats.service import MAX_PENDING
from understudy.server.context import AppContext
from understudy.server.middleware import GuardMiddleware
from understudy.story.dialogue import Reply, Situation, Turn

BEGUN = {"story": "brass-key", "characters": ["Ines Vale"], "at": "2.1"}


def begin(ask: Ask, **fields: Any) -> str:
    response = ask("POST", "/api/chats", json={**BEGUN, **fields})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def said(ask: Ask, chat: str, text: str) -> list[tuple[str, Any]]:
    return events_of(ask("POST", f"/api/chats/{chat}/messages", json={"text": text}))


def texts(ask: Ask, chat: str) -> list[tuple[str, str]]:
    messages = ask("GET", f"/api/chats/{chat}").json()["messages"]
    return [(message["author"], message["text"]) for message in messages]


def reaching(app: GuardMiddleware) -> Ask:
    def ask(method: str, path: str, **options: Any) -> httpx.Response:
        async def asking() -> httpx.Response:
            async with visiting(app) as client:
                return await client.request(method, path, **options)

        return asyncio.run(asking())

    return ask


def test_a_message_is_stored_and_answered_word_by_word(ask: Ask) -> None:
    chat = begin(ask)
    events = said(ask, chat, "Where is the key?")
    assert [name for name, _ in events[:3]] == ["said", "thinking", "reply"]
    assert events[0][1]["text"] == "Where is the key?"
    streamed = "".join(data["text"] for name, data in events if name == "token")
    assert streamed == "This is the line numbered 1."
    assert [name for name, _ in events[-2:]] == ["done", "end"]
    done = events[-2][1]
    assert (done["author"], done["text"], done["parent"]) == ("Ines Vale", streamed, events[0][1]["id"])
    assert texts(ask, chat) == [("You", "Where is the key?"), ("Ines Vale", streamed)]
    assert done["why"]["evidence"] == [
        {"kind": "script", "text": "reply 1 of 100", "moment": None, "words": []},
    ]


def test_a_chat_is_listed_with_its_first_words_the_last_changed_first(ask: Ask) -> None:
    first, second = begin(ask), begin(ask, characters=["Tobias Rook"])
    said(ask, first, "Where is the key?")
    listed = ask("GET", "/api/chats").json()["chats"]
    assert [(chat["id"], chat["title"], chat["when"]) for chat in listed] == [
        (first, "Where is the key?", "Act 2, scene 1"),
        (second, "", "Act 2, scene 1"),
    ]


def test_at_an_earlier_moment_what_was_said_at_a_later_one_is_not_remembered(
    remembering: tuple[Remembering, AppContext],
) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, at="2.1", speaker="Tobias Rook")
    said(ask, chat, "I took the key.")
    ask("PATCH", f"/api/chats/{chat}", json={"at": "1.2"})
    said(ask, chat, "Do you know who took it?")
    situation, history = agent.heard[-1]
    assert situation.persona.moment.dotted == "1.2"
    assert [turn.text for turn in history] == ["Do you know who took it?"]
    assert {turn.speaker for turn in history} == {"Tobias Rook"}
    ask("PATCH", f"/api/chats/{chat}", json={"at": "2.2"})
    said(ask, chat, "And now?")
    assert [turn.text for turn in agent.heard[-1][1]] == [
        "I took the key.",
        "Ines Vale has heard 1 things and said 0.",
        "Do you know who took it?",
        "Ines Vale has heard 1 things and said 0.",
        "And now?",
    ]
    assert len(texts(ask, chat)) == 6  # the chat itself keeps all of it


def test_moving_tells_what_is_different_and_never_what_is_still_to_come(ask: Ask) -> None:
    chat = begin(ask, at="1.1", speaker="Tobias Rook")
    on = ask("PATCH", f"/api/chats/{chat}", json={"at": "2.1"}).json()
    (change,) = on["difference"]
    assert change["character"] == "Ines Vale"
    assert "Tobias Rook" in change["now"][0]  # what concerns the one who speaks comes first
    assert any("brass key" in sentence for sentence in change["no_longer"])
    back = ask("PATCH", f"/api/chats/{chat}", json={"at": "1.1"}).json()
    (change,) = back["difference"]
    assert any("brass key" in sentence for sentence in change["now"])
    assert change["no_longer"] == []
    assert change["later"] == 1
    assert ask("PATCH", f"/api/chats/{chat}", json={"title": "Keys"}).json()["difference"] == []


def test_somebody_under_a_false_name_is_called_by_it_until_it_ends(ask: Ask) -> None:
    chat = begin(ask, story="demo", characters=["Aurel Benedek", "Zita Karst"], at="1.2")
    events = said(ask, chat, "Mr Benedek, what is in the hatbox?")
    answer = ask("GET", f"/api/chats/{chat}").text
    assert "Danilo" not in answer + str(events)
    assert [data["author"] for name, data in events if name == "done"] == ["Aurel Benedek"]
    moved = ask("PATCH", f"/api/chats/{chat}", json={"at": "3.1"}).json()
    assert [character["name"] for character in moved["characters"]] == ["Danilo Reuss", "Zita Karst"]


def test_several_answer_when_they_are_spoken_to_and_each_has_heard_the_one_before(
    remembering: tuple[Remembering, AppContext],
) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, characters=["Ines Vale", "Tobias Rook"])
    said(ask, chat, "Tobias, where is the key?")
    assert texts(ask, chat)[-1][0] == "Tobias Rook"
    said(ask, chat, "And before that?")
    assert texts(ask, chat)[-1][0] == "Ines Vale"
    said(ask, chat, "Good day, all!")
    assert [author for author, _ in texts(ask, chat)[-2:]] == ["Ines Vale", "Tobias Rook"]
    situation, history = agent.heard[-1]
    assert [turn.speaker for turn in history[-2:]] == ["Ines Vale", "You"]  # whom each answers
    assert [person.name for person in situation.present] == ["Ines Vale"]


def test_a_retry_is_the_next_best_reply_beside_the_first(remembering: tuple[Remembering, AppContext]) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    first = ask("GET", f"/api/chats/{chat}").json()["messages"][-1]
    tries = []
    for _ in range(2):
        number = ask("GET", f"/api/chats/{chat}").json()["messages"][-1]["id"]
        tries.append(events_of(ask("POST", f"/api/chats/{chat}/messages/{number}/retry"))[-2][1])
    assert [reply["text"] for reply in tries] == ["Second best.", "Third."]
    assert len(agent.heard) == 1  # they had been considered already
    assert tries[-1]["siblings"] == [first["id"], tries[0]["id"], tries[1]["id"]]
    assert [evidence["kind"] for evidence in tries[0]["why"]["evidence"]] == ["exchange", "memory"]
    assert tries[0]["why"]["evidence"][0]["text"] == "Second best."
    assert texts(ask, chat)[-1] == ("Ines Vale", "Third.")
    shown = ask("PATCH", f"/api/chats/{chat}", json={"shown": first["id"]}).json()
    assert shown["messages"][-1]["text"] == first["text"]
    # all three have been tried: the agent is asked again, and they count as said
    ask("POST", f"/api/chats/{chat}/messages/{first['id']}/retry")
    assert {turn.text for turn in agent.heard[-1][1] if turn.speaker == "Ines Vale"} == {
        first["text"],
        "Second best.",
        "Third.",
    }


def test_where_there_is_no_other_reply_a_retry_says_so_and_keeps_the_first(make_context: MakeContext) -> None:
    class Stubborn:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            return Reply("No.")

    ask = reaching(make_app(make_context(Stubborn())))
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    number = ask("GET", f"/api/chats/{chat}").json()["messages"][-1]["id"]
    refused = ask("POST", f"/api/chats/{chat}/messages/{number}/retry")
    assert refused.status_code == 409
    assert "no other reply" in refused.json()["error"]["message"]
    assert texts(ask, chat)[-1] == ("Ines Vale", "No.")


def test_an_edit_is_a_new_branch_and_the_old_one_stays(ask: Ask) -> None:
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    said(ask, chat, "And the hook?")
    first = ask("GET", f"/api/chats/{chat}").json()["messages"][0]
    events = events_of(ask("POST", f"/api/chats/{chat}/messages/{first['id']}/edit", json={"text": "Who are you?"}))
    assert [name for name, _ in events if name != "token"] == ["said", "thinking", "reply", "done", "end"]
    assert texts(ask, chat) == [("You", "Who are you?"), ("Ines Vale", "This is the line numbered 1.")]
    old = ask("PATCH", f"/api/chats/{chat}", json={"shown": first["id"]}).json()
    assert [message["text"] for message in old["messages"]][::2] == ["Where is the key?", "And the hook?"]


def test_a_reply_can_be_written_otherwise_without_being_answered(ask: Ask) -> None:
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    reply = ask("GET", f"/api/chats/{chat}").json()["messages"][1]
    events = events_of(ask("POST", f"/api/chats/{chat}/messages/{reply['id']}/edit", json={"text": "On its hook."}))
    assert [name for name, _ in events] == ["said", "end"]
    assert texts(ask, chat) == [("You", "Where is the key?"), ("Ines Vale", "On its hook.")]


def test_a_message_is_deleted_with_what_followed_and_a_branch_is_a_chat_of_its_own(ask: Ask) -> None:
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    said(ask, chat, "And the hook?")
    messages = ask("GET", f"/api/chats/{chat}").json()["messages"]
    branch = ask("POST", f"/api/chats/{chat}/messages/{messages[1]['id']}/branch")
    assert branch.status_code == 201
    left = ask("DELETE", f"/api/chats/{chat}/messages/{messages[1]['id']}").json()
    assert [message["text"] for message in left["messages"]] == ["Where is the key?"]
    assert len(texts(ask, branch.json()["id"])) == 2
    answered = events_of(ask("POST", f"/api/chats/{chat}/messages/{messages[0]['id']}/retry"))
    assert answered[-2][1]["parent"] == messages[0]["id"]
    assert ask("DELETE", f"/api/chats/{chat}").status_code == 204
    assert ask("GET", f"/api/chats/{chat}").status_code == 404
    assert len(texts(ask, branch.json()["id"])) == 2


def test_two_posts_to_one_chat_at_once_are_answered_in_the_order_they_came(
    make_context: MakeContext,
) -> None:
    """The first is held inside the agent until the second has long arrived; a third goes to another chat meanwhile."""
    arrived, free = Event(), Event()

    class Slow(Remembering):
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            if history[-1].text == "first":
                arrived.set()
                assert free.wait(120)
            return super().reply(situation, history)

    agent = Slow()
    context = make_context(agent, concurrency=4)

    async def talking() -> list[dict[str, Any]]:
        async with visiting(make_app(context)) as client:
            chat = (await client.post("/api/chats", json=BEGUN)).json()["id"]
            other_chat = (await client.post("/api/chats", json=BEGUN)).json()["id"]
            first = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "first"}))
            assert await asyncio.to_thread(arrived.wait, 120)
            second = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "second"}))
            elsewhere = await client.post(f"/api/chats/{other_chat}/messages", json={"text": "elsewhere"})
            assert events_of(elsewhere)[-1][0] == "end"
            assert not second.done()
            free.set()
            for response in await asyncio.gather(first, second):
                assert events_of(response)[-2][0] == "done"
            messages: list[dict[str, Any]] = (await client.get(f"/api/chats/{chat}")).json()["messages"]
            return messages

    messages = asyncio.run(talking())
    assert [message["text"] for message in messages if message["by"] == "user"] == ["first", "second"]
    assert [message["by"] for message in messages] == ["user", "character", "user", "character"]
    assert agent.heard[-1][1][0].text == "first"


def test_who_listens_slowly_holds_up_nobody_not_even_in_the_same_chat(make_context: MakeContext) -> None:
    context = make_context()
    context.chats.pace_s = 60

    def first_word(stream: httpx.Response) -> str:
        lines = stream.iter_lines()
        return next(line for line in lines if line.startswith('data: {"message"'))

    with serving(make_app(context), is_graceful=False) as url, httpx.Client(base_url=url, timeout=120) as client:
        chat = client.post("/api/chats", json=BEGUN).json()["id"]
        with client.stream("POST", f"/api/chats/{chat}/messages", json={"text": "first"}) as first:
            assert "This " in first_word(first)
            with client.stream("POST", f"/api/chats/{chat}/messages", json={"text": "second"}) as second:
                assert "This " in first_word(second)
            messages = client.get(f"/api/chats/{chat}").json()["messages"]
    assert [message["text"] for message in messages] == [
        "first",
        "This is the line numbered 1.",
        "second",
        "This is the line numbered 2.",
    ]


def test_a_stop_keeps_what_was_seen_and_nothing_that_was_not(make_context: MakeContext) -> None:
    context = make_context(Scripted(["One two three four five six seven eight nine ten."] * 9))
    context.chats.pace_s = 0.2
    with serving(make_app(context)) as url, httpx.Client(base_url=url, timeout=120) as client:
        chat = client.post("/api/chats", json={**BEGUN, "characters": ["Ines Vale", "Tobias Rook"]}).json()["id"]
        seen, message = 0, None
        with client.stream("POST", f"/api/chats/{chat}/messages", json={"text": "Hello, all!"}) as stream:
            for line in stream.iter_lines():
                if line.startswith("data: ") and '"text"' in line and '"message"' in line:
                    seen += 1
                    message = int(line.split('"message":')[1].split(",")[0])
                if seen == 3:
                    break
            stopped = httpx.post(f"{url}/api/chats/{chat}/stop", json={"message": message, "seen": seen}, timeout=120)
        messages = stopped.json()["messages"]
        assert [(message["text"], message["state"]) for message in messages] == [
            ("Hello, all!", "whole"),
            ("One two three", "cut"),
        ]
        assert client.get(f"/api/chats/{chat}").json()["messages"] == messages


def test_a_stop_before_the_first_word_leaves_the_message_unanswered(make_context: MakeContext) -> None:
    thinking, free = Event(), Event()

    class Thinker(Remembering):
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            thinking.set()
            assert free.wait(120)
            return super().reply(situation, history)

    context = make_context(Thinker())

    async def talking() -> tuple[list[Any], list[Any]]:
        async with visiting(make_app(context)) as client:
            chat = (await client.post("/api/chats", json=BEGUN)).json()["id"]
            saying = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Well?"}))
            assert await asyncio.to_thread(thinking.wait, 120)
            await client.post(f"/api/chats/{chat}/stop", json={})
            free.set()
            events = events_of(await saying)
            await context.chats.close()
            return events, (await client.get(f"/api/chats/{chat}")).json()["messages"]

    events, messages = asyncio.run(talking())
    assert [name for name, _ in events][:2] == ["said", "thinking"]
    assert "reply" not in dict(events)
    assert [message["text"] for message in messages] == ["Well?"]


def test_an_agent_that_fails_is_told_of_and_the_message_can_be_answered_later(make_context: MakeContext) -> None:
    class Moody(Remembering):
        broken: Exception | None = AgentError("the agent has lost its voice: start it anew")

        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            if self.broken:
                raise self.broken
            return super().reply(situation, history)

    agent = Moody()
    context = make_context(agent)
    ask = reaching(make_app(context))
    chat = begin(ask)
    events = said(ask, chat, "Are you there?")
    assert [name for name, _ in events] == ["said", "thinking", "problem", "end"]
    assert "lost its voice" in events[2][1]["error"]["message"]
    agent.broken = RuntimeError("the user said: Are you there?")
    number = events[0][1]["id"]
    events = events_of(ask("POST", f"/api/chats/{chat}/messages/{number}/retry"))
    assert "Are you there" not in events[2][1]["error"]["message"]
    agent.broken = None
    events_of(ask("POST", f"/api/chats/{chat}/messages/{number}/retry"))
    assert [author for author, _ in texts(ask, chat)] == ["You", "Ines Vale"]


def test_a_full_disk_gives_an_error_and_loses_nothing(ask: Ask, context: AppContext) -> None:
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    before = texts(ask, chat)

    def fill(db: Database) -> None:
        ((pages,),) = db.rows("PRAGMA page_count")
        db.rows(f"PRAGMA max_page_count = {pages}")

    asyncio.run(context.database.run(fill))
    refused = None
    for _ in range(200):  # pages have some room left
        refused = ask("POST", f"/api/chats/{chat}/messages", json={"text": "word " * 700})
        if refused.status_code != 200:
            break
        if "problem" in dict(events_of(refused)):
            break
    assert refused is not None
    if refused.status_code == 200:
        assert "disk" in dict(events_of(refused))["problem"]["error"]["message"]
    else:
        assert refused.status_code == 507
        assert "free some disk space" in refused.json()["error"]["message"]
    after = texts(ask, chat)
    assert after[: len(before)] == before
    assert ask("POST", f"/api/chats/{chat}/messages", json={"text": "word " * 700}).status_code == 507
    assert texts(ask, chat) == after
    asyncio.run(context.database.run(lambda db: db.rows("PRAGMA max_page_count = 1000000")))
    said(ask, chat, "Is there room again?")
    assert texts(ask, chat)[: len(after)] == after
    assert len(texts(ask, chat)) == len(after) + 2


@pytest.mark.parametrize(
    ("fields", "status", "says"),
    [
        ({"story": "nothing"}, 404, "no story"),
        ({"characters": ["Nobody"]}, 404, "Nobody"),
        ({"characters": []}, 400, "characters"),
        ({"at": "9.9"}, 404, "9.9"),
        ({"at": "sometime"}, 404, "not a moment"),
        ({"speaker": "Ines Vale"}, 400, "themselves"),
        ({"unknown": 1}, 400, "unknown"),
        ({"story": "demo", "characters": ["Zita", "Pia Lenk", "Haake", "Bohm", "Ould", "Brandt", "Nan"]}, 400, "most"),
    ],
)
def test_a_chat_that_cannot_be_is_refused_with_what_to_do(
    ask: Ask, fields: dict[str, Any], status: int, says: str
) -> None:
    refused = ask("POST", "/api/chats", json={**BEGUN, **fields})
    assert (refused.status_code, says in refused.text) == (status, True), refused.text
    assert ask("GET", "/api/chats").json()["chats"] == []


@pytest.mark.parametrize("text", ["", "   \n", "\0", "x" * 4001])
def test_a_message_that_is_none_is_refused_and_nothing_is_kept(ask: Ask, text: str) -> None:
    chat = begin(ask)
    assert ask("POST", f"/api/chats/{chat}/messages", json={"text": text}).status_code == 400
    assert texts(ask, chat) == []


def test_a_refused_change_changes_nothing(ask: Ask) -> None:
    chat = begin(ask)
    before = ask("GET", f"/api/chats/{chat}").json()
    assert ask("PATCH", f"/api/chats/{chat}", json={"at": "9.9", "title": "New"}).status_code == 404
    assert ask("PATCH", f"/api/chats/{chat}", json={"shown": 99, "title": "New"}).status_code == 404
    assert ask("GET", f"/api/chats/{chat}").json() == before


def test_a_chat_can_be_read_when_its_story_is_gone(ask: Ask, context: AppContext) -> None:
    chat = begin(ask)
    said(ask, chat, "Where is the key?")
    context.stories.remove("brass-key")
    assert len(texts(ask, chat)) == 2
    assert [chat["id"] for chat in ask("GET", "/api/chats").json()["chats"]] == [chat]
    refused = ask("POST", f"/api/chats/{chat}/messages", json={"text": "Hello?"})
    assert refused.status_code == 404
    assert ask("GET", f"/chats/{chat}").status_code == 404


def test_a_chat_takes_only_so_many_messages_that_wait(make_context: MakeContext) -> None:
    free = Event()

    class Thinker(Remembering):
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            assert free.wait(120)
            return super().reply(situation, history)

    context = make_context(Thinker())

    async def talking() -> list[int]:
        async with visiting(make_app(context)) as client:
            chat = (await client.post("/api/chats", json=BEGUN)).json()["id"]

            async def say(text: str) -> int:
                return (await client.post(f"/api/chats/{chat}/messages", json={"text": text})).status_code

            requests = [asyncio.ensure_future(say(str(number))) for number in range(60)]
            while sum(request.done() for request in requests) < 60 - MAX_PENDING:
                await asyncio.sleep(0.01)
            refused = [request.result() for request in requests if request.done()]
            free.set()
            return [*refused, *(await asyncio.gather(*requests))]

    statuses = asyncio.run(asyncio.wait_for(talking(), 120))
    assert set(statuses) == {200, 429} and statuses.count(200) == MAX_PENDING


def test_requests_to_a_chat_run_in_the_order_they_came_and_its_lock_is_dropped(context: AppContext) -> None:
    async def run() -> list[str]:
        order, free = list[str](), asyncio.Event()

        async def enter(chat_id: str, name: str) -> None:
            async with context.chats._exclusive(chat_id):
                order.append(name)
                if name == "first":
                    await free.wait()

        requests = [asyncio.ensure_future(enter("chat", name)) for name in ("first", "second", "third")]
        await enter("another chat", "elsewhere")
        free.set()
        await asyncio.gather(*requests)
        assert not context.chats._locks
        return order

    assert asyncio.run(run()) in (["first", "elsewhere", "second", "third"], ["elsewhere", "first", "second", "third"])
