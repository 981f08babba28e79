"""Personas in a file: what is written is read, and what is wrong is named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.formats.persona_records import PersonaRecord, read_persona_records

SENTENCES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), min_size=1).map(
    lambda texts: tuple(text.strip() for text in texts)
)


@given(st.lists(st.builds(PersonaRecord, SENTENCES, st.just(()) | SENTENCES)))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, records: list[PersonaRecord]) -> None:
    path = tmp_path_factory.mktemp("personas") / "personas.jsonl"
    lines = (json.dumps(record.document(), ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    assert list(read_persona_records(path)) == records


@pytest.mark.parametrize("line", ["no JSON", "[1]", '{"persona": []}', '{"persona": "i ski."}', "{}"])
def test_what_is_no_persona_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "personas.jsonl"
    path.write_text(f'{{"persona": ["i ski."]}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"personas\.jsonl:3"):
        list(read_persona_records(path))
