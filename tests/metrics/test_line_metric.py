from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.formats import read
from understudy.metrics import Samples


def test_lines_by_character_blank_ones_left_out() -> None:
    samples = Samples({"Ines": ["The key!", " ", "My key."], "Mara": [], "Tobias": ["No."]}, background=["the sea"])
    assert samples.names == ("Ines", "Tobias")
    assert samples.lines("Ines") == ["The key!", "My key."]
    assert (samples.count("Ines"), samples.count("Mara"), samples.count("Nobody")) == (2, 0, 0)
    assert samples.said == 3
    assert samples.span("Tobias") == (2, 3)


def test_of_a_story_only_what_was_said_before(story: Path) -> None:
    early = Samples.of_story(read(story), "1.2.2")
    assert early.names == ("Ines Vale", "Tobias Rook")
    assert early.count("Ines Vale") == 2
    whole = Samples.of_story(read(story))
    assert "I know a thief by his shoes. Get out." in whole.lines("Ines Vale")
    assert whole.corpus.number("thief") > 0
    assert early.corpus.number("thief") == -1, "a word that is said later is not even known"
    assert not any("Rain" in line for name in whole.names for line in whole.lines(name)), "descriptions are nobody's"


def test_how_many_lines_and_how_many_characters_use_a_run() -> None:
    samples = Samples(
        {"a": ["the key the key", "the key"], "b": ["the key is out"], "c": ["out"]}, background=["out out"]
    )
    pair = [samples.corpus.gram(2, number) for number in range(samples.corpus.grams(2))].index(("the", "key"))
    assert samples.uses("a", 2)[pair] == 2
    assert samples.rarity(2)[pair] == pytest.approx(np.log(3 / 2))


def test_the_form_of_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "lines.json"
    path.write_text(json.dumps({"マイン": ["本が欲しい。"], "ルッツ": []}), encoding="utf-8")
    samples = Samples.load(path)
    assert (samples.language, samples.names) == ("ja", ("マイン",))
    assert Samples.load(path, "zh").language == "zh"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": "not a list"}', "is not {character: \\[lines\\]}"),
        (b'{"a": [1]}', "is not {character: \\[lines\\]}"),
        (b"[]", "is not {character: \\[lines\\]}"),
        (b"{", "is not JSON in UTF-8"),
        ("{}".encode("utf-16"), "is not JSON in UTF-8"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "lines.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Samples.load(path)
    with pytest.raises(InputError, match="no such file"):
        Samples.load(tmp_path / "nowhere.json")
