"""Language model servers that answer on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPException
from time import monotonic
from typing import Any

from understudy.backends.endpoint import parse_url
from understudy.backends.exchange import HttpExchange

__all__ = ["LOCAL_SERVERS", "ask_servers"]

LOCAL_SERVERS = (  # where each listens unless told otherwise
    "http://127.0.0.1:11434/v1",  # Ollama
    "http://127.0.0.1:8080/v1",  # llama.cpp
    "http://127.0.0.1:1234/v1",  # LM Studio
    "http://127.0.0.1:8000/v1",  # vLLM
)
LARGEST_LIST = 1024 * 1024


def ask_servers(urls: Sequence[str] = LOCAL_SERVERS, timeout_s: float = 0.3) -> list[tuple[str, list[str]]]:
    """The base URL and the models of each server that answers in time; all are asked at once."""
    if not urls:
        return []
    with ThreadPoolExecutor(len(urls)) as pool:
        models = pool.map(lambda url: _models(url, timeout_s), urls)
        return [(url, names) for url, names in zip(urls, models) if names is not None]


def _models(url: str, timeout_s: float) -> list[str] | None:
    """The models of a server; None where there is none, or it is of another kind."""
    try:
        with HttpExchange(parse_url(url), timeout_s) as exchange:
            exchange.deadline = monotonic() + timeout_s
            response = exchange.request("GET", "/models", None, {"Accept": "application/json", "Connection": "close"})
            if response.status != HTTPStatus.OK:
                return None
            body = b""
            for piece in exchange.pieces():
                body += piece
                if len(body) > LARGEST_LIST:
                    return None
        document: Any = json.loads(body)
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
    models = document.get("data") if isinstance(document, dict) else None
    if not isinstance(models, list):
        return None
    names = (model.get("id") for model in models if isinstance(model, dict))
    return [name for name in names if isinstance(name, str) and name]
