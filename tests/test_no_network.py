"""No command and no server looks up or reaches anything, or writes outside the folders that are ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import isolation
from llmclient import MODEL, needs_model
from measured import chat, volunteers
from understudy.language import SWITCHES

pytestmark = pytest.mark.skipif(
    not isolation.possible() and not os.environ.get("CI"), reason="needs Linux, root and util-linux"
)

UNDERSTUDY = [sys.executable, "-m", "understudy"]
LINES = "I trust the Prior.\nThe captain has my ledger.\nHonestly, Zee, it is only a dream.\n"
SERVED = """
import json, re, subprocess, sys, time, urllib.error, urllib.request
server = subprocess.Popen(
    [sys.executable, "-m", "understudy", "serve", "demo", "--port", "0", "--data", "served"],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
)
try:
    told = ""
    while not (found := re.search(r"http://127\\.0\\.0\\.1:\\d+", told)):
        line = server.stdout.readline()
        assert line, told
        told += line
    question = {"model": "demo/Zita@2.3#Benedek", "messages": [{"role": "user", "content": "Do you trust me?"}]}
    request = urllib.request.Request(
        found[0] + "/v1/chat/completions", json.dumps(question).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        assert json.load(answer)["choices"][0]["message"]["content"]
    for name, content in json.load(open("referring.json")).items():
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        form = "\\r\\n".join(["--x", head, "", content, "--x--", ""]).encode()
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        sent = urllib.request.Request(found[0] + "/api/uploads", form, kind)
        try:
            with urllib.request.urlopen(sent, timeout=120) as answer:
                told = json.load(answer)
        except urllib.error.HTTPError as refusal:
            told = json.load(refusal)
            assert refusal.code in (400, 413, 422), (name, told)
        pages = ["/", "/stories"] + [f"/{page}/{told['story']}" for page in ("story", "character") if "story" in told]
        for path in pages:
            urllib.request.urlopen(found[0] + path, timeout=120).read()
    time.sleep(3)  # libraries that report do so from a thread of their own, a little later
finally:
    server.terminate()
    server.wait(60)
"""
OUTSIDE = "http://192.0.2.80/outside"
CARD = {
    "name": "Odile", "description": f"![me]({OUTSIDE}.png)", "first_mes": f"<img src='{OUTSIDE}.gif'> Well?",
    "creator_notes": OUTSIDE, "assets": [{"type": "icon", "uri": f"{OUTSIDE}.png", "name": "main", "ext": "png"}],
}  # fmt: skip
REFERRING = {
    "card.json": json.dumps({"spec": "chara_card_v3", "spec_version": "3.0", "data": CARD}),
    "play.xml": f'''<?xml version="1.0"?><?xml-stylesheet href="{OUTSIDE}.xsl"?>
        <!DOCTYPE TEI SYSTEM "{OUTSIDE}.dtd"><TEI xmlns="http://www.tei-c.org/ns/1.0"
        xmlns:xi="http://www.w3.org/2001/XInclude"><text><body><div type="act"><xi:include href="{OUTSIDE}.xml"/>
        <sp><speaker>Ann</speaker><p>Good evening.</p></sp><sp><speaker>Ben</speaker><p>Late.</p></sp></div></body>
        </text></TEI>''',
    "entity.xml": f'''<?xml version="1.0"?><!DOCTYPE TEI [<!ENTITY out SYSTEM "{OUTSIDE}">]>
        <TEI><text>&out;</text></TEI>''',
    "page.html": f'''<html><head><link rel="stylesheet" href="{OUTSIDE}.css"><script src="{OUTSIDE}.js"></script></head>
        <body><img src="{OUTSIDE}.png"><p>ANN: Good evening.</p><p>BEN: You are late.</p></body></html>''',
    "script.md": f"# Quay\n\n![quay]({OUTSIDE}.png)\n\n**Ann:** Good evening.\n\n**Ben:** [Late]({OUTSIDE}).\n",
}
"""Files that refer to what lies elsewhere."""
EVERYTHING = """
import importlib, pkgutil, understudy
for module in pkgutil.walk_packages(understudy.__path__, "understudy."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
COMMANDS = {
    "persona": ["persona", "demo", "Zita", "--at", "2.3", "--facing", "Benedek"],
    "chat": ["chat", "demo", "Zita", "--at", "1.2", "--facing", "Pia", "--say", "Do you trust the Prior?"],
    "chat in Japanese": ["chat", "demo-ja", "真鍋千夏", "--say", "こんにちは。"],
    "chat in Chinese": ["chat", "demo-zh", "葛长顺", "--say", "你好。"],
    "score": ["score", "lines.txt", "--story", "demo", "--as", "Zita", "--at", "2.3", "--metrics", "psprob,ptsal"],
    "score voice": [
        "score",
        "lines.txt",
        "--story",
        "demo",
        "--as",
        "Zita",
        "--at",
        "2.3",
        "--metrics",
        "voice",
    ],
    "score with daft": [
        *["score", "*.jsonl", "--engine", "daft", "-o", "scores.parquet", "--force"],
        *["--story", "demo", "--as", "Zita", "--at", "2.3", "--metrics", "ptsal"],
    ],
    "filter": [
        "filter",
        "lines.txt",
        "--story",
        "demo",
        "--as",
        "Zita",
        "--at",
        "2.3",
        "--rule",
        "anachronism<=0",
        "--store",
        "l.db",
    ],
    "models": ["models"],
    "guess": ["guess", "demo", "--scene", "2.2.4"],
    "export": ["export", "demo", "--format", "jsonl", "-o", "exported.jsonl"],
    "export as parquet": ["export", "demo", "--format", "parquet", "-o", "exported.parquet"],
    "profile": ["profile", "demo", "Zita"],
    "read": ["read", "script.txt", "-o", "script.story"],
    "study import": ["study", "import", "volunteers", "volunteers", "--store", "studies.db"],
}


@dataclass
class Run:
    status: int
    output: str
    reached: list[str]
    written: list[str]


@pytest.fixture
def run(tmp_path: Path) -> Callable[[list[str]], Run]:
    """Runs a command alone, at home in fresh folders; tells whom it tried to reach and what it left in them."""
    names = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR")
    places = {name: tmp_path / name.lower() for name in names}
    work = tmp_path / "work"
    for folder in (*places.values(), work):
        folder.mkdir()
    (work / "lines.txt").write_text(LINES)
    (work / "lines.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in LINES.splitlines()))
    (work / "referring.json").write_text(json.dumps(REFERRING))
    for name, content in REFERRING.items():
        (work / name).write_text(content)
    (work / "volunteers").mkdir()
    volunteers(work / "volunteers", [chat(number, score=1 + number % 5, turns=4) for number in range(4)])
    (work / "script.txt").write_text("[Scene: A quay.]\nANN: Good evening.\nBEN: You are late.\n")
    switches = {variable for told in SWITCHES.values() for variable in told}
    left_out = {
        *switches,
        "UNDERSTUDY_CACHE",
        "UNDERSTUDY_CONFIG",
        "CI",
    }  # ONNX Runtime reports nothing where it sees CI, users have none
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    others = {"OPENAI_API_KEY": "sk-of-another-program", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**kept, **{name: str(folder) for name, folder in places.items()}, **others}

    def run(argv: list[str]) -> Run:
        command = isolation.command(tmp_path / "reached.json", argv)
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=300)
        report = tmp_path / "reached.json"
        written = [
            str(path.relative_to(tmp_path))
            for folder in places.values()
            for path in folder.rglob("*")
            if not path.relative_to(tmp_path).is_relative_to("xdg_cache_home/understudy")
        ]
        reached = json.loads(report.read_text()) if report.exists() else ["no report"]
        return Run(done.returncode, done.stdout + done.stderr, reached, written)

    return run


@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_reaches_nobody(run: Callable[[list[str]], Run], what: str) -> None:
    done = run([*UNDERSTUDY, *COMMANDS[what]])
    assert done.status == 0, done.output
    assert not done.reached
    assert not done.written


@pytest.mark.parametrize("script", ["import understudy", EVERYTHING], ids=["the package", "every module"])
def test_an_import_reaches_nobody(run: Callable[[list[str]], Run], script: str) -> None:
    done = run([sys.executable, "-c", script])
    assert done.status == 0, done.output
    assert not done.reached
    assert not done.written


@pytest.mark.parametrize("name", REFERRING)
def test_a_file_that_refers_to_what_lies_elsewhere_reaches_nobody(run: Callable[[list[str]], Run], name: str) -> None:
    done = run([*UNDERSTUDY, "read", name, "-o", "read.story"])
    assert done.status in (0, 1) and "Traceback" not in done.output, done.output
    assert not done.reached
    assert not done.written


def test_a_server_reaches_nobody(run: Callable[[list[str]], Run]) -> None:
    done = run([sys.executable, "-c", SERVED])
    assert done.status == 0, done.output
    assert not done.reached
    assert not done.written


LOCAL_MODEL = """
import sys
from pathlib import Path
from understudy.language.backends.llamacpp import LlamaCppBackend
from understudy.story.dialogue import ChatMessage, Sampling
backend = LlamaCppBackend(Path(sys.argv[1]), context_tokens=256, threads=1)
assert backend.complete([ChatMessage("user", "Hello.")], Sampling(max_tokens=3))[0].text
"""


@needs_model
def test_a_model_in_this_process_reaches_nobody(run: Callable[[list[str]], Run]) -> None:
    done = run([sys.executable, "-c", LOCAL_MODEL, str(MODEL)])
    assert done.status == 0, done.output
    assert not done.reached
    assert not done.written


@pytest.mark.parametrize(
    ("script", "reached"),
    [
        ("import socket; socket.getaddrinfo('example.org', 80)", ["looked up example.org"]),
        ("import socket; socket.create_connection(('198.51.100.7', 443))", ["sent to 198.51.100.7 port 443"]),
        ("import socket; socket.create_connection(('2001:db8::7', 443))", ["sent to 2001:db8::7 port 443"]),
    ],
)
def test_whoever_does_is_seen(run: Callable[[list[str]], Run], script: str, reached: list[str]) -> None:
    done = run([sys.executable, "-c", script])
    assert done.status == 1, done.output
    assert set(reached) <= set(done.reached)


WITHOUT_SWITCH = """
import os, time
from pathlib import Path
os.environ["ORT_DISABLE_TELEMETRY"] = "0"
from understudy.language.encoding.encoder import SentenceEncoder
SentenceEncoder(cache=False).encode(["The tide is out."])
folders = [Path(os.environ[name]) for name in ("XDG_CACHE_HOME", "TMPDIR")]
end = time.monotonic() + 60
while time.monotonic() < end and not any(path.is_file() for folder in folders for path in folder.rglob("*")):
    time.sleep(0.2)  # its telemetry is written by a thread of its own, in its own time
"""


def test_onnx_runtime_without_its_switch_is_seen(run: Callable[[list[str]], Run]) -> None:
    done = run([sys.executable, "-c", WITHOUT_SWITCH])
    assert done.reached or done.written, "this version of ONNX Runtime reports nothing: the switch may be dropped"
