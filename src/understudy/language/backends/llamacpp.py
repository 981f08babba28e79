"""A GGUF model in this process: llama.cpp through xllamacpp, on the CPU or whatever device its build knows.

One server object holds the model and `parallel` slots; requests of several threads share its batches. All slots share
one key-value cache of `context_tokens` cells, so that n drafts of one prompt keep the prompt once. A request waits
until what it may use at most is free there, first come, first served. What is still cached is not evaluated again.
"""

from __future__ import annotations

import atexit
import json
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Condition, Lock, Thread
from typing import Any
from weakref import WeakSet

from understudy.errors import BackendError
from understudy.language.backends import Completion
from understudy.language.backends.gguf import GGUFModel, load_server, require_xllamacpp
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Usage

__all__ = ["LlamaCppBackend", "shared_backend"]

CONTEXT_TOKENS = 8_192
MAX_TOKENS = 512  # of a reply, where the sampling does not say
PARALLEL = 8
TOP_K = 100  # next to `top_p` it changes hardly anything, and saves sorting the whole vocabulary
MESSAGE_TOKENS = 16  # what a chat template adds to each message, at most
MAX_SEED = 2**32 - 1  # which itself means any
CLOSING_S = 5.0
BLANK = '""'  # of a grammar
SPARE = 4  # tokens after a given reply: its end must not be cut off by a limit
TURN_TOKENS = ("<|im_start|>", "<|im_end|>")


class LlamaCppBackend:
    """`Backend` over one GGUF file, with a LoRA adapter or without. Loaded at the first request, until `close`.

    The same requests in the same order give the same texts with the same seeds. What else is in the batch, or in the
    cache already, can change the last digits of a sum, and so a draw.
    """

    def __init__(
        self,
        model: Path,
        adapter: Path | None = None,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int | None = None,
        parallel: int = PARALLEL,
        name: str = "",
    ) -> None:
        """`threads` are those of the machine by default."""
        self._gguf = GGUFModel(model)
        self._adapter = adapter
        self._context_tokens, self._threads, self._parallel = context_tokens, threads, parallel
        self.name = f"local:{model.stem if name in ('', str(model)) else name}"
        self._lock = Lock()
        self._server: Any = None
        self._budget: TokenBudget | None = None
        self._jobs: set[_Job] = set()
        self.prompt_tokens_evaluated = 0
        """Of all requests together; what was cached is not counted."""
        _open.add(self)

    @property
    def context_tokens(self) -> int:
        return min(self._context_tokens, self._gguf.context_length or self._context_tokens)

    def count_tokens(self, text: str) -> int:
        return self._gguf.count_tokens(text)

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        """One completion, piece by piece; closing the generator stops the model."""
        drafts = _Drafts(1)
        for chunk in self._run(self._request(messages, sampling, 1, sampling.seed), cancellation):
            if piece := drafts.add(chunk):
                yield piece
        return drafts.completions()[0]

    def complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> list[Completion]:
        """`sampling.n` completions, written side by side; the usage of all of them is the sum of theirs."""
        completions: list[Completion] = []
        while len(completions) < sampling.n and not (cancellation is not None and cancellation.is_cancelled):
            seed = None if sampling.seed is None else sampling.seed + len(completions)
            request = self._request(messages, sampling, sampling.n - len(completions), seed)
            drafts = _Drafts(request.n)
            for chunk in self._run(request, cancellation):
                drafts.add(chunk)
            completions += drafts.completions()
        return completions

    def reply_log_probs(self, messages: Sequence[ChatMessage], text: str) -> list[float]:
        """The log-probability of each token of a reply; the last token is its end.

        A grammar lets the model write nothing else, token by token; log-probabilities are those before the grammar.
        """
        text = self._without_control_tokens(text)
        tokens = self._gguf.tokenize(text)
        request = self._request(messages, Sampling(temperature=0.0, max_tokens=self.count_tokens(text) + SPARE), 1, 0)
        forced = (
            json.dumps(text, ensure_ascii=False) if tokens is None else " ".join(f"<[{token}]>" for token in tokens)
        )
        body = {**request.body, "grammar": f"root ::= {forced or BLANK}", "top_k": 0, "stream": False}
        for name in ("stop", "stream_options", "return_progress"):
            body.pop(name, None)
        if tokens is None:  # an estimate of its length is no limit
            body["max_tokens"] = len(text.encode()) + SPARE
        log_probs, is_whole = list[float](), False
        for response in self._run(replace(request, body=body), None):  # a stream would not tell of the end
            [choice] = response["choices"]
            log_probs = [token["logprob"] for token in (choice.get("logprobs") or {}).get("content") or ()]
            is_whole = choice["finish_reason"] == "stop"
        if not is_whole or not log_probs or (tokens is not None and len(log_probs) != len(tokens) + 1):
            raise BackendError(f"{self.name} could not be held to a reply of {len(text):,} letters: shorten it")
        return log_probs

    def close(self) -> None:
        """Stop what is running and give the memory back; the next request loads the model again."""
        with self._lock:
            server, self._server = self._server, None
            jobs = tuple(self._jobs)
        for job in jobs:
            job.stop()
        for job in jobs:
            job.thread.join(CLOSING_S)
        del server

    def _request(self, messages: Sequence[ChatMessage], sampling: Sampling, n: int, seed: int | None) -> _Request:
        """The request for as many of `n` drafts as can be written side by side."""
        contents = [self._without_control_tokens(message.content) for message in messages]
        prompt_tokens = sum(self.count_tokens(content) + MESSAGE_TOKENS for content in contents)
        room = self.context_tokens - prompt_tokens
        max_tokens = max(1, min(sampling.max_tokens or MAX_TOKENS, room))
        n = max(1, min(n, self._parallel, room // max_tokens))
        body: dict[str, Any] = {
            "messages": [{"role": m.role, "content": content} for m, content in zip(messages, contents)],
            "n": n,
            "max_tokens": max_tokens,
            "top_k": TOP_K,
            "cache_prompt": True,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
            "logprobs": True,
            "top_logprobs": 1,
        }
        options = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": None if seed is None else seed % MAX_SEED,
        }
        body |= {key: value for key, value in options.items() if value is not None}
        if stop := (*sampling.stop, *self._turn_tokens()):
            body["stop"] = list(stop)
        return _Request(body, n, prompt_tokens + n * max_tokens)

    def _turn_tokens(self) -> list[str]:
        """Tokens that end a reply by an adapter: some have learnt to begin the next turn instead of ending theirs."""
        return [token for token in TURN_TOKENS if token in self._gguf.control_tokens] if self._adapter else []

    def _without_control_tokens(self, text: str) -> str:
        """Text without control tokens, which could end a message or begin another."""
        text = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be encoded
        for token in self._gguf.control_tokens:
            if token in text:
                text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def _run(self, request: _Request, cancellation: Cancellation | None) -> Generator[dict[str, Any], None, None]:
        """The chunks of a response as they come, until it ends, is cancelled, or the generator is closed."""
        job = _Job(*self._loaded(), request)
        try:
            with nullcontext() if cancellation is None else cancellation.callback(job.stop):
                self._start(job)
                while (chunk := job.chunks.get()) is not None:
                    if isinstance(chunk, Exception):
                        raise BackendError(f"{self.name} failed ({chunk}): try again") from chunk
                    if "error" in chunk:
                        raise self._error(chunk["error"])
                    if (timings := chunk.get("timings")) is not None:
                        with self._lock:
                            self.prompt_tokens_evaluated += timings["prompt_n"]
                    yield chunk
        finally:
            job.stop()

    def _start(self, job: _Job) -> None:
        with self._lock:
            job.thread.start()
            self._jobs = {job, *(other for other in self._jobs if other.thread.is_alive())}

    def _error(self, error: dict[str, Any]) -> BackendError:
        if error.get("type") == "exceed_context_size_error":
            return BackendError(
                f"the prompt has {error.get('n_prompt_tokens')} tokens and {self.name} takes {self.context_tokens}: "
                "shorten it, or choose a model with a longer context"
            )
        return BackendError(f"{self.name} cannot answer: {error.get('message', error)}")

    def _loaded(self) -> tuple[Any, TokenBudget]:
        with self._lock:
            if self._server is None or self._budget is None:
                self._server = load_server(
                    self._gguf.path, self._adapter, self.context_tokens, self._parallel, self._threads
                )
                self._budget = TokenBudget(self.context_tokens)
            return self._server, self._budget


@dataclass(frozen=True, slots=True)
class _Request:
    """A request as llama.cpp takes it, and how many tokens of the cache it may use at most."""

    body: dict[str, Any]
    n: int
    tokens: int


class _Job:
    """One request in a thread of its own: a call into llama.cpp cannot be interrupted, waiting for it can."""

    def __init__(self, server: Any, budget: TokenBudget, request: _Request) -> None:
        self.chunks: SimpleQueue[dict[str, Any] | Exception | None] = SimpleQueue()
        self.thread = Thread(target=self._work, args=(server, budget, request), daemon=True)
        self._stopped = Cancellation()

    def stop(self) -> None:
        self._stopped.cancel()
        self.chunks.put(None)

    def _work(self, server: Any, budget: TokenBudget, request: _Request) -> None:
        try:
            with budget.reserve(request.tokens, self._stopped) as is_granted:
                if is_granted:
                    server.handle_chat_completions(request.body, self._receive)
        except Exception as error:
            self.chunks.put(error)
        self.chunks.put(None)

    def _receive(self, chunk: dict[str, Any]) -> bool:
        """Called by llama.cpp; True stops it."""
        self.chunks.put(chunk)
        return self._stopped.is_cancelled


class _Drafts:
    """The completions of one request as their chunks come in; one without a finish reason was cancelled."""

    def __init__(self, n: int) -> None:
        self._texts = [""] * n
        self._log_probs: list[list[float]] = [[] for _ in range(n)]
        self._finish_reasons = ["cancelled"] * n
        self._prompt_tokens = 0
        self._completion_tokens: dict[int, int] = {}
        self._last = 0
        self._start = time.perf_counter()

    def add(self, chunk: dict[str, Any]) -> str:
        """The text that a chunk adds, often none."""
        if usage := chunk.get("usage"):  # comes without a choice, right behind the last chunk of one
            self._prompt_tokens = usage["prompt_tokens"]
            self._completion_tokens[self._last] = usage["completion_tokens"]
        if not chunk.get("choices"):
            return ""
        [choice] = chunk["choices"]
        self._last = index = choice["index"]
        self._finish_reasons[index] = choice.get("finish_reason") or self._finish_reasons[index]
        tokens = (choice.get("logprobs") or {}).get("content") or ()
        self._log_probs[index] += [token["logprob"] for token in tokens]
        piece: str = choice["delta"].get("content") or ""
        self._texts[index] += piece
        return piece

    def completions(self) -> list[Completion]:
        # the prompt is evaluated once: its tokens are counted with the first draft
        usage, completions = Usage(1, self._prompt_tokens, 0, time.perf_counter() - self._start), list[Completion]()
        for index, log_probs in enumerate(self._log_probs):
            usage += Usage(completion_tokens=self._completion_tokens.get(index, len(log_probs)))
            completions.append(Completion(self._texts[index], self._finish_reasons[index], usage, tuple(log_probs)))
            usage = Usage()
        return completions


_shared: dict[tuple[Path, Path | None], LlamaCppBackend] = {}
_open: WeakSet[LlamaCppBackend] = WeakSet()
_lock = Lock()


def shared_backend(model: Path, adapter: Path | None = None, name: str = "") -> LlamaCppBackend:
    """The back end of a model and an adapter, shared by this process."""
    require_xllamacpp()
    key = (model.resolve(), None if adapter is None else adapter.resolve())
    with _lock:
        if key not in _shared:
            _shared[key] = LlamaCppBackend(model, adapter, name=name)
        return _shared[key]


@atexit.register
def close_backends() -> None:
    """Give the memory of every model back; also done when the process ends, while threads can still be joined."""
    for backend in tuple(_open):
        backend.close()


# A number of tokens that several requests share.


class TokenBudget:
    """Grants tokens first come, first served: a large request is not starved by small ones behind it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = self._free = capacity
        self._changed = Condition()
        self._queue: deque[object] = deque()

    @contextmanager
    def reserve(self, tokens: int, cancellation: Cancellation) -> Iterator[bool]:
        """Wait for that many tokens, all of them if there are no more; False where it was cancelled meanwhile."""
        tokens = min(tokens, self._capacity)
        ticket = object()
        with cancellation.callback(self._wake), self._changed:
            self._queue.append(ticket)
            self._changed.wait_for(
                lambda: cancellation.is_cancelled or (self._queue[0] is ticket and self._free >= tokens)
            )
            self._queue.remove(ticket)
            is_granted = not cancellation.is_cancelled
            if is_granted:
                self._free -= tokens
            self._changed.notify_all()
        try:
            yield is_granted
        finally:
            if is_granted:
                with self._changed:
                    self._free += tokens
                    self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
