"""Tests put to a bot, several conversations at a time, each test as often as it asks for.

A test is passed where the share of its repeats that pass reaches `pass_at`; with `judged_by = "low"`, where the lower
end of the share's 95% interval (Wilson) does. A repeat that the bot gave no reply to counts as failed. After several
failed conversations with no reply between them the server is given up: a run against one that is down ends soon.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from understudy.backends import Backend
from understudy.bench.check.judging import Judge, judge_of
from understudy.bench.check.tests_file import CheckTest, TestsFile
from understudy.bench.items import manifest_of
from understudy.cancellation import Cancellation
from understudy.dialogue import ChatMessage, Sampling, Usage
from understudy.errors import BackendError, InputError
from understudy.metrics.statistics import Interval, wilson
from understudy.progress import Progress, ignore_progress

__all__ = ["CheckRepeat", "CheckResult", "document_of", "run_tests"]

GIVE_UP_AFTER = 5  # failed conversations, with no reply between them
NOT_TRIED = "not tried: the server has stopped answering"
ALL = "all"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckRepeat:
    """One conversation. `error` is why the bot could not be asked; `reasons` what is wrong with its replies."""

    replies: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def passed(self) -> bool:
        return not self.reasons and not self.error


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A test with all its repeats."""

    test: CheckTest
    repeats: tuple[CheckRepeat, ...]

    @property
    def share(self) -> Interval:
        return wilson(sum(repeat.passed for repeat in self.repeats) / len(self.repeats), len(self.repeats))

    @property
    def passed(self) -> bool:
        return (self.share.low if self.test.judged_by == "low" else self.share.value) >= self.test.pass_at

    @property
    def is_error(self) -> bool:
        """Did every conversation fail without a reply?"""
        return all(repeat.error for repeat in self.repeats)

    @property
    def seconds(self) -> float:
        return sum(repeat.seconds for repeat in self.repeats)

    def failed(self) -> list[CheckRepeat]:
        return [repeat for repeat in self.repeats if not repeat.passed]


def run_tests(
    file: TestsFile,
    backend_for: Callable[[str], Backend],
    model: str | None,
    jobs: int = 4,
    seed: int = 0,
    progress: Progress = ignore_progress,
) -> list[CheckResult]:
    """Results in the order of the tests. `model` is for tests that name none of their own."""
    backends: dict[str, Backend] = {}
    for test in file.tests:
        name = test.model or model
        if name is None:
            raise InputError(
                f"test '{test.name}' names no model: add --model, or `model` to the file", file.path, test.line
            )
        if name not in backends:
            backends[name] = backend_for(name)
    judges = [judge_of(test, file.story) for test in file.tests]
    run = _Run(seed, sum(test.repeats for test in file.tests), progress)
    with ThreadPoolExecutor(jobs) as pool:
        try:
            tasks = [
                [
                    pool.submit(run.repeat, test, judge, backends[test.model or model or ""], repeat)
                    for repeat in range(test.repeats)
                ]
                for test, judge in zip(file.tests, judges)
            ]
            return [
                CheckResult(test, tuple(task.result() for task in of_test)) for test, of_test in zip(file.tests, tasks)
            ]
        except BaseException:  # Ctrl-C: leaving the pool would wait for all replies
            run.cancellation.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Run:
    """What the conversations of one run share."""

    def __init__(self, seed: int, total: int, progress: Progress) -> None:
        self.cancellation = Cancellation()
        self._seed, self._total, self._progress = seed, total, progress
        self._lock = Lock()
        self._done = 0
        self._failed_in_a_row = 0

    def repeat(self, test: CheckTest, judge: Judge, backend: Backend, number: int) -> CheckRepeat:
        if self._failed_in_a_row >= GIVE_UP_AFTER:
            return self._finished(test, CheckRepeat((), error=NOT_TRIED))
        sampling = Sampling(test.temperature, max_tokens=test.max_tokens, seed=self._seed + number)
        messages = [ChatMessage("system", test.system)] if test.system else []
        replies: list[str] = []
        usage = Usage()
        begun = time.perf_counter()
        try:
            for turn in test.turns:
                messages.append(ChatMessage("user", turn))
                completion = backend.complete(messages, sampling, self.cancellation)[0]
                usage += completion.usage
                replies.append(completion.text.strip())
                messages.append(ChatMessage("assistant", completion.text))
        except BackendError as error:
            repeat = CheckRepeat(tuple(replies), error=str(error), seconds=time.perf_counter() - begun, usage=usage)
            return self._finished(test, repeat)
        seconds = time.perf_counter() - begun
        return self._finished(test, CheckRepeat(tuple(replies), tuple(judge(replies)), "", seconds, usage))

    def _finished(self, test: CheckTest, repeat: CheckRepeat) -> CheckRepeat:
        with self._lock:
            self._failed_in_a_row = self._failed_in_a_row + 1 if repeat.error else 0
            self._done += 1
            self._progress(test.name[:40], self._done, self._total)
        return repeat


def document_of(file: TestsFile, results: Sequence[CheckResult], url: str, model: str | None, seed: int) -> Row:
    """Rows (the share of tests passed, by kind and over all), every test with its replies, and a manifest."""
    kinds = [ALL, *sorted({result.test.kind for result in results} - {""})]
    rows: list[Row] = []
    for kind in kinds:
        some = [result for result in results if kind in (ALL, result.test.kind)]
        figure = wilson(sum(result.passed for result in some) / len(some), len(some))
        keys = {"agent": model or "", "kind": kind, "metric": "passed"}
        rows.append({**keys, **figure._asdict(), "n": len(some), "paper": None})
    settings = {"url": url, "model": model, "tests": len(results)}
    manifest = manifest_of("check", file.sources, seed, None, settings)
    return {
        "passed": all(result.passed for result in results),
        "rows": rows,
        "tests": [_test_document(result) for result in results],
        "manifest": manifest,
    }


def _test_document(result: CheckResult) -> Row:
    test, share = result.test, result.share
    document: Row = {"name": test.name, "kind": test.kind, "passed": result.passed, "pass_at": test.pass_at}
    document |= {**share._asdict(), "n": len(result.repeats), "seconds": round(result.seconds, 3)}
    document["tokens"] = sum(repeat.usage.prompt_tokens + repeat.usage.completion_tokens for repeat in result.repeats)
    document["turns"] = list(test.turns)
    document["repeats"] = [
        {"passed": repeat.passed, "replies": list(repeat.replies), "reasons": list(repeat.reasons)}
        | ({"error": repeat.error} if repeat.error else {})
        for repeat in result.repeats
    ]
    return document
