from __future__ import annotations

import base64
import io
import json
import struct
import time
import tracemalloc
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import damage
from understudy.errors import InputError
from understudy.formats.cards import DEEPEST, Card, card_from_json, card_of, in_version, json_of
from understudy.formats.cards.file import (
    LARGEST_FILE,
    charx_of,
    is_charx,
    missing_assets,
    parse_card,
    picture_of,
    png_of,
    read_assets,
    read_card,
    read_charx,
    write_card,
)
from understudy.formats.cards.lore_files import parse_lore
from understudy.formats.cards.png import (
    SIGNATURE,
    PngChunk,
    bytes_of,
    initials,
    keyword_of,
    parse_png,
    portrait,
    text_chunk,
)

PICTURE = bytes_of(
    (
        PngChunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        text_chunk("Author", b"nobody in particular"),
        PngChunk(b"IDAT", zlib.compress(b"\0\x80")),
        text_chunk("chara-ext-asset_:smile.png", b"AAAA"),
        PngChunk(b"IEND", b""),
    )
)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), json_values, max_size=5)
books = st.builds(
    lambda book, entries: {**book, "extensions": {"elsewhere": 1}, "entries": entries},
    objects,
    st.lists(objects, max_size=3),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Cards of versions 2 and 3 with anything anywhere."""
    data = {**draw(objects), "name": draw(st.text(min_size=1)), "extensions": draw(objects)}
    if draw(st.booleans()):
        data["character_book"] = draw(books)
    version = draw(st.sampled_from((2, 3)))
    return {**draw(objects), "spec": f"chara_card_v{version}", "spec_version": f"{version}.0", "data": data}


def in_order(document: object) -> str:
    """A document with the order of its keys, which `==` does not compare."""
    return json.dumps(document)


def v2(**data: Any) -> Card:
    return card_of({"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Odile", **data}})


def v3(**data: Any) -> Card:
    return card_of({"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Odile", **data}})


def carried(png: bytes) -> dict[str, Any]:
    """The documents a picture carries, by keyword."""
    texts = [chunk.body.split(b"\0", 1) for chunk in parse_png(png).chunks if chunk.kind == b"tEXt"]
    return {key.decode(): json.loads(base64.b64decode(text)) for key, text in texts if key in (b"chara", b"ccv3")}


@given(documents())
def test_json_to_png_to_json_keeps_everything_in_its_order(document: dict[str, Any]) -> None:
    from_json = card_from_json(json_of(card_of(document)))
    from_png = parse_card(png_of(from_json, PICTURE))
    back = card_from_json(json_of(from_png))
    assert in_order(back.document) == in_order(document)


@settings(max_examples=20)
@given(document=documents())
def test_files_keep_everything(tmp_path: Path, document: dict[str, Any]) -> None:
    for name in ("card.json", "card.PNG"):
        write_card(card_of(document), tmp_path / name)
        assert in_order(read_card(tmp_path / name).document) == in_order(document)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["card.PNG", "card.json"]


@given(documents(), st.sampled_from((2, 3)))
def test_a_change_of_version_keeps_every_field(document: dict[str, Any], version: int) -> None:
    card = card_of(document)
    changed = in_version(card, version)
    assert card_of(changed.document).version == version
    for field, value in card.data.items():
        if field != "character_book" or version == 2:
            assert changed.data[field] == value
    for old, new in zip(card.book, changed.book):
        assert {**new, **old} == new
    for key in document.keys() - {"spec", "spec_version", "data"}:
        assert changed.document[key] == document[key]


@given(st.data())
def test_a_damaged_png_is_an_input_error_or_still_a_card(data: st.DataObject) -> None:
    png = bytearray(png_of(v3(description="A lamp in every window."), PICTURE))
    if data.draw(st.booleans()):
        del png[data.draw(st.integers(0, len(png) - 1)) :]
    for _ in range(data.draw(st.integers(0, 3))):
        if png:
            png[data.draw(st.integers(0, len(png) - 1))] = data.draw(st.integers(0, 255))
    with suppress(InputError):
        assert parse_card(bytes(png)).name


@given(st.binary(max_size=200), st.sampled_from((b"tEXt", b"zTXt", b"iTXt")), st.sampled_from((b"chara", b"ccv3")))
def test_any_text_under_a_cards_keyword_is_an_input_error_or_a_card(body: bytes, kind: bytes, key: bytes) -> None:
    png = parse_png(PICTURE)
    with pytest.raises(InputError):
        parse_card(bytes_of((*png.chunks[:-1], PngChunk(kind, key + b"\0" + body), png.chunks[-1])))


def test_every_place_a_png_can_break_off_is_said(tmp_path: Path) -> None:
    whole = png_of(v2(), PICTURE)
    path = tmp_path / "odile.png"
    for size in range(len(SIGNATURE), len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"odile\.png.*breaks off.*again"):
            read_card(path)


@given(documents())
def test_other_chunks_stay_as_they_are(document: dict[str, Any]) -> None:
    picture = PICTURE + b"left behind by some editor"
    once = png_of(v3(description="an earlier card"), picture)
    png = parse_png(png_of(card_of(document), once))
    remaining = [chunk for chunk in png.chunks if keyword_of(chunk) not in ("chara", "ccv3")]
    assert bytes_of(remaining, png.trailing) == picture


def test_a_v3_card_is_there_for_older_programs_too() -> None:
    documents = carried(png_of(v3(creator_notes="Be kind.", nickname="Odi"), PICTURE))
    assert list(documents) == ["chara", "ccv3"]
    assert (documents["chara"]["spec"], documents["chara"]["spec_version"]) == ("chara_card_v2", "2.0")
    assert documents["chara"]["data"]["creator_notes"].startswith("Be kind.\n\n(A V3 card")
    assert documents["ccv3"]["data"]["creator_notes"] == "Be kind."
    assert documents["chara"]["data"]["nickname"] == "Odi", "nothing is dropped on the way down"


def test_a_v2_card_replaces_a_newer_one_in_the_same_picture() -> None:
    png = png_of(v2(description="the new one"), png_of(v3(description="the old one"), PICTURE))
    assert list(carried(png)) == ["chara"]
    assert parse_card(png).text("description") == "the new one"


def with_texts(*chunks: PngChunk) -> bytes:
    png = parse_png(PICTURE)
    return bytes_of((*png.chunks[:-1], *chunks, png.chunks[-1]))


def packed(card: Card) -> bytes:
    return base64.b64encode(json_of(card))


def test_ccv3_wins_over_chara() -> None:
    png = with_texts(text_chunk("ccv3", packed(v3(tags=["three"]))), text_chunk("chara", packed(v2(tags=["two"]))))
    assert parse_card(png).texts("tags") == ("three",)


def test_two_cards_that_differ_are_not_chosen_between() -> None:
    same = with_texts(text_chunk("chara", packed(v2())), text_chunk("chara", packed(v2())))
    assert parse_card(same).name == "Odile"
    differ = with_texts(text_chunk("chara", packed(v2())), text_chunk("chara", packed(v2(tags=["b"]))))
    with pytest.raises(InputError, match="2 different cards under 'chara'"):
        parse_card(differ)


@pytest.mark.parametrize(
    "chunk",
    [
        PngChunk(b"zTXt", b"chara\0\0" + zlib.compress(packed(v2()))),
        PngChunk(b"iTXt", b"chara\0\0\0\0\0" + packed(v2())),
        PngChunk(b"iTXt", b"chara\0\1\0fr\0personnage\0" + zlib.compress(packed(v2()))),
        PngChunk(b"tEXt", b"Chara\0" + packed(v2())),
        PngChunk(b"tEXt", b"chara\0" + packed(v2()).rstrip(b"=")),
    ],
)
def test_the_ways_programs_write_a_card(chunk: PngChunk) -> None:
    assert parse_card(with_texts(chunk)).name == "Odile"


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt"])
def test_a_bomb_is_refused_quickly_and_with_little_memory(kind: bytes) -> None:
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(b"A" * 1_000_000) for _ in range(200)) + packer.flush()
    head = b"chara\0\0" if kind == b"zTXt" else b"chara\0\1\0\0\0"
    png = with_texts(PngChunk(kind, head + bomb))
    started = time.process_time()
    tracemalloc.start()
    with pytest.raises(InputError, match="too much for a card"):
        parse_card(png)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 1024 * 1024
    assert time.process_time() - started < 10


def test_a_chunk_that_claims_200_megabytes_is_refused_at_once() -> None:
    png = PICTURE[:-12] + struct.pack(">I4s", 200_000_000, b"tEXt") + b"chara\0"
    tracemalloc.start()
    with pytest.raises(InputError, match="should have 200,000,000 bytes"):
        parse_card(png)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1024 * 1024


def test_a_file_too_large_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.png"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(InputError, match=r"huge\.png: has .* bytes, more than"):
        read_card(path)


def test_what_is_no_card_says_so(tmp_path: Path) -> None:
    for content, said in (
        (PICTURE, "without a card"),
        (b"{", "is not JSON"),
        (b"\xff\xfe\xfa", "not JSON that can be read"),
        (b"[1]", "an object with named fields"),
        (b'{"name": "Odile"}', "V1"),
        (b'{"spec": "chara_card_v9", "data": {}}', "chara_card_v2"),
        (b'{"spec": ["chara_card_v2"], "data": {}}', "chara_card_v2"),
        (b'{"spec": "chara_card_v2", "data": []}', "no 'data'"),
        (b'{"spec": "chara_card_v2", "data": {"x": NaN}}', "NaN"),
        (b'{"spec": "chara_card_v2", "data": {"x": 1e999}}', "too large"),
        (b'{"spec": "chara_card_v2", "data": {"x": %s}}' % (b"9" * 5000), "JSON"),
        (b'{"a":' * 100_000, "too deep"),
        (b'{"spec": "chara_card_v2", "data": {"x": %s}}' % (b"[" * DEEPEST + b"]" * DEEPEST), "levels deep"),
    ):
        path = tmp_path / "card"
        path.write_bytes(content)
        with pytest.raises(InputError, match=said) as caught:
            read_card(path)
        assert caught.value.path == path
    with pytest.raises(InputError, match="cannot be opened"):
        read_card(tmp_path / "nowhere.png")


def test_half_an_emoji_survives() -> None:
    text = '{"spec": "chara_card_v2", "data": {"name": "Odile \\ud83d"}}'
    card = card_from_json(text.encode())
    assert card_from_json(json_of(card)).document == card.document
    assert parse_card(png_of(card)).document == card.document


V1 = {
    "name": "Odile",
    "description": "Keeps the lock.",
    "personality": "",
    "scenario": "",
    "first_mes": "Mind the step.",
    "mes_example": "",
    "tags": ["canal"],
    "create_date": "2023-01-01",
}


def test_a_v1_card_is_written_as_v2_unless_asked(tmp_path: Path) -> None:
    card = card_from_json(json.dumps(V1).encode())
    assert card.version == 1
    write_card(card, tmp_path / "odile.json")
    document = json.loads((tmp_path / "odile.json").read_bytes())
    assert list(document) == ["spec", "spec_version", "create_date", "data"]
    assert document["spec"] == "chara_card_v2"
    assert document["data"]["first_mes"] == "Mind the step."
    assert document["data"]["tags"] == ["canal"]
    assert document["data"]["alternate_greetings"] == []
    assert document["data"]["extensions"] == {}
    for name in ("one.json", "one.png"):
        write_card(card, tmp_path / name, version=1)
        assert in_order(read_card(tmp_path / name).document) == in_order(V1)
    with pytest.raises(InputError, match="ask for version 2 or 3"):
        in_version(v2(), 1)


def test_a_v3_lorebook_has_what_v3_asks_for_and_decorators_stay() -> None:
    entry = {"keys": ["lock"], "content": "depth 4\nThe lock is old.", "extensions": {}, "enabled": True}
    card = in_version(v2(character_book={"extensions": {}, "entries": [entry, "odd"]}), 3)
    assert card.book == [{**entry, "use_regex": False}, "odd"]
    assert card.data["group_only_greetings"] == []


def test_writing(tmp_path: Path) -> None:
    picture = tmp_path / "photo.png"
    picture.write_bytes(PICTURE)
    write_card(v2(), picture, picture=picture)
    assert read_card(picture).name == "Odile"
    with pytest.raises(InputError, match=r"\.json, \.png or \.charx"):
        write_card(v2(), tmp_path / "odile.webp")
    with pytest.raises(InputError, match="cannot be written"):
        write_card(v2(), tmp_path / "nowhere" / "odile.png")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(InputError, match=r"photo\.jpg: is not a PNG"):
        write_card(v2(), tmp_path / "odile.png", picture=tmp_path / "photo.jpg")


@pytest.mark.parametrize(
    ("name", "letters"),
    [("Odile Marchetti", "OM"), ("Émile", "E"), ("真鍋千夏", ""), ("J. R. Tam", "JT"), ("", ""), ("R2-D2", "RD")],
)
def test_a_portrait_is_a_picture_of_the_initials(name: str, letters: str) -> None:
    assert initials(name) == letters
    png = parse_png(portrait(name))
    width, height = struct.unpack_from(">II", png.chunks[0].body)
    pixels = zlib.decompress(png.chunks[1].body)
    assert (width, height) == (512, 512)
    assert len(pixels) == height * (1 + 3 * width)
    assert bytes((250, 247, 240)) in pixels, "there is ink on it"
    assert portrait(name) == portrait(name)


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
