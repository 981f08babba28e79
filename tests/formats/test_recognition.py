"""Which format wins, as `recognition.toml` has it, for the samples, the embedded stories and real files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import realdata
from samples import SAMPLES
from understudy.errors import UnknownFormat
from understudy.formats import EMBEDDED, reader_of, sources_of
from understudy.sources.source import SourceFile

EXPECTED: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("recognition.toml").read_text(encoding="utf-8")
)
REFUSED = "refused"


def winner(path: Path) -> str:
    try:
        return reader_of(SourceFile(path)).name
    except UnknownFormat:
        return REFUSED


def test_samples(tmp_path: Path) -> None:
    winners = {}
    for form, (name, content) in SAMPLES.items():
        path = tmp_path / name
        path.write_bytes(content())
        winners[form] = winner(path)
    assert winners == EXPECTED["samples"]


def test_samples_by_content_alone(tmp_path: Path) -> None:
    winners = {}
    for form, (_, content) in SAMPLES.items():
        path = tmp_path / "1-book.dat"
        path.write_bytes(content())
        winners[form] = winner(path)
    assert winners == EXPECTED["samples"]


def test_embedded_stories() -> None:
    scripts = {f"{name}/{path.name}": path for name in EMBEDDED for path in sources_of(name)[0]}
    assert {name: winner(path) for name, path in scripts.items()} == EXPECTED["stories"]


@pytest.mark.parametrize("data", ["formats"])
def test_real_files(data: str) -> None:
    folder = realdata.folder(data)
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    assert {name: winner(path) for name, path in files.items()} == EXPECTED[data]
