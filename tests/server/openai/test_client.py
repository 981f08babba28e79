"""OpenAI's own client against a real server: what it understands of our answers, and of our refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from server.chats.test_service import reaching
from understudy.agents import Scripted
from understudy.formats import read
from understudy.formats.cards import json_of
from understudy.formats.cards.export import card_at
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry
from understudy.story.dialogue import situation_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment

Client = openai.OpenAI
ZITA = "demo/Zita@2.3#Benedek"


@pytest.fixture
def client(served: str) -> Iterator[Client]:
    with openai.OpenAI(base_url=f"{served}/v1", api_key="none", max_retries=0) as client:
        yield client


def say(client: Client, text: str = "Who wrote it?", model: str = ZITA, **fields: Any) -> Any:
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], **fields)


def test_models_are_the_characters(client: Client) -> None:
    names = [model.id for model in client.models.list()]
    assert "demo/Zita Karst" in names and "brass-key/Ines Vale" in names
    assert client.models.retrieve("demo/Zita@2.3").id == "demo/Zita Karst@2.3"
    with pytest.raises(openai.NotFoundError) as refused:
        client.models.retrieve("demo/Nobody")
    assert refused.value.code == "model_not_found" and refused.value.param == "model"


def test_models_are_main_characters_at_their_start_end_and_turning_points(client: Client) -> None:
    of_zita: list[Any] = [model for model in client.models.list() if model.id.startswith("demo/Zita Karst")]
    assert of_zita[0].id == "demo/Zita Karst" and of_zita[0].name == "Zita Karst, end (A Clean Bill)"
    start, *turns = of_zita[1:]
    assert start.name == f"Zita Karst, start ({start.id.partition('@')[2]}) (A Clean Bill)"
    assert 1 <= len(turns) <= 3
    assert all(turn.name.startswith(f"Zita Karst, {turn.id.partition('@')[2]} (") for turn in turns)
    assert [Moment.parse(turn.id.partition("@")[2]) for turn in turns] == sorted(
        Moment.parse(turn.id.partition("@")[2]) for turn in turns
    )
    for model in client.models.list():
        assert client.models.retrieve(model.id).id == model.id


def test_a_single_story_needs_no_title_and_a_card_no_moment(tmp_path: Path) -> None:
    demo = read("demo")
    card = card_at(situation_at(demo, "Zita Karst", "2.3"), demo.title, version=2)
    (tmp_path / "zita.json").write_bytes(json_of(card))

    def listed(name: str, story: Story) -> list[tuple[str, str]]:
        with AppContext.open(StoryRegistry({name: story}), Scripted(["Well."]), tmp_path / name) as context:
            ask = reaching(make_app(context))
            models = ask("GET", "/v1/models").json()["data"]
            assert [ask("GET", f"/v1/models/{model['id']}").json()["id"] for model in models] == [
                model["id"] for model in models
            ]
            return [(model["id"], model["name"]) for model in models]

    names = [name for _, name in listed("demo", demo)]
    assert "Zita Karst, end" in names and not any("Clean Bill" in name for name in names)
    assert max(map(len, names)) <= 32  # what Open WebUI shows of a name
    assert listed("zita", read(tmp_path / "zita.json")) == [("zita/Zita Karst", "Zita Karst")]


def test_whoever_goes_by_a_false_name_is_listed_by_it_while_it_holds(client: Client) -> None:
    names = {model.id for model in client.models.list(extra_query={"story": "demo"})}
    assert "demo/Danilo Reuss" in names
    assert any(name.startswith("demo/Aurel Benedek@1.") for name in names)
    assert not any(name.startswith("demo/Danilo Reuss@1.") for name in names)


def test_models_of_a_story_at_a_moment(client: Client) -> None:
    early = client.models.list(extra_query={"story": "brass-key", "at": "1.2"})
    assert [model.id for model in early] == ["brass-key/Ines Vale@1.2", "brass-key/Tobias Rook@1.2"]


def test_a_reply_with_its_evidence(client: Client) -> None:
    answer = say(client)
    (choice,) = answer.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "This is the line numbered 1.")
    assert choice.finish_reason == "stop" and answer.object == "chat.completion"
    assert choice.understudy["character"] == "Zita Karst" and choice.understudy["facing"] == "Aurel Benedek"
    assert choice.understudy["moment"] == "2.3"
    assert choice.understudy["evidence"][0]["kind"] == "script"
    assert choice.understudy["candidates"][0]["text"] == choice.message.content
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (4, 7)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_what_was_said_before_counts(client: Client) -> None:
    messages: list[Any] = [
        {"role": "user", "content": "Good morning."},
        {"role": "assistant", "content": "This is the line numbered 1."},
        {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": "then?"}]},
    ]
    answer = client.chat.completions.create(model="brass-key/Ines", messages=messages)
    assert answer.choices[0].message.content == "This is the line numbered 2."


def test_a_stream_is_the_same_reply_word_by_word(client: Client) -> None:
    chunks = list(say(client, stream=True, stream_options={"include_usage": True}))
    words = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    assert words == ["This ", "is ", "the ", "line ", "numbered ", "1."]
    assert chunks[0].choices[0].delta.role == "assistant"
    *earlier, last, usage = chunks
    assert last.choices[0].finish_reason == "stop" and last.choices[0].understudy["evidence"]
    assert all(chunk.choices[0].finish_reason is None for chunk in earlier)
    assert not usage.choices and usage.usage.completion_tokens == 7
    assert len({chunk.id for chunk in chunks}) == 1


def test_without_being_asked_a_stream_tells_no_usage(client: Client) -> None:
    assert all(chunk.usage is None for chunk in say(client, stream=True))


def test_stop_and_length(client: Client) -> None:
    assert say(client, stop=" line").choices[0].message.content == "This is the"
    assert say(client, stop=["numbered", "is the"]).choices[0].message.content == "This "
    cut = say(client, max_tokens=3).choices[0]
    assert (cut.message.content, cut.finish_reason) == ("This is the", "length")
    assert say(client, max_completion_tokens=2).choices[0].message.content == "This is"
    assert say(client, max_tokens=7).choices[0].finish_reason == "stop"


def test_a_seed_gives_the_same_again(client: Client) -> None:
    first, second = say(client, seed=7), say(client, seed=7)
    assert first.choices[0].message.content == second.choices[0].message.content
    assert first.system_fingerprint == second.system_fingerprint
    assert first.id != second.id


def test_what_changes_nothing_is_taken(client: Client) -> None:
    plain = say(client).choices[0].message.content
    ignored: dict[str, Any] = {"temperature": 1.5, "top_p": 0.1, "presence_penalty": 1, "frequency_penalty": -1}
    assert say(client, **ignored, user="me", metadata={"a": "b"}).choices[0].message.content == plain


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tool_choice": "required"}, "tool_choice"),
        ({"function_call": {"name": "f"}}, "function_call"),
        ({"logprobs": "yes"}, "logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}}, "response_format"),
        ({"audio": {"voice": "alloy", "format": "wav"}}, "audio"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"n": 99}, "n"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"temperature": "hot"}, "temperature"),
    ],
)
def test_what_characters_cannot_do_is_refused_by_its_name(client: Client, fields: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        say(client, **fields)
    assert refused.value.param == param


@pytest.mark.parametrize(
    ("fields", "about"),
    [
        ({"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto"}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}], "parallel_tool_calls": True}, "tools"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"prediction": {"type": "content", "content": "No."}}, "prediction"),
        ({"logprobs": True}, "logprobs"),
    ],
)
def test_what_changes_nothing_is_answered_and_said(client: Client, fields: Any, about: str) -> None:
    plain = say(client)
    answer = say(client, **fields)
    assert answer.choices[0].message.content == plain.choices[0].message.content
    assert answer.notices[0].startswith(about)
    assert not hasattr(plain, "notices")
    *_, last = say(client, **fields, stream=True)
    assert last.notices == answer.notices


def test_pictures_and_what_tools_said_are_left_out(client: Client) -> None:
    picture: Any = {"type": "image_url", "image_url": {"url": "data:,"}}
    answer: Any = say(client, text=[{"type": "text", "text": "See?"}, picture])  # type: ignore[arg-type]
    assert answer.choices[0].message.content and "no text" in answer.notices[0]
    assert "no text" in say(client, text=[picture]).notices[0]  # type: ignore[arg-type]
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: Any = [
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "5", "tool_call_id": "1"},
    ]
    answer = client.chat.completions.create(model=ZITA, messages=messages)
    assert answer.choices[0].message.content == "This is the line numbered 1."
    assert "tools" in (answer.model_extra or {})["notices"][0]
    other: Any = [{"role": "narrator", "content": "5"}]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=ZITA, messages=other)
    assert refused.value.param == "messages[0].role"


@pytest.mark.parametrize(
    "model", ["gpt-4", "demo/Nobody", "nowhere/Zita", "demo/Zita@9.9.9", "demo/Zita@noon", "demo/Zita#Nobody"]
)
def test_whoever_is_not_there_is_a_model_not_found(client: Client, model: str) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        say(client, model=model)
    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")


def test_embeddings(client: Client) -> None:
    encoded = client.embeddings.create(model="encoder", input="the harbour at night")  # asks for base64
    plain = client.embeddings.create(model="encoder", input=["the harbour at night", "a"], encoding_format="float")
    assert encoded.data[0].embedding == pytest.approx(plain.data[0].embedding)
    assert sum(value**2 for value in plain.data[0].embedding) == pytest.approx(1, abs=0.01)
    assert plain.data[1].index == 1 and plain.data[1].embedding != plain.data[0].embedding
    assert plain.usage.prompt_tokens == 5


@pytest.mark.parametrize("texts", [[1, 2, 3], [[1, 2], [3]], [], ["", "a"], ["a"] * 257])
def test_what_cannot_be_embedded(client: Client, texts: Any) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.embeddings.create(model="encoder", input=texts)
    assert (refused.value.param or "").startswith("input")


def test_dimensions_and_other_models_of_embeddings(client: Client) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.embeddings.create(model="encoder", input="a", dimensions=7)
    assert refused.value.param == "dimensions"
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="text-embedding-3-small", input="a")


def test_many_at_once_each_get_their_own(served: str) -> None:
    async def asking() -> list[tuple[int, str | None]]:
        async with openai.AsyncOpenAI(base_url=f"{served}/v1", api_key="none", max_retries=0) as client:

            async def stream_reply(number: int) -> tuple[int, str | None]:
                said: list[Any] = [{"role": "user", "content": "On."}]
                said += [{"role": "assistant", "content": "Yes."}] * number
                said += [{"role": "user", "content": "And on."}]
                chunks = await client.chat.completions.create(model=ZITA, messages=said, stream=True)
                words = [chunk.choices[0].delta.content or "" async for chunk in chunks]
                return number, "".join(words)

            return await asyncio.gather(*(stream_reply(number) for number in range(40)))

    for number, text in asyncio.run(asking()):
        assert text == f"This is the line numbered {number + 1}."
