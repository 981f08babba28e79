"""Our back end for models in this process against xllamacpp's server called directly, in turns in one process.

    python benchmarks/local_model.py [--model smollm2] [--adapter FILE] [--times 5] [--threads 2]

Both write the same number of tokens from the same cached prompt. Goal: within 10% of the tokens per second. On a busy
machine take one thread and the figure per CPU second: threads that wait for each other burn time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from understudy.language.backends.catalog import find_model
from understudy.language.backends.gguf import available_cores, load_server
from understudy.language.backends.llamacpp import LlamaCppBackend
from understudy.story.dialogue import ChatMessage, Sampling

SYSTEM = "You are Zita, a clerk of the harbour office. " + "The captain lied about his ledger again. " * 25
MESSAGES = [ChatMessage("system", SYSTEM), ChatMessage("user", "Do you trust me?")]
TOKENS = 40


class EndlessBackend(LlamaCppBackend):
    """Goes on behind the end of a reply, so that both write equally much."""

    def _request(self, *arguments: Any) -> Any:
        request = super()._request(*arguments)
        request.body["ignore_eos"] = True
        return request


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def direct(server: Any, n: int) -> None:
    """Asked without us, without log-probabilities and without streaming."""
    body = {
        "messages": [{"role": message.role, "content": message.content} for message in MESSAGES],
        **{"n": n, "max_tokens": TOKENS, "temperature": 0.8, "top_p": 0.95, "seed": 1, "ignore_eos": True},
    }
    response = server.handle_chat_completions(body)
    assert response["usage"]["completion_tokens"] == TOKENS


def ours(backend: LlamaCppBackend, n: int) -> None:
    sampling = Sampling(temperature=0.8, top_p=0.95, max_tokens=TOKENS, seed=1, n=n)
    completions = backend.complete(MESSAGES, sampling)
    assert sum(completion.usage.completion_tokens for completion in completions) == n * TOKENS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--threads", type=int, default=available_cores())
    options = parser.parse_args()
    path = find_model(options.model)
    backend = EndlessBackend(path, options.adapter, threads=options.threads)
    loading = seconds(lambda: backend._loaded())
    prompt = seconds(lambda: backend.complete(MESSAGES, Sampling(max_tokens=1)))
    evaluated = backend.prompt_tokens_evaluated
    server = load_server(path, options.adapter, backend.context_tokens, 8, options.threads)
    direct(server, 1)
    taken: dict[tuple[str, int], list[float]] = {}
    cpu: dict[tuple[str, int], list[float]] = {}
    for _ in range(options.times):
        for n in (1, 8):
            for who, write in (("direct", partial(direct, server, n)), ("ours", partial(ours, backend, n))):
                before = time.process_time()
                taken.setdefault((who, n), []).append(seconds(write))
                cpu.setdefault((who, n), []).append(time.process_time() - before)
    first = [seconds(lambda: next(backend.stream(MESSAGES, Sampling(max_tokens=8)))) for _ in range(options.times)]
    print(f"{options.model}, {options.threads} threads, medians of {options.times}, in turns\n")
    print(f"load                                  {loading:8.2f} s")
    print(f"prompt of {evaluated} tokens, not cached     {prompt:8.2f} s ({evaluated / prompt:.0f} tokens/s)")
    print(f"first piece, prompt cached            {statistics.median(first):8.3f} s")
    print(f"eight drafts of {TOKENS} tokens              {statistics.median(taken['ours', 8]):8.2f} s")
    for n in (1, 8):
        plain, through = (n * TOKENS / statistics.median(taken[who, n]) for who in ("direct", "ours"))
        by_cpu = statistics.median(cpu["direct", n]) / statistics.median(cpu["ours", n])
        print(
            f"tokens/s, n={n}: direct {plain:7.1f}, ours {through:7.1f} ({through / plain:.0%}; goal 90%), "
            f"per CPU second {by_cpu:.0%}"
        )
    backend.close()


if __name__ == "__main__":
    main()
