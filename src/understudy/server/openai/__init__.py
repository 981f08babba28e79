"""Characters as the models of an OpenAI-compatible API."""

from __future__ import annotations

from understudy.server.openai.routes import OPERATIONS

__all__ = ["OPERATIONS"]
