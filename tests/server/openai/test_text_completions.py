"""Programs that send one prompt of text are answered as those that send messages."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import openai
import pytest

from server.conftest import MakeContext, serving
from server.openai.test_completions import Listening
from understudy.server.app import make_app
from understudy.story.dialogue import Turn
from writers import PIECES, Writer

STORY = "Ines Vale keeps a light.\nScenario: The lamp room, at dusk.\n***\n"
TEXT = "".join(PIECES)


def complete(make_context: MakeContext, prompt: Any, status: int = 200, **fields: Any) -> tuple[Listening, Any]:
    agent = Listening()
    context = make_context(agent)

    async def post() -> httpx.Response:
        transport = httpx.ASGITransport(make_app(context))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            body = {"model": "brass-key/Ines@2.1", "prompt": prompt, **fields}
            return await client.post("/v1/completions", json=body)

    response = asyncio.run(post())
    assert response.status_code == status, response.text
    return agent, response.json()


def test_a_transcript_is_read_as_turns(make_context: MakeContext) -> None:
    prompt = f"{STORY}Tom: Good evening.\nIt is cold.\nInes Vale: Is it?\nTom: Where is the key?\nInes Vale:"
    agent, answer = complete(make_context, prompt, stop=["\nTom:"])
    assert agent.situation is not None and agent.situation.persona.name == "Ines Vale"
    assert agent.history == (
        Turn("Tom", "Good evening.\nIt is cold."),
        Turn("Ines Vale", "Is it?"),
        Turn("Tom", "Where is the key?"),
    )
    assert "The lamp room, at dusk." in agent.situation.setting
    assert agent.situation.persona.profile[-1] == "Ines Vale keeps a light."
    (choice,) = answer["choices"]
    assert (choice["text"], choice["finish_reason"], choice["logprobs"]) == ("First.", "stop", None)
    assert answer["object"] == "text_completion" and answer["usage"]["completion_tokens"] == 2


def test_templates_of_models_are_left_out(make_context: MakeContext) -> None:
    prompt = (
        "<|im_start|>system\nInes Vale keeps a light.<|im_end|>\n<|im_start|>user\nTom: Where is the key?<|im_end|>\n"
        "<|im_start|>assistant\nInes Vale:"
    )
    agent, _ = complete(make_context, prompt, stop=["\nTom:", "<|im_end|>"])
    assert agent.history == (Turn("Tom", "Where is the key?"),)


def test_what_has_begun_is_gone_on_with(make_context: MakeContext) -> None:
    agent, _ = complete(make_context, "User: Where is the key?\nInes: In the")
    assert agent.history[-1] == Turn("Ines Vale", "In the")


def test_a_plain_prompt_is_said_to_the_character(make_context: MakeContext) -> None:
    agent, _ = complete(make_context, ["Where is the key?"])
    assert agent.history == (Turn("You", "Where is the key?"),)


def test_a_prompt_that_ends_with_the_users_name_is_the_users(make_context: MakeContext) -> None:
    agent, _ = complete(make_context, "Tom: Good evening.\nInes Vale: What is it?\nTom:")
    assert agent.situation is not None and agent.situation.persona.name == "Tom"
    assert agent.history == (Turn("Tom", "Good evening."), Turn("Ines Vale", "What is it?"))


def test_another_of_the_story_may_be_the_one_who_goes_on(make_context: MakeContext) -> None:
    agent, _ = complete(make_context, "Tom: Who are you?\nInes Vale: I am Ines.\nTobias Rook:", stop=["\nTom:"])
    assert agent.situation is not None and agent.situation.persona.name == "Tobias Rook"
    assert agent.history == (Turn("Tom", "Who are you?"), Turn("Ines Vale", "I am Ines."))


@pytest.mark.parametrize("prompt", [[1, 2], ["a", "b"], None, [[1]]])
def test_tokens_and_several_prompts_are_refused(make_context: MakeContext, prompt: Any) -> None:
    _, answer = complete(make_context, prompt, status=400)
    assert answer["error"]["param"] == "prompt"


def test_what_changes_nothing_is_said(make_context: MakeContext) -> None:
    _, answer = complete(make_context, "Well?", logprobs=3, echo=True)
    assert [notice.split()[0] for notice in answer["notices"]] == ["logprobs", "echo"]


def test_openais_client_reads_it_whole_and_streamed(make_context: MakeContext) -> None:
    with (
        serving(make_app(make_context(Writer()))) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
    ):
        asked: dict[str, Any] = {"model": "brass-key/Ines@2.1", "prompt": "Where were you?", "temperature": 0}
        whole = client.completions.create(**asked)
        assert whole.choices[0].text == TEXT and whole.usage is not None
        *chunks, usage = list(client.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
        assert "".join(chunk.choices[0].text for chunk in chunks) == TEXT
        assert chunks[-1].choices[0].finish_reason == "stop" and usage.usage == whole.usage
