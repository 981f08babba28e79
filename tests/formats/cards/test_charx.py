"""Cards in CHARX archives: the card, its icon and its assets go in and come out; bombs and damage are refused."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from reading import damage
from understudy.errors import InputError
from understudy.formats.cards.charx import charx_of, is_charx, missing_assets, read_assets, read_charx
from understudy.formats.cards.document import card_of
from understudy.formats.cards.file import picture_of, read_card, write_card
from understudy.formats.cards.lore_files import parse_lore
from understudy.formats.cards.png import portrait

ICON = portrait("Odile")
SMILE = "assets/emotion/images/smile.webp"


def card(**fields: Any) -> Any:
    data = {"name": "Odile", "description": "A pianist.", "group_only_greetings": [], **fields}
    return card_of({"spec": "chara_card_v3", "spec_version": "3.0", "data": data})


def archive(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name.replace("__", "/").replace("_json", ".json"), content)
    return stream.getvalue()


def test_a_card_its_icon_and_its_assets_come_out_as_they_went_in() -> None:
    smile = {"type": "emotion", "name": "happy", "ext": "webp", "uri": f"embeded://{SMILE}"}
    content = charx_of(card(assets=[smile]), ICON, {SMILE: b"RIFF", "module.risum": b"\1"})
    charx = read_charx(content)
    assert charx.card.text("description") == "A pianist."
    assert charx.icon == picture_of(content) == ICON
    assert {asset.path: asset.size for asset in charx.assets} == {
        SMILE: 4,
        "module.risum": 1,
        "assets/icon/images/main.png": len(ICON),
    }
    assert [(asset["type"], asset["name"]) for asset in charx.card.data["assets"]] == [
        ("icon", "main"),
        ("emotion", "happy"),
    ]
    assert content == charx_of(card(assets=[smile]), ICON, {SMILE: b"RIFF", "module.risum": b"\1"})


def test_the_main_icon_is_the_one_named_so_and_a_new_picture_takes_its_place(tmp_path: Path) -> None:
    icons = [
        {"type": "icon", "name": name, "ext": "png", "uri": f"{scheme}://icons/{name}.png"}
        for name, scheme in (("other", "embeded"), ("main", "embedded"))
    ]
    other = portrait("Bastien")
    path = tmp_path / "odile.charx"
    path.write_bytes(charx_of(card(assets=icons), None, {"icons/other.png": other, "icons/main.png": ICON}))
    assert read_charx(path).icon == ICON
    write_card(read_card(path), path, portrait("Zita"), assets=read_assets(path))
    assert read_charx(path).icon == portrait("Zita")
    assert set(read_assets(path)) == {"icons/other.png", "assets/icon/images/main.png"}


def test_an_icon_that_is_no_png_stays_and_is_no_picture(tmp_path: Path) -> None:
    webp = {"type": "icon", "name": "main", "ext": "webp", "uri": "embeded://main.webp"}
    path = tmp_path / "odile.charx"
    write_card(card(assets=[webp]), path, assets={"main.webp": b"RIFF"})
    assert read_charx(path).icon is None
    assert read_assets(path) == {"main.webp": b"RIFF"}


def test_what_nobody_has_is_left_out_and_can_be_named() -> None:
    smile = {"type": "emotion", "name": "happy", "ext": "webp", "uri": f"embeded://{SMILE}"}
    online = {"type": "background", "name": "yard", "ext": "png", "uri": "https://example.org/yard.png"}
    charx = read_charx(charx_of(card(assets=[smile, online, "odd"]), ICON))
    assert charx.card.data["assets"][1:] == [online, "odd"]
    assert missing_assets(card(assets=[smile, online, "odd"])) == (SMILE,)
    assert missing_assets(charx.card, has_picture=True) == ()


def test_a_card_without_a_picture_gets_a_portrait(tmp_path: Path) -> None:
    write_card(card(), tmp_path / "odile.charx")
    assert read_charx(tmp_path / "odile.charx").icon == ICON
    with pytest.raises(InputError, match="version 3"):
        write_card(card(), tmp_path / "odile.charx", version=2)


def test_a_lorebook_in_a_charx_file() -> None:
    book = {"entries": [{"keys": ["piano"], "content": "It was sold.", "enabled": True}]}
    (entry,) = parse_lore(charx_of(card(character_book=book)))
    assert entry.content == "It was sold."


def test_an_archive_behind_a_jpeg_picture(tmp_path: Path) -> None:
    path = tmp_path / "odile.jpeg"
    path.write_bytes(b"\xff\xd8\xff\xe0 a picture \xff\xd9" + charx_of(card(), ICON))
    assert is_charx(path)
    assert read_card(path).name == "Odile"
    assert read_charx(path).icon == ICON
    path.write_bytes(b"\xff\xd8\xff\xe0 a picture \xff\xd9")
    assert not is_charx(path)


def test_of_a_zip_bomb_no_more_is_unpacked_than_a_card_may_hold() -> None:
    bomb = archive(card_json=b" " * (256 * 1024 * 1024))
    tracemalloc.start()
    with pytest.raises(InputError, match="too much for a card"):
        read_charx(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 1024 * 1024


def test_a_zip_bomb_is_refused_where_it_goes_on_too_long(tmp_path: Path) -> None:
    bomb = archive(card_json=b" " * (16 * 1024 * 1024 + 1))
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match=r"card\.json of over"):
        read_charx(bomb)


def test_a_list_of_contents_that_is_too_long_is_refused_unopened(tmp_path: Path) -> None:
    content = bytearray(archive(card_json=b"{}"))
    end = content.rfind(b"PK\x05\x06")
    struct.pack_into("<H", content, end + 10, 60_000)
    with pytest.raises(InputError, match="over 10,000 files"):
        read_charx(bytes(content))
    large = archive(card_json=b"{}")
    with_zip64 = large[:end] + b"PK\x06\x07" + bytes(16) + large[end:]
    with pytest.raises(InputError, match="over 10,000 files"):
        read_charx(with_zip64)
    assert not is_charx(tmp_path / "nothing.charx")


@pytest.mark.parametrize("content", [archive(other=b"1"), b"PK\x03\x04", b"PK\x03\x04" + bytes(100)])
def test_a_zip_file_that_is_no_card_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.charx"
    path.write_bytes(content)
    assert not is_charx(path)
    with pytest.raises(InputError, match=r"odd\.charx"):
        read_card(path)


@given(content=damage(charx_of(card(), ICON, {SMILE: b"RIFF"})))
def test_a_damaged_archive_is_read_or_refused(content: bytes) -> None:
    try:
        charx = read_charx(content)
    except InputError:
        return
    json.dumps(charx.card.document)
