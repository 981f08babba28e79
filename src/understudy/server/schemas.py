"""Wire types that several APIs of the server share: what a reply was made from, and what else was considered."""

from __future__ import annotations

import msgspec

from understudy.dialogue import Reply
from understudy.documents import reply_document

__all__ = ["CandidateDocument", "EvidenceDocument", "ReplyDocument", "reply_struct"]


class EvidenceDocument(msgspec.Struct):
    """Something that a reply was made from: a profile sentence, a tie, a memory, an exchange."""

    kind: str
    text: str
    moment: str | None
    words: list[str]


class CandidateDocument(msgspec.Struct):
    """A reply that was considered."""

    text: str
    score: float
    moment: str | None


class ReplyDocument(msgspec.Struct):
    reply: str
    evidence: list[EvidenceDocument]
    candidates: list[CandidateDocument]


def reply_struct(reply: Reply) -> ReplyDocument:
    return msgspec.convert(reply_document(reply), ReplyDocument)
