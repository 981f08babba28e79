"""Names, titles and values have a length, whatever the format: what is longer is refused or cut, and told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samples import SCRIPT
from understudy.errors import InputError
from understudy.formats import read
from understudy.sources import MAX_NAME, MAX_TITLE, MAX_VALUE
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story

LONG = "Odile" * 1_000_000
LONGER = "Odile" * 50  # where a line or a field has a length of its own
CARD: dict[str, Any] = {"name": "Odile", "description": "{{char}} keeps the lock.", "first_mes": "Well?"}


def card(**fields: Any) -> bytes:
    return json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": {**CARD, **fields}}).encode()


def rows(*documents: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, documents)).encode()


def cast_toml(**tables: str) -> dict[str, bytes]:
    return {"cast.toml": "\n".join(tables.values()).encode(), "act-1.txt": SCRIPT.encode()}


def made(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder if len(files) > 1 else folder / next(iter(files))


@pytest.mark.parametrize(
    "files",
    [
        {"card.json": card(name=LONG)},
        {"card.json": card(name=LONG, description="{{char}} " * 100_000)},
        {"card.json": card(nickname=LONG)},
        {"lines.csv": f"speaker,text\n{LONGER},Good evening.\nRuy,Good night.\n".encode()},
        {"lines.jsonl": rows({"speaker": LONGER, "text": "Yes."}, {"speaker": "Ruy", "text": "No."})},
        {
            "chat.jsonl": rows(
                {"name": LONGER, "is_user": False, "mes": "{{char}} " * 1000}, {"name": "Ruy", "mes": "No."}
            )
        },
        {
            "chat.jsonl": rows(
                {"user_name": LONGER, "character_name": "Ruy", "chat_metadata": {"scenario": "{{user}}" * 999}}
            )
        },
        cast_toml(name=f'[[character]]\nname = "{LONG}"'),
        cast_toml(name=f'[[character]]\nname = "Odile"\naliases = ["{LONG}"]'),
        cast_toml(fact=f'[[fact]]\nwho = "{LONG}"\nattribute = "age"\nvalue = ["9"]\nfrom = "1.1"'),
        cast_toml(schema=f'[schema]\nattributes = ["{LONG}"]'),
        cast_toml(schema=f'[schema]\nkinds = ["{LONG}"]'),
    ],
    ids=lambda files: next(iter(files)),
)
def test_a_name_that_is_too_long_is_refused_and_shown_by_its_beginning(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(InputError, match=f"at most {MAX_NAME}") as caught:
        read(made(tmp_path / "story", files))
    assert len(str(caught.value)) < 1_000 and caught.value.path is not None


def cut(story: Story, kind: str) -> str:
    (unread,) = [item for item in story.unread() if f"a {kind} of" in item.reason]
    assert len(unread.text) < 100 and "left out" in unread.reason
    counts = story.files()
    assert all(file.units == file.lines + file.descriptions + file.headings + file.unread for file in counts)
    return unread.reason


@pytest.mark.parametrize(
    ("files", "kind", "shown", "limit"),
    [
        (cast_toml(title=f'title = "{LONG}"'), "title", lambda story: story.title, MAX_TITLE),
        (
            {"act.txt": f"# act 1: {'O' * 5_000}\n## scene 1: {'S' * 20_000}\nODILE: Well.\nRUY: So.\n".encode()},
            "title", lambda story: next(title for _, title in story.headings()), MAX_TITLE,
        ),
        ({"card.json": card(scenario="S" * 1_000_000)},
         "setting", lambda story: next(iter(story.scenes())).setting, MAX_VALUE),
        ({"card.json": card(description="I am" + " so" * 1_000_000)},
         "sentence of a profile", lambda story: persona_at(story, "Odile", "end").profile[0], MAX_VALUE),
        (cast_toml(fact=f'[[character]]\nname = "Odile"\n[[fact]]\nwho = "Odile"\nattribute = "belongings"\n'
                        f'value = ["{LONG}"]\nfrom = "1.1"'),
         "value", lambda story: persona_at(story, "Odile", "end").attributes["belongings"][0], MAX_VALUE),
    ],
    ids=["title", "heading", "setting", "profile", "value"],
)  # fmt: skip
def test_what_else_is_too_long_is_cut_and_listed(
    tmp_path: Path, files: dict[str, bytes], kind: str, shown: Callable[[Story], str], limit: int
) -> None:
    story = read(made(tmp_path / "story", files))
    text = shown(story)
    assert len(text) == limit and text.endswith("…")
    assert f"first {limit:,} " in cut(story, kind)


def test_a_profile_of_too_many_sentences_is_cut(tmp_path: Path) -> None:
    story = read(
        made(
            tmp_path / "story", {"card.json": card(description="\n".join(map("I have {} keys.".format, range(9_000))))}
        )
    )
    assert len(persona_at(story, "Odile", "end").profile) == 5_000
    assert "9,000 sentences" in cut(story, "profile")


def test_what_is_long_enough_is_kept_as_it_is(tmp_path: Path) -> None:
    name, setting = "O" * MAX_NAME, "s" * MAX_VALUE
    story = read(made(tmp_path / "story", {"card.json": card(name=name, scenario=setting)}))
    assert [member.character.name for member in story.cast()] == [name]
    assert next(iter(story.scenes())).setting == setting
    assert not [item for item in story.unread() if "left out" in item.reason]
