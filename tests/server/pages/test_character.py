from __future__ import annotations

from collections.abc import Callable
from html import unescape
from urllib.parse import unquote, urlsplit

import httpx
import pytest

from htmlpage import Page

Ask = Callable[..., httpx.Response]


def shown(ask: Ask, path: str) -> str:
    answer = ask("GET", path)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def test_who_somebody_is_changes_with_the_moment(ask: Ask) -> None:
    early, later = (shown(ask, f"/character/brass-key/Ines?at={at}") for at in ("1.1", "1.2"))
    assert "the brass key" in early and "I keep the keys of the harbour." in early
    assert "I have the brass key." not in later and "I keep the keys of the harbour." in later


def test_ties_and_course_come_as_far_as_the_moment(ask: Ask) -> None:
    for at, marks in (("1.2", ["1.1"]), ("2.1", ["1.1", "2.1"]), ("end", ["1.1", "2.1", "2.2"])):
        page = Page(shown(ask, f"/character/brass-key/Ines?at={at}"))
        assert page.marks == marks and page.around == ["Tobias Rook"]
    assert Page(shown(ask, "/character/brass-key/Ines?at=1.1")).around == []


def test_facing_somebody_shows_the_course_towards_them(ask: Ask) -> None:
    told = shown(ask, "/character/demo/Zita?at=2.3&facing=Haake")
    assert 'Towards <span lang="en">Gudrun Haake</span>' in told
    assert "Face to face, Zita Karst can tell" in told


def test_a_course_can_be_chosen_also_towards_somebody_only_heard_of(ask: Ask) -> None:
    told = shown(ask, "/character/demo/Zita?at=2.3&to=Matthias Karst")
    assert 'Towards <span lang="en">Matthias Karst</span>' in told
    (saved,) = [link for link in Page(told).links if "course.svg" in link]
    assert "Matthias Karst" in ask("GET", saved).text


def test_everything_links_to_its_source(ask: Ask) -> None:
    page = Page(shown(ask, "/character/demo/Zita?at=2.3"))
    into_story = {link for link in page.links if link.startswith("/story/demo?")}
    assert len(into_story) > 20
    ids: dict[str, set[str]] = {}
    for link in sorted(into_story):
        address = urlsplit(link)
        if address.fragment:
            held = ids.setdefault(address.query, set(Page(shown(ask, f"{address.path}?{address.query}")).ids))
            assert address.fragment in held, link


def test_what_was_witnessed_and_since_when_people_are_known(ask: Ask) -> None:
    told = shown(ask, "/character/demo/Zita?at=2.3")
    _, _, remembered = told.partition('id="memory-title"')
    assert "The foul gate, the same day, noon" in remembered
    assert "The parlatory, the twelfth of October, before dawn" not in remembered, "she was not there"
    assert "heard named" in remembered and "Jory Pell" in remembered
    assert "All scenes" in told and "All scenes" not in shown(ask, "/character/demo/Zita?at=2.3&scenes=all")
    assert "The wharf of the Comma" in shown(ask, "/character/demo/Zita?at=2.3&scenes=all")


def test_whoever_is_a_link_can_be_visited(ask: Ask) -> None:
    page = Page(shown(ask, "/character/demo/Zita?at=2.3"))
    visits = {link.partition("#")[0] for link in page.links if link.startswith("/character/demo/")}
    assert any("Pia" in link for link in visits) and "Matthias Karst" in page.around
    for link in visits:
        assert ask("GET", link).status_code == 200, link


def test_the_cast_to_choose_from_has_been_heard(ask: Ask) -> None:
    def heard(at: str) -> str:
        _, _, cast = shown(ask, f"/character/demo/Zita?at={at}").partition('class="cast-list"')
        return cast.partition("</ul>")[0]

    assert "/character/demo/Pia%20Lenk?at=1.2" in heard("1.2") and "Prett" not in heard("1.2")
    assert "/character/demo/Silvan%20Prett?at=2.1" in heard("2.1")


def test_somebody_with_a_false_name_is_seen_under_it(ask: Ask) -> None:
    told = shown(ask, "/character/demo/Aurel%20Benedek?at=1.2")
    assert "Danilo Reuss" not in told and "Aurel Benedek" in told
    unmasked = shown(ask, "/character/demo/Danilo%20Reuss?at=end")
    assert "Danilo Reuss" in unmasked


def test_the_dead_and_the_unknown_are_told_of_without_a_broken_page(ask: Ask) -> None:
    dead = shown(ask, "/character/demo/Ignace%20Bohm?at=end")
    assert "dead by now" in dead and "data-timeline" in dead
    (back,) = [link for link in Page(dead).links if "Bohm" in link and "at=3.2" in link]
    assert "In their own words" in shown(ask, back)
    nobody = ask("GET", "/character/demo/Nobody?at=1.1")
    assert nobody.status_code == 404 and "Sool" not in nobody.text


def test_without_a_name_the_one_most_heard_is_shown(ask: Ask) -> None:
    answer = ask("GET", "/character/demo?at=1.2", follow_redirects=False)
    assert unquote(answer.headers["location"]) == "/character/demo/Zita Karst?at=1.2"
    assert ask("GET", "/character/demo?at=start", follow_redirects=False).headers["location"] == "/story/demo?at=0"


def test_pictures_can_be_saved(ask: Ask) -> None:
    saved = [link for link in Page(shown(ask, "/character/demo/Zita?at=2.3")).links if ".svg" in link]
    assert len(saved) == 2
    for link in saved:
        assert ask("GET", link).text.startswith("<svg")


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a/b", '"onmouseover="x'])
def test_a_name_is_never_markup(ask: Ask, name: str) -> None:
    answer = ask("GET", f"/character/demo/{name}", params={"at": "1.2"})
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text and '"onmouseover' not in answer.text
