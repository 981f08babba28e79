from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

from understudy.formats.cards import picture_of, portrait, read_charx
from understudy.formats.cards.document import card_of
from understudy.formats.cards.file import charx_of

Run = Callable[..., Result]
Document = Callable[..., Any]


def test_a_card_of_a_moment_holds_nothing_later(run: Run, document: Document, story: Path) -> None:
    assert "ines.png" in run("card", story, "Ines", "--at", "2.1", "-o", "ines.png").stdout
    card = document("card", "ines.png")
    assert card["data"]["name"] == "Ines Vale"
    assert "I keep the keys of the harbour." in card["data"]["description"]
    assert "lighthouse" not in json.dumps(card)


def test_converting_keeps_what_others_put_in(run: Run, document: Document, tmp_path: Path) -> None:
    card = {
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": {"name": "Hugo", "description": "A clock.", "odd": [1, {"deep": None}], "extensions": {"x": {"y": 1}}},
        "also odd": True,
    }
    source = tmp_path / "hugo.json"
    source.write_text(json.dumps(card))
    run("card", source, "-o", "hugo.png")
    run("card", "hugo.png", "-o", "hugo.json")
    assert json.loads(Path("hugo.json").read_text()) == card
    assert document("card", "hugo.png") == card


def test_the_version_that_is_asked_for(run: Run, document: Document, story: Path) -> None:
    for spec in ("2", "3"):
        run("card", story, "Ines", "-o", f"{spec}.json", "--spec", spec)
        assert document("card", f"{spec}.json")["spec"] == f"chara_card_v{spec}"


def test_a_look_into_a_card(run: Run, story: Path) -> None:
    run("card", story, "Ines", "-o", "ines.json")
    assert "I keep the keys of the harbour." in run("card", "ines.json").stdout


def test_what_is_no_card_and_what_is_there_already(run: Run, story: Path) -> None:
    assert "act-1.txt" in run("card", story / "act-1.txt", status=1).stderr
    Path("ines.json").write_text("precious")
    assert "--force" in run("card", story, "Ines", "-o", "ines.json", status=1).stderr
    assert Path("ines.json").read_text() == "precious"


def test_a_story_has_many_cards(run: Run, story: Path) -> None:
    run("read", story, "-o", "keys.story")
    for what in ("demo", story, "keys.story"):
        assert "say whose card" in run("card", what, status=2).stderr


def test_from_a_picture_to_a_story_and_back_it_is_the_same_picture(run: Run, document: Document) -> None:
    data = {"name": "Hugo", "description": "A clock.", "first_mes": "Tick.", "extensions": {}}
    Path("hugo.json").write_text(json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}))
    run("card", "hugo.json", "-o", "hugo.png")
    run("read", "hugo.png", "-o", "hugo.story")
    run("card", "hugo.story", "Hugo", "-o", "back.png")
    back, forth = (picture_of(Path(name).read_bytes()) for name in ("back.png", "hugo.png"))
    assert back == forth is not None
    card = document("card", "back.png")
    assert card["spec"] == "chara_card_v2"
    assert {field: card["data"][field] for field in ("name", "description", "first_mes")} == {
        field: data[field] for field in ("name", "description", "first_mes")
    }


def test_charx_keeps_its_assets_and_says_what_another_form_cannot_carry(run: Run, document: Document) -> None:
    smile = {"type": "emotion", "name": "smile", "ext": "webp", "uri": "embeded://assets/smile.webp"}
    data = {"name": "Hugo", "description": "A clock.", "assets": [smile], "group_only_greetings": []}
    hugo = card_of({"spec": "chara_card_v3", "spec_version": "3.0", "data": data})
    Path("hugo.charx").write_bytes(charx_of(hugo, portrait("Hugo"), {"assets/smile.webp": b"RIFF"}))
    assert "assets/smile.webp" in run("card", "hugo.charx").stdout
    run("card", "hugo.charx", "-o", "again.charx")
    assert Path("again.charx").read_bytes() == Path("hugo.charx").read_bytes()
    said = run("card", "hugo.charx", "-o", "hugo.png").stderr
    assert "1 of its assets: assets/smile.webp" in said
    assert picture_of(Path("hugo.png").read_bytes()) == portrait("Hugo")
    run("read", "hugo.charx", "-o", "hugo.story")
    assert "assets/smile.webp" in run("card", "hugo.story", "Hugo", "-o", "third.charx").stderr
    third = read_charx(Path("third.charx"))
    assert third.icon == portrait("Hugo")
    assert [asset["name"] for asset in third.card.data["assets"]] == ["main"]
    assert document("card", "third.charx")["data"]["description"] == "A clock."
