"""uPPL of judged replies by tiny masked and causal models that are fine-tuned on each character's lines."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import tiny_language_model, words_of
from understudy.errors import InputError
from understudy.language.backends.transformer import open_transformer
from understudy.papers.utterance_metrics.bench import bench_voice
from understudy.training.persona_lm import LineSettings, PersonaTuning, fine_tune, line_perplexities

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

THINGS = "lamp rope boat anchor bell oar net mast".split()
INES = [f"aye lad {verb} the {thing}" for verb, thing in itertools.product(("fetch", "mind", "mend", "haul"), THINGS)]
MARA = [f"dear me where is {whose} {thing}" for whose, thing in itertools.product(("my", "our", "your", "his"), THINGS)]
SETTINGS = LineSettings(epochs=6, batch=8, rate=1e-2)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A novel of two manners, and judgements of one of them: everything in her manner is likely, nothing else is."""
    folder = tmp_path_factory.mktemp("english")
    (folder / "novel.json").write_text(json.dumps({"Ines": INES, "Mara": MARA}), encoding="utf-8")
    judged = {f"hello\taye lad {verb} the {thing}": 5 for verb in ("tie", "take") for thing in THINGS}
    judged |= {f"hello\tdear me where is her {thing}": 0 for thing in THINGS}
    (folder / "evaluation").mkdir()
    (folder / "evaluation" / "ines.json").write_text(json.dumps(judged), encoding="utf-8")
    names = {"ines.json": ["novel.json", "Ines"]}
    (folder / "evaluation" / "names.json").write_text(json.dumps(names), encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=["masked", "causal"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = words_of((*INES, *MARA, "tie take her"))
    return tiny_language_model(tmp_path_factory.mktemp("base") / request.param, request.param, words)


def test_a_tuned_model_finds_the_characters_manner_likely(data: Path, base: Path, tmp_path: Path) -> None:
    tuning = PersonaTuning(str(base), tmp_path, SETTINGS, device="cpu")
    scorer = f"uppl-{base.name}"
    document = bench_voice(data, scorers=[scorer], tuning=tuning)
    assert {row["scorer"] for row in document["rows"]} == {scorer}, "nothing else was asked for"
    by_metric = {(row["metric"], row["character"]): row for row in document["rows"]}
    assert by_metric["spearman", "Ines"]["value"] > 0.7
    assert by_metric["aupr", "Ines"]["value"] > 0.95
    own = by_metric["uppl", "Ines"]
    assert own["under"] == "Ines" and own["n"] == len(INES) // 10
    assert own["value"] < np.exp(-np.mean([v for vs in open_transformer(base).many(INES[9::10]) for v in vs]))
    assert document["manifest"]["settings"]["fine_tuning"]["base"] == base.name
    with pytest.raises(InputError, match="there is no scorer 'p_f1' here"):
        bench_voice(data, scorers=["p_f1"], tuning=tuning)


def test_a_model_is_trained_once(base: Path, tmp_path: Path) -> None:
    tuning = PersonaTuning(str(base), tmp_path, LineSettings(epochs=1, batch=8), device="cpu")
    steps: list[int] = []

    def tuned(lines: list[str]) -> Any:
        return line_perplexities(fine_tune(tuning, "Ines", lines, "novel", lambda done, *_: steps.append(done)), MARA)

    first = tuned(INES)
    trained = len(steps)
    assert np.allclose(tuned(INES), first) and len(steps) == trained > 0
    tuned(INES[:-1])
    assert len(steps) > trained, "other lines are another model"
