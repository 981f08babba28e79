"""Distributes parts to workers with Daft: a process for each core of this machine, or for each core of a Ray cluster.

A killed worker loses only the part it was scoring. Ray restarts it; where nothing does, or a whole machine is lost, the
missing parts are distributed again, as long as some get done.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING, Any

from understudy.errors import InputError, MissingExtra, UnderstudyError
from understudy.formats import EMBEDDED, read
from understudy.language import import_library
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.overlap import glove_ranks, p_cover
from understudy.metrics.registry import MetricContext
from understudy.metrics.scoring.inputs import STOP, FilePart, matching, parts_of
from understudy.story.dialogue import situation_at
from understudy.story.storyfile import Story

if TYPE_CHECKING:
    from understudy.metrics.scoring import Tally
    from understudy.metrics.scoring.output import Output


TRIES = 3  # without a part done, or to join a cluster
CLIENT_FAILED = "Initialization failure from server"  # now and then it fails to start a client, for no fault of ours
SETTINGS = {
    "DAFT_PROGRESS_BAR": "0",
    "OMP_NUM_THREADS": "1",  # there is a worker for each core already
    "OPENBLAS_NUM_THREADS": "1",
}
Done = Callable[[int, int], object]


def score_files(
    pattern: str,
    request: ScoringRequest,
    about: dict[str, Any],
    path: Path,
    cluster: str | None,
    force: bool,
    done: Done,
) -> Tally:
    """Scores the lines of all files that match into one Parquet file, or a folder of them.

    `about` is what a run that was stopped must have in common with the one that goes on. `done` is called with how
    many parts are done, and of how many.
    """
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import_library("daft")
        from understudy.metrics.scoring.output import Output
    except ImportError as error:
        raise MissingExtra("--engine daft", "scale") from error
    files = matching(pattern)
    if any(file.resolve() == path.resolve() or path.resolve() in file.resolve().parents for file in files):
        raise InputError("is, or holds, what is being read, and would be lost: say with -o another place", path)
    output = Output(path, {**about, "pattern": pattern}, parts_of(files), force)
    _score(request, output, cluster, done)
    return output.finish()


def _score(request: ScoringRequest, output: Output, cluster: str | None, done: Done) -> None:
    """Until the output has every part."""
    daft = import_library("daft")
    left = output.lacking()
    if not left:
        return
    workers = _cores() if cluster is None else _joined(cluster)
    if cluster is None:  # Daft breaks down on Ctrl-C, for which it listens from its first query on: before we do
        daft.from_pydict({"number": [0]}).select(daft.col("number") + 1).collect()
    total, failures = len(left), 0
    while left:
        first_error, failed = "", None
        with _stopping(output.folder) as (stop, interrupted):
            try:
                messages = _error_messages(request, left, output.folder, workers, cluster is not None)
                for count, message in enumerate(messages, total - len(left) + 1):
                    if message:
                        first_error = first_error or message
                        stop()
                    elif not (first_error or interrupted.is_set()):
                        done(count, total)
            except Exception as error:  # what Daft and Ray raise has no name in common
                failed = error
        if interrupted.is_set():
            raise KeyboardInterrupt
        if first_error:
            raise InputError(first_error)
        before, left = len(left), output.lacking()
        failures = 0 if len(left) < before else failures + 1
        if failures == TRIES:
            raise UnderstudyError(_gave_up(output.folder, failed)) from failed


@contextmanager
def _stopping(folder: Path) -> Iterator[tuple[Callable[[], None], Event]]:
    """How to have workers stop, and whether Ctrl-C has asked for it; a second Ctrl-C is not waited with.

    They stop by a sign in the folder, each when its part is done. Daft is not left in the middle of its work: the
    program would break down at its end.
    """
    stop_file, interrupted = folder / STOP, Event()

    def interrupt(*_: object) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()
        stop_file.touch()

    stop_file.unlink(missing_ok=True)
    in_main_thread = current_thread() is main_thread()  # which alone gets signals
    previous = signal.signal(signal.SIGINT, interrupt) if in_main_thread else None
    try:
        yield stop_file.touch, interrupted
    finally:
        if in_main_thread:
            signal.signal(signal.SIGINT, previous)
        stop_file.unlink(missing_ok=True)


def _error_messages(
    request: ScoringRequest, parts: Sequence[FilePart], folder: Path, workers: int, spread: bool
) -> Iterator[str]:
    """What went wrong with each part, as they get done."""
    from understudy.metrics.scoring.output import Worker

    daft = import_library("daft")
    pool = daft.cls(Worker, max_concurrency=min(workers, len(parts)), use_process=True, cpus=1)
    frame = daft.from_pydict({"part": [str(part) for part in parts]})
    if spread:
        frame = frame.into_partitions(len(parts))
    frame = frame.select(pool(str(request), str(folder)).score(frame["part"]).alias("trouble"))
    for row in frame.iter_rows(results_buffer_size=None):
        yield row["trouble"]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _joined(cluster: str) -> int:
    """Joins a Ray cluster by its address, or starts one here where it is `local`; says how many cores it has."""
    try:
        daft, ray = import_library("daft"), import_library("ray")
    except ImportError as error:
        raise MissingExtra("--cluster", "scale") from error
    started: dict[str, Any] = {"num_cpus": _cores(), "include_dashboard": False}
    where = started if cluster == "local" else {"address": cluster}
    for attempt in range(1, TRIES + 1):
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **where)
            break
        except (ConnectionError, RuntimeError, ValueError) as error:
            ray.shutdown()
            if attempt == TRIES or CLIENT_FAILED not in str(error):
                raise InputError(f"no Ray cluster can be joined at '{cluster}' ({error})") from error
    daft.set_runner_ray(noop_if_initialized=True)
    resources: dict[str, float] = ray.cluster_resources()
    return int(resources.get("CPU", 1))


def _gave_up(folder: Path, failed: Exception | None) -> str:
    if failed is None:
        return f"{folder}: workers write scores, but not here: it must be a folder that every worker shares"
    return f"workers failed {TRIES} times without one part done, the last time so: {failed}"


# What to score lines with, as a JSON document from which any worker process makes the metrics itself.


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """A story by name or path, a character and a moment of it, and the metrics; `why` asks for all reasons."""

    story: str
    name: str
    at: str
    facing: str | None
    metrics: tuple[str, ...]
    glove: str | None = None
    why: bool = False
    model: str | None = None

    @classmethod
    def read(cls, text: str) -> ScoringRequest:
        document = json.loads(text)
        return cls(**{**document, "metrics": tuple(document["metrics"])})

    def __str__(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    def build_metrics(self) -> list[LineMetric]:
        """The metrics; the story is read for it."""
        story = read(self.story)
        context = MetricContext(story, situation_at(story, self.name, self.at, self.facing), author=True)
        return line_metrics(context, self.metrics, None if self.glove is None else Path(self.glove), self.model)


def line_metrics(
    context: MetricContext, names: Iterable[str], glove: Path | None = None, model: str | None = None
) -> list[LineMetric]:
    """Metrics by name. With a GloVe file, p_cover ranks words by it; with a model, uppl uses it."""

    def metric(name: str) -> LineMetric:
        if name == "p_cover" and glove is not None:
            return p_cover(context.samples, context.situation.persona.profile, glove_ranks(glove))
        if name == "uppl" and model is not None:
            from understudy.language.backends.transformer import open_transformer
            from understudy.metrics.uppl import TransformerPerplexity

            return TransformerPerplexity(context.samples, open_transformer(model))
        return context.metric(name)

    return [metric(name) for name in names]


def anywhere(name: str) -> str:
    """A story or file as other processes find it, wherever they run: an absolute path, or a built-in story's name."""
    return name if name in EMBEDDED else str(Path(name).resolve())


def story_digest(story: Story) -> str:
    """A hash of everything that metrics are made from, so that scores of two stories are never mixed."""
    digest = blake2b(digest_size=16)
    for record in (story.language, *story.cast(), *story.facts(), *story.relations()):
        digest.update(repr(record).encode())
    for scene in story.scenes():
        said = [(line.speaker, line.text) for line in scene.lines]
        digest.update(repr((scene.moment, scene.setting, sorted(scene.present), said)).encode())
    return digest.hexdigest()
