"""The tables of chats."""

from __future__ import annotations

__all__ = ["CHATS"]

CHATS = ""
