from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from understudy.errors import BackendError
from understudy.language.backends import download as module
from understudy.language.backends.catalog import pull
from understudy.language.backends.download import DownloadRefused, download, exclusive

CONTENT = bytes(range(256)) * 4000


@dataclass
class FileServer:
    url: str
    requests: list[dict[str, dict[str, str]]] = field(default_factory=list)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FileServer]:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "model.gguf").write_bytes(CONTENT)
    command = [sys.executable, str(Path(__file__).parents[2] / "fileserver.py"), str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = process.stdout
    server = FileServer(f"http://127.0.0.1:{lines.readline().strip()}")
    reading = threading.Thread(target=lambda: server.requests.extend(json.loads(line) for line in lines))
    reading.start()
    yield server
    process.terminate()
    process.wait(30)
    reading.join(30)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSES_S", (0.0, 0.0, 0.0))


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder / "model.gguf"


def part_of(target: Path) -> Path:
    return target.with_name("model.gguf.part")


def test_a_whole_file_is_put_in_place_and_nothing_else(server: FileServer, target: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    download(f"{server.url}/plain/model.gguf", target, progress=lambda *step: seen.append(step))
    assert target.read_bytes() == CONTENT
    assert list(target.parent.iterdir()) == [target]
    assert seen[-1] == ("Fetching", len(CONTENT), len(CONTENT))


def test_broken_off_it_is_taken_up_where_it_stopped(server: FileServer, target: Path) -> None:
    done: list[int] = []
    download(f"{server.url}/break/model.gguf", target, progress=lambda _, count, __: done.append(count))
    assert target.read_bytes() == CONTENT
    assert done == sorted(done), "it never began again"


def test_what_an_earlier_run_left_is_used(server: FileServer, target: Path) -> None:
    part_of(target).write_bytes(CONTENT[:1000])
    done: list[int] = []
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    download(f"{server.url}/plain/model.gguf", target, sha256, progress=lambda _, count, __: done.append(count))
    assert target.read_bytes() == CONTENT
    assert done[0] > 1000


def test_a_part_that_is_whole_already_is_checked_and_used(server: FileServer, target: Path) -> None:
    part_of(target).write_bytes(CONTENT)
    download(f"{server.url}/plain/model.gguf", target)
    assert target.read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_begun_again(server: FileServer, target: Path) -> None:
    part_of(target).write_bytes(CONTENT + b"more")
    download(f"{server.url}/plain/model.gguf", target)
    assert target.read_bytes() == CONTENT


def test_a_server_that_cannot_resume_sends_everything_again(server: FileServer, target: Path) -> None:
    part_of(target).write_bytes(b"x" * 1000)
    download(f"{server.url}/norange/model.gguf", target)
    assert target.read_bytes() == CONTENT


def test_a_wrong_hash_leaves_nothing(server: FileServer, target: Path) -> None:
    with pytest.raises(BackendError, match=r"is not what it should be .* fetch it again"):
        download(f"{server.url}/plain/model.gguf", target, "0" * 64)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_refusal_is_told_with_its_status(server: FileServer, target: Path, status: int) -> None:
    with pytest.raises(DownloadRefused, match=f"the server answered {status}"):
        download(f"{server.url}/status/{status}/model.gguf", target)


def test_nobody_there(target: Path) -> None:
    with pytest.raises(BackendError, match="cannot be reached"):
        download("http://127.0.0.1:9/model.gguf", target)


def test_a_full_disk_is_seen_before(server: FileServer, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPARE_BYTES", 1 << 62)
    with pytest.raises(BackendError, match="make room, or set UNDERSTUDY_CACHE"):
        download(f"{server.url}/plain/model.gguf", target)


def test_only_http_is_fetched(target: Path) -> None:
    with pytest.raises(BackendError, match="only http and https"):
        download("file:///etc/passwd", target)


def test_stopped_by_the_user_it_keeps_what_it_has(server: FileServer, target: Path) -> None:
    def stop(_: str, __: int, ___: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(f"{server.url}/plain/model.gguf", target, progress=stop)
    assert part_of(target).stat().st_size > 0
    download(f"{server.url}/plain/model.gguf", target)
    assert target.read_bytes() == CONTENT


def test_the_hub_tells_the_hash_on_its_way(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "user"))
    monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/hub")
    monkeypatch.setenv("HF_TOKEN", "secret")
    path = pull("hub:ann/Model-GGUF/model.gguf")
    assert path == tmp_path / "user" / "models" / "hub" / "ann" / "Model-GGUF" / "model.gguf"
    assert path.read_bytes() == CONTENT
    monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/lie")
    with pytest.raises(BackendError, match="is not what it should be"):
        pull("hub:ben/Model-GGUF/model.gguf")
    assert not any("secret" in json.dumps(request) for request in server.requests), "a mirror is not the hub"


def test_headers_stay_with_the_host_they_are_for(server: FileServer, target: Path) -> None:
    download(f"{server.url}/hub/a/b/model.gguf", target, headers={"Authorization": "Bearer secret"})
    deadline = threading.Event()
    while len(server.requests) < 2:
        assert not deadline.wait(0.01)
    first, second = server.requests
    assert first["headers"]["Authorization"] == "Bearer secret"
    assert "Authorization" not in second["headers"]


@pytest.mark.parametrize(
    ("status", "said"), [(404, "there is no model.gguf in a/b: look at"), (401, "agree to its licence there")]
)
def test_what_the_hub_refuses_is_explained(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, said: str
) -> None:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "user"))
    monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/status/{status}")
    with pytest.raises(BackendError, match=said):
        pull("hub:a/b/model.gguf")


def test_only_one_fetches_at_a_time(tmp_path: Path) -> None:
    target, order = tmp_path / "model.gguf", list[str]()

    def second() -> None:
        with exclusive(target):
            order.append("second")

    with exclusive(target):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.5)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
