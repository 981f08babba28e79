"""The agents, by name. A factory imports what its agent needs, so that looking at the list costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from understudy.dialogue import Agent

if TYPE_CHECKING:
    from understudy.agents.scripted import Scripted
    from understudy.agents.tfidf import TfIdfAgent

__all__ = ["AGENTS"]


def tfidf(**options: Any) -> TfIdfAgent:
    from understudy.agents.tfidf import TfIdfAgent

    return TfIdfAgent(**options)


def scripted(replies: Iterable[str] | None = None) -> Scripted:
    from understudy.agents.scripted import Scripted

    return Scripted(replies if replies is not None else (f"Line {number}." for number in range(1, 101)))


AGENTS: dict[str, Callable[..., Agent]] = {"tfidf": tfidf, "scripted": scripted}
