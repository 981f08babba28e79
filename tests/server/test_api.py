"""The project's own routes, as a client sees them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from server.conftest import Ask
from understudy.formats.cards.file import parse_card
from understudy.server.context import AppContext

STORY = "/api/stories/brass-key"


def get(ask: Ask, path: str, **query: Any) -> Any:
    response = ask("GET", path, params=query)
    assert response.status_code == 200, response.text
    return response.json()


def test_stories(ask: Ask) -> None:
    stories = get(ask, "/api/stories")["stories"]
    assert {
        "name": "brass-key",
        "title": "The Brass Key",
        "language": "en",
        "levels": ["act", "scene", "line"],
    } in stories


def test_the_cast_grows_with_the_moment(ask: Ask) -> None:
    def names(at: str) -> list[str]:
        return [member["name"] for member in get(ask, f"{STORY}/cast", at=at)["cast"]]

    assert names("1.1") == []
    assert names("1.2") == ["Ines Vale", "Tobias Rook"]
    assert set(names("2.1")) == {"Ines Vale", "Tobias Rook", "Mara Quill"}
    assert get(ask, f"{STORY}/cast")["moment"] == "end"


def test_scenes_come_a_page_at_a_time_and_end_at_the_moment(ask: Ask) -> None:
    first = get(ask, f"{STORY}/scenes", at="2.1.2", limit=2)
    assert [scene["moment"] for scene in first["scenes"]] == ["1.1", "1.2"] and first["next"] == "2.1"
    second = get(ask, f"{STORY}/scenes", at="2.1.2", limit=2, since=first["next"])
    (scene,) = second["scenes"]
    assert second["next"] is None
    assert [line["text"] for line in scene["lines"]] == ["I am sorry about the key. I took it."]


def test_who_enters_later_is_not_present_yet(ask: Ask) -> None:
    (scene,) = get(ask, "/api/stories/demo/scenes", at="1.1.1.3", limit=5)["scenes"]
    whole = get(ask, "/api/stories/demo/scenes", at="1.1.2", limit=1)["scenes"][0]
    assert len(scene["lines"]) == 2 and set(scene["present"]) <= set(whole["present"])


def test_the_timeline_tells_what_was_reached(ask: Ask) -> None:
    stops = {stop["moment"]: stop for stop in get(ask, f"{STORY}/timeline", at="1.2")["stops"]}
    assert stops["1.1"]["setting"] == "The chandlery, noon" and stops["1"]["title"] == "Low Water"
    assert stops["2.2"] == {"moment": "2.2", "reached": False, "title": "", "setting": "", "lines": None}


def test_a_persona_at_a_moment(ask: Ask) -> None:
    early = get(ask, f"{STORY}/characters/Ines", at="1.2", facing="Tobias", last=1)
    late = get(ask, f"{STORY}/characters/Ines Vale", at="2.2")
    assert early["character"] == "Ines Vale" and early["facing"]["name"] == "Tobias Rook"
    assert [tie["level"] for tie in early["relations"]] == [7] and len(early["lines"]) == 1
    assert [tie["level"] for tie in late["relations"]] == [3] and "facing" not in late


def test_those_who_are_not_on_yet_are_as_unknown_as_anybody(ask: Ask) -> None:
    not_yet = ask("GET", f"{STORY}/characters/Mara", params={"at": "1.2"})
    never = ask("GET", f"{STORY}/characters/Nora", params={"at": "1.2"})
    assert not_yet.status_code == never.status_code == 404
    assert not_yet.text.replace("Mara", "Nora") == never.text
    assert ask("GET", f"{STORY}/characters/Mara", params={"at": "2.1"}).status_code == 200
    assert ask("GET", f"{STORY}/characters/Ines", params={"at": "start"}).status_code == 200


def test_a_card_as_json_and_in_a_picture(ask: Ask) -> None:
    path = f"{STORY}/characters/Ines"
    plain = ask("GET", f"{path}/card.json", params={"at": "1.2"})
    picture = ask("GET", f"{path}/card.png", params={"at": "1.2"})
    assert plain.headers["content-disposition"].endswith("filename*=UTF-8''Ines%20Vale.json")
    assert picture.headers["content-type"] == "image/png"
    card = parse_card(picture.content)
    assert card.name == plain.json()["data"]["name"] == "Ines Vale"
    assert card.extension("understudy")["moment"] == "1.2"
    assert ask("GET", f"{path}/card.json", params={"spec": 2}).json()["spec"] == "chara_card_v2"


def test_a_reply_with_its_evidence(ask: Ask) -> None:
    request = {"story": "brass-key", "character": "Ines", "at": "2.1", "facing": "Tobias", "message": "Well?"}
    first = ask("POST", "/api/replies", json=request)
    assert first.json()["reply"] == "This is the line numbered 1." and first.json()["evidence"][0]["kind"] == "script"
    history = [{"speaker": "Tobias Rook", "text": "Ines?"}, {"speaker": "Ines Vale", "text": "Yes?"}]
    second = ask("POST", "/api/replies", json={**request, "history": history})
    assert second.json()["reply"] == "This is the line numbered 2."


def test_health_and_figures(ask: Ask) -> None:
    assert get(ask, "/health")["status"] == "ok"
    ask("GET", f"{STORY}/cast", params={"at": "1.2"})
    ask("GET", "/nothing")
    request = {"story": "brass-key", "character": "Ines", "message": "Well?"}
    ask("POST", "/api/replies", json=request)
    figures = ask("GET", "/metrics").text
    assert 'understudy_requests_total{method="GET",route="/api/stories/{story}/cast",status="200"} 1.0' in figures
    assert 'understudy_requests_total{method="GET",route="other",status="404"} 1.0' in figures
    assert 'understudy_request_seconds_count{route="/api/replies"} 1.0' in figures
    assert "understudy_replies 1.0" in figures
    assert "understudy_queue_waiting 0.0" in figures and "understudy_streams_open 0.0" in figures


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/stories/nowhere/cast", 404),
        (f"{STORY}/cast?at=99.9", 404),
        (f"{STORY}/cast?at=noon", 404),
        (f"{STORY}/scenes?limit=0", 400),
        (f"{STORY}/scenes?limit=few", 400),
        (f"{STORY}/characters/Ines?facing=Ines", 400),
        ("/api", 404),
        ("/API/stories", 404),
    ],
)
def test_errors_have_one_shape(ask: Ask, path: str, status: int) -> None:
    response = ask("GET", path)
    assert response.status_code == status
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}


def test_a_story_that_was_read_anew_is_told_anew(context: AppContext) -> None:
    from understudy.server.story_registry import ModelName

    registry, name = context.stories, ModelName("again", "Ines", "2.1")
    story = registry.story("brass-key")
    registry.put("again", story)
    first = registry.character(name).situation
    assert registry.character(name).situation is first  # agents know a persona again by its being the same
    registry.put("again", story)
    assert registry.character(name).situation is not first
    assert asyncio.run(registry.character_async(name)).situation is registry.character(name).situation
