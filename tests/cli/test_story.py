from __future__ import annotations

from pathlib import Path

import pytest

from cliruns import Document, Run


def test_who_she_is_at_a_moment(document: Document, story: Path) -> None:
    ines = document("persona", story, "Ines", "--at", "2.1")
    assert list(ines) == ["character", "moment", "profile", "attributes", "relations", "lines", "memory"]
    assert (ines["character"], ines["moment"]) == ("Ines Vale", "2.1")
    assert ines["profile"] == ["I keep the keys of the harbour."]
    assert ines["attributes"] == {}
    (tie,) = ines["relations"]
    assert (tie["to"], tie["kind"], tie["level"], tie["since"]) == ("Tobias Rook", "affection", -6, "2.1")
    assert "Tobias Rook" in tie["sentence"]
    assert [line["moment"] for line in ines["lines"]] == ["1.1.2", "1.1.4"]
    (scene,) = ines["memory"]
    assert (scene["moment"], scene["setting"]) == ("1.1", "The chandlery, noon")
    assert scene["present"] == ["Ines Vale", "Tobias Rook"]
    assert scene["lines"][1] == {
        "moment": "1.1.2",
        "speaker": "Ines Vale",
        "text": "The brass key was on its hook at noon, Tobias.",
    }


def test_an_attribute_is_there_as_long_as_it_holds(document: Document, story: Path) -> None:
    assert document("persona", story, "Ines", "--at", "1.1")["attributes"] == {"belongings": ["the brass key"]}


@pytest.mark.parametrize("form", [(), ("--json",), ("--facing", "Tobias"), ("--author",), ("--facing", "Mara")])
def test_nothing_later_and_nothing_unwitnessed_is_shown(run: Run, story: Path, form: tuple[str, ...]) -> None:
    shown = run("persona", story, "Ines", "--at", "2.1", *form).stdout
    for hidden in ("lighthouse", "sold", "coat", "+3", "2.2", "by his shoes"):
        assert hidden not in shown


def test_the_last_ones_are_kept(document: Document, story: Path) -> None:
    ines = document("persona", story, "Ines", "--last", "1")
    assert [line["text"] for line in ines["lines"]] == ["You must be cold, Tobias."]
    assert [scene["moment"] for scene in ines["memory"]] == ["2.2"]


def test_whom_she_faces_as_she_knows_them(document: Document, story: Path) -> None:
    faced = document("persona", story, "Ines", "--at", "2.1", "--facing", "Tobias")["facing"]
    assert faced["name"] == "Tobias Rook"
    assert [tie["level"] for tie in faced["relations"]] == [-6]


def test_what_others_feel_is_for_the_author_alone(document: Document, run: Run, story: Path) -> None:
    assert "felt_towards" not in document("persona", story, "Ines")
    (felt,) = document("persona", story, "Ines", "--author")["felt_towards"]
    assert (felt["of"], felt["to"], felt["level"]) == ("Tobias Rook", "Ines Vale", 9)
    assert "affection +9" not in run("persona", story, "Ines").stdout
    shown = run("persona", story, "Ines", "--author").stdout
    assert shown.index("does not know") < shown.index("affection +9")


def test_the_chart_shows_the_turn_and_fits_80_columns(run: Run, story: Path) -> None:
    shown = run("persona", story, "Ines", "--facing", "Tobias").stdout
    assert "Ines Vale's affection towards Tobias Rook, up to the end" in shown
    for level in ("┤── +7 ─", "└─ -6 ─", "┌─ +3 ─"):
        assert level in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_tie_that_never_moved_is_not_charted_unasked(run: Run, story: Path) -> None:
    assert "affection towards" not in run("persona", story, "Tobias").stdout
    assert "affection towards" in run("persona", story, "Tobias", "--facing", "Ines").stdout


def test_nobody_of_that_name(run: Run, story: Path) -> None:
    failed = run("persona", story, "Hugo", "--json", status=1)
    assert "nobody in 'The Brass Key' is called 'Hugo'" in failed.stderr
    assert failed.stdout == ""


def test_the_cast_with_how_much_and_when(document: Document, story: Path) -> None:
    assert document("cast", story)["cast"] == [
        {"name": "Ines Vale", "aliases": ["Ines"], "lines": 5, "first": "1.1.2", "last": "2.2.3"},
        {"name": "Tobias Rook", "aliases": ["Tobias"], "lines": 4, "first": "1.1.3", "last": "2.2.2"},
        {"name": "Mara Quill", "aliases": ["Mara"], "lines": 1, "first": "1.2.2", "last": "1.2.2"},
    ]


def test_the_cast_before_a_moment_says_nothing_of_later_lines(document: Document, story: Path) -> None:
    before = document("cast", story, "--at", "1.2.2")["cast"]
    assert [(member["name"], member["lines"], member["last"]) for member in before] == [
        ("Ines Vale", 2, "1.1.4"),
        ("Tobias Rook", 2, "1.2.1"),
    ]


def test_who_speaks_most_has_the_longest_bar(run: Run, story: Path) -> None:
    shown = run("cast", story).stdout
    bars = {
        name: line.count("█") for line in shown.splitlines() for name in ("Ines Vale", "Mara Quill") if name in line
    }
    assert bars["Ines Vale"] > bars["Mara Quill"] > 0


def test_numbers_are_kept_whole_where_names_are_many_and_long(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "long.txt"
    names = [f"Count Number {number} of the Long Marsh" for number in range(3)]
    script.write_text("# season 12\n## scene 1234\n" + "".join(f"{name}: Good day.\n" for name in names * 400))
    shown = run("cast", script).stdout
    assert shown.count(" 400 ") == 3
    assert "12.1234.1198" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_scenes_from_one_moment_to_another(document: Document, story: Path) -> None:
    selected = document("scenes", story, "--from", "1.2", "--to", "2.2")["scenes"]
    assert [(scene["moment"], scene["setting"], len(scene["lines"])) for scene in selected] == [
        ("1.2", "The quay, the same night", 2),
        ("2.1", "The chandlery, morning", 2),
    ]
    assert selected[0]["present"] == ["Tobias Rook", "Mara Quill"]


def test_a_scene_is_cut_off_where_the_span_ends(document: Document, story: Path) -> None:
    (scene,) = document("scenes", story, "--from", "2.2", "--to", "2.2.2")["scenes"]
    assert [line["text"] for line in scene["lines"]] == ["So it was the lighthouse that had my key."]


def test_scenes_as_a_table_and_to_read(run: Run, story: Path) -> None:
    table = run("scenes", story).stdout
    assert "The quay, the same night" in table
    assert "thief" not in table
    text = run("scenes", story, "--from", "2", "--text").stdout
    assert "act 2: High Water" in text
    assert "act 1" not in text
    assert text.index("The chandlery, morning") < text.index("I know a thief by his shoes.")


def test_a_moment_the_story_does_not_have(run: Run, story: Path) -> None:
    assert "after the story's last line" in run("scenes", story, "--from", "9.1", status=1).stderr


def test_a_script_cannot_drive_the_terminal(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "sly.txt"
    script.write_text("# scene 1: A room\nINES: Look \x1b[31mhere\x07 [bold]now[/bold] :smile:\n")
    shown = run("scenes", script, "--text").stdout
    assert "Look [31mhere [bold]now[/bold] :smile:" in shown
