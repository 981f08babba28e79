from __future__ import annotations

from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from server.conftest import Ask
from understudy.formats import read
from understudy.server.drawing.ties_graph import known_since
from understudy.server.pages.character import about_others, dated_attributes, known_people, remembered_scenes
from understudy.story.persona import persona_at
from understudy.story.types import Moment
from walking import Page


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
    html = shown(ask, "/character/demo/Zita?at=2.3&facing=Haake")
    assert 'Towards <span lang="en">Gudrun Haake</span>' in html
    assert "Face to face, Zita Karst can tell" in html


def test_a_course_can_be_chosen_also_towards_somebody_only_heard_of(ask: Ask) -> None:
    html = shown(ask, "/character/demo/Zita?at=2.3&to=Matthias Karst")
    assert 'Towards <span lang="en">Matthias Karst</span>' in html
    (saved,) = [link for link in Page(html).links if "course.svg" in link]
    assert "Matthias Karst" in ask("GET", saved).text


def test_everything_links_to_its_source(ask: Ask) -> None:
    page = Page(shown(ask, "/character/demo/Zita?at=2.3"))
    into_story = {link for link in page.links if link.startswith("/story/demo?")}
    assert len(into_story) > 20
    ids: dict[str, set[str]] = {}
    for link in sorted(into_story):
        address = urlsplit(link)
        if address.fragment:
            targets = ids.setdefault(address.query, set(Page(shown(ask, f"{address.path}?{address.query}")).ids))
            assert address.fragment in targets, link


def test_what_was_witnessed_and_since_when_people_are_known(ask: Ask) -> None:
    html = shown(ask, "/character/demo/Zita?at=2.3")
    _, _, remembered = html.partition('id="memory-title"')
    assert "The foul gate, the same day, noon" in remembered
    assert "The parlatory, the twelfth of October, before dawn" not in remembered, "she was not there"
    assert "heard named" in remembered and "Jory Pell" in remembered
    assert "All scenes" in html and "All scenes" not in shown(ask, "/character/demo/Zita?at=2.3&scenes=all")
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
    html = shown(ask, "/character/demo/Aurel%20Benedek?at=1.2")
    assert "Danilo Reuss" not in html and "Aurel Benedek" in html
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


SECRETS = """
[[fact]]
who = "Tobias Rook"
attribute = "belongings"
value = ["a ticket to Lisbon"]
known_to = ["Ines Vale"]
from = "1.1"

[[fact]]
who = "Tobias Rook"
attribute = "belongings"
value = ["a coat with a hole"]
known_to = ["Ines Vale"]
from = "2.2"

[[fact]]
who = "Mara Quill"
attribute = "title"
value = "the harbour's spy"
known_to = ["Ines Vale"]
from = "1.1"
"""


def test_attributes_carry_the_moment_since_when(story: Path) -> None:
    source = read(story)
    (attribute,) = dated_attributes(source, persona_at(source, "Ines", "1.1"))
    assert (attribute.about, attribute.words, attribute.since) == ("belongings", ("the brass key",), Moment((1, 1)))
    assert dated_attributes(source, persona_at(source, "Ines", "1.2")) == []


def test_what_was_confided_is_known_of_those_who_are_known(story: Path) -> None:
    with (story / "cast.toml").open("a") as cast:
        cast.write(SECRETS)
    source = read(story)

    def confided(who: str, at: str) -> list[tuple[str, str, str | None]]:
        persona = persona_at(source, who, at)
        facts = about_others(source, persona, known_since(source, persona))
        return [(fact.about, fact.words[0], fact.since.dotted if fact.since else None) for fact in facts]

    assert confided("Ines", "1.1") == [], "nobody is known yet"
    assert confided("Ines", "2.1") == [("Tobias Rook", "Tobias Rook has a ticket to Lisbon.", "1.1")]
    assert confided("Ines", "2.2") == [("Tobias Rook", "Tobias Rook has a coat with a hole.", "2.2")]
    assert confided("Mara", "end") == []


def test_memories_are_the_scenes_one_was_in_latest_first(story: Path) -> None:
    source = read(story)
    persona = persona_at(source, "Ines", "end")
    scenes = remembered_scenes(persona, None)
    assert [scene.moment.dotted for scene in scenes] == ["2.2", "2.1", "1.1"]
    assert scenes[0].company == ("Tobias Rook",) and scenes[0].lines == 3
    assert [line.text for line in scenes[0].last][-1] == "You must be cold, Tobias."
    assert [scene.moment.dotted for scene in remembered_scenes(persona, 1)] == ["2.2"]


def test_people_met_are_told_from_people_heard_of() -> None:
    source = read("demo")
    persona = persona_at(source, "Zita", "1.2")
    known = {person.name: person for person in known_people(source, persona, known_since(source, persona))}
    assert known["Aurel Benedek"].met and not known["Jory Pell"].met
    assert known["Jory Pell"].since == Moment((1, 1, 1))
