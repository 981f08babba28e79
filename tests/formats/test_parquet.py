"""Parquet tables: columns by name, what cannot be used is never decoded, and damage is said."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings

from reading import damage, events_of, of_kind, speaker_texts, stands
from samples import SAMPLES
from understudy.errors import InputError, MissingExtra, UnknownFormat
from understudy.formats import read
from understudy.formats.table import PARQUET
from understudy.sources.events import Heading, Unread


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.parquet"


def write(path: Path, columns: dict[str, Any], **options: Any) -> None:
    pyarrow.parquet.write_table(pyarrow.table(columns), path, **options)


def test_rows_are_speeches_of_their_chapters(path: Path) -> None:
    write(
        path,
        {
            "chapter": [1, 1, 2, 2],
            "Character": pyarrow.array(["Ann", "Bob and Cyril", None, "Ann"]).dictionary_encode(),
            "Line": ["The tide is out.", "So it is.", "Rain.", ""],
            "taken": pyarrow.array([1, 2, 3, 4], pyarrow.timestamp("ns")),
            "vector": [[0.5]] * 4,
        },
        row_group_size=3,
    )
    events = events_of(PARQUET, path)
    assert speaker_texts(events) == [("Ann", "The tide is out."), ("Bob & Cyril", "So it is."), ("", "Rain.")]
    assert [one.numbers for one in of_kind(events, Heading)] == [(1,), (2,)]
    assert [(one.source.line, one.reason) for one in of_kind(events, Unread)] == [(4, "says nothing")]


def test_columns_are_named_where_their_names_are_others(path: Path) -> None:
    write(path, {"Sprecher": ["Ann", "Bob"], "Zeile": ["Eins.", "Zwei."], "am": pyarrow.array([1, 2], "date32")})
    with pytest.raises(UnknownFormat, match="cannot be told; its columns are Sprecher, Zeile, am. Say it with --col"):
        read(path)
    with pytest.raises(InputError, match="no column of texts or numbers 'am'"):
        read(path, columns={"speaker": "Sprecher", "text": "am"})
    story = read(path, columns={"speaker": "Sprecher", "text": "Zeile"})
    assert [line.text for scene in story.scenes() for line in scene.lines] == ["Eins.", "Zwei."]


def test_without_the_library_the_extra_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, {"speaker": ["Ann"], "text": ["One."]})
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"\.\[parquet\]"):
        read(path)


def test_many_rows_in_few_bytes_are_read_a_batch_at_a_time(path: Path) -> None:
    write(path, {"speaker": ["Ann"] * 20_000, "text": ["Row, row."] * 20_000})
    assert path.stat().st_size < 5_000
    assert read(path).count() == (1, 20_000)


@settings(suppress_health_check=list(HealthCheck))
@given(content=damage(SAMPLES["parquet"][1]()))
def test_damage_is_an_input_error(content: bytes) -> None:
    stands(PARQUET, content, "lines.parquet")
