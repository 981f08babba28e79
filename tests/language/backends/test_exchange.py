"""TLS and proxies: who is trusted, who is asked, and what is told to whom."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import llmserver
from llmclient import FOREVER_S, cancelled_while_waiting
from understudy.errors import BackendError
from understudy.language.backends import exchange
from understudy.language.backends.exchange import parse_url
from understudy.language.backends.openai_api import OpenAIBackend
from understudy.language.backends.settings import LLMSettings
from understudy.story.dialogue import ChatMessage, Sampling

MESSAGES = [ChatMessage("user", "Who wrote it?")]
KEY = "sk-secret-7f3a"


def settings(url: str, model: str = "say") -> LLMSettings:
    return LLMSettings("test", url, model, KEY, timeout_s=30, retries=0)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1, signed by itself, with its key."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    files = [folder / "key.pem", folder / "certificate.pem"]
    subprocess.run([*command, "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text("".join(file.read_text() for file in files))
    return both


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory: pytest.TempPathFactory, certificate: Path) -> Iterator[llmserver.Running]:
    with llmserver.running(tmp_path_factory.mktemp("llm") / "requests.jsonl", certificate) as server:
        yield server


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch, certificate: Path) -> Iterator[None]:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    exchange._tls.cache_clear()
    yield
    exchange._tls.cache_clear()


def test_a_certificate_nobody_vouches_for_is_refused_before_the_key_is_sent(tls_server: llmserver.Running) -> None:
    with pytest.raises(BackendError, match=r"certificate is not trusted \(self-signed certificate\)"):
        OpenAIBackend(settings(tls_server.url)).complete(MESSAGES, Sampling())
    assert not tls_server.log.exists() or not tls_server.events("request")


@pytest.mark.usefixtures("trust")
def test_a_trusted_server_is_asked_over_tls(tls_server: llmserver.Running) -> None:
    backend = OpenAIBackend(settings(tls_server.url))
    assert backend.complete(MESSAGES, Sampling())[0].text == llmserver.TEXT


@pytest.mark.usefixtures("trust")
@pytest.mark.parametrize("scenario", ["no-headers", "no-token", "stalls"])
def test_cancelling_wakes_whoever_reads_over_tls(tls_server: llmserver.Running, scenario: str) -> None:
    patient = replace(settings(tls_server.url, scenario), timeout_s=FOREVER_S, token_timeout_s=FOREVER_S)
    backend, asked = OpenAIBackend(patient), len(tls_server.events("request", scenario))
    result = cancelled_while_waiting(
        lambda cancellation: backend.complete(MESSAGES, Sampling(), cancellation)[0].finish_reason,
        lambda: len(tls_server.events("request", scenario)) > asked,
    )
    assert result == "cancelled"


def test_http_spoken_to_a_tls_server_and_the_other_way_round(
    tls_server: llmserver.Running, llm_server: llmserver.Running
) -> None:
    for url in (tls_server.url.replace("https", "http"), llm_server.url.replace("http", "https")):
        with pytest.raises(BackendError, match="broke off|cannot be reached"):
            OpenAIBackend(replace(settings(url), connect_timeout_s=1)).complete(MESSAGES, Sampling())


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch, llm_server: llmserver.Running) -> str:
    """The environment's proxy: a server that answers everything itself."""
    for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    address = llm_server.url.removeprefix("http://").removesuffix("/v1")
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://me:p%40ss@{address}")
    return address


@pytest.mark.usefixtures("proxy")
def test_other_hosts_are_asked_through_the_proxy(llm_server: llmserver.Running) -> None:
    backend = OpenAIBackend(settings("http://llm.invalid/v1", "say?proxied"))
    assert backend.complete(MESSAGES, Sampling())[0].text == llmserver.TEXT
    [request] = llm_server.events("request", "say?proxied")
    assert request["path"] == "http://llm.invalid/v1/chat/completions"
    assert request["headers"]["host"] == "llm.invalid"
    assert request["headers"]["proxy-authorization"] == "Basic bWU6cEBzcw=="


@pytest.mark.usefixtures("proxy")
def test_a_proxy_is_not_told_the_key_of_a_host_behind_tls(llm_server: llmserver.Running) -> None:
    with pytest.raises(BackendError, match=r"cannot be reached \(Tunnel connection failed: 404"):
        OpenAIBackend(settings("https://llm.invalid/v1")).complete(MESSAGES, Sampling())
    [request] = [entry for entry in llm_server.events("request") if entry["path"] == "llm.invalid:443"]
    assert KEY not in str(request)


@pytest.mark.usefixtures("proxy")
def test_this_machine_is_not_asked_through_a_proxy(
    llm_server: llmserver.Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert OpenAIBackend(settings(llm_server.url, "say?direct")).complete(MESSAGES, Sampling())
    [request] = llm_server.events("request", "say?direct")
    assert request["path"] == "/v1/chat/completions"
    assert parse_url("http://localhost:1/v1").proxy() is None
    assert parse_url("http://[::1]:1/v1").proxy() is None
    assert parse_url("http://llm.invalid/v1").proxy() is not None
    monkeypatch.setenv("no_proxy", "llm.invalid")
    assert parse_url("http://llm.invalid/v1").proxy() is None


def test_a_proxy_of_another_kind_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://me:secret@127.0.0.1:9")
    with pytest.raises(BackendError, match="HTTP_PROXY names no http:// proxy") as caught:
        OpenAIBackend(settings("http://llm.invalid/v1")).complete(MESSAGES, Sampling())
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:9")
    assert "secret" not in repr(parse_url("http://llm.invalid/v1").proxy())
