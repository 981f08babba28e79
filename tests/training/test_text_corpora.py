from __future__ import annotations

from pathlib import Path

import pytest

from models import tiny_data
from understudy.errors import InputError
from understudy.training.text_corpora import corpus_texts


def test_corpora(tmp_path: Path) -> None:
    dialogues = corpus_texts(str(tiny_data(tmp_path / "pc", dialogues=3)))
    assert len(dialogues) == 3 * (1 + 4) and "," in dialogues[0]
    assert sum(map(len, corpus_texts("demo"))) > 1000
    plain = tmp_path / "plain.txt"
    plain.write_text("The sea was grey.\n\nIt rained; nobody came.\n", encoding="utf-8")
    assert corpus_texts(str(plain)) == [
        ["the", "sea", "was", "grey", "."],
        ["it", "rained", ";", "nobody", "came", "."],
    ]
    with pytest.raises(InputError, match="no such file"):
        corpus_texts(str(tmp_path / "nowhere"))
