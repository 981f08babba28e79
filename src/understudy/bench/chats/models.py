"""Opening whatever gives log-probabilities: a generative agent, or a transformer by itself."""

from __future__ import annotations

from pathlib import Path

from understudy.agents import AGENTS, agent_named
from understudy.backends.transformer import open_transformer
from understudy.dialogue import LanguageModel
from understudy.errors import AgentError
from understudy.model_folder import CARD, read_agent_name

__all__ = ["open_language_model"]


def open_language_model(spec: str) -> LanguageModel:
    """A generative agent's folder or `module:factory`, or a transformer: a folder, a .gguf file, a name."""
    folder = Path(spec)
    is_agent = (folder / CARD).is_file() and read_agent_name(folder) in AGENTS
    if not is_agent and (folder.exists() or ":" not in spec):
        return open_transformer(spec)
    agent = agent_named(spec)
    if not isinstance(agent, LanguageModel):
        raise AgentError(f"'{spec}' gives no log-probabilities: choose a generative agent, or a language model")
    return agent
