from __future__ import annotations

from xml.etree import ElementTree

import httpx
import pytest

from server.conftest import Ask

SVG = "{http://www.w3.org/2000/svg}"
INES = "/api/stories/brass-key/characters/Ines Vale"


def picture(answer: httpx.Response) -> ElementTree.Element:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("image/svg+xml")
    return ElementTree.fromstring(answer.text)


def people(root: ElementTree.Element) -> set[str | None]:
    return {element.get("data-who") for element in root.iter() if element.get("data-who")}


def changes(root: ElementTree.Element) -> list[tuple[str | None, str | None]]:
    return [
        (element.get("data-moment"), element.get("data-level")) for element in root.iter() if element.get("data-moment")
    ]


def test_portraits_need_no_moment_and_may_be_kept(ask: Ask) -> None:
    answer = ask("GET", "/api/stories/demo/characters/Aurel Benedek/portrait.svg")
    assert picture(answer).findtext(f"{SVG}title") == "Aurel Benedek"
    assert "max-age" in answer.headers["cache-control"]


def test_ties_are_those_of_the_moment(ask: Ask) -> None:
    assert people(picture(ask("GET", f"{INES}/relations.svg", params={"at": "1.1"}))) == set()
    facing = {"at": "1.1", "facing": "Tobias"}
    assert people(picture(ask("GET", f"{INES}/relations.svg", params=facing))) == {"Tobias Rook"}
    assert people(picture(ask("GET", f"{INES}/relations.svg", params={"at": "1.2"}))) == {"Tobias Rook"}


def test_a_false_name_is_the_one_on_the_picture(ask: Ask) -> None:
    zita = "/api/stories/demo/characters/Zita/relations.svg"
    assert "Aurel Benedek" in people(picture(ask("GET", zita, params={"at": "2.3"})))
    assert "Reuss" not in ask("GET", zita, params={"at": "2.3"}).text
    assert "Danilo Reuss" in people(picture(ask("GET", zita)))
    for which in ("relations", "course"):
        own = ask("GET", f"/api/stories/demo/characters/Aurel Benedek/{which}.svg", params={"at": "2.3"})
        assert picture(own) is not None and "Danilo" not in own.text and "Aurel Benedek" in own.text


def test_a_course_goes_as_far_as_the_moment(ask: Ask) -> None:
    for at, levels in (("1.2", ["7"]), ("2.1", ["7", "-6"]), ("end", ["7", "-6", "3"])):
        drawn = picture(ask("GET", f"{INES}/course.svg", params={"at": at, "to": "Tobias", "kind": "affection"}))
        assert [level for _, level in changes(drawn)] == levels
    assert changes(picture(ask("GET", f"{INES}/course.svg"))) == [("1.1", "7"), ("2.1", "-6"), ("2.2", "3")]


def test_saved_pictures_are_files_with_a_name(ask: Ask) -> None:
    for which in ("relations", "course"):
        headers = ask("GET", f"/api/stories/demo/characters/Zita/{which}.svg", params={"at": "2.3"}).headers
        assert headers["content-disposition"].startswith("attachment") and headers["content-disposition"].endswith(
            ".svg"
        )


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/api/stories/none/characters/Ines/portrait.svg", {}, 404),
        ("/api/stories/none/characters/Ines/relations.svg", {}, 404),
        ("/api/stories/brass-key/characters/Nobody/relations.svg", {}, 404),
        (f"{INES}/relations.svg", {"at": "nonsense"}, 404),
        (f"{INES}/course.svg", {"to": "Nobody"}, 404),
        (f"{INES}/course.svg", {"to": "Mara"}, 404),
        (f"{INES}/course.svg", {"kind": "hunger"}, 400),
        (f"{INES}/course.svg", {"at": "9" * 300}, 400),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_shape(ask: Ask, path: str, query: dict[str, str], status: int) -> None:
    answer = ask("GET", path, params=query)
    assert answer.status_code == status and answer.json()["error"]["message"]


def test_a_refusal_names_nobody_who_comes_later(ask: Ask) -> None:
    answer = ask("GET", "/api/stories/demo/characters/Nobody/relations.svg", params={"at": "1.1"})
    assert "Sool" not in answer.text and "Zita" not in answer.text
