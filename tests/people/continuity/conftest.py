"""Little stories in which one line does not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from understudy.formats import read
from understudy.people.continuity import Fault, check_continuity
from understudy.story.storyfile import Story

MakeStory = Callable[..., Story]
CAST = "".join(
    f'[[character]]\nname = "{name}"\naliases = ["{name.split()[0]}"]\n'
    for name in ("Ines Vale", "Tobias Rook", "Mara Quill", "Odo Fenn")
)


@pytest.fixture
def make_story(tmp_path: Path) -> MakeStory:
    """A story of scenes, each a text that begins with who is present; `facts` is put into its cast.toml."""

    def make(*scenes: str, facts: str = "", filler: int = 0) -> Story:
        """`filler` empty scenes come first, so that what follows is not the beginning."""
        opening = ["Present: Ines Vale, Tobias Rook, Mara Quill, Odo Fenn\nINES: Rain again.\nODO: It is."] * filler
        text = "# act 1: Water\n" + "".join(
            f"## scene {number}: The quay\n{scene}\n\n" for number, scene in enumerate([*opening, *scenes], 1)
        )
        (tmp_path / "act-1.txt").write_text(text, encoding="utf-8")
        (tmp_path / "cast.toml").write_text(f'title = "Water"\nlanguage = "en"\n{CAST}{facts}', encoding="utf-8")
        return read(tmp_path)

    return make


@pytest.fixture
def find(make_story: MakeStory) -> Callable[..., list[Fault]]:
    """The faults of a story made of scenes, of any confidence."""

    def find_faults(*scenes: str, facts: str = "", filler: int = 0) -> list[Fault]:
        return list(check_continuity(make_story(*scenes, facts=facts, filler=filler)).faults)

    return find_faults
