"""Which models a server lists."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from understudy.agents import Scripted
from understudy.formats import read
from understudy.server.app import make_app
from understudy.server.context import AppContext, Listed
from understudy.server.story_registry import StoryRegistry
from understudy.story.storyfile import Story


def listed(stories: dict[str, Story], folder: Path, which: Listed) -> list[str]:
    async def get() -> Any:
        with AppContext.open(StoryRegistry(stories), Scripted(), folder, listed=which) as context:
            transport = httpx.ASGITransport(make_app(context))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return (await client.get("/v1/models")).json()

    return [model["id"] for model in asyncio.run(get())["data"]]


def test_a_setting_chooses_which(stories: dict[str, Story], tmp_path: Path) -> None:
    main, end, everybody = (listed(stories, tmp_path / which, which) for which in ("main", "end", "all"))
    assert set(end) < set(main) < set(everybody)
    assert len({name.partition("@")[0] for name in end}) == len(end)
    assert [name for name in end if "@" in name] == ["demo/Ignace Bohm@3.2.2"]  # he does not live to see the end
    assert "demo/Leopold Verrano" in everybody and "demo/Leopold Verrano" not in main


@pytest.fixture
def with_examples(tmp_path: Path) -> Story:
    data = {
        "name": "Mara",
        "description": "Mara keeps the ferry.",
        "mes_example": "<START>\n{{user}}: Is it deep?\n{{char}}: Deep enough.",
        "first_mes": "Get in.",
    }
    card = tmp_path / "mara.json"
    card.write_text(json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}))
    return read(card)


def test_the_user_of_a_card_is_no_character(with_examples: Story, tmp_path: Path) -> None:
    for which in ("main", "end", "all"):
        names = listed({"mara": with_examples}, tmp_path / f"server-{which}", which)
        assert "mara/Mara" in names and not any("User" in name for name in names)
