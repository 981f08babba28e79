from __future__ import annotations

import pytest

from understudy.errors import InputError
from understudy.sources.columns import Columns


def test_usual_names_are_recognised_in_any_case_and_punctuation() -> None:
    columns = Columns().completed(["Season No.", "episode_no", "NAME", "Line"])
    assert columns == Columns(speaker="NAME", text="Line", season="Season No.", episode="episode_no")


def test_the_more_telling_name_is_taken() -> None:
    columns = Columns().completed(["name", "speaker", "line", "text"])
    assert (columns.speaker, columns.text) == ("speaker", "text")


def test_numbers_are_no_words() -> None:
    assert Columns().completed(["speaker", "line", "utterance"], frozenset(["line"])).text == "utterance"
    assert Columns().completed(["speaker", "text", "line"], frozenset(["text"])).text == "text"


def test_what_somebody_names_comes_first_and_is_used_once() -> None:
    columns = Columns.of({"text": "name", "speaker": "Wer"}).completed(["name", "wer", "text", "scene"])
    assert columns == Columns(speaker="wer", text="name", scene="scene")


@pytest.mark.parametrize("named", [{"sprecher": "x"}, {"speaker": " "}])
def test_a_kind_that_no_table_has_is_refused_with_those_it_has(named: dict[str, str]) -> None:
    with pytest.raises(InputError, match="speaker"):
        Columns.of(named)
