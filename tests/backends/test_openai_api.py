"""A server that answers, answers oddly, fails or hangs: each is told apart, and nobody waits for ever."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Generator
from dataclasses import replace
from itertools import count
from threading import Thread
from time import monotonic, sleep

import pytest

from llmserver import TEXT, Running
from understudy.backends import Completion, chat_endpoint
from understudy.backends.models_file import LLMSettings
from understudy.backends.openai_api import OpenAIBackend
from understudy.cancellation import Cancellation
from understudy.dialogue import ChatMessage, Sampling
from understudy.errors import BackendError

MESSAGES = [ChatMessage("system", "You are Zita."), ChatMessage("user", "Who wrote it?")]
KEY = "sk-secret-7f3a"
WAKING_S = 3  # a hundredth is usual; whoever is not woken waits for 30
numbers = count(1)

Open = Callable[..., OpenAIBackend]


@pytest.fixture
def open_backend(llm_server: Running) -> Open:
    """A back end that asks for a scenario; each is its own to the server, which counts faults by model."""

    def open_backend(scenario: str, **changes: object) -> OpenAIBackend:
        model = f"{scenario}{'&' if '?' in scenario else '?'}test={next(numbers)}"
        settings = LLMSettings("test", llm_server.url, model, KEY, backoff_s=0.01, timeout_s=30, token_timeout_s=30)
        return OpenAIBackend(replace(settings, **changes))  # type: ignore[arg-type]

    return open_backend


def exhaust(generator: Generator[str, None, Completion]) -> tuple[list[str], Completion]:
    pieces = []
    while True:
        try:
            pieces.append(next(generator))
        except StopIteration as stop:
            return pieces, stop.value


def streamed(backend: OpenAIBackend, sampling: Sampling | None = None) -> tuple[list[str], Completion]:
    return exhaust(backend.stream(MESSAGES, sampling or Sampling()))


def requests_of(server: Running, backend: OpenAIBackend) -> list[dict[str, object]]:
    return [entry["body"] for entry in server.events("request", backend._settings.model)]


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
    assert order == ["request"] * 4 + ["finished"] * 4


@pytest.mark.parametrize("field", ["stream_options", "temperature", "max_tokens"])
def test_a_field_the_server_does_not_know_is_left_out(open_backend: Open, llm_server: Running, field: str) -> None:
    backend = open_backend(f"refuses-field?field={field}", retries=0)
    for _ in range(2):
        assert streamed(backend, Sampling(temperature=1.0, max_tokens=50))[1].text == TEXT
    bodies = requests_of(llm_server, backend)
    assert [field in body for body in bodies] == [True, False, False]
    assert ("max_completion_tokens" in bodies[-1]) == (field == "max_tokens")


@pytest.mark.parametrize(
    "scenario",
    [
        "status?code=429&retry_after=0",
        "status?code=500",
        "status?code=503",
        "status?code=408",
        "empty",
        "empty-body",
        "nothing",
        "not-http",
        "garbage",
        "garbage-event",
        "no-choices",
        "no-choices-stream",
        "wrong-types",
        "fails-inside?after=0",
        "dies?after=0",
        "dies?after=0&reset=1",
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_what_fails_once_or_twice_is_tried_again(open_backend: Open, scenario: str, whole: bool) -> None:
    backend = open_backend(f"{scenario}{'&' if '?' in scenario else '?'}times=2")
    completion = backend.complete(MESSAGES, Sampling())[0] if whole else streamed(backend)[1]
    assert completion.text == TEXT
    assert completion.usage.calls == 3


@pytest.mark.parametrize("scenario", ["dies", "dies?reset=1", "dies-chunked", "fails-inside"])
def test_a_reply_that_breaks_off_is_an_error_once_it_was_heard(open_backend: Open, scenario: str) -> None:
    generator = open_backend(scenario).stream(MESSAGES, Sampling())
    assert next(generator).startswith("The")
    with pytest.raises(BackendError, match="mid-sentence"):
        exhaust(generator)


@pytest.mark.parametrize("scenario", ["dies?times=1", "dies-chunked?times=2", "fails-inside?times=1"])
def test_a_completion_that_breaks_off_is_asked_for_again_whole(open_backend: Open, scenario: str) -> None:
    [completion] = open_backend(scenario).complete(MESSAGES, Sampling())
    assert completion.text == TEXT


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("status?code=429&message=slow+down", r"HTTP 429 Too Many Requests: slow down \(tried 3 times\)"),
        ("status?code=429&retry_after=900", r"asks to wait for 900 s"),
        ("status?code=429&error=insufficient_quota&message=quota", r"quota$"),
        ("status?code=500", r"HTTP 500 .*try again later \(tried 3 times\)"),
        ("status?code=400&message=bad", r"HTTP 400 Bad Request: bad$"),
        ("status?code=400&message=exceeds+the+context+size", r"context size \(context_tokens is 8,192: write what"),
        ("status?code=401", r"HTTP 401 .*is the key right\?"),
        ("unheard-of", r"HTTP 404 .*not found \(is there a model 'unheard-of"),
        ("redirect", r"redirects to https://elsewhere\.example/v1/chat/completions: redirects are not followed"),
        ("html", r"sent a web page \(Sign in\) instead of an answer: does the URL end in /v1\?"),
        ("garbage", r"sent what is no answer: \[31m oops .*x{30}\.\.\. \(tried 3 times\)"),
        ("garbage-event", r"sent what is no answer: oops, no JSON"),
        ("no-choices", r"has no choices: \{\"id\": \"x\""),
        ("no-choices-stream", r"has no choices: \{\"object\": \"something else\""),
        ("wrong-types?which=0", r"content that is no text"),
        ("wrong-types?which=1", r"content that is no text"),
        ("wrong-types?which=2", r"choices that are no list"),
        ("wrong-types?which=3", r"choice that is no object"),
        ("wrong-types?which=4", r"without message"),
        ("wrong-types?which=5", r"is no object"),
        ("empty", r"answered with nothing \(tried 3 times\)"),
        ("empty-body", r"answered with nothing"),
        ("thinks?only=1", r"thought, but said nothing: allow more tokens"),
        ("thinks?only=1&apart=1", r"thought, but said nothing: allow more tokens"),
        ("nothing", r"broke off \(Remote end closed"),
        ("not-http", r"broke off"),
        ("fails-inside?after=0", r"reports an error: the model was unloaded"),
    ],
)
def test_what_keeps_failing_is_told(open_backend: Open, llm_server: Running, scenario: str, told: str) -> None:
    for call in (streamed, lambda backend: backend.complete(MESSAGES, Sampling())):
        with pytest.raises(BackendError, match=told) as caught:
            call(open_backend(scenario))
        message = str(caught.value)
        assert message.startswith(f"llm:test at {llm_server.url}: ")
        assert message.isprintable()
        assert len(message) < 500


def test_a_server_that_is_not_there_is_told(open_backend: Open) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    backend = open_backend("say", url=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(BackendError, match=r"cannot be reached \(Connection refused\): is the server running.*3 times"):
        streamed(backend)


def test_a_name_that_is_unknown_is_told(open_backend: Open) -> None:
    backend = open_backend("say", url="http://nobody.invalid/v1", retries=0)
    with pytest.raises(BackendError, match="http://nobody.invalid/v1: cannot be reached"):
        streamed(backend)


@pytest.mark.parametrize("scenario", ["no-headers", "half-head", "no-token", "comments"])
def test_a_server_that_says_nothing_is_left_and_asked_once_more(
    open_backend: Open, llm_server: Running, scenario: str
) -> None:
    backend = open_backend(scenario, timeout_s=0.3)
    with pytest.raises(BackendError, match=r"did not answer within 0\.3 s.*tried 2 times"):
        streamed(backend)


def test_a_server_that_hangs_once_answers_the_second_time(open_backend: Open) -> None:
    assert streamed(open_backend("no-headers?times=1", timeout_s=2))[1].text == TEXT


def test_a_server_that_stalls_in_mid_sentence_is_left(open_backend: Open) -> None:
    with pytest.raises(BackendError, match=r"sent nothing more for 0\.3 s.*mid-sentence"):
        streamed(open_backend("stalls", token_timeout_s=0.3))
    assert open_backend("stalls?times=1", token_timeout_s=1).complete(MESSAGES, Sampling())[0].text == TEXT


def test_a_listener_who_takes_their_time_loses_nothing(open_backend: Open) -> None:
    generator = open_backend("say?rate=200", token_timeout_s=1).stream(MESSAGES, Sampling())
    pieces = [next(generator)]
    sleep(1.5)
    rest, completion = exhaust(generator)
    assert "".join(pieces + rest) == completion.text == TEXT


def cancelled_after(seconds: float, work: Callable[[Cancellation], object]) -> tuple[object, float]:
    """What the work gives that is cancelled from another thread, and how long it took to end after that."""
    cancellation, results = Cancellation(), list[object]()

    def run() -> None:
        try:
            results.append(work(cancellation))
        except BaseException as error:
            results.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert thread.is_alive(), results
    start = monotonic()
    cancellation.cancel()
    thread.join(10)
    assert not thread.is_alive()
    return results[0], monotonic() - start


@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        ("no-headers", ""),
        ("half-head", ""),
        ("no-token", ""),
        ("comments", ""),
        ("stalls?after=3", "The tide was"),
        ("status?code=429&retry_after=15", ""),
    ],
)
def test_cancelling_wakes_whoever_waits(open_backend: Open, llm_server: Running, scenario: str, text: str) -> None:
    backend = open_backend(scenario)
    result, seconds = cancelled_after(
        0.5, lambda cancellation: exhaust(backend.stream(MESSAGES, Sampling(), cancellation))
    )
    assert isinstance(result, tuple)
    pieces, completion = result
    assert (completion.text, completion.finish_reason, "".join(pieces)) == (text, "cancelled", text)
    assert seconds < WAKING_S
    assert len(requests_of(llm_server, backend)) == 1


@pytest.mark.parametrize("scenario", ["no-headers", "stalls", "ignores-n?rate=0.1"])
def test_cancelling_wakes_whoever_waits_for_several(open_backend: Open, scenario: str) -> None:
    backend = open_backend(scenario)
    backend._ignores_n = True
    result, seconds = cancelled_after(0.5, lambda cancellation: backend.complete(MESSAGES, Sampling(n=3), cancellation))
    assert isinstance(result, list)
    assert [completion.finish_reason for completion in result] == ["cancelled"] * 3
    assert seconds < WAKING_S


def test_cancelling_wakes_whoever_connects(open_backend: Open) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]  # nobody accepts: the queue is full, and nobody else gets in
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(address)
        backend = open_backend("say", url=f"http://127.0.0.1:{address[1]}/v1")
        result, seconds = cancelled_after(
            0.5, lambda cancellation: exhaust(backend.stream(MESSAGES, Sampling(), cancellation))
        )
        assert isinstance(result, tuple) and result[1].finish_reason == "cancelled"
        assert seconds < WAKING_S
        with pytest.raises(BackendError, match=r"cannot be reached \(no connection within 0\.1 s\)"):
            streamed(replace_settings(backend, connect_timeout_s=0.1))
        for sock in waiting:
            sock.close()


def replace_settings(backend: OpenAIBackend, **changes: object) -> OpenAIBackend:
    return OpenAIBackend(replace(backend._settings, **changes))  # type: ignore[arg-type]


def test_who_is_cancelled_before_asks_for_nothing(open_backend: Open, llm_server: Running) -> None:
    cancellation, backend = Cancellation(), open_backend("say")
    cancellation.cancel()
    assert exhaust(backend.stream(MESSAGES, Sampling(), cancellation))[1].finish_reason == "cancelled"
    assert [done.finish_reason for done in backend.complete(MESSAGES, Sampling(n=2), cancellation)] == ["cancelled"] * 2
    assert not requests_of(llm_server, backend)


def test_closing_a_stream_ends_the_request(open_backend: Open, llm_server: Running) -> None:
    backend = open_backend("stalls?after=2")
    generator = backend.stream(MESSAGES, Sampling())
    assert next(generator) == "The"
    [request] = llm_server.events("request", backend._settings.model)
    generator.close()
    end = monotonic() + 10
    while request["id"] not in [entry["id"] for entry in llm_server.events("disconnected")]:
        assert monotonic() < end
        sleep(0.02)


@pytest.mark.parametrize(
    "scenario", ["tells-key", "tells-key?code=500", "tells-key?inside=1", "tells-key?location=1", "tells-key?page=1"]
)
def test_the_key_goes_to_the_server_and_nowhere_else(open_backend: Open, llm_server: Running, scenario: str) -> None:
    backend = open_backend(scenario, retries=1)
    with pytest.raises(BackendError, match=r"\[key\]") as caught:
        streamed(backend)
    [request, *_] = llm_server.events("request", backend._settings.model)
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error} {error!r}"
        error = error.__cause__ or error.__context__
    assert KEY not in f"{backend!r} {backend._settings!r} {vars(backend)}"


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
