from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from novel_texts import write_novels
from understudy.errors import InputError
from understudy.language.model_folder import read_model
from understudy.novels.attribution import QuotationModel, attribute
from understudy.training import train
from understudy.training.boosting import BoostingSettings
from understudy.training.pdnc import annotated_novels
from understudy.training.quotations import QuotationSettings

SMALL = BoostingSettings(trees=20, depth=3, rate=0.4, l2=1, least=0.1, rows=1, columns=1, bins=16)
SETTINGS = QuotationSettings(2, SMALL, SMALL, SMALL)


@pytest.fixture
def novels(tmp_path: Path) -> Path:
    return write_novels(tmp_path / "pdnc")


def test_a_novel_is_read_with_characters_where_bytes_were(novels: Path) -> None:
    novel = annotated_novels(novels)[0]
    assert novel.prose.said(novel.prose.quotations[0]) == "Où est le café, Tomas?"
    names = [novel.cast[who].name if who >= 0 else None for who in novel.speakers[:5]]
    assert names == ["Ines Duarte", "Tomas Reyes", "Ines Duarte", "Tomas Reyes", None]
    assert novel.kinds[:2] == ("explicit", "implicit")


def test_a_trained_model_is_read_back_and_attributes(novels: Path, tmp_path: Path) -> None:
    trained = train("quotations", novels, tmp_path / "model", settings=SETTINGS)
    assert trained.card["figures"]["explicit"]["value"] == 1.0
    model = QuotationModel.load(read_model(tmp_path / "model", "quotations"))
    novel = annotated_novels(novels)[1]
    found = attribute(novel.prose, novel.cast, model)
    right = [each.speaker == novel.cast[who].name for each, who in zip(found, novel.speakers) if who >= 0]
    assert np.mean(right) > 0.9


def test_a_stopped_training_goes_on_to_the_same_weights(novels: Path, tmp_path: Path) -> None:
    whole = train("quotations", novels, tmp_path / "whole", settings=SETTINGS)

    def stop(done: int, _total: int, _loss: float) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("quotations", novels, tmp_path / "again", settings=SETTINGS, progress=stop)
    again = train("quotations", novels, tmp_path / "again", settings=SETTINGS)
    assert all((whole.tensors[name] == again.tensors[name]).all() for name in whole.tensors)
    assert not (tmp_path / "again.partial").exists()


def test_a_single_novel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one novel only"):
        train("quotations", write_novels(tmp_path / "one", ("Quay",)), tmp_path / "model", settings=SETTINGS)


def test_what_is_no_pdnc_is_refused_with_the_file(novels: Path) -> None:
    (novels / "Quay" / "quotation_info.csv").write_text("quoteID,speaker\nQ0,Ines\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"quotation_info.csv.*not a list of quotations"):
        annotated_novels(novels)
    with pytest.raises(InputError, match="no such folder"):
        annotated_novels(novels / "nowhere")
