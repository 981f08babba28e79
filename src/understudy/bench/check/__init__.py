"""Persona tests for anybody's bot: put to it over the OpenAI API, several conversations at a time, with repeats.

A test is passed where the share of its repeats that pass reaches `pass_at`; with `judged_by = "low"`, where the lower
end of the share's 95% interval (Wilson) does. A repeat that the bot gave no reply to counts as failed. After several
failed conversations with no reply between them the server is given up: a run against one that is down ends soon.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from threading import Lock

from understudy.bench.check.faults import FAULTS, too_long, wrong_language
from understudy.bench.check.tests_file import CheckTest, TestsFile
from understudy.bench.run import Row, figure_row, manifest_of, share_figure
from understudy.errors import BackendError, InputError
from understudy.formats import read
from understudy.formats.story_folder import is_said
from understudy.judging import judge
from understudy.judging.filtering import StoryMetrics
from understudy.language.backends import Backend
from understudy.metrics import Samples
from understudy.metrics.statistics import Interval, wilson
from understudy.metrics.utterances.record import APPROVED
from understudy.metrics.voice import voice
from understudy.progress import Cancellation, Progress, ignore_progress
from understudy.story.dialogue import ChatMessage, Sampling, Score, Usage
from understudy.story.storyfile import Story
from understudy.text import guess_language, words

GIVE_UP_AFTER = 5  # failed conversations, with no reply between them
NOT_TRIED = "not tried: the server has stopped answering"
ALL = "all"


def example() -> str:
    """A commented file of tests."""
    return files("understudy.bench.check").joinpath("example.toml").read_text(encoding="utf-8")


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
        figure = share_figure([result.passed for result in some])
        rows.append(figure_row({"agent": model or "", "kind": kind}, "passed", figure))
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


# What is wrong with the replies of one conversation, by everything its test asks for.
#
#   must               one of the terms is in the last reply
#   must_not, never, language, max_words      hold for every reply
#   rules              hold for every reply, by the story's metrics at the test's moment
#   voice_like         the mean of `voice` over the replies that are long enough to tell reaches `voice_at_least`
#
# `voice` tells the lines given from those of `voice_unlike` or, where there are none, from the talk of the embedded
# story.

THEY, OTHERS = "they", "others"
TELLING_WORDS = 5  # too few words to judge a voice by
EMBEDDED = {"en": "demo", "ja": "demo-ja", "zh": "demo-zh"}

Judge = Callable[[Sequence[str]], list[str]]
"""Of the replies of a conversation, in turn: what is wrong with them; nothing where the test is passed."""


def judge_of(test: CheckTest, story: Story | None) -> Judge:
    """Costly parts (a voice, the story's metrics) are made once; the judge may be called from several threads."""
    by_voice = _voice_judge(test)
    by_rules = _rule_judge(test, story)

    def judged(replies: Sequence[str]) -> list[str]:
        reasons: list[str] = []
        before: list[str] = []
        for turn, reply in zip(test.turns, replies):
            before.append(turn)
            reasons += _faults_of(test, reply, before)
            before.append(reply)
        if test.must and not any(is_said(term, replies[-1]) for term in test.must):
            reasons.append(f"says none of {', '.join(repr(term) for term in test.must)}")
        reasons += by_rules(replies)
        reasons += by_voice(replies)
        return list(dict.fromkeys(reasons))

    return judged


def _faults_of(test: CheckTest, reply: str, before: Sequence[str]) -> list[str]:
    if not any(character.isalnum() for character in reply):
        return ["says nothing"]
    reasons = [f"says '{term}'" for term in test.must_not if is_said(term, reply)]
    reasons += [FAULTS[name](reply, before) for name in test.never]
    reasons.append(wrong_language(reply, test.language) if test.language else "")
    reasons.append(too_long(reply, test.max_words) if test.max_words else "")
    return [reason for reason in reasons if reason]


def _rule_judge(test: CheckTest, story: Story | None) -> Judge:
    if not test.rules or story is None or test.situation is None:
        return lambda _: []
    (metrics,) = StoryMetrics((rule.metric for rule in test.rules), lambda _: [story])(test.situation)

    def judged(replies: Sequence[str]) -> list[str]:
        scores = {rule.metric: metrics[rule.metric](replies) for rule in test.rules}
        decisions = [
            judge({name: column[index] for name, column in scores.items()}, test.rules) for index in range(len(replies))
        ]
        return [decision.why for decision in decisions if decision.decision != APPROVED]

    return judged


def _voice_judge(test: CheckTest) -> Judge:
    if not test.voice_like:
        return lambda _: []
    language = test.language if test.language in EMBEDDED else guess_language(" ".join(test.voice_like))
    others = test.voice_unlike or _embedded_lines(language)
    metric = voice(Samples({THEY: test.voice_like, OTHERS: others}, language), THEY)

    def judged(replies: Sequence[str]) -> list[str]:
        long_enough = [reply for reply in replies if len(words(reply, language)) >= TELLING_WORDS]
        scores: list[Score] = metric(long_enough) if long_enough else []
        missing = [score.reason for score in scores if score.value is None]
        if missing:
            return [f"cannot be judged by voice: {missing[0]}"]
        values = [score.value for score in scores if score.value is not None]
        mean = sum(values) / len(values) if values else 1.0
        return [] if mean >= test.voice_at_least else [f"voice {mean:.2f}, wanted at least {test.voice_at_least:g}"]

    return judged


@cache
def _embedded_lines(language: str) -> tuple[str, ...]:
    return tuple(line.text for scene in read(EMBEDDED[language]).scenes() for line in scene.lines if line.speaker)


# A commented file of tests to begin with.
