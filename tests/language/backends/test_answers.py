"""What is text, what is thought, and what is neither."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.client import HTTPMessage
from typing import Any

import pytest

from understudy.language.backends.answers import CompletionResponse, Failures, ServerFault, ThoughtTooLong, WrongAnswer
from understudy.language.backends.settings import LLMSettings


def chunk(content: str | None, log_prob: float | None = None, **fields: Any) -> dict[str, Any]:
    logprobs = None if log_prob is None else {"content": [{"token": content, "logprob": log_prob}]}
    return {"choices": [{"index": 0, "delta": {"content": content}, "logprobs": logprobs, **fields}]}


@pytest.mark.parametrize(
    ("sent", "pieces"),
    [
        (["Good", " evening"], ["Good", " evening"]),
        ([" ", "\n Good", " \n"], ["Good", " \n"]),
        (["<think>Who?</think>Good"], ["Good"]),
        (["\n<", "think>", "Who", "?</thi", "nk>\n\n", " Good", " </think>"], ["Good", " </think>"]),
        (["<", "b>Good"], ["<b>Good"]),
        (["<thinking>"], ["<thinking>"]),
        (["Good <think>"], ["Good <think>"]),
        (["<think>Who?"], []),
        (["a\ud83d"], ["a\ufffd"]),
    ],
)
def test_a_text_begins_after_blanks_and_thoughts(sent: list[str], pieces: list[str]) -> None:
    answer = CompletionResponse()
    received = [piece for text in sent for piece in answer.add(chunk(text), is_whole=False)[0]]
    assert received == pieces
    assert answer.choices[0].text == "".join(pieces)


def test_a_text_is_cut_and_takes_nothing_more() -> None:
    answer = CompletionResponse(max_letters=10)
    pieces = [piece for text in ("<think>well</think>", "Good eve", "ning, all", " of you") for piece in
              answer.add(chunk(text, finish_reason=None), is_whole=False)[0]]  # fmt: skip
    assert pieces == ["Good eve", "ni"] and answer.is_full
    assert not answer.add(chunk("more"), is_whole=False)[1]  # so that its deadline passes
    answer.add(chunk("", finish_reason="stop"), is_whole=False)
    assert (answer.choices[0].text, answer.choices[0].is_cut) == ("Good eveni", True)


def test_a_thought_is_progress_until_the_text_begins() -> None:
    answer = CompletionResponse()
    thought = {"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]}
    assert answer.add(thought, is_whole=False)[1]
    assert answer.add(chunk("Good"), is_whole=False)[1]
    assert not answer.add(thought, is_whole=False)[1]


def test_a_long_thought_is_followed_to_its_end() -> None:
    answer = CompletionResponse()
    sent = ["<think>", *["so and so "] * 30_000, "</th", "ink>", "\n", "Yes."]
    assert [piece for text in sent for piece in answer.add(chunk(text), is_whole=False)[0]] == ["Yes."]
    blanks = {"choices": [{"index": 1, "delta": {"content": "\n" * 10}}]}
    with pytest.raises(ThoughtTooLong):
        deque((answer.add(blanks, is_whole=False) for _ in range(50_000)), maxlen=0)


def test_choices_are_not_without_number() -> None:
    answer = CompletionResponse()
    choices = [{"index": index, "delta": {"content": "x"}} for index in range(129)]
    with pytest.raises(WrongAnswer, match="128 choices"):
        answer.add({"choices": choices}, is_whole=False)


@pytest.mark.parametrize("count", [True, -1, 10**30, 1.5, "7", None])
def test_what_cannot_be_a_number_of_tokens_is_none(count: object) -> None:
    answer = CompletionResponse()
    answer.add({"choices": [], "usage": {"prompt_tokens": count, "completion_tokens": count}}, is_whole=False)
    assert answer.prompt_tokens is answer.completion_tokens is None


def test_log_probabilities_are_those_of_the_text() -> None:
    answer = CompletionResponse()
    for content, log_prob in (("<think>", -9.0), ("x</think>", -8.0), ("Good", -1.0), (" evening", -2.0)):
        answer.add(chunk(content, log_prob), is_whole=False)
    assert answer.choices[0].log_probs == [-1.0, -2.0]
    answer.add(chunk("!", float("nan")), is_whole=False)
    assert answer.choices[0].log_probs == [-1.0, -2.0]


def test_thinking_is_progress_and_a_greeting_of_the_server_is_not() -> None:
    answer = CompletionResponse()
    assert not answer.add({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}, False)[1]
    assert answer.add({"choices": [{"index": 0, "delta": {"reasoning": "hm"}}]}, False)[1]
    assert not answer.is_finished
    answer.finish()
    assert answer.is_finished


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"error": {"message": "no memory", "code": 500}}, "no memory"),
        ({"error": "no memory"}, "no memory"),
        ({"error": {"code": 500}}, "does not say"),
    ],
)
def test_errors_are_found_in_the_forms_they_come_in(document: object, expected: str) -> None:
    with pytest.raises(ServerFault, match=expected):
        CompletionResponse().add(document, is_whole=False)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"refusal": "I cannot help."}, "refused to answer: I cannot help."),
        ({"reasoning": "hm"}, "thought, but said nothing"),
        ({}, "content filter"),
    ],
)
def test_why_nothing_was_said_is_told(message: dict[str, str], expected: str) -> None:
    answer = CompletionResponse()
    answer.add(
        {"choices": [{"index": 0, "delta": message, "finish_reason": "content_filter" if not message else "stop"}]},
        False,
    )
    failures = Failures("llm:test", "http://a/v1", LLMSettings("test", "http://a/v1", "m"))
    assert expected in str(failures.empty(answer.choices[0]))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("Sat, 14 Nov 2020 10:00:00 GMT", 0),
        ("soon", None),
        ("-1", None),
        ("", None),
    ],
)
def test_how_long_a_server_asks_to_wait(value: str, seconds: float | None) -> None:
    headers = HTTPMessage()
    headers["Retry-After"] = value
    failures = Failures("llm:test", "http://a/v1", LLMSettings("test", "http://a/v1", "m"))
    assert failures.status(429, headers, "").retry_after_s == seconds


def test_a_date_to_wait_for_is_counted_from_now() -> None:
    headers = HTTPMessage()
    headers["Retry-After"] = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    failure = Failures("llm:test", "http://a/v1", LLMSettings("test", "http://a/v1", "m")).status(503, headers, "")
    assert failure.retry_after_s is not None and 3000 < failure.retry_after_s <= 3600


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"error": {"message": "Unsupported parameter", "param": "seed", "code": "unsupported_parameter"}}', "seed"),
        ('{"error": {"message": "Unrecognized request argument supplied: stream_options"}}', "stream_options"),
        ('{"detail": "extra fields not permitted: logprobs"}', "logprobs"),
        ('{"error": {"message": "\'n\' : number must be at most 1"}}', "n"),
        ('{"error": {"message": "temperature must be at most 2", "param": "temperature"}}', ""),
        ('{"error": {"message": "model not supported"}}', ""),
        ("seed", ""),
    ],
)
def test_a_field_the_server_cannot_do_with_is_found(body: str, field: str) -> None:
    failures = Failures("llm:test", "http://a/v1", LLMSettings("test", "http://a/v1", "m"))
    assert failures.status(400, HTTPMessage(), body).refused_field == field
