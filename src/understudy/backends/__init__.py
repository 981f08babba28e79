"""Who completes a prompt: an OpenAI-compatible server, or a GGUF model in this process."""

from __future__ import annotations

from understudy.backends.backend import Backend, Completion

__all__ = ["Backend", "Completion", "open_llm"]


def open_llm(name: str | None = None) -> Backend:
    """The back end of an entry of models.toml, of a model on the server that is set up, or of the default."""
    from understudy.backends.openai_api import OpenAIBackend  # HTTP and TLS are slow to import
    from understudy.backends.prompt_log import logged
    from understudy.backends.settings import llm_settings

    return logged(OpenAIBackend(llm_settings(name)))
