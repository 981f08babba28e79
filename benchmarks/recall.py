"""Fits and judges which memories bear on a message (src/understudy/agents/recall.py), from marks made by hand.

    python benchmarks/recall.py                 fits on the first half of the roles, judges on the other

recall_marks.jsonl has a line for each message to a role of talk_questions/guard_questions.toml and something of that
role's past that was near it: the features, and whether it bears on the message (would it help to answer?). Candidates
were the three best of the own exchanges, the one whose heard half is most like the message, the one that shares most
words with it, and the two best lines of others; the marks were made without the features in view.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.agents.recall import THRESHOLD, RelevanceFeatures, relevance
from understudy.language.lexical.logistic import fit_binary

MARKS = Path(__file__).parent / "recall_marks.jsonl"
NAMES = [field.name for field in fields(RelevanceFeatures)]
RIDGE = 3.0  # of standardized weights, against the sum over all pairs

Reals = NDArray[np.float64]


def fit(features: Reals, labels: Reals) -> tuple[Reals, float]:
    """Weights and bias of a logistic regression."""
    *weights, bias = fit_binary(features, labels, np.ones(len(labels)), RIDGE / (2 * len(labels)))
    return np.array(weights), float(bias)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    marks = [json.loads(line) for line in MARKS.read_text(encoding="utf-8").splitlines()]
    features = np.array([[mark["features"][name] for name in NAMES] for mark in marks])
    bears = np.array([float(mark["bears"]) for mark in marks])
    is_first = np.array([mark["half"] == "first" for mark in marks])
    weights, bias = fit(features[is_first], bears[is_first])
    print(json.dumps({"weights": dict(zip(NAMES, weights.round(2).tolist())), "bias": round(bias, 2)}))
    shown = np.array([relevance(RelevanceFeatures(*row)) >= THRESHOLD for row in features.tolist()])
    for half, chosen in (("first", is_first), ("held back", ~is_first)):
        kept = shown & chosen
        print(
            json.dumps(
                {
                    "half": half,
                    "pairs": int(chosen.sum()),
                    "bear": round(bears[chosen].mean(), 3),
                    "shown": int(kept.sum()),
                    "of_shown_bear": round(bears[kept].mean(), 3),
                    "of_bearing_shown": round(bears[kept].sum() / bears[chosen].sum(), 3),
                }
            )
        )


if __name__ == "__main__":
    main()
