"""A real browser before a real server. Debian's Chromium is driven by Playwright; `make test` installs it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from server.conftest import serving
from stories import brass_key
from understudy.agents import Scripted
from understudy.formats import read
from understudy.metrics.utterances import UtteranceStore
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.middleware import RequestLimits
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads import service
from understudy.story.dialogue import Agent
from understudy.story.storyfile import Story
from uploading import read_in_thread

SCRIPT = [f"This is the line numbered {number}." for number in range(1, 101)]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60_000  # ms until what a test waits for is said not to come
FREELY = RequestLimits(per_second=1_000, burst=10_000)


@pytest.fixture(scope="session")
def on_stage(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Story]:
    return {"brass-key": read(brass_key(tmp_path_factory.mktemp("stories") / "brass-key")), "demo": read("demo")}


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Closed after this folder: while Playwright is awake, no other test of the process can have an event loop."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.fail("there is no Chromium to test with: install it as root with `apt-get install chromium`")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """What is shown in it, the browser has nothing to complain about: no script fails, none is against the policy."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    problems: list[str] = []
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on("console", lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None)
    yield context
    context.close()
    assert problems == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def reading_in_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads need no process to be read: for tests of what becomes of them, not of the process."""
    monkeypatch.setattr(service, "read_in_process", read_in_thread)


MakeSite = Callable[..., tuple[str, AppContext]]


@pytest.fixture
def make_site(on_stage: dict[str, Story], tmp_path: Path) -> Iterator[MakeSite]:
    """Sites with an agent of one's own, telling a word every `pace` seconds; closed when the test ends."""
    with ExitStack() as open_now:

        def make(
            agent: Agent | Mapping[str, Agent] | None = None,
            pace: float = 0.0,
            utterances: UtteranceStore | None = None,
        ) -> tuple[str, AppContext]:
            folder = tmp_path / "data"
            opened = AppContext.open(StoryRegistry(on_stage), agent or Scripted(SCRIPT), folder, utterances=utterances)
            context = open_now.enter_context(opened)
            context.chats.pace_s = pace
            return open_now.enter_context(serving(make_app(context, limits=FREELY))), context

        yield make


@pytest.fixture
def site(make_site: MakeSite) -> str:
    """The address of a server whose characters speak from a script."""
    return make_site()[0]
