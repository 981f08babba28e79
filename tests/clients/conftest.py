"""A server of the demo, a recorder before it, and a browser for the chat programs' own pages."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from clients.open_webui import OpenWebUIPage, open_webui_server
from clients.recorder import Recorder
from clients.sillytavern import SillyTavernPage, sillytavern_server
from clients.starting import wait_until_it_answers

SILLYTAVERN, OPEN_WEBUI = "UNDERSTUDY_SILLYTAVERN", "UNDERSTUDY_OPEN_WEBUI"
SHOTS = "UNDERSTUDY_CLIENT_SHOTS"
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
PATIENCE = 60_000  # ms


def installed(variable: str, file: str, what: str) -> Path:
    """Where a client lies; without it the tests of it are skipped."""
    given = os.environ.get(variable, "")
    path = Path(given) / file if file else Path(given)
    if not given or not path.is_file():
        pytest.skip(f"{variable} does not say where {what} is installed (see docs/notes/chat-programs.md)")
    return path


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.fixture(scope="package")
def sillytavern_folder() -> Path:
    return installed(SILLYTAVERN, "server.js", "SillyTavern (its folder)").parent


@pytest.fixture(scope="package")
def open_webui_command() -> Path:
    return installed(OPEN_WEBUI, "", "Open WebUI (the command open-webui)")


@pytest.fixture(scope="package")
def server_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server of the demo with the agent that users get."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    command = [sys.executable, "-m", "understudy", "serve", "demo", "--port", str(port), "--data", str(folder / "data")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_until_it_answers(f"http://127.0.0.1:{port}/v1/models", process)
            yield port
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def recorder(server_port: int) -> Iterator[Recorder]:
    recorder = Recorder(server_port)
    yield recorder
    recorder.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no Chromium to drive the clients' pages with")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


def new_page(browser: Browser) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    return context.new_page()


@pytest.fixture(scope="module")
def sillytavern(
    sillytavern_folder: Path, recorder: Recorder, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SillyTavernPage]:
    """Connected, with the persona Tom."""
    data = tmp_path_factory.mktemp("sillytavern") / "data"
    with sillytavern_server(sillytavern_folder, free_port(), data) as address:
        client = SillyTavernPage(new_page(browser), data)
        client.open(address, "Tom")
        yield client
        client.page.context.close()


@pytest.fixture(scope="module")
def open_webui(
    open_webui_command: Path, recorder: Recorder, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenWebUIPage]:
    data = tmp_path_factory.mktemp("open-webui") / "data"
    data.mkdir()
    with open_webui_server(open_webui_command, free_port(), data, f"http://127.0.0.1:{recorder.port}/v1") as address:
        client = OpenWebUIPage(new_page(browser))
        client.open(address)
        yield client
        client.page.context.close()


@pytest.fixture(autouse=True)
def picture(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the page shows when a test has ended, for who looks at it: in the folder that the environment names."""
    yield
    folder = os.environ.get(SHOTS)
    for name in ("sillytavern", "open_webui"):
        if folder and name in request.fixturenames:
            request.getfixturevalue(name).page.screenshot(path=Path(folder) / f"{name}-{request.node.name}.png")
