"""Shows to guess speakers in, and what of their transcripts may be learned from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import realdata
from talkers import PEOPLE, shows_folder
from understudy.errors import InputError
from understudy.guessing.baselines import Vanilla
from understudy.guessing.scenes import Masking, TrainingScenes
from understudy.guessing.shows import Show, shows_in, training_scenes_of_shows
from understudy.story.persona import Persona

TRANSCRIPTS = Path("transcripts") / "the_harbour"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six episodes of four scenes, of which the last two are judged."""
    return shows_folder(tmp_path / "shows")


def rewritten(data: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    rows = [json.loads(line) for line in (data / "dev.jsonl").read_text(encoding="utf-8").splitlines()]
    content = "".join(json.dumps(change(row)) + "\n" for row in rows)
    (data / "dev.jsonl").write_text(content, encoding="utf-8")


def only(data: Path) -> Show:
    (show,) = shows_in(data)
    return show


def episodes(show: Show) -> set[tuple[int, ...]]:
    return {scene.moment.numbers[:2] for scene in show.earlier}


def test_what_is_judged_and_what_comes_later_is_not_learned_from(data: Path) -> None:
    show = only(data)
    assert episodes(show) == {(1, 1), (1, 2), (1, 3), (1, 4)}
    assert show.first.numbers == (1, 5)
    assert (len(show.earlier), show.left_out) == (16, 0)
    assert [item.scene.moment.numbers for item in show.file] == [
        (1, episode, 100 * episode + number) for episode in (5, 6) for number in (1, 2, 3, 4)
    ]
    assert all(item.judged for item in show.file)
    assert show.title == "The Harbour"


def test_a_file_named_for_another_episode_is_found_by_what_it_says(data: Path) -> None:
    (data / TRANSCRIPTS / "01x02.txt").write_bytes((data / TRANSCRIPTS / "01x06.txt").read_bytes())
    show = only(data)
    assert episodes(show) == {(1, 1), (1, 3), (1, 4)}
    assert show.left_out == 4


def test_an_episode_of_which_much_is_judged_is_left_out_whole(data: Path) -> None:
    """Two of its four scenes are somebody else's; still they are left out with the rest."""
    own, second = (
        (data / TRANSCRIPTS / name).read_text(encoding="utf-8").split("\n\n") for name in ("01x02.txt", "01x05.txt")
    )
    (data / TRANSCRIPTS / "01x02.txt").write_text("\n\n".join([*own[:2], *second[2:]]), encoding="utf-8")
    assert episodes(only(data)) == {(1, 1), (1, 3), (1, 4)}


def test_a_judged_scene_told_again_is_left_out_alone(data: Path) -> None:
    own, second = (
        (data / TRANSCRIPTS / name).read_text(encoding="utf-8").split("\n\n") for name in ("01x02.txt", "01x05.txt")
    )
    retold = re.sub(r"(?<=: )(.*)\.", lambda said: f"{said[1].upper()}!", second[3])
    (data / TRANSCRIPTS / "01x02.txt").write_text("\n\n".join([*own[:3], retold]), encoding="utf-8")
    show = only(data)
    assert show.left_out == 1
    assert len([scene for scene in show.earlier if scene.moment.numbers[:2] == (1, 2)]) == 3


def test_a_long_scene_that_holds_a_judged_one_is_left_out(data: Path) -> None:
    """Of its own words the judged ones are few."""
    own, second = (
        (data / TRANSCRIPTS / name).read_text(encoding="utf-8").split("\n\n") for name in ("01x02.txt", "01x05.txt")
    )
    filling = [f"Ann: {' '.join(f'{word}{turn}' for word in 'qwertzuiopasdfgh')}." for turn in "abcdefghijklmnop"]
    own[0] = "\n".join([own[0], *filling, *second[0].splitlines()[1:]])
    (data / TRANSCRIPTS / "01x02.txt").write_text("\n\n".join(own), encoding="utf-8")
    show = only(data)
    assert show.left_out == 1
    assert len([scene for scene in show.earlier if scene.moment.numbers[:2] == (1, 2)]) == 3


def test_people_go_by_the_transcripts_names(data: Path) -> None:
    """'bob' is whom the file prints as Ben."""
    show = only(data)
    assert show.main == ("Ann", "Ben", "Cleo")
    assert {line.speaker for item in show.file for line in item.scene.lines} == {"Ann", "Ben", "Cleo"}
    assert dict(show.names.words()) == {"Ann": "Ann", "Ben": "Ben", "Cleo": "Cleo"}


def test_somebody_the_transcripts_do_not_have_keeps_the_files_name(data: Path) -> None:
    def renamed(row: dict[str, Any]) -> dict[str, Any]:
        content = ((who.replace("cleo", "dora"), text.replace("Cleo:", "Dora:")) for who, text in row["lines"])
        lines = [list(item) for item in content]
        return {**row, "lines": lines, "main_characters": ["ann", "bob", "dora"]}

    rewritten(data, renamed)
    assert only(data).main == ("Ann", "Ben", "Dora")


def test_a_main_character_who_never_speaks_is_none(data: Path) -> None:
    rewritten(data, lambda row: {**row, "main_characters": [*row["main_characters"], "ghost"]})
    assert only(data).main == ("Ann", "Ben", "Cleo")


def test_scenes_outside_the_split_are_history_only(data: Path) -> None:
    rewritten(data, lambda row: {**row, "tvsg_split": "dev" if row["scene_id"] % 2 else None})
    show = only(data)
    assert [item.judged for item in show.file] == [True, False] * 4


def test_the_order_of_the_file_does_not_matter(data: Path) -> None:
    before = only(data)
    lines = (data / "dev.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (data / "dev.jsonl").write_text("".join(reversed(lines)), encoding="utf-8")
    after = only(data)
    assert [item.scene for item in after.file] == [item.scene for item in before.file]
    assert after.first == before.first


def test_another_file_may_be_judged(data: Path, tmp_path: Path) -> None:
    second = tmp_path / "mine.jsonl"
    first = (data / "dev.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    second.write_text(first + "\n", encoding="utf-8")
    (show,) = shows_in(data, second)
    assert len(show.file) == 1 and episodes(show) == {(1, number) for number in range(1, 6)}


def test_what_is_missing_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no dev.jsonl"):
        list(shows_in(tmp_path))
    (data / TRANSCRIPTS).rename(data / "transcripts" / "elsewhere")
    with pytest.raises(InputError, match="no transcripts of The_Harbour to learn from"):
        list(shows_in(data))
    (data / "dev.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no scenes"):
        list(shows_in(data))


JUDGED_MASKS = {"FRIENDS": 596, "The_Big_Bang_Theory": 393, "Frasier": 403, "Gilmore_Girls": 3, "The_Office": 447}


def judged_masks(show: Show) -> int:
    speakers = [{line.speaker for line in item.scene.lines} for item in show.file if item.judged]
    return sum(len(each & set(show.main)) for each in speakers)


def learns_something(show: Show) -> bool:
    """Does vanilla name the judged better than chance, from the last of what may be learned?"""
    vanilla = Vanilla(TrainingScenes(show.earlier[-500:], show.main, show.names))
    right, chance = [], []
    for masked in Masking(show.main, show.names).scenes(item.scene for item in show.file if item.judged):
        for mask, shares in vanilla.guess(masked.scene, [Persona(name) for name in masked.candidates]).items():
            right.append(max(shares, key=lambda name: shares[name]) == masked.answers[mask])
            chance.append(1 / len(shares))
    return bool(np.mean(right) > np.mean(chance) + 0.1)


def test_a_real_show(tmp_path: Path) -> None:
    """What is left out there, how much is judged, and that there is something to learn."""
    real, file = realdata.folder("tvshowguess"), tmp_path / "one.jsonl"
    rows = (real / "dev.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(row for row in rows if json.loads(row)["show"] == "The_Big_Bang_Theory"), encoding="utf-8")
    (show,) = shows_in(real, file)
    assert (7, 5) not in episodes(show) and {(7, 4), (7, 6)} <= episodes(show)
    assert judged_masks(show) == JUDGED_MASKS[show.name]
    assert max(scene.moment for scene in show.earlier) < show.first
    assert learns_something(show)


@pytest.mark.thorough
def test_all_real_shows() -> None:
    shows = {show.name: show for show in shows_in(realdata.folder("tvshowguess"))}
    assert {name: judged_masks(show) for name, show in shows.items()} == JUDGED_MASKS
    assert sum(JUDGED_MASKS.values()) == 1842
    assert "Bulldog" in shows["Frasier"].main
    assert all(max(scene.moment for scene in show.earlier) < show.first for show in shows.values())
    assert learns_something(shows["Frasier"])


def test_of_shows_the_episodes_before_the_judged_ones(tmp_path: Path) -> None:
    data = shows_folder(tmp_path / "shows", episodes=6, judged=2)
    for named in ((), ("the_harbour",), ("The Harbour",)):
        ((title, content),) = training_scenes_of_shows(data, named).items()
        assert title == "The Harbour" and sorted(content.main) == sorted(PEOPLE)
        assert [item.moment.numbers for item in content.scenes] == [(1, e, n) for e in range(1, 5) for n in range(1, 5)]
    rows = (data / "dev.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "judged.jsonl").write_text("".join(rows[4:]), encoding="utf-8")  # one episode fewer is judged
    (content,) = training_scenes_of_shows(data, judge=tmp_path / "judged.jsonl").values()
    assert content.scenes[-1].moment.numbers == (1, 5, 4)
    with pytest.raises(InputError, match="has no frasier: choose from The Harbour"):
        training_scenes_of_shows(data, ("Frasier", "The Harbour"))
