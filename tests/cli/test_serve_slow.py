"""`understudy serve` before clients that send half of something, or too much, and before signals."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from timing import until

SERVE = [sys.executable, "-m", "understudy", "serve", "demo-zh", "--port", "0", "--agent", "scripted"]
FILES = 200
KEY = "a long and quite random key"
Serve = Callable[..., "tuple[subprocess.Popen[str], str]"]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """A server that may open few files, its log in a file."""
    started = []

    def start(
        *arguments: str, key: str | None = KEY, nohup: bool = False, **environment: str
    ) -> tuple[subprocess.Popen[str], str]:
        def prepared() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_IGN if nohup else signal.SIG_DFL)

        known = {**os.environ, "UNDERSTUDY_DATA": str(tmp_path / "data"), **environment}
        known.pop("UNDERSTUDY_API_KEY", None)
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(
                [*SERVE, *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, cwd=tmp_path,
                env=known | ({} if key is None else {"UNDERSTUDY_API_KEY": key}), preexec_fn=prepared,
            )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if "Talk on " in line:
                return process, line.split()[2].rstrip("/")
        raise AssertionError((tmp_path / "log").read_text())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def connected(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname or "", address.port or 80), timeout=60)


def test_many_half_sent_heads_keep_nobody_out(serve: Serve, tmp_path: Path) -> None:
    process, url = serve()
    with ExitStack() as open_now:
        for _ in range(2 * FILES):
            client = open_now.enter_context(closing(connected(url)))
            client.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        assert httpx.get(f"{url}/health", timeout=60).status_code == 200
        until(lambda: rests(process.pid))  # does not spin
        assert httpx.get(f"{url}/health", timeout=60).status_code == 200
    assert (tmp_path / "log").stat().st_size < 10_000


def rests(process: int) -> bool:
    used = cpu_seconds(process)
    time.sleep(1)
    return cpu_seconds(process) - used < 0.5


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_does_not_wait_for_the_rest_of_a_body(serve: Serve) -> None:
    process, url = serve(key=None)
    with closing(connected(url)) as client:
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        client.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert httpx.get(f"{url}/health", timeout=60).status_code == 200
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)  # it used to be 120 s
    assert process.returncode == 0 and "Stopped." in out


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_let_a_stream_end_too(serve: Serve, sent: signal.Signals) -> None:
    process, url = serve(key=None)
    with httpx.Client(base_url=url, timeout=60) as client:
        people = client.get("/api/stories/demo-zh/cast").json()["cast"]
        begun = {"story": "demo-zh", "characters": [people[0]["name"]]}
        chat = client.post("/api/chats", json=begun).json()["id"]
        with client.stream("POST", f"/api/chats/{chat}/messages", json={"text": "x"}) as answer:
            lines = answer.iter_lines()
            assert next(lines) == "event: said"
            process.send_signal(sent)
            assert "event: end" in list(lines)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "Stopped." in out


COMPUTING = """
from pathlib import Path

class Computing:
    def reply(self, situation, history):
        Path("computing").touch()
        while True:
            pass
"""
SHORT_GRACE = """
import sys
import understudy.server.chats.service as service
import understudy.server.http_server as http_server
http_server.GRACE_S = 1
service.ChatService.close.__defaults__ = (1.0,)
from understudy.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("signals", "command"),
    [((signal.SIGTERM,), ["-c", SHORT_GRACE]), ((signal.SIGINT, signal.SIGINT), ["-m", "understudy"])],
)
def test_an_agent_that_computes_for_ever_ends_with_the_server(
    tmp_path: Path, signals: tuple[signal.Signals, ...], command: list[str]
) -> None:
    (tmp_path / "computing_agent.py").write_text(COMPUTING)
    known = {**os.environ, "UNDERSTUDY_DATA": str(tmp_path / "data")}
    known["PYTHONPATH"] = os.pathsep.join([str(tmp_path), known.get("PYTHONPATH", "")])
    options = ["serve", "demo-zh", "--port", "0", "--agent", "computing_agent:Computing"]
    with subprocess.Popen(
        [sys.executable, *command, *options], stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=known,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            url = next(line.split()[2].rstrip("/") for line in process.stdout if "Talk on " in line)
            name = httpx.get(f"{url}/api/stories/demo-zh/cast", timeout=60).json()["cast"][0]["name"]
            body = {"model": f"demo-zh/{name}", "messages": [{"role": "user", "content": "x"}]}
            content = json.dumps(body)
            with closing(connected(url)) as client:
                head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                client.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n{content}".encode())
                until((tmp_path / "computing").exists)
                for sent in signals:
                    process.send_signal(sent)
                    time.sleep(1)  # two signals at once would be one
                out, _ = process.communicate(timeout=110)  # under the grace of a server that was not made impatient
            assert process.returncode == 0 and "Stopped." in out
        finally:
            process.kill()


def test_under_nohup_a_lost_terminal_stops_nothing(serve: Serve) -> None:
    process, url = serve(key=None, nohup=True)
    process.send_signal(signal.SIGHUP)
    assert httpx.get(f"{url}/health", timeout=60).status_code == 200
    assert process.poll() is None


def wrong_keys(url: str) -> list[int]:
    with httpx.Client(base_url=url, timeout=60) as client:
        requests = [{"Authorization": "Bearer wrong", "X-Forwarded-For": f"192.0.2.{n}"} for n in range(40)]
        return [client.get("/api/stories", headers=header).status_code for header in requests]


def test_a_forwarded_address_is_believed_of_a_proxy_alone(serve: Serve) -> None:
    assert 429 in wrong_keys(serve()[1])
    assert set(wrong_keys(serve("--behind-proxy", "--data", "other")[1])) == {401}


def test_every_line_of_a_json_log_is_json(serve: Serve, tmp_path: Path) -> None:
    process, url = serve("--json-log")
    with closing(connected(url)) as client:
        client.sendall(b"no HTTP at all\r\n\r\n")
        assert b"400" in client.recv(1000)
    assert httpx.get(f"{url}/health", timeout=60).status_code == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert any("Invalid HTTP request" in line["message"] for line in lines)


def test_two_servers_do_not_share_a_folder(serve: Serve, tmp_path: Path) -> None:
    process, _ = serve()
    second = subprocess.run(
        SERVE,
        env={**os.environ, "UNDERSTUDY_DATA": str(tmp_path / "data")}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert second.returncode == 1
    assert str(tmp_path / "data") in second.stderr and "--data" in second.stderr
    process.kill()  # what it held is free again
    process.wait()
    serve()


def test_what_is_kept_is_for_its_owner_alone(serve: Serve, tmp_path: Path) -> None:
    _, url = serve(key=None)
    script = b"[Scene: A kitchen.]\nODILE: You sold the piano, Bastien.\nBASTIEN: I sold the noise of it.\n"
    assert httpx.post(f"{url}/api/uploads", files={"file": ("a.txt", script)}, timeout=60).status_code == 201
    folder = tmp_path / "data"
    modes = {path.relative_to(folder): oct(path.stat().st_mode & 0o777) for path in folder.rglob("*")}
    assert oct(folder.stat().st_mode & 0o777) == "0o700" and len(modes) >= 3
    for path, mode in modes.items():
        assert mode == ("0o700" if (folder / path).is_dir() else "0o600"), path
