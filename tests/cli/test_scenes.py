from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Document = Callable[..., Any]


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
