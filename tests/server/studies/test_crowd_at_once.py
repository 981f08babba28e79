"""A hundred people at once on bad connections: every answer is stored once, with the one who gave it."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from studyserver import StudyServer, study_server, write_likely
from understudy.studies.store import open_study_store

PEOPLE, ITEMS, EACH = 100, 40, 8


@dataclass
class Participant:
    """Somebody whose browser sends things twice, gives up waiting, and is reloaded."""

    client: httpx.AsyncClient
    take: str
    name: str
    rng: random.Random
    sent: dict[int, str] = field(default_factory=dict)
    """The answer by assignment, once the server has said that it has it."""

    async def take_part(self) -> None:
        view = await self.ask("GET", "")
        assert view["state"] == "consent"
        view = await self.ask("POST", "/consent", {"asked": {}})
        while view["state"] == "item":
            if self.rng.random() < 0.1:
                again = await self.ask("GET", "")
                assert (again["assignment"], again["item"]) == (view["assignment"], view["item"])
            view = await self.answer(view["assignment"])
        assert view["state"] == "done"

    async def answer(self, assignment: int) -> dict[str, Any]:
        answer = self.rng.choice(("likely", "unlikely"))
        body = {"assignment": assignment, "answer": {"likely": answer}, "comment": f"{self.name} {assignment}"}
        chance = self.rng.random()
        if chance < 0.15:
            given_up = asyncio.create_task(self.ask("POST", "/answers", body))
            await asyncio.sleep(self.rng.uniform(0, 0.05))
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
        copies = 2 if chance > 0.8 else 1
        views = await asyncio.gather(*(self.ask("POST", "/answers", body) for _ in range(copies)))
        assert all(view["assignment"] != assignment for view in views)
        self.sent[assignment] = answer
        return views[-1]

    async def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        try:
            response = await self.client.request(method, self.take + path, json=body)
        except httpx.TransportError:  # an idle connection that the server closes just then: browsers send again
            response = await self.client.request(method, self.take + path, json=body)
        assert response.status_code == 200, response.text
        document: dict[str, Any] = response.json()
        return document


async def crowd(server: StudyServer) -> list[Participant]:
    async with AsyncExitStack() as stack:
        people = []
        for number, token in enumerate(server.tokens, 1):
            client = await stack.enter_async_context(httpx.AsyncClient(verify=False, timeout=120))
            people.append(Participant(client, server.take(token), f"p{number}", random.Random(number)))
        await asyncio.gather(*(person.take_part() for person in people))
        return people


def test_every_answer_is_stored_once_with_who_gave_it(story: Path) -> None:
    study = write_likely(story, ITEMS, people_per_item=PEOPLE, items_per_person=EACH)
    with study_server(study, "--links", str(PEOPLE)) as server:
        people = asyncio.run(crowd(server))
    with open_study_store(study.parent / "studies.db") as store:
        rows = store.database.rows(
            """SELECT assignments.id, code, item, answer, comment FROM assignments JOIN people ON people.id = person
               WHERE answered IS NOT NULL"""
        )
        ((left,),) = store.database.rows("SELECT count(*) FROM assignments WHERE answered IS NULL")
    sent = {assignment: (person.name, answer) for person in people for assignment, answer in person.sent.items()}
    assert {number: (code, answer) for number, code, _, answer, _ in rows} == {
        number: (name, f'{{"likely": "{answer}"}}') for number, (name, answer) in sent.items()
    }
    assert all(comment == f"{code} {number}" for number, code, _, _, comment in rows)
    assert len(rows) == len(sent) == PEOPLE * EACH and left == 0
    assert len({(code, item) for _, code, item, _, _ in rows}) == len(rows)
    given = Counter(item for _, _, item, _, _ in rows)
    assert len(given) == ITEMS and max(given.values()) - min(given.values()) <= 2  # nobody is given one twice
