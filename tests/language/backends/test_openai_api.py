"""What is sent to a server, and what its answers mean, oddly written ones too."""

from __future__ import annotations

import json

import pytest

from llmclient import MESSAGES, Open, requests_of, streamed
from llmserver import TEXT, Running
from understudy.language.backends import chat_endpoint
from understudy.story.dialogue import Sampling


def test_a_reply_comes_piece_by_piece_with_what_it_cost(open_backend: Open) -> None:
    pieces, completion = streamed(open_backend("say"))
    assert len(pieces) == len(TEXT.split())
    assert "".join(pieces) == completion.text == TEXT
    assert completion.finish_reason == "stop"
    assert completion.log_probs is None
    assert (completion.usage.calls, completion.usage.prompt_tokens, completion.usage.completion_tokens) == (1, 11, 13)
    assert completion.usage.seconds > 0


def test_the_first_piece_does_not_wait_for_the_last(open_backend: Open) -> None:
    generator = open_backend("say?rate=0.01").stream(MESSAGES, Sampling())
    assert next(generator) == "The"
    generator.close()


def test_only_what_is_asked_for_is_sent(open_backend: Open, llm_server: Running) -> None:
    backend = open_backend("say")
    streamed(backend)
    sampling = Sampling(temperature=0, top_p=0.9, max_tokens=5, stop=("\n",), seed=3)
    _, completion = streamed(backend, sampling)
    plain, full = requests_of(llm_server, backend)
    assert set(plain) == {"model", "messages", "stream", "stream_options"}
    assert plain["messages"] == [
        {"role": "system", "content": "You are Zita."},
        {"role": "user", "content": "Who wrote it?"},
    ]
    expected = {"temperature": 0, "top_p": 0.9, "max_tokens": 5, "stop": ["\n"], "seed": 3}
    assert {name: full[name] for name in expected} == expected
    assert (completion.finish_reason, completion.text) == ("length", "The tide was out, and")


def test_settings_fill_in_what_is_not_asked_for(open_backend: Open, llm_server: Running) -> None:
    backend = open_backend("say", temperature=0.5, max_tokens=9, extra={"think": False})
    streamed(backend, Sampling(max_tokens=4))
    [body] = requests_of(llm_server, backend)
    assert (body["temperature"], body["max_tokens"], body["think"]) == (0.5, 4, False)


def test_log_probabilities_are_given_where_they_are_asked_for(open_backend: Open) -> None:
    pieces, completion = streamed(open_backend("say", logprobs=True))
    assert completion.log_probs == (-0.5,) * len(pieces)


@pytest.mark.parametrize("scenario", ["ignores-stream", "odd-events", "no-blank-lines", "never-closes", "thinks"])
@pytest.mark.parametrize("text", ["The tide was out.", "潮は引いていた。 \U0001f30a はい"])
def test_servers_may_write_it_their_own_way(
    open_backend: Open, monkeypatch: pytest.MonkeyPatch, scenario: str, text: str
) -> None:
    monkeypatch.setattr(chat_endpoint, "USAGE_TIMEOUT_S", 0.1)
    pieces, completion = streamed(open_backend(f"{scenario}?text={text}"))
    assert "".join(pieces) == completion.text == text


def test_the_server_is_named_by_its_path_too(open_backend: Open, llm_server: Running) -> None:
    _, completion = streamed(open_backend("whatever", url=llm_server.at("say")))
    assert completion.text == TEXT


def test_several_completions_come_from_one_request(open_backend: Open, llm_server: Running) -> None:
    backend = open_backend("say")
    completions = backend.complete(MESSAGES, Sampling(n=3))
    assert [completion.text for completion in completions] == [TEXT, TEXT.upper(), TEXT.upper()]
    assert len(requests_of(llm_server, backend)) == 1
    assert sum(completion.usage.calls for completion in completions) == 1
    assert sum(completion.usage.completion_tokens for completion in completions) == 39


@pytest.mark.parametrize("scenario", ["ignores-n", "refuses-field?field=n", "bounds-n"])
def test_a_server_that_gives_one_at_a_time_is_asked_again(
    open_backend: Open, llm_server: Running, scenario: str
) -> None:
    backend = open_backend(scenario)
    completions = backend.complete(MESSAGES, Sampling(n=4, seed=100))
    assert [completion.text for completion in completions] == [TEXT] * 4
    first = len(requests_of(llm_server, backend))
    assert {body["seed"] for body in requests_of(llm_server, backend)} == {100, 101, 102, 103}
    assert len(backend.complete(MESSAGES, Sampling(n=4, seed=100))) == 4
    assert len(requests_of(llm_server, backend)) == first + 4  # it is known by now: none asks for several


def test_requests_that_fill_up_run_at_the_same_time(open_backend: Open, llm_server: Running) -> None:
    backend = open_backend("ignores-n?delay=0.7&text=Yes.")
    backend.complete(MESSAGES, Sampling(n=5))
    _, *filling = [entry["id"] for entry in llm_server.events("request", backend._settings.model)]
    entries = [json.loads(line) for line in llm_server.log.read_text(encoding="utf-8").splitlines()]
    order = [entry["event"] for entry in entries if entry["id"] in filling and entry["event"] != "first_token"]
    assert order[:4] == ["request"] * 4  # all were under way before one was finished; the last may not be logged yet


@pytest.mark.parametrize("field", ["stream_options", "temperature", "max_tokens"])
def test_a_field_the_server_does_not_know_is_left_out(open_backend: Open, llm_server: Running, field: str) -> None:
    backend = open_backend(f"refuses-field?field={field}", retries=0)
    for _ in range(2):
        assert streamed(backend, Sampling(temperature=1.0, max_tokens=50))[1].text == TEXT
    bodies = requests_of(llm_server, backend)
    assert [field in body for body in bodies] == [True, False, False]
    assert ("max_completion_tokens" in bodies[-1]) == (field == "max_tokens")


def test_tokens_are_estimated(open_backend: Open) -> None:
    backend = open_backend("say")
    assert [backend.count_tokens(text) for text in ("", "a", "abcd", "abcde", "潮は引いた", "a潮")] == [
        0,
        1,
        1,
        2,
        5,
        2,
    ]
    assert backend.context_tokens == 8192
    assert backend.name == "llm:test"
