"""Uploads over HTTP: sent, asked about, put right, saved again; and what is refused, with its status."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from samples import SAMPLES, TRANSCRIPT
from server.conftest import Ask, MakeContext, visiting
from stories import ACT_1, ACT_2, CAST
from understudy.agents import Scripted
from understudy.server.access import AccessPolicy
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.middleware import GuardMiddleware
from understudy.server.story_registry import StoryRegistry
from understudy.story.storyfile import Story
from uploading import FORM, NOVEL, form, read_novels_here

BRASS_KEY = [("cast.toml", CAST.encode()), ("act-1.txt", ACT_1.encode()), ("act-2.txt", ACT_2.encode())]


def send(ask: Ask, *files: tuple[str, bytes], path: str = "/api/uploads", **fields: str) -> httpx.Response:
    return ask("POST", path, content=form(files, fields), headers={"Content-Type": FORM})


def test_a_story_is_sent_listed_and_asked_about(ask: Ask) -> None:
    answer = send(ask, *BRASS_KEY)
    assert answer.status_code == 201
    report = answer.json()
    assert (report["state"], report["title"], report["language"]) == ("ready", "The Brass Key", "en")
    assert report["report"]["total"]["unread"] == 1
    assert report["report"]["unread"][0]["text"] == "% Should Mara be kinder here?"
    assert {person["name"]: person["aliases"] for person in report["report"]["cast"]}["Ines Vale"] == ["Ines"]
    assert report["cast_toml"].strip() == CAST.strip()
    (listed,) = ask("GET", "/api/uploads").json()["uploads"]
    assert listed["id"] == report["id"]
    assert "report" not in listed
    again = ask("GET", f"/api/uploads/{report['id']}", params={"unread": 0}).json()
    assert again["report"]["unread"] == []
    assert again["report"]["total"] == report["report"]["total"]
    cast = ask("GET", f"/api/stories/{report['story']}/cast", params={"at": "1.2"}).json()["cast"]
    assert [member["name"] for member in cast] == ["Ines Vale", "Tobias Rook"]  # elsewhere only as far as the moment


def test_a_data_folder_may_be_given_relative_to_where_the_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with AppContext.open(StoryRegistry({}), Scripted(["Yes."]), Path("data"), looks_for_people=False) as context:

        async def sent() -> httpx.Response:
            async with visiting(make_app(context)) as client:
                return await client.post("/api/uploads", content=form(BRASS_KEY, {}), headers={"Content-Type": FORM})

        answer = asyncio.run(sent())
    assert (answer.status_code, answer.json().get("state")) == (201, "ready"), answer.text


def test_where_it_is_stored_is_not_told(ask: Ask, context: AppContext) -> None:
    folder = str(Path(context.database.location).parent)
    response = send(ask, *BRASS_KEY)
    bad = send(ask, ("a.bin", b"\x00\x01"))
    assert folder not in response.text + bad.text + ask("GET", "/api/uploads").text


@pytest.mark.parametrize(
    ("files", "status", "message"),
    [
        ([("act.txt", b"")], 400, "act.txt: is empty"),
        ([("a.png", b"\x89PNG\r\n\x1a\n no picture")], 400, "a.png"),
        ([], 400, "no file was sent"),
    ],
)
def test_a_bad_upload_is_refused_in_the_readers_words(
    ask: Ask, files: list[tuple[str, bytes]], status: int, message: str
) -> None:
    answer = send(ask, *files)
    assert answer.status_code == status
    assert message in answer.json()["error"]["message"]


def test_what_is_no_form_is_refused(ask: Ask) -> None:
    assert ask("POST", "/api/uploads", json={"file": "a"}).status_code == 415


@pytest.mark.usefixtures("reading_in_thread")
def test_a_fix_is_made_and_taken_back(ask: Ask, context: AppContext) -> None:
    upload = send(ask, *BRASS_KEY).json()["id"]
    path = f"/api/uploads/{upload}"
    response = ask("PATCH", path, json={"fix": {"kind": "add-alias", "who": "Tobias Rook", "alias": "Toby"}})
    assert response.status_code == 200
    assert [fix["what"] for fix in response.json()["fixes"]] == ["Tobias Rook is also called Toby"]
    assert context.stories.story("the-brass-key").character("Toby").name == "Tobias Rook"
    response = ask("PATCH", path, json={"fix": {"kind": "merge", "who": "Mara Quill", "into": "Tobias Rook"}})
    assert response.json()["change"]["gone"] == ["Mara Quill"]
    assert response.json()["change"]["lines"] == {"Tobias Rook": [4, 5]}
    response = ask("POST", f"{path}/undo")
    assert response.json()["change"] == {
        "what": "Undone: Merged Mara Quill into Tobias Rook",
        "gone": [],
        "new": ["Mara Quill"],
        "lines": {"Tobias Rook": [5, 4]},
    }


WRONG_FIXES: list[tuple[dict[str, str], str]] = [
    ({"kind": "rename", "who": "Nobody", "to": "Somebody"}, "nobody in this story is called 'Nobody'"),
    ({"kind": "rename", "who": "Mara Quill"}, "to"),
    ({"kind": "rename", "who": "Mara Quill", "to": "Tobias"}, "merge the two"),
    ({"kind": "burn"}, "burn"),
    ({"kind": "language", "language": "tlh"}, "tlh"),
    ({"kind": "cast", "text": "[[character]]\nnme = 1"}, "cast.toml:1: 'nme' is unknown"),
]


def test_a_wrong_fix_is_refused(ask: Ask) -> None:
    upload = send(ask, *BRASS_KEY).json()["id"]
    for fix, message in WRONG_FIXES:
        answer = ask("PATCH", f"/api/uploads/{upload}", json={"fix": fix})
        assert answer.status_code == 400, fix
        assert message in answer.json()["error"]["message"], fix
        assert ask("GET", f"/api/uploads/{upload}").json()["fixes"] == [], fix


def test_files_are_read_as_the_format_that_is_named(ask: Ask) -> None:
    talk = ("talk.txt", b"Odile: No.\nBastien: Yes.\n")
    refused = send(ask, talk, form="TEI drama")
    assert refused.status_code == 400
    assert "--format" not in refused.json()["error"]["message"]
    report = send(ask, talk, form="transcript").json()
    assert (report["state"], report["form"]) == ("ready", "transcript")
    assert report["report"]["files"][0]["format"] == "transcript"
    guessed = send(ask, talk).json()  # another reading of the same file is another story
    assert (guessed["form"], guessed["already"]) == (None, False)
    assert send(ask, talk, form="transcr").json()["id"] == report["id"]
    unknown = send(ask, talk, form="papyrus")
    assert unknown.status_code == 400
    assert "there is no format 'papyrus'" in unknown.json()["error"]["message"]


def test_the_readers_advice_names_what_the_page_has(ask: Ask) -> None:
    message = send(ask, ("a.txt", b"Dear all,\n\nthe meeting is at noon.\n")).json()["error"]["message"]
    assert message.endswith("say so with 'Read as'.")
    assert "--format" not in message


def test_quotations_are_listed_and_decided(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    read_novels_here(monkeypatch)
    report = send(ask, ("The Tin Whistle.txt", NOVEL.encode())).json()
    assert (report["doubtful"], report["updating"]) == (4, False)
    path = f"/api/uploads/{report['id']}"
    listing = ask("GET", f"{path}/quotations", params={"limit": 1, "speaker": "Bastien"}).json()
    assert (listing["total"], len(listing["quotations"])) == (2, 1)
    number = listing["quotations"][0]["id"]
    answer = ask("PATCH", path, json={"fix": {"kind": "speaker", "quotation": number, "to": "Odile"}})
    assert answer.status_code == 200
    assert answer.json()["fixes"][0]["what"] == "“I was at school!” is said by Odile"
    (decided,) = ask("GET", f"{path}/quotations", params={"decided": True}).json()["quotations"]
    assert (decided["id"], decided["speaker"]) == (number, "Odile")
    assert ask("PATCH", path, json={"fix": {"kind": "not-speech", "quotation": number}}).status_code == 200
    assert ask("POST", f"{path}/undo").json()["change"]["what"].startswith("Undone: ")
    assert ask("GET", f"{path}/quotations", params={"decided": True}).json()["quotations"][0]["speaker"] == "Odile"


@pytest.mark.usefixtures("reading_in_thread")
def test_files_come_back_as_they_were_sent_to_be_saved_not_shown(ask: Ask) -> None:
    page = b"<html><script>alert(1)</script><p>ODILE: No.</p>\n<p>BASTIEN: Yes.</p></html>\n"
    upload = send(ask, ("évil quarrel.html", page), ("b.txt", TRANSCRIPT.encode())).json()
    assert upload["state"] == "ready"
    answer = ask("GET", f"/api/uploads/{upload['id']}/files/1")
    assert answer.content == page
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''%C3%A9vil%20quarrel.html"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for number in ("0", "3", "-1", "x", "²", "9" * 5000):
        assert ask("GET", f"/api/uploads/{upload['id']}/files/{number}").status_code == 404


@pytest.mark.usefixtures("reading_in_thread")
def test_the_story_file_can_be_saved_and_sent_again(ask: Ask, tmp_path: Any) -> None:
    upload = send(ask, *BRASS_KEY).json()["id"]
    saved = ask("GET", f"/api/uploads/{upload}/story")
    assert "the-brass-key.story" in saved.headers["content-disposition"]
    (tmp_path / "saved.story").write_bytes(saved.content)
    assert Story.open(tmp_path / "saved.story").title == "The Brass Key"
    again = send(ask, ("saved.story", saved.content)).json()
    assert (again["state"], again["fixable"]) == ("ready", False)
    refused = ask("PATCH", f"/api/uploads/{again['id']}", json={"fix": {"kind": "title", "title": "Other"}})
    assert refused.status_code == 409


@pytest.mark.usefixtures("reading_in_thread")
def test_deleting_and_bringing_back(ask: Ask) -> None:
    upload = send(ask, *BRASS_KEY).json()
    assert ask("DELETE", f"/api/uploads/{upload['id']}").json()["state"] == "deleted"
    assert ask("GET", f"/api/stories/{upload['story']}/cast").status_code == 404
    assert ask("POST", f"/api/uploads/{upload['id']}/restore").json()["state"] == "ready"
    assert ask("GET", f"/api/stories/{upload['story']}/cast").status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""), ("GET", "/progress"), ("GET", "/story"), ("GET", "/files/1"), ("GET", "/quotations"),
        ("DELETE", ""), ("POST", "/undo"),
        ("POST", "/restore"), ("PATCH", ""),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_to_be_not_there(ask: Ask, method: str, path: str) -> None:
    body = {"json": {"fix": {"kind": "title", "title": "x"}}} if method == "PATCH" else {}
    answer = ask(method, f"/api/uploads/nobody{path}", **body)
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "there is no such upload here"


def test_a_reading_can_be_followed(context: AppContext) -> None:
    async def followed() -> None:
        transport = httpx.ASGITransport(make_app(context), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for kind, state in (("script", "ready"), ("nothing", "failed")):
                name, make = SAMPLES.get(kind, ("act.bin", lambda: b"\x00\x01"))
                answer = await client.post(
                    "/api/uploads?wait=false", content=form([(name, make())]), headers={"Content-Type": FORM}
                )
                assert answer.json()["state"] == "reading"
                stream = await client.get(f"/api/uploads/{answer.json()['id']}/progress")
                assert stream.headers["content-type"].startswith("text/event-stream")
                blocks = [block.split("\n") for block in stream.text.strip().split("\n\n")]
                events = [
                    (name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks
                ]
                assert {name for name, _ in events[:-1]} == {"progress"}
                assert all(0 <= data["share"] <= 1 for _, data in events[:-1])
                assert events[-1][0] == "done"
                assert events[-1][1]["state"] == state
                listed = (await client.get("/api/uploads")).json()["uploads"]
                assert state in {upload["state"] for upload in listed}

    asyncio.run(followed())


@pytest.mark.usefixtures("reading_in_thread")
def test_the_guard_lets_uploads_bring_more_than_others(ask: Ask) -> None:
    long = (b"ODILE: " + b"No. " * 100 + b"\n") * 4_000
    assert send(ask, ("long.txt", long), path="/api/uploads").status_code == 201
    answer = ask(
        "PATCH", "/api/uploads/nobody", content=b" " * 70_000_000, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413


def test_what_several_put_right_at_once_is_all_kept(app: GuardMiddleware, reading_in_thread: None) -> None:
    async def run() -> tuple[list[int], dict[str, Any]]:
        async with visiting(app) as client:
            sent = await client.post("/api/uploads", content=form(BRASS_KEY, {}), headers={"Content-Type": FORM})
            upload = f"/api/uploads/{sent.json()['id']}"
            fixes = [
                {"fix": {"kind": "add-alias", "who": "Ines Vale", "alias": f"Vale {number}"}} for number in range(6)
            ]
            answers = await asyncio.gather(*(client.patch(upload, json=fix) for fix in fixes))
            return [answer.status_code for answer in answers], (await client.get(upload)).json()

    statuses, report = asyncio.run(run())
    (ines,) = [person for person in report["report"]["cast"] if person["name"] == "Ines Vale"]
    assert statuses == [200] * 6
    assert {f"Vale {number}" for number in range(6)} <= set(ines["aliases"])


READER, AUTHOR = "a readers' key that is long", "an authors' key that is long"


def test_a_reader_changes_no_upload_and_gets_none_of_its_files(
    make_context: MakeContext, reading_in_thread: None
) -> None:
    app = make_app(make_context(), AccessPolicy.for_host("0.0.0.0", AUTHOR, reader_key=READER))

    async def run() -> tuple[list[int], dict[str, Any], dict[str, Any]]:
        def asking(key: str) -> dict[str, str]:
            return {"Authorization": f"Bearer {key}"}

        async with visiting(app) as client:
            content, kind = form(BRASS_KEY, {}), {"Content-Type": FORM}
            sent = await client.post("/api/uploads", content=content, headers=asking(AUTHOR) | kind)
            upload = f"/api/uploads/{sent.json()['id']}"
            before = (await client.get(upload, headers=asking(AUTHOR))).json()
            fix = {"fix": {"kind": "add-alias", "who": "Ines Vale", "alias": "Mine"}}
            tried = [
                ("PATCH", "", fix), ("DELETE", "", None),
                ("POST", "/undo", None), ("POST", "/retry", {"form": "transcript"}), ("POST", "/restore", None),
                ("GET", "", None), ("GET", "/files/1", None), ("GET", "/story", None), ("GET", "/quotations", None),
            ]  # fmt: skip
            answers = [
                await client.request(method, upload + path, json=body, headers=asking(READER))
                for method, path, body in tried
            ]
            return [answer.status_code for answer in answers], before, (
                await client.get(upload, headers=asking(AUTHOR))).json()  # fmt: skip

    statuses, before, after = asyncio.run(run())
    assert statuses == [403] * 9
    assert before == after
