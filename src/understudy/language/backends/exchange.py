"""One HTTP request whose every wait ends: at a deadline, or when another thread aborts it."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

from understudy.errors import BackendError, InputError

PIECE = 65536
Result = TypeVar("Result")


class ConnectFailed(OSError):
    """No connection could be made; nothing was sent."""


class CertificateRefused(ConnectFailed):
    """The server's certificate does not verify for the host of the URL."""


class HttpExchange:
    """A request to an endpoint and its response; its connection serves no other.

    with HttpExchange(endpoint, connect_timeout_s=10) as exchange, cancellation.callback(exchange.abort):
        exchange.deadline = monotonic() + 60
        response = exchange.request("POST", "/chat/completions", body, headers)
        for piece in exchange.pieces(): ...

    A wait that reaches `deadline` raises TimeoutError. After `abort()`, which any thread may call, a wait ends with an
    OSError or an HTTPException, or as if the response were over.
    """

    def __init__(self, endpoint: Endpoint, connect_timeout_s: float) -> None:
        self.deadline = math.inf
        self._connect_timeout_s = connect_timeout_s
        self._connection, self._target, self._headers = _connection(endpoint, connect_timeout_s)
        self._calls = SimpleQueue[Callable[[], Any] | None]()
        self._results = SimpleQueue[Any]()
        self._lock = Lock()
        self._is_aborted = False
        self._socket: socket.socket | None = None
        self._response: HTTPResponse | None = None

    def __enter__(self) -> HttpExchange:
        Thread(target=self._work, name="understudy-http", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()
        self._calls.put(None)

    def request(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> HTTPResponse:
        """Send the request and wait for the head of the response."""
        try:
            self._result_of(self._connect, min(self.deadline, monotonic() + self._connect_timeout_s))
        except TimeoutError:
            raise ConnectFailed(f"no connection within {self._connect_timeout_s:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise CertificateRefused(error.verify_message) from error
        except (OSError, HTTPException, ValueError) as error:
            raise ConnectFailed(getattr(error, "strerror", None) or str(error)) from error
        self._response = self._result_of(partial(self._send, method, path, body, headers), self.deadline)
        return self._response

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes."""
        assert self._response is not None
        while piece := self._result_of(partial(self._response.read1, PIECE), self.deadline):
            yield piece

    def body(self, most: int) -> bytes:
        """What comes of the body until it breaks off, or is longer than so many bytes."""
        body = b""
        with contextlib.suppress(OSError, HTTPException):
            for piece in self.pieces():
                body += piece
                if len(body) > most:
                    break
        return body

    def abort(self) -> None:
        """End the exchange; a thread that waits in it wakes up."""
        with self._lock:
            self._is_aborted = True
            if self._socket is not None:
                # SSLSocket.shutdown() would take the TLS state away from the thread that is reading.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        self._results.put(ConnectionAbortedError("aborted"))

    def _result_of(self, call: Callable[[], Result], until: float) -> Result:
        """Make a call in the exchange's own thread, which is left behind if it waits for too long."""
        self._calls.put(call)
        try:
            result = self._results.get(timeout=None if until == math.inf else max(0.0, until - monotonic()))
        except Empty:
            raise TimeoutError("the deadline has passed") from None
        if isinstance(result, Exception):
            raise result
        return cast(Result, result)

    def _work(self) -> None:
        """Neither a DNS lookup nor a read ends at a point in time: they are made here, in a daemon thread."""
        while (call := self._calls.get()) is not None:
            try:
                self._results.put(call())
            except Exception as error:
                self._results.put(error)
        if self._response is not None:
            self._response.close()
        self._connection.close()

    def _connect(self) -> None:
        self._connection.connect()
        with self._lock:
            self._socket = self._connection.sock
            self._socket.settimeout(None)
            if self._is_aborted:
                raise ConnectionAbortedError("aborted")

    def _send(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> HTTPResponse:
        self._connection.request(method, self._target + path, body, {**self._headers, **headers})
        return self._connection.getresponse()


def _connection(endpoint: Endpoint, timeout_s: float) -> tuple[HTTPConnection, str, Mapping[str, str]]:
    """A connection that is not open yet, what is put before a request's path, and headers for a proxy."""
    proxy = endpoint.proxy()
    host, port = (endpoint.host, endpoint.port) if proxy is None else (proxy.host, proxy.port)
    if endpoint.scheme == "http":
        connection = HTTPConnection(host, port, timeout=timeout_s)
        return (connection, endpoint.prefix, {}) if proxy is None else (connection, endpoint.url, proxy.headers)
    connection = HTTPSConnection(host, port, timeout=timeout_s, context=_tls())
    if proxy is not None:
        connection.set_tunnel(endpoint.host, endpoint.port, dict(proxy.headers))
    return connection, endpoint.prefix, {}


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


# The address of an OpenAI-compatible server: how it is written, shown and reached.

CHAT = "/chat/completions"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy of the environment, and the headers that it is to be sent."""

    host: str
    port: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # they may hold a password


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base URL, taken apart."""

    scheme: str
    host: str
    port: int
    prefix: str
    """The path before '/chat/completions', without a slash at its end."""

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"

    @property
    def is_loopback(self) -> bool:
        try:
            return ip_address(self.host.partition("%")[0]).is_loopback
        except ValueError:
            return self.host == "localhost" or self.host.endswith(".localhost")

    def proxy(self) -> Proxy | None:
        """The environment's proxy for this host; a server on this machine is never asked through one."""
        if self.is_loopback:
            return None
        from urllib.request import getproxies, proxy_bypass  # slow to import, and asked for only here

        proxies = getproxies()
        url = proxies.get(self.scheme) or proxies.get("all")
        if not url or proxy_bypass(f"{self.host}:{self.port}"):
            return None
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            host, port = parts.hostname, parts.port or 80
        except ValueError:
            host, port, parts = None, 80, urlsplit("")
        if host is None or parts.scheme != "http":
            raise BackendError(
                f"{self.scheme.upper()}_PROXY names no http:// proxy, and no other kind can be used: change it, or add "
                f"{self.host} to NO_PROXY"
            )
        if parts.username is None:
            return Proxy(host, port)
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return Proxy(host, port, {"Proxy-Authorization": "Basic " + base64.b64encode(login.encode()).decode("ascii")})


def parse_url(url: str) -> Endpoint:
    """A base URL as people write it: '/v1' may be left out where it is the whole path."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
        if host is not None and not host.isascii():
            host = host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError) as error:
        raise InputError(
            f"the URL cannot be read ({_reason(error)}): write one like http://127.0.0.1:11434/v1"
        ) from None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise InputError("the URL must be like http://127.0.0.1:11434/v1 or https://api.openai.com/v1")
    if parts.username is not None or parts.password is not None:
        raise InputError("the URL holds a user name or password: leave it out, and give the key apart from it")
    if parts.query or parts.fragment:
        raise InputError("the URL has a part after '?' or '#': leave it out, and give the key apart from the URL")
    if not re.fullmatch(r"[\x21-\x7e]*", parts.path + host):
        raise InputError("the URL holds blanks or characters that belong in no URL: write them as %20 and the like")
    prefix = parts.path.rstrip("/").removesuffix(CHAT).rstrip("/")
    return Endpoint(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], prefix or "/v1")


def _reason(error: Exception) -> str:
    return "its port is no number up to 65535" if "ort" in str(error) else "its host is no host name"


# Which models a server has.

LOCAL_SERVERS = (  # their default addresses
    "http://127.0.0.1:11434/v1",  # Ollama
    "http://127.0.0.1:8080/v1",  # llama.cpp
    "http://127.0.0.1:1234/v1",  # LM Studio
    "http://127.0.0.1:8000/v1",  # vLLM
)
MAX_LIST_BYTES = 1024 * 1024


def find_local_servers(urls: Sequence[str] = LOCAL_SERVERS, timeout_s: float = 0.3) -> list[tuple[str, list[str]]]:
    """The base URL and the models of each server that answers in time; all are asked at once."""
    if not urls:
        return []
    with ThreadPoolExecutor(len(urls)) as pool:
        models = pool.map(lambda url: listed_models(url, timeout_s), urls)
        return [(url, names) for url, names in zip(urls, models) if names is not None]


def listed_models(url: str, timeout_s: float) -> list[str] | None:
    """The models that a server lists; None where none answers, or one that is not OpenAI-compatible."""
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
