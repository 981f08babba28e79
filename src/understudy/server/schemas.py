"""Wire types that several APIs of the server share: what a reply was made from, and what else was considered."""

from __future__ import annotations

from typing import Annotated

import msgspec

from understudy.formats.documents import reply_document
from understudy.story.dialogue import Reply


class FindingDocument(msgspec.Struct):
    """Where in the text something was found that nobody wrote, and how surely."""

    confidence: float
    sources: list[str]


class EvidenceDocument(msgspec.Struct):
    """Something that a reply was made from: a profile sentence, a tie, a memory, an exchange."""

    kind: str
    text: str
    moment: str | None
    words: list[str]
    found: FindingDocument | msgspec.UnsetType = msgspec.UNSET


class CandidateDocument(msgspec.Struct):
    """A reply that was considered; `text` is blank where it tells what is not known yet."""

    text: str
    score: Annotated[float | None, msgspec.Meta(description="higher is better; null where nothing was compared")]
    moment: str | None
    source: Annotated[str, msgspec.Meta(description="'writer', or the kind of evidence it was taken from")] = ""
    rejected: Annotated[str, msgspec.Meta(description="why it was kept back; blank where it was not")] = ""


class UsageDocument(msgspec.Struct):
    """What a reply cost in a language model."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class ReplyDocument(msgspec.Struct):
    reply: str
    evidence: list[EvidenceDocument]
    candidates: list[CandidateDocument]
    usage: UsageDocument | None = None


def reply_struct(reply: Reply) -> ReplyDocument:
    return msgspec.convert(reply_document(reply), ReplyDocument)
