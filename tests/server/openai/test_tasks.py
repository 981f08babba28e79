"""What a chat program asks behind its user's back is answered in its own form, by no agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server.conftest import MakeContext
from server.openai.test_completions import send

SAID = "USER: Good evening, Ines. Where is the brass key?\nASSISTANT: Here."
CHAT = f"### Chat History:\n<chat_history>\n{SAID}\n</chat_history>"


def task(what: str, form: str, chat: str = CHAT) -> list[dict[str, Any]]:
    text = f"### Task:\n{what}\n### Guidelines:\n- Be short.\n### Output:\nJSON format: {form}\n{chat}"
    return [{"role": "user", "content": text}]


def answered(make_context: MakeContext, messages: list[dict[str, Any]], **fields: Any) -> Any:
    agent, response = send(make_context, messages, **fields)
    assert agent.situation is None, "an agent was asked"
    (choice,) = response.json()["choices"]
    assert "without a model" in choice["understudy"]["evidence"][0]["text"]
    return json.loads(choice["message"]["content"])


@pytest.mark.parametrize(
    ("what", "form", "expected"),
    [
        ("Give a title.", '{ "title": "your title" }', {"title": "Ines Vale: Where is the brass key?"}),
        ("Give tags.", '{ "tags": ["tag1", "tag2"] }', {"tags": ["Ines Vale", "The Brass Key"]}),
        ("Search?", '{ "queries": ["query1"] }', {"queries": []}),
        ("Complete it.", '{ "text": "<completion>" }', {"text": ""}),
    ],
)
def test_each_gets_the_form_it_wants(make_context: MakeContext, what: str, form: str, expected: Any) -> None:
    assert answered(make_context, task(what, form)) == expected
    assert answered(make_context, task(what, form), response_format={"type": "json_object"}) == expected


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("What do you think of the lamp?", "What do you think of the lamp?"),
        (
            "Tell me of the night on which the fog came in and took the boat away.",
            "Tell me of the night on which the fog…",
        ),
        ("x" * 90, "x" * 39 + "…"),
        ("Good evening.", ""),
    ],
)
def test_a_title_is_cut_between_words(make_context: MakeContext, said: str, title: str) -> None:
    chat = f"### Chat History:\n<chat_history>\nUSER: {said}\n</chat_history>"
    expected = f"Ines Vale: {title}" if title else "Ines Vale"
    assert answered(make_context, task("A title.", '{"title": "..."}', chat)) == {"title": expected}


def test_next_questions_are_about_whom_the_character_knows_by_then(make_context: MakeContext) -> None:
    (questions,) = answered(make_context, task("What next?", '{ "follow_ups": ["One?", "Two?"] }')).values()
    assert 1 <= len(questions) <= 3 and all(question.endswith("?") for question in questions)
    early = answered(make_context, task("What next?", '{ "follow_ups": ["One?"] }'), model="demo/Zita@1.1.1.3")
    assert "Silvan" not in json.dumps(early)


def test_a_choice_of_tools_is_none(make_context: MakeContext) -> None:
    system = 'Available Tools: [{"name": "f"}]\nReturn an object with "tool_calls".'
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Query: Where is the key?"}]
    assert answered(make_context, messages) == {"tool_calls": []}


def test_whoever_talks_of_a_task_is_heard(make_context: MakeContext) -> None:
    agent, _ = send(make_context, [{"role": "user", "content": "Your task: give me a title."}])
    assert agent.situation is not None
