"""Replies that are interrupted: by a stop, a shutdown, a move, another tab, a newer reading of the story."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from server.chats.conftest import Remembering, events_of
from server.chats.test_service import BEGUN, begin, reaching, said, texts
from server.conftest import MakeContext, visiting
from stories import ACT_1, ACT_2, brass_key
from understudy.database import Database
from understudy.formats import read
from understudy.server.app import make_app
from understudy.server.chats import store
from understudy.server.context import AppContext
from understudy.story.dialogue import Reply, Situation, Turn


class Blocking(Remembering):
    """Replies once `free` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.thinking, self.free = Event(), Event()

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.thinking.set()
        assert self.free.wait(120)
        return super().reply(situation, history)


@pytest.fixture
def blocking(make_context: MakeContext) -> tuple[Blocking, AppContext]:
    agent = Blocking()
    context = make_context(agent)
    return agent, context


def in_process(context: AppContext, work: Callable[[httpx.AsyncClient], Awaitable[Any]]) -> Any:
    async def working() -> Any:
        async with visiting(make_app(context)) as client:
            return await work(client)

    return asyncio.run(working())


async def messages_of(client: httpx.AsyncClient, chat: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = (await client.get(f"/api/chats/{chat}")).json()["messages"]
    return messages


async def begun(client: httpx.AsyncClient, **fields: Any) -> str:
    return str((await client.post("/api/chats", json={**BEGUN, **fields})).json()["id"])


def test_a_server_that_stops_lets_a_reply_be_finished_and_keeps_it(blocking: tuple[Blocking, AppContext]) -> None:
    """Whoever listened has gone; the application is told to stop while the agent thinks."""
    agent, context = blocking
    app = make_app(context)

    async def stopping() -> str:
        inbox: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        outbox: asyncio.Queue[Any] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": {}}
        living = asyncio.create_task(app(scope, inbox.get, outbox.put))
        await inbox.put({"type": "lifespan.startup"})
        assert (await outbox.get())["type"] == "lifespan.startup.complete"
        async with visiting(app) as client:
            chat = await begun(client)
            listener = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Well?"}))
            assert await asyncio.to_thread(agent.thinking.wait, 120)
            listener.cancel()
        await inbox.put({"type": "lifespan.shutdown"})
        asyncio.get_running_loop().call_later(0.2, agent.free.set)
        assert (await outbox.get())["type"] == "lifespan.shutdown.complete"
        await living
        return chat

    chat = asyncio.run(stopping())
    assert [(message["author"], message["unanswered"]) for message in _read(context, chat)] == [
        ("You", False),
        ("Ines Vale", False),
    ]


def test_a_reply_that_takes_longer_than_a_stop_may_is_marked_as_owed_and_can_be_had_later(
    blocking: tuple[Blocking, AppContext],
) -> None:
    agent, context = blocking

    async def stopping(client: httpx.AsyncClient) -> str:
        chat = await begun(client)
        saying = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Well?"}))
        assert await asyncio.to_thread(agent.thinking.wait, 120)
        await context.chats.close(timeout_s=0.05)
        agent.free.set()
        await saying
        return chat

    chat = in_process(context, stopping)
    (message,) = _read(context, chat)
    assert message["unanswered"]
    ask = reaching(make_app(context))
    events_of(ask("POST", f"/api/chats/{chat}/messages/{message['id']}/retry"))
    assert [message["unanswered"] for message in _read(context, chat)] == [False, False]


def test_whoever_will_not_wait_for_a_reply_at_the_end_need_not(blocking: tuple[Blocking, AppContext]) -> None:
    agent, context = blocking

    async def stopping(client: httpx.AsyncClient) -> list[bool]:
        chat = await begun(client)
        saying = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Well?"}))
        assert await asyncio.to_thread(agent.thinking.wait, 120)
        closing = asyncio.create_task(context.chats.close())
        await asyncio.sleep(0.05)
        context.chats.give_up()
        await closing  # the agent thinks on
        agent.free.set()
        await saying
        return [message["unanswered"] for message in await messages_of(client, chat)]

    assert in_process(context, stopping) == [True]


def test_a_message_is_marked_before_anybody_thinks_of_an_answer(blocking: tuple[Blocking, AppContext]) -> None:
    """So that a server that is killed then has it marked."""
    agent, context = blocking

    async def looking(client: httpx.AsyncClient) -> list[bool]:
        chat = await begun(client)
        saying = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Well?"}))
        assert await asyncio.to_thread(agent.thinking.wait, 120)
        before = [message["unanswered"] for message in await messages_of(client, chat)]
        agent.free.set()
        await saying
        return [*before, *(message["unanswered"] for message in await messages_of(client, chat))]

    assert in_process(context, looking) == [True, False, False]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("again", [False, True])
def test_a_reply_that_is_stopped_while_it_is_put_into_the_database_does_not_appear(
    remembering: tuple[Remembering, AppContext], monkeypatch: pytest.MonkeyPatch, moment: str, again: bool
) -> None:
    """The stop comes when the database's thread has taken up the reply: before it is written, or just after."""
    _, context = remembering
    writing, free = Event(), Event()
    append = store.append

    def slowly(
        db: Database, number: str, parent: int | None, message: store.Message, reserved: int | None = None
    ) -> store.Message:
        if not message.is_reply or not armed:
            return append(db, number, parent, message, reserved)
        stored = append(db, number, parent, message, reserved) if moment == "after" else None
        writing.set()
        assert free.wait(120)
        return stored or append(db, number, parent, message, reserved)

    monkeypatch.setattr(store, "append", slowly)
    armed: list[bool] = []

    async def stopping(client: httpx.AsyncClient) -> list[str]:
        chat = await begun(client)
        path = f"/api/chats/{chat}/messages"
        if again:
            first = events_of(await client.post(path, json={"text": "Well?"}))[-2][1]
            path += f"/{first['id']}/retry"
        armed.append(True)
        saying = asyncio.create_task(client.post(path, json={"text": "Well?"}))
        assert await asyncio.to_thread(writing.wait, 120)
        stop = asyncio.create_task(client.post(f"/api/chats/{chat}/stop", json={}))
        async with asyncio.timeout(120):
            while not any(stream.stopped for stream in context.chats._streams):
                await asyncio.sleep(0.01)
        free.set()
        assert (await stop).status_code == 200
        await saying
        await context.chats.close()
        return [message["text"] for message in await messages_of(client, chat)]

    assert in_process(context, stopping) == ["Well?", *(["Ines Vale has heard 1 things and said 0."] if again else [])]


def test_a_stop_names_what_was_heard_last_so_that_a_reply_still_on_its_way_goes_and_one_that_was_seen_stays(
    remembering: tuple[Remembering, AppContext],
) -> None:
    _, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, characters=["Ines Vale", "Tobias Rook"])

    async def stopping(client: httpx.AsyncClient) -> list[tuple[str, bool]]:
        context.chats.pace_s = 60  # the first word is told, and then nothing for long
        listening = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Good day, all!"}))
        while len(seen := await messages_of(client, chat)) < 3:
            await asyncio.sleep(0.02)
        stopped = await client.post(f"/api/chats/{chat}/stop", json={"after": seen[1]["id"]})
        listening.cancel()
        return [(message["author"], message["unanswered"]) for message in stopped.json()["messages"]]

    assert in_process(context, stopping) == [("You", False), ("Ines Vale", False)]


def test_a_stop_in_one_tab_leaves_alone_what_another_tab_waits_for(blocking: tuple[Blocking, AppContext]) -> None:
    agent, context = blocking

    async def stopping(client: httpx.AsyncClient) -> list[tuple[str, str]]:
        chat = await begun(client)
        first_tab = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "first"}))
        assert await asyncio.to_thread(agent.thinking.wait, 120)
        first = (await messages_of(client, chat))[0]["id"]
        second_tab = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "second"}))
        await asyncio.sleep(0.1)
        await client.post(f"/api/chats/{chat}/stop", json={"after": first})
        agent.free.set()
        await asyncio.gather(first_tab, second_tab)
        return [(message["author"], message["text"]) for message in await messages_of(client, chat)]

    said_now = in_process(context, stopping)
    assert [text for author, text in said_now if author == "You"] == ["first", "second"]
    assert [author for author, _ in said_now] == ["You", "You", "Ines Vale"]


@pytest.mark.parametrize("what", ["message", "chat"])
def test_what_is_deleted_while_it_is_told_is_told_no_further(
    remembering: tuple[Remembering, AppContext], what: str
) -> None:
    _, context = remembering
    context.chats.pace_s = 1

    async def deleting(client: httpx.AsyncClient) -> list[str]:
        chat = await begun(client)
        listening = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Well?"}))
        while len(seen := await messages_of(client, chat)) < 2:
            await asyncio.sleep(0.002)
        path = f"/api/chats/{chat}" + (f"/messages/{seen[0]['id']}" if what == "message" else "")
        assert (await client.delete(path)).is_success
        return [name for name, _ in events_of(await listening)]

    assert "done" not in in_process(context, deleting)


def test_a_message_is_answered_anew_as_of_its_own_moment_whatever_the_chat_was_moved_to(
    remembering: tuple[Remembering, AppContext],
) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, at="2.1", speaker="Tobias Rook")
    first = said(ask, chat, "I took the key.")[0][1]["id"]
    ask("PATCH", f"/api/chats/{chat}", json={"at": "1.2", "speaker": None, "characters": ["Tobias Rook"]})
    events_of(ask("POST", f"/api/chats/{chat}/messages/{first}/retry"))
    situation, history = agent.heard[-1]
    assert [(turn.speaker, turn.text) for turn in history] == [("Tobias Rook", "I took the key.")]
    assert (situation.persona.name, situation.persona.moment.dotted) == ("Ines Vale", "2.1")
    assert situation.faced is not None
    assert situation.faced.name == "Tobias Rook"
    events_of(ask("POST", f"/api/chats/{chat}/messages/{first}/edit", json={"text": "I sold it."}))
    situation, history = agent.heard[-1]
    assert [(turn.speaker, turn.text) for turn in history] == [("Tobias Rook", "I sold it.")]
    assert (situation.persona.name, situation.persona.moment.dotted) == ("Ines Vale", "2.1")


def test_a_branch_stands_where_the_chat_stood_at_its_message(remembering: tuple[Remembering, AppContext]) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, at="2.1", characters=["Ines Vale"], speaker="Tobias Rook")
    said(ask, chat, "I took the key.")
    moved = {"at": "1.2", "characters": ["Tobias Rook", "Ines Vale"], "speaker": None}
    assert ask("PATCH", f"/api/chats/{chat}", json=moved).status_code == 200
    said(ask, chat, "Tobias, who are you?")
    messages = ask("GET", f"/api/chats/{chat}").json()["messages"]
    early = ask("POST", f"/api/chats/{chat}/messages/{messages[1]['id']}/branch").json()
    assert (early["at"], early["speaker"], [character["name"] for character in early["characters"]]) == (
        "2.1",
        "Tobias Rook",
        ["Ines Vale"],
    )
    late = ask("POST", f"/api/chats/{chat}/messages/{messages[3]['id']}/branch").json()
    assert (late["at"], late["speaker"], [character["name"] for character in late["characters"]]) == (
        "1.2",
        None,
        ["Tobias Rook", "Ines Vale"],
    )
    said(ask, early["id"], "And now?")
    assert agent.heard[-1][0].persona.name == "Ines Vale"
    assert [turn.text for turn in agent.heard[-1][1]][::2] == ["I took the key.", "And now?"]


def test_a_branch_of_messages_that_do_not_tell_who_was_there_has_who_answered_and_who_is_there_now(
    remembering: tuple[Remembering, AppContext],
) -> None:
    _, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, at="2.1", speaker="Tobias Rook")
    reply = said(ask, chat, "I took the key.")[-2][1]["id"]
    ask("PATCH", f"/api/chats/{chat}", json={"at": "2.2", "characters": ["Mara Quill", "Tobias Rook"], "speaker": None})
    asyncio.run(context.database.run(lambda db: db.rows("UPDATE messages SET present = NULL")))
    branch = ask("POST", f"/api/chats/{chat}/messages/{reply}/branch").json()
    assert (branch["at"], branch["speaker"]) == ("2.1", "Tobias Rook")
    assert [character["name"] for character in branch["characters"]] == ["Ines Vale", "Mara Quill"]


def test_a_branch_follows_the_story_as_it_is_on_now(
    remembering: tuple[Remembering, AppContext], tmp_path: Path
) -> None:
    agent, context = remembering
    ask = reaching(make_app(context))
    chat = begin(ask, at="2.1", characters=["Tobias Rook", "Mara Quill"])
    first = said(ask, chat, "Tobias, where is it?")[-2][1]["id"]
    ask("PATCH", f"/api/chats/{chat}", json={"at": "2.2"})
    later = said(ask, chat, "Tobias, and now?")[-2][1]["id"]
    folder = brass_key(tmp_path / "brass-key")
    (folder / "act-2.txt").write_text(ACT_2.partition("## scene 2")[0], encoding="utf-8")
    (folder / "act-1.txt").write_text(ACT_1.replace(", Mara Quill", "").replace("MARA:", "TOBIAS:"), encoding="utf-8")
    cast = (folder / "cast.toml").read_text(encoding="utf-8")
    early, _, _ = cast.partition('[[relation]]\nof = "Ines Vale"\nto = "Tobias Rook"\naffection = 3')
    (folder / "cast.toml").write_text(early, encoding="utf-8")
    context.stories.put("brass-key", read(folder))
    branch = ask("POST", f"/api/chats/{chat}/messages/{first}/branch").json()
    assert [character["name"] for character in branch["characters"]] == [
        "Tobias Rook"
    ]  # Mara is in no scene of it any more
    refused = ask("POST", f"/api/chats/{chat}/messages/{later}/branch")
    assert refused.status_code == 409
    assert "read anew" in refused.json()["error"]["message"]
    moved = ask("PATCH", f"/api/chats/{chat}", json={"at": "end", "characters": ["Tobias Rook"]})
    assert (moved.status_code, moved.json()["difference"]) == (200, [])
    said(ask, chat, "Do you hear me?")
    assert [turn.text for turn in agent.heard[-1][1]][::2] == [
        "Tobias, where is it?",
        "Tobias, and now?",
        "Do you hear me?",
    ]
    context.stories.remove("brass-key")
    assert len(texts(ask, ask("POST", f"/api/chats/{chat}/messages/{first}/branch").json()["id"])) == 2


def _read(context: AppContext, chat: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = reaching(make_app(context))("GET", f"/api/chats/{chat}").json()["messages"]
    return messages
