"""Completions of an agent that writes: sampled as the request says, streamed as they come, counted by the back end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import openai
import pytest

from server.conftest import MakeContext, serving
from understudy.server.app import make_app
from understudy.story.dialogue import Candidate, Reply, Sampling, Usage
from writers import PIECES, Writer

TEXT = "".join(PIECES)
MODEL = "brass-key/Ines@2.1"
MESSAGES: Any = [{"role": "user", "content": "Where were you?"}]


@pytest.fixture
def client_of(make_context: MakeContext) -> Iterator[Callable[[Writer], openai.OpenAI]]:
    with ExitStack() as stack:

        def make(writer: Writer) -> openai.OpenAI:
            url = stack.enter_context(serving(make_app(make_context(writer))))
            return stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0))

        yield make


ClientOf = Callable[[Writer], openai.OpenAI]


def say(client: openai.OpenAI, **fields: Any) -> Any:
    return client.chat.completions.create(model=MODEL, messages=MESSAGES, **fields)


def test_how_to_write_reaches_the_agent(client_of: ClientOf) -> None:
    writer = Writer()
    client = client_of(writer)
    say(client, temperature=0.3, top_p=0.9, seed=7, stop=["\n", "END"], max_tokens=50, max_completion_tokens=40)
    say(client)
    assert writer.samplings == [Sampling(0.3, 0.9, 40, ("\n", "END"), 7), Sampling()]


def test_pieces_are_chunks_as_they_come(client_of: ClientOf) -> None:
    writer = Writer(gated=True, usage=Usage(1, 320, 5, 0.2))
    stream = iter(say(client_of(writer), stream=True, stream_options={"include_usage": True}, **release(writer)))
    assert next(stream).choices[0].delta.role == "assistant"
    assert next(stream).choices[0].delta.content == PIECES[0]
    assert writer.written == [PIECES[0]]
    writer.release(len(PIECES))
    *pieces, last, usage = list(stream)
    assert [chunk.choices[0].delta.content for chunk in pieces] == list(PIECES[1:])
    assert last.choices[0].finish_reason == "stop" and last.choices[0].understudy["character"] == "Ines Vale"
    assert (usage.usage.prompt_tokens, usage.usage.completion_tokens, usage.usage.total_tokens) == (320, 5, 325)


def release(writer: Writer) -> dict[str, Any]:
    writer.release()
    return {}


def test_usage_is_what_the_back_end_counted_else_what_the_tokenizer_counts(client_of: ClientOf) -> None:
    usage = say(client_of(Writer(usage=Usage(2, 300, 9)))).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (150, 9, 159)
    usage = say(client_of(Writer())).usage
    assert usage.prompt_tokens == 4 and usage.completion_tokens == 6


def test_a_text_that_fills_its_tokens_ends_with_length(client_of: ClientOf) -> None:
    client = client_of(Writer(usage=Usage(1, 300, 5)))
    assert say(client, max_tokens=5).choices[0].finish_reason == "length"
    assert say(client, max_tokens=6).choices[0].finish_reason == "stop"


def test_a_stop_sequence_ends_the_text_and_the_writing(client_of: ClientOf) -> None:
    writer = Writer(gated=True)
    writer.release(3)
    choice = say(client_of(writer), stop="left").choices[0]
    assert (choice.message.content, choice.finish_reason) == ("I never ", "stop")
    assert writer.ended.wait(120) and writer.written == list(PIECES[:3])


def test_each_of_n_is_written_with_a_seed_of_its_own(client_of: ClientOf) -> None:
    writer = Writer(usage=Usage(1, 10, 5))
    client = client_of(writer)
    whole = say(client, n=3, seed=5)
    assert [choice.message.content for choice in whole.choices] == [TEXT] * 3
    assert sorted(sampling.seed or 0 for sampling in writer.samplings) == [5, 6, 7]
    assert whole.usage.completion_tokens == 15
    texts = {0: "", 1: ""}
    for chunk in say(client, n=2, stream=True):
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == {0: TEXT, 1: TEXT}


def test_log_probabilities_where_there_are_some(client_of: ClientOf) -> None:
    values = tuple(-number / 10 for number in range(len(PIECES)))
    client = client_of(Writer(log_probs=values))
    content = say(client, logprobs=True).choices[0].logprobs.content
    assert [(token.token, token.logprob) for token in content] == list(zip(PIECES, values))
    assert say(client).choices[0].logprobs is None
    assert say(client_of(Writer()), logprobs=True, top_logprobs=2).choices[0].logprobs is None
    *_, last = say(client, logprobs=True, stream=True)
    assert len(last.choices[0].logprobs.content) == len(PIECES)


@pytest.mark.parametrize("stream", [False, True])
def test_a_back_end_that_fails_before_its_first_piece_is_a_bad_gateway(client_of: ClientOf, stream: bool) -> None:
    with pytest.raises(openai.InternalServerError, match="broke off") as failed:
        say(client_of(Writer(fails_at=0)), stream=stream)
    assert failed.value.status_code == 502


def test_a_back_end_that_fails_in_mid_sentence_is_an_error_in_the_stream(client_of: ClientOf) -> None:
    chunks = iter(say(client_of(Writer(fails_at=2)), stream=True))
    assert [next(chunks).choices[0].delta.content for _ in range(3)] == ["", *PIECES[:2]]
    with pytest.raises(openai.APIError, match="broke off"):
        next(chunks)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_stops_the_writing(make_context: MakeContext, stream: bool) -> None:
    writer = Writer(gated=True)
    body = {"model": MODEL, "messages": MESSAGES, "stream": stream}

    async def leave(url: str) -> None:
        async with httpx.AsyncClient(timeout=120) as client:
            if stream:
                writer.release()
                async with client.stream("POST", f"{url}/v1/chat/completions", json=body) as response:
                    await anext(response.aiter_lines())
            else:
                asking = asyncio.create_task(client.post(f"{url}/v1/chat/completions", json=body))
                assert await asyncio.to_thread(writer.begun.wait, 120)
                asking.cancel()

    with serving(make_app(make_context(writer))) as url:
        asyncio.run(leave(url))
        assert writer.ended.wait(120)
    assert len(writer.written) == stream


@pytest.mark.parametrize("stream", [False, True])
def test_a_back_end_that_ignores_the_limit_is_stopped_there(client_of: ClientOf, stream: bool) -> None:
    writer = Writer(pieces=["word "] * 500, gated=True)
    writer.release(8)
    answer = say(client_of(writer), max_tokens=4, stream=stream)
    chunks = list(answer) if stream else []
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    text = text if stream else answer.choices[0].message.content
    reason = (chunks[-1] if stream else answer).choices[0].finish_reason
    assert (text.split(), reason) == (["word"] * 4, "length")
    assert writer.ended.wait(120) and len(writer.written) <= 8


def test_a_stop_before_the_first_word_keeps_nothing_and_says_so(client_of: ClientOf) -> None:
    choice = say(client_of(Writer()), stop="I").choices[0]
    assert (choice.message.content, choice.finish_reason) == ("", "stop")
    assert "nothing is kept" in choice.understudy["evidence"][-1]["text"]


class Recalling(Writer):
    """Says the same for the same seed, as a model does."""

    def stream(self, *arguments: Any) -> Generator[str, None, Reply]:
        seed = arguments[2].seed
        self.pieces = ("The ", "tide ", f"of {0 if seed is None else seed}.")
        return super().stream(*arguments)


def test_the_same_asked_again_is_written_with_another_seed(client_of: ClientOf) -> None:
    client = client_of(Recalling())
    texts = [say(client).choices[0].message.content for _ in range(3)]
    texts += ["".join(chunk.choices[0].delta.content or "" for chunk in say(client, stream=True))]
    assert texts[0] == "The tide of 0." and len(set(texts)) == 4
    fixed = [
        say(client, **fields).choices[0].message.content for fields in ({"seed": 3}, {"seed": 3}, {"temperature": 0})
    ]
    assert fixed == ["The tide of 3.", "The tide of 3.", "The tide of 0."]


def test_a_writer_that_says_the_same_whatever_the_seed_is_asked_a_few_times(client_of: ClientOf) -> None:
    writer = Writer()
    client = client_of(writer)
    assert [say(client).choices[0].message.content for _ in range(2)] == [TEXT, TEXT]
    seeds = [sampling.seed for sampling in writer.samplings]
    assert seeds[0] is None and len(set(seeds)) == len(seeds) == 6


class Choosing(Writer):
    """Writes several drafts and says the best: what else it would say are the candidates of its reply."""

    offers_alternatives = True


def test_several_choices_of_an_agent_that_has_alternatives_differ(client_of: ClientOf) -> None:
    candidates = (Candidate(TEXT, 1.0), Candidate("", 0.8, rejected="no"), Candidate("Second.", 0.5))
    writer = Choosing(candidates=candidates)
    whole = say(client_of(writer), n=2)
    assert [choice.message.content for choice in whole.choices] == [TEXT, "Second."]
    assert len(writer.samplings) == 1


def test_the_same_asked_again_is_another_of_its_candidates(client_of: ClientOf) -> None:
    candidates = (Candidate(TEXT, 1.0), Candidate("", 0.8, rejected="no"), Candidate("Second.", 0.5))
    writer = Choosing(candidates=candidates)
    client = client_of(writer)
    assert [say(client).choices[0].message.content for _ in range(2)] == [TEXT, "Second."]
    assert [say(client, seed=1).choices[0].message.content for _ in range(2)] == [TEXT, TEXT]
    say(client)
    assert writer.samplings[-1].seed is not None  # all that it had were said: it writes others
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in say(client, stream=True, temperature=0))
    assert streamed == TEXT


def test_a_writer_that_tells_only_the_whole_is_cut_as_any_other(client_of: ClientOf) -> None:
    class Whole(Writer):
        def stream(self, *arguments: Any) -> Generator[str, None, Reply]:
            yield from ()
            return Reply("I never left the quay.")

    choice = say(client_of(Whole()), stop=" left", seed=1).choices[0]
    assert (choice.message.content, choice.finish_reason) == ("I never", "stop")
    assert say(client_of(Whole()), max_tokens=2, seed=1).choices[0].finish_reason == "length"
