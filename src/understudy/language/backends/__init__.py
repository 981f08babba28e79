"""Back ends that complete a prompt: an OpenAI-compatible server, files of requests, or a GGUF model in this process."""

from __future__ import annotations

from pathlib import Path

from understudy.language.backends.backend import Backend, Completion

__all__ = ["Backend", "Completion", "open_llm", "open_local"]


def open_batch(folder: str) -> Backend:
    """A model that is asked through files of a folder, which need not be there yet; the answers it has are read."""
    from understudy.language.backends.batch_files import BatchBackend
    from understudy.language.backends.settings import model_settings

    return BatchBackend(Path(folder), model_settings())


def open_llm(name: str | None = None) -> Backend:
    """The back end of an entry of models.toml, of a model on the server that is set up, or of the default."""
    from understudy.language.backends.backend import logged
    from understudy.language.backends.openai_api import OpenAIBackend  # HTTP and TLS are slow to import
    from understudy.language.backends.settings import llm_settings

    return logged(OpenAIBackend(llm_settings(name)))


def open_local(model: str, adapter: Path | None = None) -> Backend:
    """The GGUF model of a name that `understudy models` knows, or of a path; one for all of this process.

    :raises BackendError: it is not on this machine.
    :raises MissingExtra: xllamacpp is not installed.
    """
    from understudy.language.backends.backend import logged
    from understudy.language.backends.catalog import find_model
    from understudy.language.backends.llamacpp import shared_backend

    return logged(shared_backend(find_model(model), adapter, model))
