"""The address of an OpenAI-compatible server: how it is written, shown and reached."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from understudy.errors import BackendError, InputError

__all__ = ["Endpoint", "Proxy", "parse_url"]

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
