"""The continuity page without scripts: what it lists, dismissing and taking back, and who may see it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from server.conftest import Ask
from understudy.agents import Scripted
from understudy.formats import read
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry

EVIL = '<script>alert("x")</script>'
CAST = 'title = "Water"\nlanguage = "en"\n[[character]]\nname = "Ines"\n[[character]]\nname = "Odo"\n' + (
    '[[fact]]\nwho = "Odo"\nattribute = "died"\nvalue = "of a fever"\nfrom = "1.2"\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "water"
    path.mkdir()
    (path / "cast.toml").write_text(CAST, encoding="utf-8")
    scene = f"Present: Ines, Odo\nINES: So.\nODO: I feel {EVIL} better."
    script = f"# act 1: Water\n## scene 1: The quay\n{scene}\n\n## scene 2: The quay\n{scene}\n"
    (path / "act-1.txt").write_text(script, encoding="utf-8")
    return path


@pytest.fixture
def context(folder: Path, tmp_path: Path) -> AppContext:
    stories = StoryRegistry({"water": read(folder), "demo": read("demo")})
    return AppContext.open(stories, Scripted(["Hm."]), tmp_path / "data", story_paths={"water": folder})


def id_of(page: str) -> str:
    return str(re.findall(r'name="id" value="(\w+)"', page)[0])


def test_it_says_for_whom_it_is_and_shows_the_line_with_what_it_conflicts_with(ask: Ask) -> None:
    page = ask("GET", "/continuity/water").text
    assert "An author’s page" in page and EVIL not in page and EVIL in unescape(page)
    assert "speaks while dead" in page and "95% sure" in page
    assert re.search(r'href="/story/water\?at=end&amp;see=1\.2\.2#m-1\.2\.2">1\.2\.2<', page)


def test_dismissed_here_is_dismissed_beside_the_story_and_can_be_taken_back(ask: Ask, folder: Path) -> None:
    number = id_of(ask("GET", "/continuity/water").text)
    answer = ask("POST", "/continuity/water/dismiss?least=0.7", data={"id": number})
    assert (answer.status_code, answer.headers["location"]) == (303, "/continuity/water?least=0.7#lines")
    assert number in (folder / "continuity.toml").read_text(encoding="utf-8")
    page = ask("GET", "/continuity/water").text
    assert "Nothing to look at" in page and "1 dismissed" in page
    assert "List it again" in ask("GET", "/continuity/water?all=1").text
    assert ask("POST", "/continuity/water/restore?all=1", data={"id": number}).status_code == 303
    assert number in ask("GET", "/continuity/water").text


def test_a_story_without_a_place_of_its_own_keeps_them_in_the_data_folder(ask: Ask, tmp_path: Path) -> None:
    number = id_of(ask("GET", "/continuity/demo?least=0.3").text)
    assert ask("POST", "/continuity/demo/dismiss", data={"id": number}).status_code == 303
    assert (tmp_path / "data" / "demo.continuity.toml").exists()


@pytest.mark.parametrize(("action", "status"), [("dismiss", 404), ("restore", 400)])
def test_an_id_that_is_none_is_said_on_the_page(ask: Ask, action: str, status: int) -> None:
    answer = ask("POST", f"/continuity/water/{action}", data={"id": "ffffffff"})
    assert answer.status_code == status and 'role="alert"' in answer.text


def test_another_sites_page_can_dismiss_nothing(ask: Ask, folder: Path) -> None:
    number = id_of(ask("GET", "/continuity/water").text)
    foreign = {"Origin": "https://evil.test"}
    assert ask("POST", "/continuity/water/dismiss", data={"id": number}, headers=foreign).status_code == 403
    assert not (folder / "continuity.toml").exists()


def test_the_chart_shows_what_is_chosen(ask: Ask) -> None:
    page = ask("GET", "/continuity/demo?item=Scarra&item=nothing").text
    assert "first hears of Scarra in 1.2.4" in page and "first hears of Magistracy" not in page


def test_a_story_that_is_not_there(ask: Ask) -> None:
    assert ask("GET", "/continuity/none").status_code == 404


def test_the_menu_leads_here(ask: Ask) -> None:
    assert 'href="/continuity/demo"' in ask("GET", "/story/demo").text
