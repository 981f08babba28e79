"""Every recipe starts from a checkout, says what it takes, and refuses a folder without its data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[2] / "recipes"
MISSING = {
    "addressee": "holds no novels",
    "contradiction": "nli-train.txt",
    "reranker": "train_both_original",
    "statements": "train_both_original",
    "writer": "train_both_original",
}


def test_every_recipe_is_tried_and_has_its_page() -> None:
    assert {path.parent.name for path in RECIPES.glob("*/train.py")} == MISSING.keys()
    for name in MISSING:
        page = (RECIPES / name / "README.md").read_text(encoding="utf-8")
        assert f"python recipes/{name}/train.py --data" in page


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "statements" else pytest.mark.thorough) for name in sorted(MISSING)]
)
def test_a_recipe_starts_and_refuses_a_wrong_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    novels = ("--novels", "data", "--base", "data") if name in ("writer", "reranker") else ()
    command = [sys.executable, str(RECIPES / name / "train.py"), "--data", "data", *novels, "--out", "model"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and MISSING[name] in " ".join(done.stderr.split())
    assert not (tmp_path / "model").exists()
