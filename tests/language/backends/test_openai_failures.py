"""A server that fails or hangs: it is asked again where that may help, and each failure is told apart."""

from __future__ import annotations

import socket
from time import sleep

import pytest

from llmclient import KEY, MESSAGES, Open, exhaust, requests_of, streamed
from llmserver import TEXT, Running
from understudy.errors import BackendError
from understudy.language.backends import chat_endpoint
from understudy.story.dialogue import Sampling


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


@pytest.mark.parametrize("whole", [False, True])
def test_a_text_that_does_not_end_is_cut(open_backend: Open, whole: bool) -> None:
    backend = open_backend("floods")
    sampling = Sampling(max_tokens=20)
    completion = backend.complete(MESSAGES, sampling)[0] if whole else streamed(backend, sampling)[1]
    assert completion.finish_reason == "length" and completion.text.startswith("never stop never stop")
    assert 500 < len(completion.text) < 2_000


def test_of_several_texts_one_that_does_not_end_is_cut_too(open_backend: Open) -> None:
    completions = open_backend("floods").complete(MESSAGES, Sampling(n=2, max_tokens=20))
    assert {completion.finish_reason for completion in completions} == {"length"} and len(completions) == 2


@pytest.mark.parametrize(
    "options",
    ["field=reasoning_content", "field=reasoning", "start=<think>", "piece=%20%0A", "start=<think>&piece=</thin"],
)
def test_a_thought_that_does_not_end_is_given_up(open_backend: Open, llm_server: Running, options: str) -> None:
    backend = open_backend(f"floods?{options}")
    with pytest.raises(BackendError, match="thought without end"):
        streamed(backend)
    assert len(requests_of(llm_server, backend)) == 1


def test_a_model_that_thinks_slowly_is_given_up_in_time(open_backend: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_endpoint, "THOUGHT_TIMEOUTS", 0)
    with pytest.raises(BackendError, match="thought without end"):
        streamed(open_backend("thinks?apart=1"))
    assert streamed(open_backend("say"))[1].text == TEXT


@pytest.mark.parametrize("digits", [9, 30, 400])
def test_a_number_of_tokens_beyond_belief_is_not_believed(open_backend: Open, digits: int) -> None:
    usage = streamed(open_backend(f"boasts?digits={digits}"))[1].usage
    assert 0 < usage.completion_tokens < 100 and 0 < usage.prompt_tokens < 100


@pytest.mark.parametrize("scenario", ["dies?times=1", "dies-chunked?times=2", "fails-inside?times=1"])
def test_a_completion_that_breaks_off_is_asked_for_again_whole(open_backend: Open, scenario: str) -> None:
    [completion] = open_backend(scenario).complete(MESSAGES, Sampling())
    assert completion.text == TEXT


@pytest.mark.parametrize(
    ("scenario", "expected"),
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
def test_what_keeps_failing_is_told(open_backend: Open, llm_server: Running, scenario: str, expected: str) -> None:
    for call in (streamed, lambda backend: backend.complete(MESSAGES, Sampling())):
        with pytest.raises(BackendError, match=expected) as caught:
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
    tail, completion = exhaust(generator)
    assert "".join(pieces + tail) == completion.text == TEXT


@pytest.mark.parametrize("code", [401, 403])
@pytest.mark.parametrize("form", ["", "upper", "reversed", "percent", "base64", "hex", "short"])
def test_nothing_is_shown_of_an_answer_that_refuses_the_key(open_backend: Open, code: int, form: str) -> None:
    with pytest.raises(BackendError, match=f"HTTP {code} .*is the key right") as caught:
        streamed(open_backend(f"tells-key?code={code}&as={form}"))
    assert "provided" not in str(caught.value)


@pytest.mark.parametrize("form", ["upper", "reversed", "percent", "base64", "hex", "short"])
@pytest.mark.parametrize("where", ["code=500", "code=400", "inside=1", "location=1", "page=1"])
def test_the_key_is_known_in_every_usual_form(open_backend: Open, form: str, where: str) -> None:
    with pytest.raises(BackendError, match=r"\[key\]"):
        streamed(open_backend(f"tells-key?{where}&as={form}", retries=0))


def test_words_that_have_nothing_of_the_key_are_shown(open_backend: Open) -> None:
    with pytest.raises(BackendError, match=r"500 .*the secrets of a sk-eptic, 7f3a"):
        streamed(open_backend("status?code=500&message=the+secrets+of+a+sk-eptic,+7f3a", retries=0, key="sk-9Qx_77Lm"))


@pytest.mark.parametrize(
    "scenario", ["tells-key?code=500", "tells-key?inside=1", "tells-key?location=1", "tells-key?page=1"]
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
