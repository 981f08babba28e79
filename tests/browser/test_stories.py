"""The stories view in a real browser: files picked, dropped and pasted, a bad one, and a cast put right."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import assert_accessible
from samples import SAMPLES
from stories import ACT_1, ACT_2, CAST

QUARREL = """[Scene: A kitchen at night.]
Odile: You sold the piano.
Bastien: I sold the noise.
Odile: All of it?
Bast: Every key.
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("The Quarrel.txt", QUARREL), ("cast.toml", CAST), ("act-1.txt", ACT_1), ("act-2.txt", ACT_2)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "odile.png").write_bytes(SAMPLES["card, PNG"][1]())
    (tmp_path / "broken.txt").write_bytes(b"\x00\x01\x02 no script")
    return tmp_path


@pytest.fixture
def unread(page: Page, site: str) -> Page:
    """The stories view of a server that reads in a process of its own."""
    page.goto(f"{site}/stories")
    return page


@pytest.fixture
def stories(unread: Page, reading_in_thread: None) -> Page:
    return unread


def pick(page: Page, *paths: Path) -> None:
    page.get_by_label("Choose files").set_input_files(list(paths))


def drop(page: Page, *paths: Path) -> None:
    """As if the files had been dragged in from outside."""
    files = json.dumps([(path.name, base64.b64encode(path.read_bytes()).decode()) for path in paths])
    page.evaluate(
        """(files) => {
            const transfer = new DataTransfer();
            for (const [name, content] of JSON.parse(files)) {
                const bytes = Uint8Array.from(atob(content), (mark) => mark.charCodeAt(0));
                transfer.items.add(new File([bytes], name));
            }
            const target = document.querySelector("[data-drop]");
            for (const kind of ["dragenter", "dragover", "drop"]) {
                target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
            }
        }""",
        files,
    )


def wait_until_read(page: Page) -> None:
    """Until the page of the upload is there with its scripts: before they listen, forms are sent without them."""
    expect(page.locator(".cast-member").first).to_be_visible()
    page.wait_for_load_state()


def test_a_picked_file_becomes_a_report_and_a_card(unread: Page, files: Path) -> None:
    stories = unread
    pick(stories, files / "The Quarrel.txt")
    expect(stories.get_by_role("heading", level=1)).to_have_text("The Quarrel")
    expect(stories.get_by_text("this page tells all of it")).to_be_visible()
    expect(stories.get_by_role("img", name="Of all lines")).to_be_visible()
    expect(stories.locator(".cast-member")).to_have_count(3)
    stories.get_by_role("link", name="All stories").click()
    card = stories.locator(".stage-card", has_text="The Quarrel")
    expect(card.get_by_text("Yours")).to_be_visible()
    expect(card.get_by_role("img", name="Odile")).to_be_visible()
    assert (
        card.get_by_role("img", name="Odile").evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0
    )


def test_dropped_files_are_one_story(stories: Page, files: Path) -> None:
    drop(stories, files / "act-1.txt", files / "cast.toml", files / "act-2.txt")
    expect(stories.get_by_role("heading", level=1)).to_have_text("The Brass Key")
    expect(stories.get_by_text("act-1.txt:13")).to_be_visible()
    stories.get_by_text("File by file").click()
    expect(stories.get_by_role("row").filter(has_text="act-2.txt")).to_be_visible()


def test_a_dropped_card_goes_on_stage(stories: Page, files: Path) -> None:
    drop(stories, files / "odile.png")
    expect(stories.get_by_role("heading", level=1)).to_have_text("Odile")


def test_a_script_can_be_pasted(stories: Page) -> None:
    stories.get_by_text("Paste a script instead").click()
    stories.get_by_label("Title").fill("A Pasted Quarrel")
    stories.get_by_label("Script").fill(QUARREL)
    stories.get_by_role("button", name="Read it").click()
    expect(stories.get_by_role("heading", level=1)).to_have_text("A Pasted Quarrel")


def test_a_bad_upload_says_so_and_the_next_one_works(unread: Page, files: Path) -> None:
    stories = unread
    pick(stories, files / "broken.txt")
    expect(stories.get_by_role("alert")).to_contain_text("broken.txt")
    expect(stories.locator("[data-progress]")).to_be_hidden()
    pick(stories, files / "The Quarrel.txt")
    expect(stories.get_by_role("heading", level=1)).to_have_text("The Quarrel")


def test_the_same_file_again_is_said_to_be_there(stories: Page, files: Path, site: str) -> None:
    pick(stories, files / "The Quarrel.txt")
    expect(stories.locator(".cast-member")).to_have_count(3)
    stories.goto(f"{site}/stories")
    pick(stories, files / "The Quarrel.txt")
    expect(stories.get_by_text("You had sent these files before")).to_be_visible()


def test_an_alias_put_right_is_told_undone_and_seen_in_talk(stories: Page, files: Path, site: str) -> None:
    pick(stories, files / "The Quarrel.txt")
    wait_until_read(stories)
    member = stories.locator(".cast-member", has=stories.get_by_text("Bast", exact=True))
    member.get_by_text("Put right").click()
    member.get_by_label("Is the same person as").fill("Bastien")
    member.get_by_role("button", name="Merge").click()
    expect(stories.locator("[data-change]")).to_contain_text("Merged Bast into Bastien.")
    expect(stories.locator("[data-change]")).to_contain_text("Bastien had 1 lines and has 2.")
    expect(stories.locator(".cast-member")).to_have_count(2)
    expect(stories.get_by_role("list", name="Also called").get_by_text("Bast")).to_be_visible()
    stories.get_by_role("button", name="Undo", exact=True).click()
    expect(stories.locator("[data-change]")).to_contain_text("Undone: Merged Bast into Bastien.")
    expect(stories.locator(".cast-member")).to_have_count(3)

    member = stories.locator(".cast-member", has=stories.get_by_text("Odile", exact=True))
    member.get_by_text("Put right").click()
    member.get_by_label("Call them").fill("Odile the Stern")
    member.get_by_role("button", name="Rename").click()
    expect(stories.locator("[data-change]")).to_contain_text("Renamed Odile to Odile the Stern.")
    stories.get_by_role("link", name="Open in Talk").click()
    stories.goto(f"{stories.url}&at=end")
    expect(stories.get_by_role("link", name="Odile the Stern").first).to_be_visible()


def test_a_fix_that_cannot_be_made_is_told_and_changes_nothing(stories: Page, files: Path) -> None:
    pick(stories, files / "The Quarrel.txt")
    wait_until_read(stories)
    member = stories.locator(".cast-member", has=stories.get_by_text("Bast", exact=True))
    member.get_by_text("Put right").click()
    member.get_by_role("textbox", name="Also called").fill("odile")
    member.get_by_role("button", name="Add").click()
    expect(stories.get_by_role("alert")).to_contain_text("'odile' is a name of Odile: merge the two")
    expect(member.get_by_role("textbox", name="Also called")).to_have_value("odile")
    expect(stories.locator("#upload")).not_to_have_attribute("aria-busy", "true")


def test_an_alias_is_taken_away_by_its_button(stories: Page, files: Path) -> None:
    drop(stories, files / "act-1.txt", files / "cast.toml", files / "act-2.txt")
    wait_until_read(stories)
    stories.get_by_role("button", name="Mara is not Mara Quill").click()
    expect(stories.locator("[data-change]")).to_contain_text("Mara Quill is no longer called Mara.")


def test_by_keyboard_alone(stories: Page, files: Path) -> None:
    stories.on("filechooser", lambda _: None)  # from now on the browser asks the test, not a person
    while not stories.evaluate("document.activeElement.matches('[data-pick]')"):
        stories.keyboard.press("Tab")
    with stories.expect_file_chooser() as chooser:
        stories.keyboard.press("Enter")
    chooser.value.set_files(files / "The Quarrel.txt")
    wait_until_read(stories)
    expect(stories.get_by_role("heading", level=1)).to_have_text("The Quarrel")
    while not stories.evaluate("document.activeElement.matches('.cast-member summary')"):
        stories.keyboard.press("Tab")
    stories.keyboard.press("Enter")
    stories.keyboard.press("Tab")
    stories.keyboard.press("Control+a")
    stories.keyboard.type("Odile the Stern")
    stories.keyboard.press("Enter")
    status = stories.locator("[data-change]")
    expect(status).to_contain_text("Renamed Odile to Odile the Stern.")
    expect(status).to_be_focused()
    stories.keyboard.press("Tab")
    stories.keyboard.press("Enter")
    expect(status).to_contain_text("Undone")


def test_deleting_can_be_taken_back(stories: Page, files: Path) -> None:
    pick(stories, files / "The Quarrel.txt")
    wait_until_read(stories)
    stories.get_by_role("button", name="Delete").click()
    expect(stories.get_by_role("heading", name="Put away")).to_be_visible()
    stories.get_by_role("button", name="Bring back").click()
    expect(stories.get_by_role("link", name="Open in Talk")).to_be_visible()


def test_everything_fits_is_named_and_can_be_read(stories: Page, files: Path) -> None:
    stories.get_by_text("Paste a script instead").click()
    assert_accessible(stories)
    drop(stories, files / "act-1.txt", files / "cast.toml", files / "act-2.txt")
    wait_until_read(stories)
    member = stories.locator(".cast-member", has=stories.get_by_text("Mara Quill", exact=True))
    member.get_by_text("Put right").click()
    member.get_by_label("Call them").fill("Mara of the very long and quite unbreakable " + "x" * 60)
    member.get_by_role("button", name="Rename").click()
    expect(stories.locator("[data-change]")).to_contain_text("Renamed")
    stories.get_by_text("Put right").first.click()
    stories.get_by_text("File by file").click()
    stories.get_by_text("Write cast.toml by hand").click()
    assert_accessible(stories)
