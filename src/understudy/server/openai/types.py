"""What OpenAI's chat API is asked and answers with, as far as a character can follow.

Where a field stands for something that characters cannot do, any value is read and a refusal says so; the schema shows
the values that are taken.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

__all__ = [
    "ChatCompletion",
    "ChatRequest",
    "Choice",
    "Chunk",
    "ChunkChoice",
    "Delta",
    "Embedding",
    "EmbeddingsAnswer",
    "EmbeddingsRequest",
    "EmbeddingsUsage",
    "Message",
    "Model",
    "Models",
    "Said",
    "Usage",
    "Why",
]

MOST_CHOICES = 16
Name = Annotated[str, Meta(min_length=1, max_length=500)]
Count = Annotated[int, Meta(ge=1, le=2**31)]
Share = Annotated[float, Meta(ge=-2, le=2)]
Nothing = Annotated[Any, Meta(extra_json_schema={"type": "null"})]
NoneOfThem = Annotated[Any, Meta(extra_json_schema={"type": ["array", "null"], "maxItems": 0})]
Stop = Annotated[str, Meta(min_length=1, max_length=200)]


class Part(msgspec.Struct):
    type: Annotated[str, Meta(extra_json_schema={"enum": ["text"]})]
    text: str = ""


class Message(msgspec.Struct):
    """`name` says who speaks; a system or developer message adds to the character's profile."""

    role: Annotated[str, Meta(extra_json_schema={"enum": ["system", "developer", "user", "assistant"]})]
    content: str | list[Part] | None = None
    name: Annotated[str, Meta(max_length=200)] | None = None
    tool_calls: NoneOfThem = None
    function_call: Nothing = None
    audio: Nothing = None


class StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class ChatRequest(msgspec.Struct):
    """Temperature, top_p, penalties, user and metadata are taken and change nothing: replies are chosen, not drawn."""

    model: Name
    messages: Annotated[list[Message], Meta(min_length=1, max_length=2000)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Meta(ge=1, le=MOST_CHOICES)] | None = None
    stop: Stop | Annotated[list[Stop], Meta(max_length=4)] | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Share | None = None
    frequency_penalty: Share | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    response_format: Annotated[
        Any,
        Meta(
            extra_json_schema={
                "type": ["object", "null"],
                "properties": {"type": {"const": "text"}},
                "required": ["type"],
            }
        ),
    ] = None
    modalities: Annotated[
        Any, Meta(extra_json_schema={"type": ["array", "null"], "items": {"const": "text"}, "maxItems": 1})
    ] = None
    logprobs: Annotated[Any, Meta(extra_json_schema={"enum": [False, None]})] = None
    top_logprobs: Nothing = None
    tools: NoneOfThem = None
    functions: NoneOfThem = None
    tool_choice: Annotated[Any, Meta(extra_json_schema={"enum": ["none", "auto", None]})] = None
    function_call: Annotated[Any, Meta(extra_json_schema={"enum": ["none", "auto", None]})] = None
    audio: Nothing = None
    prediction: Nothing = None
    web_search_options: Nothing = None


class Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class WhyEvidence(msgspec.Struct):
    kind: str
    text: str
    moment: str | None
    words: list[str]


class WhyCandidate(msgspec.Struct):
    text: str
    score: float
    moment: str | None


class Why(msgspec.Struct):
    """Who spoke, as of when, to whom; what the reply was made from, and what else was considered."""

    character: str
    moment: str
    facing: str | None
    evidence: list[WhyEvidence]
    candidates: list[WhyCandidate]


class Said(msgspec.Struct):
    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


class Choice(msgspec.Struct):
    index: int
    message: Said
    finish_reason: Literal["stop", "length"]
    understudy: Why
    logprobs: None = None


class ChatCompletion(msgspec.Struct):
    id: str
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    system_fingerprint: str
    object: Literal["chat.completion"] = "chat.completion"


class Delta(msgspec.Struct):
    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType = UNSET


class ChunkChoice(msgspec.Struct):
    index: int
    delta: Delta
    finish_reason: Literal["stop", "length"] | None = None
    understudy: Why | UnsetType = UNSET
    logprobs: None = None


class Chunk(msgspec.Struct):
    """`usage` is null, and in a last chunk without choices told, where the request asked for it."""

    id: str
    created: int
    model: str
    choices: list[ChunkChoice]
    system_fingerprint: str
    usage: Usage | UnsetType | None = UNSET
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"


class Model(msgspec.Struct):
    id: str
    created: int
    owned_by: str
    object: Literal["model"] = "model"


class Models(msgspec.Struct):
    data: list[Model]
    object: Literal["list"] = "list"


class EmbeddingsRequest(msgspec.Struct):
    model: Name
    input: Annotated[
        Any,
        Meta(
            extra_json_schema={
                "anyOf": [
                    {"type": "string", "minLength": 1},
                    {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 256},
                ]
            }
        ),
    ]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[Any, Meta(extra_json_schema={"type": "null"})] = None
    user: str | None = None


class Embedding(msgspec.Struct):
    index: int
    embedding: list[float] | str
    object: Literal["embedding"] = "embedding"


class EmbeddingsUsage(msgspec.Struct):
    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(msgspec.Struct):
    data: list[Embedding]
    model: str
    usage: EmbeddingsUsage
    object: Literal["list"] = "list"
