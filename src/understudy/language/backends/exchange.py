"""One HTTP request whose every wait ends: at a deadline, or when another thread aborts it."""

from __future__ import annotations

import base64
import contextlib
import io
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from threading import Event, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from understudy.errors import BackendError, InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["CertificateRefused", "ConnectFailed", "HttpExchange", "parse_url"]

PIECE = 65536


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
        self.deadline = float("inf")
        self._endpoint, self._connect_timeout_s = endpoint, connect_timeout_s
        self._connection, self._target, self._headers = _connection(endpoint, connect_timeout_s)
        self._lock = Lock()
        self._is_done_connecting = Event()
        self._is_aborted = False
        self._connect_error: Exception | None = None
        self._socket: socket.socket | None = None
        self._response: HTTPResponse | None = None

    def __enter__(self) -> HttpExchange:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.abort()
        if self._response is not None:
            self._response.close()
        if self._socket is not None:
            self._socket.close()

    def request(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> HTTPResponse:
        """Send the request and wait for the head of the response."""
        self._connect()
        self._connection.request(method, self._target + path, body, {**self._headers, **headers})
        self._response = self._connection.getresponse()
        return self._response

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes."""
        assert self._response is not None
        while piece := self._response.read1(PIECE):
            yield piece

    def abort(self) -> None:
        """End the exchange; a thread that waits in it wakes up."""
        with self._lock:
            self._is_aborted = True
            if self._socket is not None:
                # SSLSocket.shutdown() would take the TLS state away from a thread that is reading.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        self._is_done_connecting.set()

    def remaining_s(self) -> float | None:
        """Until the deadline; None where there is none."""
        remaining = self.deadline - monotonic()
        if remaining <= 0:
            raise TimeoutError("the deadline has passed")
        return None if remaining == float("inf") else remaining

    def _connect(self) -> None:
        # A DNS lookup cannot be interrupted, so a daemon thread does it, which is abandoned on timeout or abort.
        Thread(target=self._open, name="understudy-connect", daemon=True).start()
        is_done = self._is_done_connecting.wait(max(0.0, min(self._connect_timeout_s, self.deadline - monotonic())))
        if self._is_aborted:
            raise ConnectionAbortedError("aborted")
        error = self._connect_error
        if not is_done or isinstance(error, TimeoutError):
            self.abort()
            raise ConnectFailed(f"no connection within {self._connect_timeout_s:g} s")
        if isinstance(error, ssl.SSLCertVerificationError):
            raise CertificateRefused(error.verify_message) from error
        if error is not None:
            raise ConnectFailed(getattr(error, "strerror", None) or str(error)) from error

    def _open(self) -> None:
        try:
            self._connection.connect()
        except (OSError, HTTPException, ValueError) as error:
            self._connect_error = error
        with self._lock:
            sock: socket.socket | None = self._connection.sock
            if sock is not None and (self._is_aborted or self._connect_error is not None):
                sock.close()
            elif sock is not None:
                self._socket = sock
                self._connection.sock = cast(socket.socket, _DeadlineSocket(sock, self))
        self._is_done_connecting.set()


class _DeadlineSocket:
    """What http.client needs of a socket, each wait bounded by the exchange's deadline."""

    def __init__(self, sock: socket.socket, exchange: HttpExchange) -> None:
        self._socket, self._exchange = sock, exchange

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(self._exchange.remaining_s())
        self._socket.sendall(data)

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(_DeadlineReader(self._socket, self._exchange), PIECE)

    def close(self) -> None:
        """http.client does so once the response's head is read; the body is still to come, and the exchange closes."""


class _DeadlineReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, exchange: HttpExchange) -> None:
        self._socket, self._exchange = sock, exchange

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        self._socket.settimeout(self._exchange.remaining_s())
        return self._socket.recv_into(buffer)


def _connection(endpoint: Endpoint, timeout_s: float) -> tuple[HTTPConnection, str, dict[str, str]]:
    """A connection that is not open yet, what is put before a request's path, and headers for a proxy."""
    proxy = endpoint.proxy()
    host, port = (endpoint.host, endpoint.port) if proxy is None else (proxy.host, proxy.port)
    authorization = {} if proxy is None or proxy.authorization is None else {"Proxy-Authorization": proxy.authorization}
    if endpoint.scheme == "http":
        connection = HTTPConnection(host, port, timeout=timeout_s)
        return (connection, endpoint.prefix, {}) if proxy is None else (connection, endpoint.url, authorization)
    connection = HTTPSConnection(host, port, timeout=timeout_s, context=_tls())
    if proxy is not None:
        connection.set_tunnel(endpoint.host, endpoint.port, authorization)
    return connection, endpoint.prefix, {}


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


# The address of an OpenAI-compatible server: how it is written, shown and reached.

CHAT = "/chat/completions"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy of the environment; `authorization` is a header's value."""

    host: str
    port: int
    authorization: str | None = None

    def __repr__(self) -> str:  # the authorization holds a password
        return f"Proxy({self.host!r}, {self.port})"


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
        return Proxy(host, port, "Basic " + base64.b64encode(login.encode()).decode("ascii"))


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
