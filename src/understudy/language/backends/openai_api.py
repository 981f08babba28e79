"""Language models behind an OpenAI-compatible server: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter.

A request that fails before anything was said is sent again, with growing pauses. A reply that breaks off after its
first words is an error: the caller has passed them on already.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from threading import Event
from time import monotonic

from understudy.errors import BackendError
from understudy.language.backends import Completion, estimate_tokens
from understudy.language.backends.answers import OPTIONAL_FIELDS, CompletionResponse, Failure
from understudy.language.backends.chat_endpoint import Cancelled, ChatEndpoint
from understudy.language.backends.settings import LLMSettings
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Usage

CONCURRENCY = 8  # requests of one complete() at a time
LONGEST_PAUSE_S = 20.0  # a server that asks for more is not waited for
LONGEST_BACKOFF_S = 8.0


class OpenAIBackend:
    """One model of one server. Thread-safe."""

    def __init__(self, settings: LLMSettings) -> None:
        self._settings = settings
        self._endpoint = ChatEndpoint(settings)
        self._ignores_n = False
        self.name, self.context_tokens = f"llm:{settings.name}", settings.context_tokens

    def __repr__(self) -> str:
        return f"OpenAIBackend({self.name!r}, {self._endpoint.url!r})"

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        """One completion, piece by piece; sent again on failure until the first piece has been yielded."""
        sampling, attempts = replace(sampling, n=1), _Attempts(self._settings, cancellation or Cancellation())
        while True:
            answer, spoken = attempts.begin(), ""
            try:
                for piece in self._endpoint.send(messages, sampling, attempts.cancellation, answer):
                    spoken += piece
                    yield piece
                return replace(self._completions(messages, answer, attempts)[0], text=spoken)
            except Cancelled:
                return replace(self._completions(messages, answer, attempts, is_cancelled=True)[0], text=spoken)
            except Failure as failure:
                if spoken:
                    raise BackendError(f"{failure}; the reply broke off in mid-sentence: ask again") from None
                self._prepare_retry(failure, attempts)

    def complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> list[Completion]:
        """`sampling.n` completions; fewer where some of the requests for them failed for good.

        The usage of a request is that of its first completion.
        """
        cancellation = cancellation or Cancellation()
        completions = list[Completion]()
        if sampling.n == 1 or not self._ignores_n:
            completions = self._complete(messages, sampling, cancellation)
        missing = sampling.n - len(completions)
        if missing > 0 and not cancellation.is_cancelled:
            completions += self._fill_up(messages, sampling, missing, cancellation, is_enough=bool(completions))
        if cancellation.is_cancelled:
            completions += [Completion("", "cancelled")] * (sampling.n - len(completions))
        return completions

    def _complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation
    ) -> list[Completion]:
        """What one request gives: up to `sampling.n` completions that are not blank."""
        attempts = _Attempts(self._settings, cancellation)
        while True:
            answer = attempts.begin()
            try:
                for _ in self._endpoint.send(messages, sampling, cancellation, answer):
                    pass
            except Cancelled:
                return self._completions(messages, answer, attempts, is_cancelled=True)[: sampling.n]
            except Failure as failure:
                self._prepare_retry(failure, attempts)
                continue
            self._ignores_n = self._ignores_n or len(answer.choices) < sampling.n
            return self._completions(messages, answer, attempts)[: sampling.n]

    def _fill_up(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        count: int,
        cancellation: Cancellation,
        is_enough: bool,
    ) -> list[Completion]:
        """Further completions by a request each, for a server that gives one at a time."""
        first = sampling.n - count  # the same seed would give the same text each time
        seeds = [None if sampling.seed is None else sampling.seed + first + number for number in range(count)]
        samplings = [replace(sampling, n=1, seed=seed) for seed in seeds]
        ours = Cancellation()
        with cancellation.callback(ours.cancel), ThreadPoolExecutor(min(count, CONCURRENCY)) as pool:
            try:
                tasks = [pool.submit(self._complete, messages, single, ours) for single in samplings]
                failures = [error for task in tasks if (error := task.exception()) is not None]
            except BaseException:  # Ctrl-C: leaving the pool would wait for the answers
                ours.cancel()
                raise
        if failures and (not isinstance(failures[0], BackendError) or (len(failures) == count and not is_enough)):
            raise failures[0]
        return list(chain.from_iterable(task.result() for task in tasks if task.exception() is None))

    def _prepare_retry(self, failure: Failure, attempts: _Attempts) -> None:
        if failure.refused_field and attempts.may_leave_out_another():
            self._endpoint.leave_out(failure.refused_field)
        else:
            attempts.pause_after(failure)

    def _completions(
        self,
        messages: Sequence[ChatMessage],
        answer: CompletionResponse,
        attempts: _Attempts,
        is_cancelled: bool = False,
    ) -> list[Completion]:
        choices = [choice for _, choice in sorted(answer.choices.items()) if choice.text.strip()]
        completions = list[Completion]()
        for choice in choices:
            reason = "length" if choice.is_cut else "stop"
            completion = Completion(
                choice.text,
                "cancelled" if is_cancelled and not choice.finish_reason else reason,
                log_probs=tuple(choice.log_probs) or None,
            )
            completions.append(completion)
        if is_cancelled and not completions:
            completions.append(Completion("", "cancelled"))
        prompt, written = answer.prompt_tokens, answer.completion_tokens
        usage = Usage(
            attempts.calls,
            sum(self.count_tokens(message.content) for message in messages) if prompt is None else prompt,
            sum(self.count_tokens(choice.text) for choice in choices) if written is None else written,
            monotonic() - attempts.started,
        )
        return [replace(completions[0], usage=usage), *completions[1:]]


class _Attempts:
    """Counts the attempts for one completion, and decides whether and when to retry."""

    def __init__(self, settings: LLMSettings, cancellation: Cancellation) -> None:
        self.cancellation = cancellation
        self.started, self.calls = monotonic(), 0
        self._settings = settings
        self._retries, self._left_out = 0, 0

    def begin(self) -> CompletionResponse:
        self.calls += 1
        return CompletionResponse()

    def may_leave_out_another(self) -> bool:
        """A request without a field that the server does not know is no retry; but it does not go on for ever."""
        self._left_out += 1
        return self._left_out <= len(OPTIONAL_FIELDS)

    def pause_after(self, failure: Failure) -> None:
        """Wait before another attempt; raises the failure where there is to be none."""
        if self._retries >= min(failure.retries, self._settings.retries):
            times = f" (tried {self.calls} times)" if self.calls > 1 else ""
            raise BackendError(f"{failure}{times}") from None
        backoff_s = min(LONGEST_BACKOFF_S, self._settings.backoff_s * 2**self._retries)
        pause_s = backoff_s * random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets
        if failure.retry_after_s is not None:
            if failure.retry_after_s > LONGEST_PAUSE_S:
                raise BackendError(f"{failure} (it asks to wait for {failure.retry_after_s:.0f} s)") from None
            pause_s = max(pause_s, failure.retry_after_s)
        self._retries += 1
        woken = Event()
        with self.cancellation.callback(woken.set):
            woken.wait(pause_s)
