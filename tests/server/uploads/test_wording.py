"""Messages of readers, as a page shows them: nothing is said of a command line that is not there."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.formats import read
from understudy.server.uploads.reader_process import page_wording


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"wer": ["Ann"], "was": ["Gut."]}), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("a.csv", b"wer,was\nAnn,Gut.\nBob,Schlecht.\n", "its columns are wer, was. Call its columns 'speaker' and"),
        ("a.parquet", _parquet(), "its columns are wer, was. Call its columns 'speaker' and 'text'"),
        ("a.jsonl", b'{"wer": "Ann", "was": "Gut."}\n', "call its keys 'speaker' and 'text'"),
        ("a.txt", b"Dear all,\n\nbring the papers.\n", "If you know what it is, say so with 'Read as'."),
        ("a.txt", b'It rained.\n\n"Come," she said.\n\nIt rained.\n', "'Read as'"),
    ],
)
def test_the_page_says_what_can_be_done_there(tmp_path: Path, name: str, content: bytes, advice: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    shown = page_wording(caught.value.message)
    assert advice in shown
    assert "--" not in shown
    assert "understudy" not in shown
