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

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from understudy.errors import BackendError, InputError
from understudy.language.backends.exchange import listed_models, parse_url
from understudy.story.storyfile.toml_tables import load_toml
from understudy.story.user_folders import config_folder
from understudy.text import did_you_mean

NAME = "models.toml"
READABLE_BY_OTHERS = 0o077
TEXTS = ("url", "model", "key", "key_env", "key_file")
NUMBERS: Mapping[str, tuple[type[int] | type[float], float, float]] = {  # whole or not, the least and the most
    "context_tokens": (int, 256, 100_000_000),
    "timeout_s": (float, 0.01, 86_400),
    "token_timeout_s": (float, 0.01, 86_400),
    "connect_timeout_s": (float, 0.01, 86_400),
    "retries": (int, 0, 20),
    "temperature": (float, 0, 10),
    "top_p": (float, 0, 1),
    "max_tokens": (int, 1, 100_000_000),
}
RESERVED = ("messages", "model", "n", "stream", "stream_options")  # of a request: ours to fill in


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """One model of one OpenAI-compatible server; its `temperature`, `top_p`, `max_tokens` are the defaults."""

    name: str
    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    context_tokens: int = 8192
    timeout_s: float = 120.0
    """Until the first token."""
    token_timeout_s: float = 60.0
    """From one token to the next."""
    connect_timeout_s: float = 10.0
    retries: int = 2
    backoff_s: float = 0.5
    """The longest pause before the first retry; each later one may be twice as long."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False
    """Whether log-probabilities of the tokens are asked for."""
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Further fields of each request, for what only this server knows."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A table [llm.NAME]; its key is looked up when it is needed."""

    settings: LLMSettings
    path: Path
    key_env: str | None = None
    key_file: str | None = None

    def resolved(self) -> LLMSettings:
        where = f"llm.{self.settings.name}"
        if self.key_env is not None:
            if not (value := os.environ.get(self.key_env, "").strip()):
                raise InputError(
                    f"{where}.key_env names {self.key_env}, which is not set: export {self.key_env}=...", self.path
                )
            return replace(self.settings, key=checked_key(value, f"${self.key_env}"))
        if self.key_file is not None:
            file = self.path.parent / Path(self.key_file).expanduser()
            try:
                value = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not text"
                raise InputError(f"{where}.key_file {file} cannot be read: {reason}", self.path) from None
            if not value:
                raise InputError(f"{where}.key_file {file} is empty: put the key into it", self.path)
            return replace(self.settings, key=checked_key(value, str(file)))
        return self.settings

    def key_problem(self) -> str:
        try:
            self.resolved()
        except InputError as error:
            return str(error)
        return ""


@dataclass(frozen=True, slots=True)
class ModelsFile:
    path: Path
    entries: Mapping[str, ModelEntry] = field(default_factory=dict)
    default: ModelEntry | None = None

    def find(self, name_or_model: str) -> ModelEntry | None:
        """The entry of that name, else the first one of that model."""
        by_model = (entry for entry in self.entries.values() if entry.settings.model == name_or_model)
        return self.entries.get(name_or_model) or next(by_model, None)


def load_models_file() -> ModelsFile:
    """models.toml as it is now; without entries where there is none."""
    path = config_folder() / NAME
    if not path.exists():
        return ModelsFile(path)
    document, _ = load_toml(path)
    is_private = sys.platform == "win32" or not path.stat().st_mode & READABLE_BY_OTHERS
    return _FileParser(path, is_private).parse(document)


class _FileParser:
    def __init__(self, path: Path, is_private: bool) -> None:
        self.path, self.is_private = path, is_private

    def parse(self, document: dict[str, Any]) -> ModelsFile:
        self._only_known(document, ("default", "llm"), "")
        tables = document.get("llm", {})
        if not isinstance(tables, dict):
            raise self._error("llm", "is no table: write [llm.NAME]")
        entries = {name: self._entry(name, table) for name, table in tables.items()}
        default = document.get("default")
        if default is None:
            only = next(iter(entries.values())) if len(entries) == 1 else None
            return ModelsFile(self.path, entries, only)
        if not isinstance(default, str) or default not in entries:
            near = did_you_mean(default, entries) if isinstance(default, str) else ""
            raise self._error("default", f"names no entry{near}: write the NAME of one of the tables [llm.NAME]")
        return ModelsFile(self.path, entries, entries[default])

    def _entry(self, name: str, table: object) -> ModelEntry:
        where = f"llm.{name}"
        if not isinstance(table, dict):
            raise self._error(where, f'is no table: write [llm.NAME], and "{name}" below it')
        self._only_known(table, (*TEXTS, *NUMBERS, "logprobs", "extra"), where)
        texts = {key: self._text(table, key, where) for key in TEXTS}
        for key in ("url", "model"):
            if texts[key] is None:
                raise self._error(f"{where}.{key}", "is missing")
        if sum(texts[key] is not None for key in ("key", "key_env", "key_file")) > 1:
            raise self._error(where, "has more than one of key, key_env and key_file: keep one")
        if texts["key"] is not None and not self.is_private:
            raise self._error(f"{where}.key", f"is readable by others: chmod 600 {self.path}, or use key_env")
        try:
            url = parse_url(texts["url"] or "").url
        except InputError as error:
            raise self._error(f"{where}.url", error.message) from None
        logprobs = table.get("logprobs", False)
        if not isinstance(logprobs, bool):
            raise self._error(f"{where}.logprobs", "must be true or false")
        settings = LLMSettings(
            name,
            url,
            texts["model"] or "",
            checked_key(texts["key"] or "", f"{self.path}: {where}.key"),
            logprobs=logprobs,
            extra=self._extra(table, where),
            **{key: self._number(table, key, where) for key in NUMBERS if key in table},
        )
        return ModelEntry(settings, self.path, texts["key_env"], texts["key_file"])

    def _text(self, table: dict[str, Any], key: str, where: str) -> str | None:
        if (value := table.get(key)) is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self._error(f"{where}.{key}", "must be a text in quotes")
        return value.strip()

    def _number(self, table: dict[str, Any], key: str, where: str) -> Any:
        kind, least, most = NUMBERS[key]
        value = table[key]
        fits = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
        if not fits or not least <= value <= most:
            raise self._error(
                f"{where}.{key}", f"must be a {'whole ' if kind is int else ''}number from {least:g} to {most:g}"
            )
        return kind(value)

    def _extra(self, table: dict[str, Any], where: str) -> Mapping[str, Any]:
        extra = table.get("extra", {})
        if not isinstance(extra, dict) or not _is_json(extra):
            raise self._error(
                f"{where}.extra", "must be a table of texts, numbers, true and false: fields of the request"
            )
        if reserved := [key for key in RESERVED if key in extra]:
            raise self._error(f"{where}.extra.{reserved[0]}", "is filled in by Understudy: leave it out")
        return MappingProxyType(extra)

    def _only_known(self, table: dict[str, Any], known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in known:
                full = f"{where}.{key}" if where else key
                raise self._error(full, f"is unknown{did_you_mean(key, known)}: known are {', '.join(known)}")

    def _error(self, key: str, message: str) -> InputError:
        return InputError(f"{key} {message}", self.path)


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_json(item) for item in value.values())
    if isinstance(value, list):
        return all(_is_json(item) for item in value)
    return isinstance(value, str | int | float | bool)


def checked_key(key: str, source: str) -> str | None:
    """A key that can be sent in a header; a wrong one is never quoted."""
    if key and not re.fullmatch(r"[\x21-\x7e]+", key):
        raise InputError(f"{source}: the key holds blanks, line ends or other characters no key has: copy it again")
    return key or None


# Which of them is meant: what the environment says, else models.toml.


URL, MODEL, KEY = "UNDERSTUDY_LLM_URL", "UNDERSTUDY_LLM_MODEL", "UNDERSTUDY_LLM_KEY"
OPENAI_URL, OPENAI_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
OPENAI = "https://api.openai.com/v1"
NO_MODEL = "your-model"  # where none is named: for answers that are not got by the model's name
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
        models = listed_models(base, timeout_s=10.0)
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
