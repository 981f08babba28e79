"""What a user tells of themselves, where they asked to be remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.chats.conftest import events_of
from server.chats.test_service import BEGUN, reaching
from server.conftest import MakeContext
from understudy.people.memory import MEMORY_FILE
from understudy.server.access import AccessPolicy
from understudy.server.app import make_app
from writers import Writer

INES = {**BEGUN, "characters": ["Ines"], "at": "2.1"}


class Visit:
    """Chats of one user, and what the agent was given."""

    def __init__(self, make_context: MakeContext) -> None:
        self.writer = Writer()
        self.context = make_context(self.writer)
        self.ask = reaching(make_app(self.context))

    @property
    def folder(self) -> Path:
        return self.context.folder.path

    def begin(self, name: str | None = "Tom", **changed: Any) -> str:
        chat: str = self.ask("POST", "/api/chats", json={**INES, **changed}).json()["id"]
        if name is not None:
            assert self.memory(chat, "PATCH", json={"name": name})["name"] == name
        return chat

    def memory(self, chat: str, method: str = "GET", path: str = "", **arguments: Any) -> dict[str, Any]:
        answer = self.ask(method, f"/api/chats/{chat}/memory{path}", **arguments)
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def texts(self, chat: str) -> list[str]:
        return [sentence["text"] for sentence in self.memory(chat)["remembered"]]

    def say(self, chat: str, text: str) -> list[str]:
        """What the character had been told by then, in earlier chats."""
        events_of(self.ask("POST", f"/api/chats/{chat}/messages", json={"text": text}))
        faced = self.writer.heard[-1][0].faced
        return [] if faced is None else [told.text for told in faced.told]


@pytest.fixture
def visit(make_context: MakeContext) -> Visit:
    return Visit(make_context)


def test_off_by_default_and_nothing_is_kept(visit: Visit) -> None:
    chat = visit.begin(name=None)
    visit.say(chat, "I work at the harbour.")
    assert visit.memory(chat) == {"name": None, "remembered": [], "undo": False}
    assert not (visit.folder / MEMORY_FILE).exists()


def test_a_later_chat_with_the_same_character_knows_it(visit: Visit) -> None:
    first = visit.begin()
    assert visit.say(first, "I work at the harbour.") == []
    (sentence,) = visit.memory(first)["remembered"]
    assert (sentence["character"], sentence["text"], sentence["turn"]) == ("Ines Vale", "I work at the harbour", 1)
    assert sentence["here"] and sentence["moment"] == "2.1" and sentence["chat"] == first
    later = visit.begin()
    assert visit.texts(later) == ["I work at the harbour"]
    assert visit.say(later, "Hello again.") == ["I work at the harbour"]


@pytest.mark.parametrize(
    "changed", [{"at": "1.2"}, {"characters": ["Tobias"]}, {"story": "demo", "characters": ["Zita"]}]
)
def test_nobody_who_was_not_told_knows_it(visit: Visit, changed: dict[str, Any]) -> None:
    visit.say(visit.begin(), "I work at the harbour.")
    later = visit.begin(**changed)
    assert visit.texts(later) == [] and visit.say(later, "Hello.") == []


def test_another_name_is_another_person(visit: Visit) -> None:
    visit.say(visit.begin(), "I work at the harbour.")
    assert visit.texts(visit.begin("Una")) == []


def test_everybody_in_the_scene_is_told(visit: Visit) -> None:
    visit.say(visit.begin(characters=["Ines", "Tobias"], at="2.2"), "I work at the harbour.")
    assert visit.texts(visit.begin(characters=["Tobias"], at="2.2")) == ["I work at the harbour"]


def test_switched_off_nothing_more_is_kept_or_known(visit: Visit) -> None:
    first = visit.begin()
    visit.say(first, "I work at the harbour.")
    visit.memory(first, "PATCH", json={"name": None})
    visit.say(first, "I have two dogs.")
    assert visit.texts(visit.begin()) == ["I work at the harbour"]
    assert visit.say(visit.begin(name=None), "Hello.") == []


def test_edited_forgotten_and_undone(visit: Visit) -> None:
    chat = visit.begin()
    visit.say(chat, "I work at the harbour. I have two dogs.")
    first, second = (sentence["number"] for sentence in visit.memory(chat)["remembered"])
    visit.memory(chat, "PATCH", f"/{first}", json={"text": "I work at the shipyard"})
    visit.memory(chat, "DELETE", f"/{second}")
    assert visit.texts(chat) == ["I work at the shipyard"]
    assert b"two dogs" not in (visit.folder / MEMORY_FILE).read_bytes()
    assert visit.memory(chat)["undo"]
    assert not visit.memory(chat, "POST", "/undo")["undo"]
    assert visit.texts(chat) == ["I work at the shipyard", "I have two dogs"]
    visit.memory(chat, "DELETE")
    assert visit.texts(chat) == []


def test_what_is_said_differently_takes_the_place_of_what_was_told(visit: Visit) -> None:
    chat = visit.begin()
    visit.say(chat, "I work at the harbour.")
    message = visit.ask("GET", f"/api/chats/{chat}").json()["messages"][0]["id"]
    events_of(visit.ask("POST", f"/api/chats/{chat}/messages/{message}/edit", json={"text": "I work at a mill."}))
    assert visit.texts(chat) == ["I work at a mill"]


def test_what_is_deleted_was_not_told(visit: Visit) -> None:
    chat = visit.begin()
    visit.say(chat, "I work at the harbour.")
    visit.say(chat, "I have two dogs.")
    message = visit.ask("GET", f"/api/chats/{chat}").json()["messages"][2]["id"]
    visit.ask("DELETE", f"/api/chats/{chat}/messages/{message}")
    assert visit.texts(chat) == ["I work at the harbour"]
    visit.ask("POST", f"/api/chats/{chat}/messages/{message}/restore")
    assert visit.texts(chat) == ["I work at the harbour", "I have two dogs"]
    visit.ask("DELETE", f"/api/chats/{chat}/messages/{message}")
    visit.ask("DELETE", f"/api/chats/{chat}")
    later = visit.begin()
    assert visit.texts(later) == []
    assert b"harbour" not in (visit.folder / MEMORY_FILE).read_bytes()
    visit.ask("POST", f"/api/chats/{chat}/restore")
    assert visit.texts(chat) == visit.texts(later) == ["I work at the harbour"]


def test_what_was_forgotten_before_a_message_was_deleted_stays_forgotten(visit: Visit) -> None:
    chat = visit.begin()
    visit.say(chat, "I work at the harbour.")
    visit.say(chat, "I have two dogs.")
    message = visit.ask("GET", f"/api/chats/{chat}").json()["messages"][2]["id"]
    visit.ask("DELETE", f"/api/chats/{chat}/messages/{message}")
    visit.memory(chat, "DELETE")
    visit.ask("POST", f"/api/chats/{chat}/messages/{message}/restore")
    assert visit.texts(chat) == ["I have two dogs"]


def test_what_cannot_be_is_refused(visit: Visit) -> None:
    chat = visit.begin(name=None)
    address = f"/api/chats/{chat}/memory"
    assert visit.ask("PATCH", address, json={"name": "Tobias"}).status_code == 400
    assert visit.ask("DELETE", address).status_code == 409
    visit.memory(chat, "PATCH", json={"name": "Tom"})
    assert visit.ask("DELETE", f"{address}/7").status_code == 404
    assert visit.ask("DELETE", f"{address}/x").status_code == 404
    assert visit.ask("POST", f"{address}/undo").status_code == 409
    assert visit.ask("GET", "/api/chats/none/memory").status_code == 404


def test_from_another_chat_nothing_can_be_changed_that_is_not_known_there(visit: Visit) -> None:
    chat = visit.begin()
    visit.say(chat, "I work at the harbour.")
    number = visit.memory(chat)["remembered"][0]["number"]
    other = visit.begin(characters=["Tobias"], at="2.2")
    assert visit.ask("DELETE", f"/api/chats/{other}/memory/{number}").status_code == 404


def test_readers_who_share_a_server_cannot_look_each_other_up(make_context: MakeContext) -> None:
    policy = AccessPolicy.for_host("127.0.0.1", "a" * 20, reader_key="b" * 20)
    ask, reader = reaching(make_app(make_context(), policy)), {"Authorization": f"Bearer {'b' * 20}"}
    chat = ask("POST", "/api/chats", json=INES, headers=reader).json()["id"]
    refused = ask("PATCH", f"/api/chats/{chat}/memory", json={"name": "Tom"}, headers=reader)
    assert refused.status_code == 403
    assert "data-remember" not in ask("GET", f"/chats/{chat}", headers=reader).text
