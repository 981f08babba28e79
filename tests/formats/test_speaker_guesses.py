from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.formats.speaker_guesses import SpeakerGuess, guess_documents, read_speaker_guesses

names = st.text(min_size=1)
guesses = st.builds(
    SpeakerGuess,
    show=st.text(),
    episode=st.lists(st.integers(0, 99), max_size=3).map(tuple),
    scene=st.integers(0, 9999),
    place=st.integers(0, 5),
    who=names,
    guess=names,
    person=st.text(),
)


@given(
    st.lists(guesses, min_size=1, unique_by=lambda each: (each.show, each.episode, each.scene, each.place, each.person))
)
def test_what_is_written_is_what_is_read(tmp_path_factory: pytest.TempPathFactory, some: list[SpeakerGuess]) -> None:
    path = tmp_path_factory.mktemp("guesses") / "answers.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in guess_documents(some)), encoding="utf-8")

    assert read_speaker_guesses(path) == some


@pytest.mark.parametrize("change", [{"guess": ""}, {"scene": "2"}, {"episode": ["9"]}, {"person": None}])
def test_lines_that_are_no_guesses_say_where(tmp_path: Path, change: dict[str, Any]) -> None:
    (document,) = guess_documents([SpeakerGuess("s", (9, 1), 7, 0, "Ann", "Bea", "p1")])
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(document) + "\n" + json.dumps(document | change) + "\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"answers\.jsonl:2: should be an object"):
        read_speaker_guesses(path)


def test_nobody_guesses_a_speaker_twice(tmp_path: Path) -> None:
    documents = guess_documents([SpeakerGuess("s", (9, 1), 7, 0, "Ann", guess, "p1") for guess in ("Ann", "Bea")])
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")

    with pytest.raises(InputError, match="a second guess of p1"):
        read_speaker_guesses(path)
