"""`understudy train causal` and `masked`: a language model that learns how a character talks."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli.progress import read_showing
from understudy.cli.show import screen

if TYPE_CHECKING:
    from understudy.training.loop import Progress

__all__ = ["tell_lines", "trained_on_lines"]


def trained_on_lines(
    kind: str, story: str, name: str, at: str, base: str, out: Path, given: Mapping[str, float | None], seed: int,
    device: str, fresh: bool, progress: Progress | None,
) -> Mapping[str, Any]:  # fmt: skip
    """Train on a character's lines before a moment: the model's card. `given` are settings, None where not said."""
    from understudy.training.loop import unwatched
    from understudy.training.persona_lines import LineSettings, LineTask, train_lines

    settings: dict[str, Any] = {setting: value for setting, value in given.items() if value is not None}
    task = LineTask(read_showing(story), name, at, base, out, LineSettings(**settings), seed, device, fresh)
    return train_lines(kind, task, progress or unwatched).card


def tell_lines(out: Path, card: Mapping[str, Any], story: str, name: str) -> None:
    show, data, figures = screen(), card["data"], card["figures"]
    when = "" if card["moment"] == "end" else f" before {card['moment']}"
    show.print(f"Trained {card['agent']} on {data['lines']:,} lines of {card['character']}{when}: {out}")
    if figures:
        found = figures["perplexity"]
        show.print(
            f"Perplexity of {data['held_back']:,} held-back lines: {found['before']:,.1f} before, "
            f"{found['after']:,.1f} after {figures['epochs']} epochs."
        )
    else:
        show.print("Nothing was held back, so there are no figures.")
    command = shlex.join(["understudy", "score", "FILE", "--story", story, "--as", name, "--metrics", "uppl"])
    show.print(f"Score lines by it with '{command} --model {shlex.quote(str(out))}'.")
