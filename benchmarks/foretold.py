"""Fits and judges what tells that a reply foretells the story (src/understudy/judging/guards/foretold.py).

    python benchmarks/foretold.py                    fits to the marks, and judges each role by a fit to the others
    python benchmarks/foretold.py REPLIES.jsonl ... [--strangers OTHERS.jsonl]
                                                     adds marks of replies as `bench guard --replies` takes them, of
                                                     the kinds 'good' and 'paraphrased'; and of replies of people of
                                                     other stories, offered to these roles in turn

foretold_marks.jsonl has a line for each reply to a role of a story: the features of the reply, of its sentences and of
its beginnings (a stream is judged by all of these), and whether it tells in other words what only happens later. A
reply is stopped if any of them is; the weights are fitted to whole replies. The last 154 marks are of those replies of
talk_questions/foretold_replies.jsonl that are to roles of the first half; the others were written for these benches and
are not kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from recall import fit

from understudy.bench.guard_replies import DraftedReply, read_replies
from understudy.judging.guards import StoryViews
from understudy.judging.guards.foretold import ForetellingFeatures, features_of
from understudy.text import sentences

MARKS = Path(__file__).parent / "foretold_marks.jsonl"
NAMES = [field.name for field in fields(ForetellingFeatures)]
NEVER = -9.0
STRANGERS = 300
SHARES = (0.01, 0.015, 0.02, 0.03, 0.05)  # of good replies stopped

Reals = NDArray[np.float64]


def marks_of(paths: list[Path], strangers: Path | None) -> Iterator[dict[str, Any]]:
    others = read_replies(strangers)[0] if strangers else []
    others = others[:: max(len(others) // STRANGERS, 1)]
    for path in paths:
        replies, stories = read_replies(path)
        views = StoryViews(stories)
        for reply in replies:
            if reply.kind in ("good", "paraphrased") and views(reply.situation):
                features = [row for text in _versions(reply) if (row := _row(views, reply, text)) is not None]
                role = reply.situation.persona.name
                yield {"role": role, "kind": reply.kind, "features": features}
                if others and reply.kind == "good" and features:
                    other = replace(others.pop(), situation=reply.situation)
                    features = [row for text in _versions(other) if (row := _row(views, other, text)) is not None]
                    yield {"role": role, "kind": "stranger", "features": features}


def _versions(reply: DraftedReply) -> list[str]:
    """The whole, its sentences, its beginnings."""
    parts = sentences(reply.text)
    beginnings = [" ".join(parts[:count]) for count in range(2, len(parts))]
    return list(dict.fromkeys((reply.text, *parts, *beginnings)))


def _row(views: StoryViews, reply: DraftedReply, text: str) -> list[float] | None:
    features = features_of(views(reply.situation)[0], reply.situation, reply.history, text)
    return None if features is None else [round(float(value), 3) for value in astuple(features)]


def _scores(marks: list[dict[str, Any]], weights: Reals, bias: float) -> Reals:
    """The highest of the versions of each reply that have anything of the story."""
    return np.array(
        [
            max(
                (
                    float(np.dot(row, weights)) + bias
                    for row in mark["features"]
                    if ForetellingFeatures(*row).is_of_the_story
                ),
                default=NEVER,
            )
            for mark in marks
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replies", nargs="*", type=Path)
    parser.add_argument("--strangers", type=Path)
    options = parser.parse_args()
    if options.replies:
        with MARKS.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(mark) + "\n" for mark in marks_of(options.replies, options.strangers))
    marks = [json.loads(line) for line in MARKS.read_text(encoding="utf-8").splitlines()]
    kinds = np.array([mark["kind"] for mark in marks])
    held_back = np.zeros(len(marks))

    def fitted(some: list[dict[str, Any]]) -> tuple[Reals, float]:
        whole = [mark for mark in some if mark["features"]]
        rows = np.array([mark["features"][0] for mark in whole])
        return fit(rows, np.array([float(mark["kind"] == "paraphrased") for mark in whole]))

    for role in {mark["role"] for mark in marks}:
        weights, bias = fitted([mark for mark in marks if mark["role"] != role])
        own = [index for index, mark in enumerate(marks) if mark["role"] == role]
        held_back[own] = _scores([marks[index] for index in own], weights, bias)
    weights, bias = fitted(marks)
    print(json.dumps({"weights": dict(zip(NAMES, weights.round(3).tolist())), "bias": round(bias, 3)}))
    for name, scores in (("fitted", _scores(marks, weights, bias)), ("held back by role", held_back)):
        good = np.sort(scores[kinds == "good"])[::-1]
        for share in SHARES:
            least = float(good[int(share * len(good))])
            row = {"judged": name, "good_stopped": share, "threshold": round(1 / (1 + np.exp(-least)), 3)}
            for kind in ("paraphrased", "stranger"):
                row[f"{kind}_stopped"] = round(float((scores[kinds == kind] > least).mean()), 3)
            print(json.dumps(row))
    print(json.dumps({kind: int((kinds == kind).sum()) for kind in sorted(set(kinds))}), file=sys.stderr)


if __name__ == "__main__":
    main()
