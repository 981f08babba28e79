"""Requests and responses of OpenAI's chat API, as far as characters support it.

Fields for features that characters do not have are declared as `Any`, so that `completions` can refuse them with a
reason; the schema shows the values that are accepted.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from understudy.server.chats.schemas import CandidateDocument, EvidenceDocument

MAX_CHOICES = 16
Name = Annotated[str, Meta(min_length=1, max_length=500)]
Count = Annotated[int, Meta(ge=1, le=2**31)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
MustBeNull = Annotated[Any, Meta(extra_json_schema={"type": "null"})]
Ignored = Annotated[Any, Meta(description="taken, and changes nothing; `notices` in the response says so")]
Notices = Annotated[list[str] | UnsetType, Meta(description="what of the request was not followed, and why")]
Stop = Annotated[str, Meta(min_length=1, max_length=200)]

# JSON schemas of what is taken of fields that are declared as `Any`
TEXT_FORMAT = {"type": ["object", "null"], "properties": {"type": {"const": "text"}}, "required": ["type"]}
TEXT_MODALITY = {"type": ["array", "null"], "items": {"const": "text"}, "maxItems": 1}
NO_CHOICE = {"enum": ["none", "auto", None]}
PROMPT = {"type": "string", "maxLength": 1_000_000}
ONE_PROMPT = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}
TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 256}


class ContentPart(msgspec.Struct):
    """A part that is no text is ignored."""

    type: str
    text: str = ""


class RequestMessage(msgspec.Struct):
    """`name` says who speaks; a system or developer message tells of the character, its scene or the user."""

    role: Annotated[
        str, Meta(extra_json_schema={"enum": ["system", "developer", "user", "assistant", "tool", "function"]})
    ]
    content: str | list[ContentPart] | None = None
    name: Annotated[str, Meta(max_length=200)] | None = None
    tool_calls: Ignored = None
    function_call: Ignored = None
    audio: Ignored = None


class StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class CompletionRequest(msgspec.Struct, kw_only=True):
    model: Name
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Meta(ge=1, le=MAX_CHOICES)] | None = None
    max_tokens: Count | None = None
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    user: str | None = None
    agent: Annotated[Name | None, Meta(description="one of the server's agents; its first, where left out")] = None


class ChatRequest(CompletionRequest, kw_only=True):
    """Temperature, top_p and seed reach an agent that writes, and change nothing for one that chooses among lines.
    Penalties, user and metadata are accepted and ignored."""

    messages: Annotated[list[RequestMessage], Meta(min_length=1, max_length=2000)]
    stop: Stop | Annotated[list[Stop], Meta(max_length=4)] | None = None
    max_completion_tokens: Count | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    metadata: dict[str, str] | None = None
    response_format: Annotated[Any, Meta(extra_json_schema=TEXT_FORMAT)] = None
    modalities: Annotated[Any, Meta(extra_json_schema=TEXT_MODALITY)] = None
    logprobs: Annotated[bool | None, Meta(description="null in the response where the agent has none")] = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    tools: Ignored = None
    functions: Ignored = None
    parallel_tool_calls: Ignored = None
    tool_choice: Annotated[Any, Meta(extra_json_schema=NO_CHOICE)] = None
    function_call: Annotated[Any, Meta(extra_json_schema=NO_CHOICE)] = None
    audio: MustBeNull = None
    prediction: Ignored = None
    web_search_options: Ignored = None


class TextRequest(CompletionRequest, kw_only=True):
    """A prompt that ends where the character is to go on, as in 'Tom: Who are you?\\nZita:'."""

    prompt: Annotated[Any, Meta(extra_json_schema={"anyOf": [PROMPT, ONE_PROMPT]})]
    stop: Stop | Annotated[list[Stop], Meta(max_length=64)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=5)] | None = None
    logprobs: Ignored = None
    echo: Ignored = None
    suffix: Ignored = None
    best_of: Ignored = None


class TokenUsage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ReplyDetails(msgspec.Struct):
    """Who spoke, as of when, to whom; what the reply was made from, and what else was considered."""

    character: str
    moment: str
    facing: str | None
    evidence: list[EvidenceDocument]
    candidates: list[CandidateDocument]


class TokenLogProb(msgspec.Struct):
    token: str
    logprob: float
    bytes: list[int]
    top_logprobs: list[None] = []


class ChoiceLogProbs(msgspec.Struct):
    content: list[TokenLogProb]
    refusal: None = None


class AssistantMessage(msgspec.Struct):
    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


class Choice(msgspec.Struct):
    index: int
    message: AssistantMessage
    finish_reason: Literal["stop", "length"]
    understudy: ReplyDetails
    logprobs: ChoiceLogProbs | None = None


class ChatCompletion(msgspec.Struct):
    id: str
    created: int
    model: str
    choices: list[Choice]
    usage: TokenUsage
    system_fingerprint: str
    notices: Notices = UNSET
    object: Literal["chat.completion"] = "chat.completion"


class TextChoice(msgspec.Struct):
    """Of a stream, the choice's last chunk has the reason it ended, and `understudy`."""

    index: int
    text: str
    finish_reason: Literal["stop", "length"] | None = None
    understudy: ReplyDetails | UnsetType = UNSET
    logprobs: None = None


class TextCompletion(msgspec.Struct):
    """A whole completion, or a chunk of one."""

    id: str
    created: int
    model: str
    choices: list[TextChoice]
    system_fingerprint: str
    usage: TokenUsage | UnsetType | None = UNSET
    notices: Notices = UNSET
    object: Literal["text_completion"] = "text_completion"


class Delta(msgspec.Struct):
    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType = UNSET


class ChunkChoice(msgspec.Struct):
    index: int
    delta: Delta
    finish_reason: Literal["stop", "length"] | None = None
    understudy: ReplyDetails | UnsetType = UNSET
    logprobs: ChoiceLogProbs | None = None


class CompletionChunk(msgspec.Struct):
    """Where the request includes usage, `usage` is null until a last chunk that has it and no choices."""

    id: str
    created: int
    model: str
    choices: list[ChunkChoice]
    system_fingerprint: str
    usage: TokenUsage | UnsetType | None = UNSET
    notices: Notices = UNSET
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"


class Model(msgspec.Struct):
    """`name` says in words who it is, and when."""

    id: str
    created: int
    owned_by: str
    name: str
    object: Literal["model"] = "model"


class ModelList(msgspec.Struct):
    data: list[Model]
    object: Literal["list"] = "list"


class ModelsQuery(msgspec.Struct):
    """`story` chooses the characters of a story, `at` those who have spoken before a moment of it, as of then."""

    story: str | None = None
    at: str | None = None


class EmbeddingsRequest(msgspec.Struct):
    model: Name
    input: Annotated[Any, Meta(extra_json_schema={"anyOf": [TEXT, TEXTS]})]
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


class EmbeddingList(msgspec.Struct):
    data: list[Embedding]
    model: str
    usage: EmbeddingsUsage
    object: Literal["list"] = "list"
