"""In a chat nothing that a participant is sent tells who the partner is, or who plays what, before it is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.studies.conftest import AskStudy, request
from understudy.progress import ignore_progress
from understudy.server.access import AccessPolicy
from understudy.server.middleware import RequestLimits
from understudy.server.studies import StudyContext
from understudy.server.studies.routes import make_study_app
from understudy.story.dialogue import Reply, Situation, Turn
from understudy.studies import Study
from understudy.studies.chatting import chat_view, reply_as_agent
from understudy.studies.kinds.chats import CHAT as KIND
from understudy.studies.store import StudyStore

PROFILES = [
    [f"i collect {what}.", f"my aunt sells {what}."] for what in ("stamps", "clocks", "roses", "boats", "coins")
]


class Quiet:
    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply("I am well.")


@pytest.fixture
def ask(store: StudyStore) -> AskStudy:
    policy = AccessPolicy.for_host("127.0.0.1", None)
    context = StudyContext(store, agents={"quiet-agent": Quiet()})
    app = make_study_app(context, policy, RequestLimits(token_burst=1_000, burst=10_000))
    return lambda method, path, **options: request(app, method, path, **options)


def begun(store: StudyStore, folder: Path, agents_percent: int, people: int) -> tuple[list[str], list[list[list[str]]]]:
    """Participants, and the personas of each chat."""
    (folder / "personas.jsonl").write_text("".join(json.dumps({"persona": each}) + "\n" for each in PROFILES))
    material = {"personas": "personas.jsonl", "chats": 1, "turns": [2, 2], "agents": ["quiet-agent"], "rate": True,
                "agents_percent": agents_percent, "arrives_s": [0, 0], "writes_s": [0, 0]}  # fmt: skip
    study = Study("chat", "Talk", people_per_item=2, items_per_person=1, material=material, folder=folder)
    items = [replace(item, hidden={**item.hidden, "begins": 0}) for item in KIND.items(study, ignore_progress)]
    store.add_study("chats", study, items)
    return store.invite("chats", people), [item.hidden["personas"] for item in items]


@pytest.mark.parametrize(("agents_percent", "people"), [(100, 1), (0, 2)])
def test_nothing_tells_who_the_partner_is(
    ask: AskStudy, store: StudyStore, tmp_path: Path, agents_percent: int, people: int
) -> None:
    tokens, ((first, second),) = begun(store, tmp_path, agents_percent, people)
    sent: dict[str, list[str]] = {token: [] for token in tokens}

    def asked(token: str, method: str, path: str, **options: Any) -> Any:
        response = ask(method, path.format(token=token), **options)
        sent[token].append(f"{response.headers} {response.text}")
        return response

    for token in tokens:
        asked(token, "GET", "/take/{token}")
        asked(token, "GET", "/api/take/{token}")
        assert asked(token, "POST", "/api/take/{token}/consent", json={"asked": {}}).status_code == 200
        asked(token, "GET", "/api/take/{token}/chat")
    chat: dict[str, Any] = {}
    for turn in range(2 * 2):
        token = tokens[turn % len(tokens)]
        body = {"text": f"Well then, number {turn}.", "key": f"k{turn}"}
        if people > 1 or turn % 2 == 0:
            assert asked(token, "POST", "/api/take/{token}/chat", json=body).status_code == 200
        elif (item := chat_view(store, token).item) is not None:
            reply_as_agent(store, item, Quiet())  # whatever has become of the one that the server began
        for each in tokens:
            chat = asked(each, "GET", "/api/take/{token}/chat").json()
            asked(each, "GET", "/api/take/{token}")
            asked(each, "GET", "/take/{token}")
    assert chat["state"] == "over" and len(chat["messages"]) == 4
    for token, profile in zip(tokens, (first, second)):
        text = "".join(sent[token][: -2 * len(tokens)])  # what comes last asks which of two profiles it was
        other = second if profile is first else first
        assert profile[0] in text
        assert not [sentence for each in PROFILES if each != profile for sentence in each if sentence in text]
        assert other[0] not in text
        everything = "".join(sent[token])
        for secret in ("quiet-agent", *(each for each in tokens if each != token)):
            assert secret not in everything
        for hidden in ("agents", 'partner":', 'right":', "foil", "arrives_s", "writes_s", "begins"):
            assert f'"{hidden}' not in everything, hidden
