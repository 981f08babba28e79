"""The stories view without scripts: every form works, users' words are escaped, and only one's own upload tells all."""

from __future__ import annotations

import re

import httpx
import pytest

from samples import TRANSCRIPT
from server.conftest import Ask
from stories import ACT_1, ACT_2, CAST
from understudy.server.context import AppContext
from understudy.server.pages.stories import bar
from understudy.server.uploads.routes import Total
from uploading import FORM, NOVEL, File, form, read_novels_here

BRASS_KEY: list[File] = [("cast.toml", CAST.encode()), ("act-1.txt", ACT_1.encode()), ("act-2.txt", ACT_2.encode())]
EVIL = '<script>alert("x")</script>'


def send(ask: Ask, *files: File, **fields: str) -> httpx.Response:
    return ask("POST", "/api/uploads/form", content=form(files, fields), headers={"Content-Type": FORM})


def sent(ask: Ask, *files: File) -> str:
    """The address of the report."""
    answer = send(ask, *files)
    assert answer.status_code == 303
    return answer.headers["location"]


def test_every_story_on_stage_has_a_card_that_tells_its_first_chapter(ask: Ask) -> None:
    page = ask("GET", "/stories")
    assert page.status_code == 200
    assert "A Clean Bill" in page.text
    assert "The Brass Key" in page.text
    card = page.text.partition('id="on-stage"')[2].partition(">The Brass Key<")[2].partition("</ul>")[0]
    faces = re.findall(r'alt="([^"]+)" width="44"', card)
    assert faces == ["Ines Vale", "Tobias Rook", "Mara Quill"]
    assert "lighthouse" not in page.text


def test_a_script_is_sent_and_its_report_shown(ask: Ask) -> None:
    page = ask("GET", sent(ask, ("quarrel.txt", TRANSCRIPT.encode()))).text
    assert "this page tells all of it" in page
    assert re.search(r"<strong class=\"number\">7</strong>\s*lines of dialogue", page)
    assert "Every one of 12 source lines is accounted for" in page
    assert ask("GET", "/stories").text.count("Yours") == 1


@pytest.mark.usefixtures("reading_in_thread")
def test_what_was_not_read_is_listed_with_its_reason(ask: Ask) -> None:
    page = ask("GET", sent(ask, *BRASS_KEY)).text
    assert "Not read, and why (1)" in page
    assert "act-1.txt:13" in page
    assert "% Should Mara be kinder here?" in page


def test_a_bad_upload_is_told_on_the_page(ask: Ask) -> None:
    answer = send(ask, ("a.txt", b"\x00\x01\x02"))
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "a.txt" in answer.text
    assert "Add a story" in answer.text


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"kind": "rename", "who": "Mara Quill", "to": "Mara of the Quay"}, "Renamed Mara Quill to Mara of the Quay"),
        ({"kind": "merge", "who": "Mara Quill", "into": "Tobias Rook"}, "Merged Mara Quill into Tobias Rook"),
        ({"kind": "add-alias", "who": "Mara Quill", "alias": "Quilly"}, "Mara Quill is also called Quilly"),
        ({"kind": "profile", "who": "Mara Quill", "lines": "I read.\r\nI wait."}, "Profile of Mara Quill"),
        ({"kind": "title", "title": "The Iron Key"}, "Title: The Iron Key"),
        ({"kind": "language", "language": "ja"}, "Language: ja"),
        ({"kind": "cast", "text": CAST.replace("Brass", "Tin")}, "Wrote cast.toml"),
    ],
)
@pytest.mark.usefixtures("reading_in_thread")
def test_every_fix_can_be_made_by_form_and_taken_back(ask: Ask, fields: dict[str, str], shown: str) -> None:
    address = sent(ask, *BRASS_KEY)
    before = ask("GET", address).text
    answer = ask("POST", f"{address}/fix", data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, address)
    assert shown in ask("GET", address).text
    assert ask("POST", f"{address}/undo").status_code == 303
    assert ask("GET", address).text == before


@pytest.mark.parametrize("fields", [{"kind": "rename", "who": "Nobody", "to": "x"}, {"kind": "burn"}, {}])
@pytest.mark.usefixtures("reading_in_thread")
def test_a_wrong_fix_is_told_on_the_page(ask: Ask, fields: dict[str, str]) -> None:
    address = sent(ask, *BRASS_KEY)
    answer = ask("POST", f"{address}/fix", data=fields)
    assert answer.status_code == 400
    assert 'role="alert" data-problem>' in answer.text
    assert "What you put right" not in answer.text


@pytest.mark.usefixtures("reading_in_thread")
def test_deleting_and_bringing_back_by_form(ask: Ask) -> None:
    address = sent(ask, *BRASS_KEY)
    assert ask("POST", f"{address}/delete").headers["location"] == "/stories#put-away"
    page = ask("GET", "/stories").text
    assert "Put away" in page
    assert f'action="{address}/restore"' in page
    assert "This story was deleted" in ask("GET", address).text
    assert ask("POST", f"{address}/restore").status_code == 303
    assert "Put away" not in ask("GET", "/stories").text


def test_what_is_not_there_is_told_on_the_page(ask: Ask) -> None:
    answer = ask("GET", "/stories/nobody")
    assert answer.status_code == 404
    assert "there is no such upload here" in answer.text


@pytest.mark.usefixtures("reading_in_thread")
def test_what_users_wrote_is_escaped_everywhere(ask: Ask, context: AppContext) -> None:
    script = f"# act 1: {EVIL}\n## scene 1: {EVIL}\n{EVIL.replace(':', '')}: {EVIL}\nODILE: No.\n% {EVIL}\n"
    cast = f"title = '{EVIL}'\n[[character]]\nname = '{EVIL}'\naliases = ['<b>bold</b>']\nprofile = ['{EVIL}']\n"
    address = sent(ask, (f"{EVIL}.txt", script.encode()), ("cast.toml", cast.encode()))
    for path in (address, "/stories"):
        page = ask("GET", path).text
        assert "alert" in page
        assert "<script>alert" not in page
        assert "<b>bold" not in page
    assert (
        ask(
            "POST", f"{address}/fix", data={"kind": "title", "title": f'"><img src=x onerror=alert(1)> {EVIL}'}
        ).status_code
        == 303
    )
    page = ask("GET", address).text
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    wrong = ask("POST", f"{address}/fix", data={"kind": "rename", "who": EVIL * 2, "to": "x"})
    assert "<script>alert" not in wrong.text


@pytest.mark.usefixtures("reading_in_thread")
def test_pages_carry_no_inline_scripts_or_styles(ask: Ask) -> None:
    address = sent(ask, *BRASS_KEY)
    for path in ("/stories", address):
        page = ask("GET", path).text
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=)", page)
        assert not re.search(r'(?:src|href|action)="(?!/|#)', page)


@pytest.mark.usefixtures("reading_in_thread")
def test_every_field_has_a_label(ask: Ask) -> None:
    address = sent(ask, *BRASS_KEY)
    for path in ("/stories", address):
        text = ask("GET", path).text
        labelled = set(re.findall(r'<label for="([^"]+)"', text))
        page = re.sub(r"<label.*?</label>", "", text, flags=re.S)
        fields = re.findall(r'<(?:input(?![^>]*type="hidden")|select|textarea)[^>]*>', page)
        assert [field for field in fields if not labelled & set(re.findall(r' id="([^"]+)"', field))] == []


@pytest.mark.usefixtures("reading_in_thread")
def test_a_large_cast_is_shown_in_full_when_asked_for(ask: Ask) -> None:
    script = "".join(f"# act {number}\n## scene 1\nPERSON {number}: I am number {number}.\n" for number in range(1, 61))
    address = sent(ask, ("crowd.txt", script.encode()))
    shown = ask("GET", address).text
    assert shown.count('class="cast-member"') == 50
    assert "Show all 60 people" in shown
    everybody = ask("GET", f"{address}?all=1").text
    assert everybody.count('class="cast-member"') == 60
    assert "Show all" not in everybody


def test_a_format_can_be_chosen_and_is_offered_after_a_failure(ask: Ask) -> None:
    assert '<option value="transcript">' in ask("GET", "/stories").text
    refused = send(ask, ("talk.txt", b"Odile: No.\nBastien: Yes.\n"), form="TEI drama")
    assert refused.status_code == 400
    assert "talk.txt" in refused.text
    assert send(ask, ("talk.txt", b"Odile: No.\nBastien: Yes.\n"), form="transcript").status_code == 303


def test_doubtful_quotations_are_decided_by_form_and_the_filter_stays(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_novels_here(monkeypatch)
    address = sent(ask, ("The Tin Whistle.txt", NOVEL.encode()))
    page = ask("GET", address).text
    assert "Who says it?" in page
    assert page.count('class="doubt"') == 4
    assert page.index("I was at school!") < page.index("All of it?")
    assert page.count("data-fix") > 8
    page = ask("GET", f"{address}?chapter=2").text
    (number,) = re.findall(r'data-quotation="(\w+)"', page)
    assert f'action="{address}/fix?chapter=2"' in page
    answer = ask("POST", f"{address}/fix?chapter=2", data={"kind": "speaker", "quotation": number, "to": "Odile"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{address}?chapter=2#doubtful")
    page = ask("GET", f"{address}?chapter=2").text
    assert "Nothing is doubtful here." in page
    assert "“I was at school!” is said by Odile" in page
    page = ask("GET", f"{address}?decided=1").text
    assert page.count('class="doubt"') == 1
    assert '<span class="chip good">Odile</span>' in page
    assert ask("POST", f"{address}/undo?decided=1").headers["location"] == f"{address}?decided=1#doubtful"
    assert ask("GET", address).text.count('class="doubt"') == 4


def test_a_decision_by_form_leads_back_to_the_quotations(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    read_novels_here(monkeypatch)
    address = sent(ask, ("The Tin Whistle.txt", NOVEL.encode()))
    number = re.findall(r'data-quotation="(\w+)"', ask("GET", address).text)[0]
    answer = ask("POST", f"{address}/fix", data={"kind": "not-speech", "quotation": number})
    assert answer.headers["location"] == f"{address}#doubtful"


def test_what_makes_no_sense_in_the_address_is_left_out(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    read_novels_here(monkeypatch)
    address = sent(ask, ("The Tin Whistle.txt", NOVEL.encode()))
    for query in ("offset=²", "offset=-1", f"offset={'9' * 5000}", "chapter=%00", "speaker=nobody", "offset=500"):
        assert ask("GET", f"{address}?{query}").status_code == 200


@pytest.mark.usefixtures("reading_in_thread")
def test_a_script_has_no_doubtful_quotations(ask: Ask) -> None:
    assert "Who says it?" not in ask("GET", sent(ask, ("quarrel.txt", TRANSCRIPT.encode()))).text


def test_a_bar_is_whole() -> None:
    pieces = bar(Total(units=8, lines=4, descriptions=0, headings=2, unread=2))
    assert pieces == [("lines", 0.0, 50.0), ("headings", 50.0, 25.0), ("unread", 75.0, 25.0)]
    assert bar(Total(0, 0, 0, 0, 0)) == []


def test_a_failed_upload_can_be_tried_again_after_a_reload(ask: Ask) -> None:
    assert send(ask, ("lines.txt", b"Odile: You sold it.\n")).status_code == 400
    shown = ask("GET", "/stories").text
    upload = re.search(r'action="/stories/(\w+)/retry"', shown)
    assert upload is not None and "Dismiss" in shown and "--format" not in shown
    refused = ask("POST", f"/stories/{upload[1]}/retry", data={"form": "prose"})
    assert refused.status_code == 400 and "nobody speaks here" in refused.text
    again = ask("POST", f"/stories/{upload[1]}/retry", data={"form": "transcript"})
    assert (again.status_code, again.headers["location"]) == (303, f"/stories/{upload[1]}")
    assert "could not be read" not in ask("GET", "/stories").text
    assert "here no more" in ask("POST", "/stories/nobody/retry", data={"form": ""}).text
