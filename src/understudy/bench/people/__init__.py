"""What is found of a story's people, measured against what people annotated: `understudy bench people`.

addressee      whom is a line said to? Novels whose quotations have their addressees
feelings       familiarity and affection, against the levels that authors gave
profiles       sentences about oneself, against the profiles that people were given; over several sessions too, and
               replies ranked with and without what was told in earlier ones
ties           family, love and friendship in five shows, against a list of them

A task is a function of `BenchInputs` that returns rows, with the files it is judged on; `TASKS` has them by name. One
whose files are not there gives a row without a value that says so. A row is {task, metric, value, low, high, n, paper},
with further keys that say what was judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.bench.people import addressee, feelings, profiles, ties
from understudy.bench.run import Row, figure_row, manifest_of
from understudy.errors import InputError
from understudy.progress import Progress, ignore_progress
from understudy.sources.source import sha256_of
from understudy.text import did_you_mean


@dataclass(frozen=True, slots=True)
class BenchInputs:
    """What a task is given."""

    data: Path
    judge: Path | None = None
    """Data of one's own in the same layout: judged in the place of the one in `data`, never learned from."""
    limit: int | None = None
    """How many items of a task to judge at most: a sample drawn with the seed."""
    seed: int = 0
    progress: Progress = ignore_progress

    @property
    def judged(self) -> Path:
        return self.data if self.judge is None else self.judge


@dataclass(frozen=True, slots=True)
class Task:
    """A task, and the files under the data folder that it reads, as glob patterns."""

    run: Callable[[BenchInputs], list[Row]]
    files: tuple[str, ...] = ()


TASKS: dict[str, Task] = {
    "addressee": Task(addressee.addressee, addressee.FILES),
    "familiarity": Task(feelings.familiarity_embedded),
    "affection": Task(feelings.affection_embedded),
    "affection-hpd": Task(feelings.affection_hpd, feelings.HPD_FILES),
    "profile-sentences": Task(lambda inputs: profiles.rows(inputs.judged, inputs.limit), profiles.PROFILE_FILES),
    "memory": Task(lambda inputs: profiles.memory_rows(inputs.judged, inputs.limit), profiles.SESSION_FILES),
    "memory-ranking": Task(
        lambda inputs: profiles.ranking_rows(inputs.judged, inputs.limit, inputs.seed, inputs.progress),
        profiles.SESSION_FILES,
    ),
    "ties": Task(lambda inputs: ties.rows(inputs.data, inputs.judge, inputs.progress), ties.FILES),
}


def bench_people(inputs: BenchInputs, tasks: Sequence[str] = ()) -> dict[str, Any]:
    """Rows of the named tasks, or of all, and the manifest."""
    chosen = list(dict.fromkeys(tasks)) or list(TASKS)
    for name in chosen:
        if name not in TASKS:
            raise InputError(f"there is no task '{name}'{did_you_mean(name, TASKS)}; there are {', '.join(TASKS)}")
    rows: list[Row] = []
    files: list[Path] = []
    for name in chosen:
        task = TASKS[name]
        found = [path for pattern in task.files for path in sorted(inputs.judged.glob(pattern))]
        if task.files and not found:
            rows.append(figure_row({"task": name}, "all", f"there is no {task.files[0]} in {inputs.judged}"))
            continue
        files += found
        rows += task.run(inputs)
    settings = {"tasks": chosen, "judge": None if inputs.judge is None else str(inputs.judge)}
    manifest = manifest_of("people", [], inputs.seed, inputs.limit, settings)
    data = {path.relative_to(inputs.judged).as_posix(): sha256_of(path) for path in files}
    return {"rows": rows, "manifest": manifest | {"data": data}}
