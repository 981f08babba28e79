"""`understudy serve`, started as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cliruns import Run, Start
from stories import brass_key
from understudy.cli.options import DEFAULT_AGENT
from understudy.cli.serve import _load_agents


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("UNDERSTUDY_API_KEY", raising=False)


@pytest.fixture
def serve(start: Start) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """Start a server and wait until it has printed its address."""
    started = []

    def serve(*arguments: str | Path) -> tuple[subprocess.Popen[str], str]:
        agent = () if "--agent" in arguments else ("--agent", "scripted")
        process = start("serve", "--port", "0", *agent, *arguments)
        started.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if address := re.search(r"http://[^/ ]+", line):
                return process, address[0]
        raise AssertionError(process.communicate())

    yield serve
    for process in started:
        process.kill()
        process.communicate()


def test_several_stories_are_served_until_ctrl_c(
    serve: Callable[..., tuple[subprocess.Popen[str], str]], story: Path, tmp_path: Path
) -> None:
    process, url = serve("demo-zh", story)
    with httpx.Client(base_url=url, timeout=60) as client:
        names = [entry["name"] for entry in client.get("/api/stories").json()["stories"]]
        assert names == ["demo-zh", "brass-key"]
        body = {"model": "brass-key/Ines@2.1", "messages": [{"role": "user", "content": "the secret words"}]}
        assert client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"] == "Line 1."
    process.send_signal(signal.SIGINT)
    out, log = process.communicate(timeout=60)
    assert process.returncode == 0 and out.rstrip().endswith("Stopped.")
    assert "POST /v1/chat/completions 200" in log and "secret" not in log
    assert (tmp_path / "data").is_dir()


def test_a_revised_draft_is_served_beside_the_one_before(
    serve: Callable[..., tuple[subprocess.Popen[str], str]], story: Path, tmp_path: Path
) -> None:
    draft = brass_key(tmp_path / "draft")
    for file in draft.iterdir():
        file.write_text(file.read_text().replace("Ines", "Inga").replace("INES", "INGA"))
    _, url = serve(story, draft, "--agent", "guarded", "--rule", "anachronism<=0")
    with httpx.Client(base_url=url, timeout=60) as client:
        titles = {entry["name"]: entry["title"] for entry in client.get("/api/stories").json()["stories"]}
        assert titles == {"brass-key": "The Brass Key", "draft": "The Brass Key"}
        for model in ("brass-key/Ines@2.1", "draft/Inga@2.1"):
            body = {"model": model, "messages": [{"role": "user", "content": "Who are you?"}]}
            answer = client.post("/v1/chat/completions", json=body)
            assert answer.status_code == 200, answer.text


def test_a_taken_port_says_what_to_do(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        error = run("serve", "demo-zh", "--port", str(taken.getsockname()[1]), "--agent", "scripted", status=1).stderr
    assert "--port 0" in error


def test_another_address_needs_a_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "UNDERSTUDY_API_KEY" in run("serve", "demo-zh", "--host", "0.0.0.0", "--port", "0", status=1).stderr
    monkeypatch.setenv("UNDERSTUDY_API_KEY", "short")
    error = run("serve", "demo-zh", "--host", "0.0.0.0", "--port", "0", status=1).stderr
    assert "too short" in error and "'short'" not in error


def test_an_address_of_another_machine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_API_KEY", "a long and quite random key")
    assert "choose others" in run("serve", "demo-zh", "--host", "192.0.2.1", "--port", "0", status=1).stderr


def test_without_the_extra_it_says_which_one(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'starlette'\", name='starlette')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "understudy", "serve", "demo-zh"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "pip install '.[serve]'" in done.stderr


def test_keys_are_read_from_files(
    serve: Callable[..., tuple[subprocess.Popen[str], str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("the key that authors have\n")
    (tmp_path / "reader").write_text("the key that readers have\n")
    monkeypatch.setenv("UNDERSTUDY_API_KEY", "a key that the file goes before")
    _, url = serve("demo-zh", "--key-file", tmp_path / "key", "--reader-key-file", tmp_path / "reader")
    with httpx.Client(base_url=url, timeout=60) as client:

        def status(path: str, key: str) -> int:
            return client.get(path, headers={"Authorization": f"Bearer {key}"}).status_code

        assert [status(path, "the key that authors have") for path in ("/api/stories", "/api/uploads")] == [200, 200]
        assert [status(path, "the key that readers have") for path in ("/api/stories", "/api/uploads")] == [200, 403]
        assert status("/api/stories", "a key that the file goes before") == 401


@pytest.mark.parametrize("text", [b"", b" \n", b"a key of two lines\nand more\n", b"\xff\xfe"])
def test_a_key_file_that_holds_no_key(run: Run, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "key").write_bytes(text)
    error = run("serve", "demo-zh", "--key-file", tmp_path / "key", status=1).stderr
    assert "key" in error and "nothing else" in error
    assert "cannot be read" in run("serve", "demo-zh", "--key-file", tmp_path / "none", status=1).stderr


def test_a_rule_keeps_replies_back_over_http(
    serve: Callable[..., tuple[subprocess.Popen[str], str]], telltale: str
) -> None:
    _, url = serve("demo", "--agent", telltale, "--rule", "anachronism<=0")
    with httpx.Client(base_url=url, timeout=60) as client:

        def choice(moment: str) -> dict[str, Any]:
            body = {"model": f"demo/Zita@{moment}", "messages": [{"role": "user", "content": "Who is he?"}]}
            answer: dict[str, Any] = client.post("/v1/chat/completions", json=body).json()["choices"][0]
            return answer

        early, late = choice("2.3"), choice("end")
    assert early["message"]["content"] == "I count what I carry." and "Reuss" not in str(early)
    notices = [item["text"] for item in early["understudy"]["evidence"] if item["kind"] == "notice"]
    assert notices == ["1 of 2 replies were kept back by the rules"]
    assert late["message"]["content"] == "His name is Danilo Reuss."


def test_a_rule_with_an_unknown_metric_is_an_error_at_the_start(run: Run) -> None:
    failed = run("serve", "demo-zh", "--port", "0", "--agent", "scripted", "--rule", "anachronisms<=0", status=1)
    assert "did you mean 'anachronism'" in failed.stderr


def test_several_agents_are_served_and_the_first_is_the_default(
    serve: Callable[..., tuple[subprocess.Popen[str], str]],
) -> None:
    _, url = serve("demo-zh", "--agent", "scripted", "--agent", "tfidf")
    listed = httpx.get(f"{url}/api/agents", timeout=60).json()["agents"]
    assert [agent["name"] for agent in listed] == ["scripted", "tfidf"]


def test_without_an_agent_the_default_is_served_with_what_else_is_set_up() -> None:
    loaded = _load_agents((), None, lambda _: ())
    assert next(iter(loaded)) == DEFAULT_AGENT and "encoder" in loaded
