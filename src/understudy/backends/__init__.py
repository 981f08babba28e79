"""Who completes a prompt: an OpenAI-compatible server, or a GGUF model in this process."""

from __future__ import annotations

from understudy.backends.backend import Backend, Completion

__all__ = ["Backend", "Completion"]
