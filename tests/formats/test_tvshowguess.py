from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from realdata import folder
from understudy.errors import InputError
from understudy.formats.tvshowguess import READER
from understudy.sources import Description, Heading, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile


def scene(show: str, episode: str, number: int, title: str, *lines: Sequence[str]) -> dict[str, Any]:
    season = int(episode.split("x")[0])
    return {
        "show": show,
        "season": season,
        "episode_id": episode,
        "scene_id": number,
        "title": title,
        "lines": [list(line) for line in lines],
        "main_characters": [],
    }


SCENES = [
    scene(
        "Harbour_Lights",
        "02x01",
        7,
        "[Scene: The chandlery, evening]",
        ("background", "(Ines enters.)"),
        ("ines", "Ines: Is it still here?"),
        ("tobias", "Tobias (not looking up): It was at noon."),
        ("ines and tobias", "Ines and Tobias: Oh no."),
        ("background", "Opening Credits"),
        ("background", "[SCENE_BREAK]"),
        ("all", "ALL SHOUTING:"),
        ("[time", "[Time: one hour later]"),
    ),
    scene("Harbour_Lights", "02x01", 6, "[SCENE_BREAK]", ("ines", "Ines: First of all, tea.")),
    scene("Night_Bus", "01x03", 3, "Scene 2 - A bus stop", ("mo", "Mo: Late again.")),
    scene("Harbour_Lights", "01x10", 5, "Scene Two - The quay", ("ines", "Ines: Good morning.")),
]


def as_lines(scenes: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in scenes).encode()


def test_scenes_come_out_in_the_order_of_time() -> None:
    events = read_bytes(READER, as_lines(SCENES))
    assert [heading.numbers for heading in of_kind(events, Heading) if heading.numbers] == [
        *((1,), (1, 1), (1, 1, 10), (1, 2), (1, 2, 1)),
        *((2,), (2, 1), (2, 1, 3)),
    ]
    assert [start.setting for start in of_kind(events, SceneStart)] == [
        "The quay",
        "",
        "The chandlery, evening",
        "A bus stop",
    ]
    assert [speech.text for speech in of_kind(events, Speech)][:2] == ["Good morning.", "First of all, tea."]


def test_shows_are_named_by_their_headings() -> None:
    titles = [heading.title for heading in of_kind(read_bytes(READER, as_lines(SCENES)), Heading) if heading.numbers]
    assert (titles[0], titles[1], titles[2], titles[5]) == ("Harbour Lights", "Season 1", "Episode 10", "Night Bus")


def test_lines_are_speeches_directions_headings_or_unread() -> None:
    events = read_bytes(READER, as_lines(SCENES[:1]))
    assert [(speech.speakers, speech.text) for speech in of_kind(events, Speech)] == [
        (("Ines",), "Is it still here?"),
        (("Tobias",), "It was at noon."),
        (("Ines", "Tobias"), "Oh no."),
    ]
    told = [(one.text, one.enter, one.units) for one in of_kind(events, Description)]
    assert told == [
        ("(Ines enters.)", ("Ines",), 1),
        ("Tobias (not looking up)", (), 0),
        ("[Time: one hour later]", (), 1),
    ]
    assert [one.title for one in of_kind(events, Heading) if one.numbers is None] == [
        "Opening Credits",
        "[SCENE_BREAK]",
    ]
    assert [(one.text, one.reason) for one in of_kind(events, Unread)] == [
        ("ALL SHOUTING:", "a label with nothing said")
    ]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"show": ""}, "name of a show"),
        ({"episode_id": "one"}, "should look like"),
        ({"season": 3}, 'but "episode_id"'),
        ({"scene_id": "x"}, "should be a number"),
        ({"lines": [["only one"]]}, "list of"),
    ],
)
def test_a_record_that_is_no_scene_is_an_error_with_its_line(change: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word) as raised:
        read_bytes(READER, as_lines([SCENES[0], {**SCENES[1], **change}]))
    assert raised.value.line == 2


ITEM = st.tuples(st.sampled_from(["background", "ines"]), st.text(alphabet="Ines: .[]\n", max_size=15))


@given(
    st.lists(
        st.tuples(st.sampled_from("AB"), st.integers(0, 3), st.text(max_size=9), st.lists(ITEM, max_size=5)),
        min_size=1,
        max_size=6,
    )
)
def test_every_unit_is_accounted_for(scenes: list[tuple[str, int, str, list[tuple[str, str]]]]) -> None:
    records = [
        scene(show, f"01x0{episode}", number, title, *lines)
        for number, (show, episode, title, lines) in enumerate(scenes)
    ]
    events = read_bytes(READER, as_lines(records))
    assert len(of_kind(events, SceneStart)) == len(scenes)


@given(damage(as_lines(SCENES)))
def test_damage_is_an_error_or_can_be_read(content: bytes) -> None:
    stands(READER, content)


def test_the_development_scenes() -> None:
    path = folder("tvshowguess") / "dev.jsonl"
    assert recognises(READER, SourceFile(path).head(), path)
    events = events_of(READER, path)
    assert len(of_kind(events, SceneStart)) == 1472
    shows = [heading.title for heading in of_kind(events, Heading) if heading.numbers and len(heading.numbers) == 1]
    assert shows == ["FRIENDS", "The Big Bang Theory", "Frasier", "Gilmore Girls", "The Office"]
    places = [heading.numbers for heading in of_kind(events, Heading) if heading.numbers]
    assert places == sorted(places)
    assert len(of_kind(events, Unread)) < 10
    assert len(of_kind(events, Speech)) > 19_000
