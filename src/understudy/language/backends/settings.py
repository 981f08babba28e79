"""Which OpenAI-compatible servers are set up: in the environment, or in models.toml of the user's settings folder.

    default = "ollama"                       # may be left out where there is only one

    [llm.ollama]                             # --agent llm:ollama
    url = "http://127.0.0.1:11434/v1"
    model = "llama3.2"

    [llm.router]
    url = "https://openrouter.ai/api/v1"
    model = "mistralai/mistral-small"
    key_env = "OPENROUTER_API_KEY"           # or key_file = "router.key", or key = "..." in a file of mode 600

UNDERSTUDY_LLM_URL, UNDERSTUDY_LLM_MODEL and UNDERSTUDY_LLM_KEY take precedence over the file's default. OPENAI_API_KEY
and OPENAI_BASE_URL are read only where a model is asked for by name and nothing else is set up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http import HTTPStatus
from time import monotonic
from typing import Any

from understudy.errors import BackendError, InputError
from understudy.language.backends.exchange import parse_url
from understudy.language.backends.models_file import (
    LLMSettings,
    ModelEntry,
    ModelsFile,
    checked_key,
    load_models_file,
)
from understudy.text import did_you_mean

__all__ = [
    "LLMSettings",
    "configured_llms",
    "find_local_servers",
    "is_set_up",
    "llm_settings",
    "model_settings",
    "server_settings",
]

URL, MODEL, KEY = "UNDERSTUDY_LLM_URL", "UNDERSTUDY_LLM_MODEL", "UNDERSTUDY_LLM_KEY"
OPENAI_URL, OPENAI_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
OPENAI = "https://api.openai.com/v1"
NO_MODEL = "your-model"  # where none is named: for answers that are not got by the model's name
LOCAL_SERVERS = (  # their default addresses
    "http://127.0.0.1:11434/v1",  # Ollama
    "http://127.0.0.1:8080/v1",  # llama.cpp
    "http://127.0.0.1:1234/v1",  # LM Studio
    "http://127.0.0.1:8000/v1",  # vLLM
)
MAX_LIST_BYTES = 1024 * 1024
HOW_TO = f"""\
set {URL} and {MODEL} (and {KEY} where the server wants one). With Ollama on this machine:

    ollama pull llama3.2
    export {URL}=http://127.0.0.1:11434/v1 {MODEL}=llama3.2

or name servers in {{path}}; `understudy models` lists what is set up and what answers on this machine"""


@dataclass(frozen=True, slots=True)
class ConfiguredLLM:
    """One language model that is set up; `problem` says why it cannot be used, and is blank where it can."""

    name: str
    url: str
    model: str
    source: str
    """'environment', or the path of the settings file."""
    is_default: bool = False
    problem: str = ""


def llm_settings(name_or_model: str | None = None) -> LLMSettings:
    """The settings of an entry of models.toml, of a model on the server that is set up, or of the default."""
    file = load_models_file()
    if not name_or_model:
        return _default(file)
    if entry := file.find(name_or_model):
        return entry.resolved()
    if _variable(URL):
        return _from_environment(name_or_model)
    if file.entries:
        base = file.default or next(iter(file.entries.values()))
        if len({entry.settings.url for entry in file.entries.values()}) == 1:  # another model of the only server
            return replace(base.resolved(), name=name_or_model, model=name_or_model)
        names = ", ".join(f"llm:{name}" for name in file.entries)
        raise BackendError(
            f"no language model is set up as '{name_or_model}'{did_you_mean(name_or_model, file.entries)}: there are "
            f"{names}; add [llm.{name_or_model}] to {file.path}"
        )
    if _variable(OPENAI_KEY) or _variable(OPENAI_URL):
        return _settings(name_or_model, _variable(OPENAI_URL) or OPENAI, OPENAI_URL, name_or_model, OPENAI_KEY)
    raise BackendError(f"no server is set up for 'llm:{name_or_model}': {HOW_TO.format(path=file.path)}")


def model_settings() -> LLMSettings:
    """What is set up of the default model, for requests that are not sent from here: no server, and no key."""
    file, model = load_models_file(), _variable(MODEL)
    entry = file.find(model) if model else file.default
    if entry is not None:
        return replace(entry.settings, url="", key=None)
    return LLMSettings(model or NO_MODEL, "", model or NO_MODEL)


def server_settings(url: str) -> LLMSettings:
    """The settings of a server by its address, 'URL#MODEL' or 'URL': then its first model. It is sent no key."""
    address, _, model = url.partition("#")
    base = parse_url(address).url
    if not model:
        models = _listed_models(base, timeout_s=10.0)
        if not models:
            raise BackendError(
                f"{base} lists no models: is it an OpenAI-compatible server? Name one as in {base}#MODEL"
            )
        model = models[0]
    return LLMSettings(model, base, model)


def is_set_up() -> bool:
    """Whether `llm` without a name means something. Raises InputError where models.toml is wrong."""
    return bool(_variable(URL)) or _default_entry(load_models_file()) is not None


def configured_llms() -> list[ConfiguredLLM]:
    """All that are set up, the default first."""
    file, configured = load_models_file(), list[ConfiguredLLM]()
    if url := _variable(URL):
        model = _variable(MODEL)
        try:
            url, problem = parse_url(url).url, "" if model else f"{MODEL} is not set"
            if model:
                _from_environment(model)
        except InputError as error:
            url, problem = "", str(error)
        configured.append(ConfiguredLLM(model or "?", url, model or "?", "environment", True, problem))
    default = None if configured else _default_entry(file)
    for entry in file.entries.values():
        settings, is_default = entry.settings, entry is default
        listed = ConfiguredLLM(
            settings.name, settings.url, settings.model, str(file.path), is_default, entry.key_problem()
        )
        configured.append(listed)
    return sorted(configured, key=lambda llm: not llm.is_default)


def find_local_servers(urls: Sequence[str] = LOCAL_SERVERS, timeout_s: float = 0.3) -> list[tuple[str, list[str]]]:
    """The base URL and the models of each server that answers in time; all are asked at once."""
    if not urls:
        return []
    with ThreadPoolExecutor(len(urls)) as pool:
        models = pool.map(lambda url: _listed_models(url, timeout_s), urls)
        return [(url, names) for url, names in zip(urls, models) if names is not None]


def _listed_models(url: str, timeout_s: float) -> list[str] | None:
    """The models that a server lists; None where none answers, or one that is not OpenAI-compatible."""
    from http.client import HTTPException  # HTTP and TLS are slow to import

    from understudy.language.backends.exchange import HttpExchange

    try:
        with HttpExchange(parse_url(url), timeout_s) as exchange:
            exchange.deadline = monotonic() + timeout_s
            response = exchange.request("GET", "/models", None, {"Accept": "application/json", "Connection": "close"})
            if response.status != HTTPStatus.OK:
                return None
            body = exchange.body(MAX_LIST_BYTES)
        document: Any = json.loads(body)  # not JSON where it was cut off
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
    models = document.get("data") if isinstance(document, dict) else None
    if not isinstance(models, list):
        return None
    names = (model.get("id") for model in models if isinstance(model, dict))
    return [name for name in names if isinstance(name, str) and name]


def _default(file: ModelsFile) -> LLMSettings:
    if _variable(URL):
        if not (model := _variable(MODEL)):
            raise BackendError(f"{URL} is set, but {MODEL} is not: set it to a model's name, as in {MODEL}=llama3.2")
        return _from_environment(model)
    if (entry := _default_entry(file)) is not None:
        return entry.resolved()
    if file.entries:
        first, names = next(iter(file.entries)), ", ".join(f"llm:{name}" for name in file.entries)
        raise BackendError(
            f"several language models are set up: name one ({names}), or write "
            f'default = "{first}" at the top of {file.path}'
        )
    raise BackendError(f"no language model is set up: {HOW_TO.format(path=file.path)}")


def _default_entry(file: ModelsFile) -> ModelEntry | None:
    model = _variable(MODEL)
    return (file.find(model) if model else None) or file.default


def _from_environment(model: str) -> LLMSettings:
    return _settings(model, _variable(URL), URL, model, KEY)


def _settings(name: str, url: str, url_variable: str, model: str, key_variable: str) -> LLMSettings:
    try:
        url = parse_url(url).url
    except InputError as error:
        raise InputError(f"{url_variable}: {error.message}") from None
    return LLMSettings(name, url, model, checked_key(_variable(key_variable), f"${key_variable}"))


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()
