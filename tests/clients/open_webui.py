"""Open WebUI, started on a data folder of its own, and what its user does on its page."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from clients.starting import wait_until_it_answers

__all__ = ["OpenWebUIPage", "open_webui_server"]

SETTINGS = {
    "WEBUI_AUTH": "False",
    "OPENAI_API_KEY": "none",
    "ENABLE_OLLAMA_API": "False",
    "ENABLE_PERSISTENT_CONFIG": "False",
    "OFFLINE_MODE": "True",
    "HF_HUB_OFFLINE": "1",
    "RAG_EMBEDDING_ENGINE": "openai",
    "ANONYMIZED_TELEMETRY": "False",
    "WEBUI_SECRET_KEY": "of the test",
}


@contextmanager
def open_webui_server(command: Path, port: int, data: Path, base_url: str) -> Iterator[str]:
    """Its address, from when it answers on; everybody is its administrator."""
    own = {**SETTINGS, "OPENAI_API_BASE_URL": base_url, "DATA_DIR": str(data)}
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    with (data.parent / "open-webui.log").open("wb") as log:
        process = subprocess.Popen(
            [str(command), "serve", "--host", "127.0.0.1", "--port", str(port)],
            env={**inherited, **own}, cwd=data, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until_it_answers(f"{address}/health", process)
            yield address
        finally:
            process.terminate()
            process.wait(30)


@dataclass
class OpenWebUIPage:
    """What somebody does in Open WebUI."""

    page: Page
    patience_ms: int = 120_000

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.get_by_text("Okay, Let's Go!").click()

    def models(self) -> list[str]:
        """The models as its list shows them."""
        self.page.locator("#model-selector-model-button").click()
        options = self.page.locator("[role=option]")
        options.first.wait_for()
        names = [text.strip() for text in options.all_inner_texts()]
        self.page.keyboard.press("Escape")
        return names

    def new_chat(self, *models: str) -> None:
        """A chat with the models of these names; with several, each of them answers."""
        self.page.goto(self.page.url.split("/c/")[0])
        self.page.locator("#model-selector-model-button").click()
        self.page.locator("[role=option]").first.wait_for()
        compare = self.page.get_by_label("Compare")
        if (compare.get_attribute("aria-pressed") == "true") != (len(models) > 1):
            compare.click()
        for name in models:
            self.page.get_by_placeholder("Search a model").fill(name)
            self.page.wait_for_timeout(500)
            option = self.page.locator(f'[role=option][aria-label="Select {name} model"]').first
            if option.get_attribute("aria-selected") != "true":
                option.click()
            if len(models) == 1 and option.is_visible():
                self.page.keyboard.press("Escape")
        self.page.keyboard.press("Escape")
        self.page.wait_for_timeout(500)

    def say(self, text: str, waits: bool = True, replies: int = 1) -> str:
        before = len(self.chat())
        self.page.locator("#chat-input").click()
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Enter")
        if not waits:
            return ""
        self.page.wait_for_function(
            "n => document.querySelectorAll('[id^=message-]:not(#message-input-container)').length >= n",
            arg=before + 1 + replies,
        )
        self.wait()
        return self.last()

    def wait(self) -> None:
        """Until nothing is told any more: while it is, there is a button to stop it."""
        self.page.wait_for_timeout(700)
        self.page.get_by_label("Stop", exact=True).wait_for(state="detached", timeout=self.patience_ms)
        self.page.get_by_label("Regenerate").last.wait_for(timeout=self.patience_ms)
        self.page.wait_for_timeout(300)

    def chat(self) -> list[dict[str, Any]]:
        """What was said, as the page shows it."""
        rows: list[dict[str, Any]] = self.page.locator("[id^=message-]:not(#message-input-container)").evaluate_all(
            """all => all.map(item => ({
                user: item.classList.contains('user-message'),
                text: [...item.querySelectorAll('.markdown-prose')]
                    .map(part => part.innerText).join('\\n').trim(),
            }))"""
        )
        return rows

    def last(self) -> str:
        return str(self.chat()[-1]["text"])

    def stop(self) -> None:
        self.page.get_by_label("Stop", exact=True).click()
        self.wait()

    def regenerate(self) -> str:
        self.page.get_by_label("Regenerate").last.click()
        self.page.get_by_text("Try Again").click()
        self.wait()
        return self.last()

    def go_on(self) -> str:
        self.page.get_by_label("Continue Response").last.click()
        self.wait()
        return self.last()

    def edit_own(self, text: str) -> str:
        """Say something else instead of the last message, and have it answered."""
        message = self.page.locator("[id^=message-].user-message").last
        message.hover()
        message.get_by_label("Edit").click()
        message.locator("textarea").fill(text)
        message.get_by_text("Send", exact=True).click()
        self.wait()
        return self.last()

    def system_prompt(self, text: str) -> None:
        box = self.page.get_by_placeholder("Enter system prompt")
        if not box.is_visible():
            self.page.get_by_label("Controls").first.click()
        box.fill(text)
        self.page.wait_for_timeout(700)

    def export(self, path: Path) -> Path:
        """The chat as its menu saves it."""
        self.page.locator("#chat-context-menu-button").click()
        self.page.get_by_text("Download", exact=True).first.click()
        with self.page.expect_download() as download:
            self.page.get_by_text("Export chat (.json)").click()
        download.value.save_as(path)
        return path

    def follow_ups(self) -> Locator:
        return self.page.locator('button[aria-label^="Follow up:"]')
