"""Who completes a prompt: an OpenAI-compatible server, or a GGUF model in this process."""

from __future__ import annotations

from pathlib import Path

from understudy.backends.backend import Backend, Completion

__all__ = ["Backend", "Completion", "open_local"]


def open_local(model: str, adapter: Path | None = None) -> Backend:
    """The GGUF model of a name that `understudy models` knows, or of a path; one for all of this process.

    :raises BackendError: it is not on this machine.
    :raises MissingExtra: xllamacpp is not installed.
    """
    from understudy.backends.catalog import find_model
    from understudy.backends.llamacpp import shared_backend

    return shared_backend(find_model(model), adapter, model)
