"""SillyTavern, started on a data folder of its own, and what its user does on its page."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from clients.starting import wait_until_it_answers

__all__ = ["SillyTavernPage", "sillytavern_server"]

CHAT = "() => SillyTavern.getContext().chat.map(m => ({name: m.name, text: m.mes, user: m.is_user, swipes: m.swipes}))"
IS_IDLE = "() => !document.body.dataset.generating"


@contextmanager
def sillytavern_server(folder: Path, port: int, data: Path) -> Iterator[str]:
    """Its address, from when it answers on; `folder` is where its server.js lies."""
    command = ["node", "server.js", "--port", str(port), "--listen", "false", "--dataRoot", str(data)]
    with (data.parent / "sillytavern.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--browserLaunchEnabled", "false", "--configPath", str(data.parent / "config.yaml")],
            cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until_it_answers(address, process)
            yield address
        finally:
            process.terminate()
            process.wait(30)


@dataclass
class SillyTavernPage:
    """What somebody does in SillyTavern; what is done by the mouse there is done by the mouse here."""

    page: Page
    data: Path = Path()
    patience_ms: int = 120_000
    greeting: str = ""

    def open(self, address: str, persona: str) -> None:
        self.page.goto(address)
        self.page.locator("dialog textarea").first.fill(persona)
        self.page.locator("dialog .popup-button-ok").first.click()
        self.page.wait_for_function("() => SillyTavern.getContext().characters.length > 0")

    def connect(self, base_url: str, model: str = "") -> list[str]:
        """Returns the models it lists."""
        page = self.page
        self._drawer("#sys-settings-button", is_open=True)
        page.select_option("#main_api", "openai")
        page.select_option("#chat_completion_source", "custom")
        page.fill("#custom_api_url_text", base_url)
        page.locator("#api_button_openai").click()
        page.wait_for_function("() => SillyTavern.getContext().onlineStatus === 'Valid'")
        listed = page.locator("#model_custom_select option").all_inner_texts()
        if model:
            self.choose(model)
        self._drawer("#sys-settings-button", is_open=False)
        return listed

    def choose(self, model: str) -> None:
        self.page.locator("#custom_model_id").evaluate(
            "(box, model) => { box.value = model; box.dispatchEvent(new Event('input', {bubbles: true})); }", model
        )
        self.page.wait_for_timeout(500)

    def stream(self, is_on: bool) -> None:
        box = "const box = document.querySelector('#stream_toggle');"
        self.page.evaluate(f"on => {{ {box} if (box.checked !== on) box.click(); }}", is_on)

    def import_card(self, path: Path) -> None:
        self._drawer("#rightNavHolder", is_open=True)
        before = self.page.evaluate("() => SillyTavern.getContext().characters.length")
        self.page.set_input_files("#character_import_file", path)
        self.page.wait_for_function("n => SillyTavern.getContext().characters.length > n", arg=before)
        self._answer_popups()

    def open_character(self, name: str) -> None:
        self._drawer("#rightNavHolder", is_open=True)
        if not self.page.locator("#rm_print_characters_block").is_visible():
            self.page.locator("#rm_button_characters").click()
        self.page.locator("#rm_print_characters_block .character_select", has_text=name).first.click()
        self.page.wait_for_function("name => SillyTavern.getContext().name2 === name", arg=name)
        self._answer_popups()
        self._drawer("#rightNavHolder", is_open=False)
        self.greeting = self.chat()[0]["text"]

    def import_lorebook(self) -> None:
        """The lorebook in the card of the character that is open, by the globe on its panel."""
        self._drawer("#rightNavHolder", is_open=True)
        if not self.page.locator("#world_button").is_visible():
            self.page.locator("#rm_button_selected_ch").click()
        self.page.locator("#world_button").click()
        self._answer_popups()
        character = "(c => c.characters[c.characterId])(SillyTavern.getContext())"
        self.page.wait_for_function(f"() => {character}.data.extensions.world")
        for drawer in ("#WI-SP-button", "#rightNavHolder"):
            self._drawer(drawer, is_open=False)

    def new_chat(self) -> None:
        self.option("option_start_new_chat")
        self._answer_popups()
        self.page.wait_for_timeout(1_000)

    def chat(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.page.evaluate(CHAT)
        return messages

    def last(self) -> str:
        return str(self.chat()[-1]["text"])

    def saved_chats(self, kind: str = "chats") -> list[Path]:
        """The files of its chats, the newest last."""
        self.page.wait_for_timeout(1_500)
        files = (self.data / "default-user" / kind).rglob("*.jsonl")
        return sorted(files, key=lambda file: file.stat().st_mtime)

    def say(self, text: str, waits: bool = True, replies: int = 1) -> str:
        self.page.fill("#send_textarea", text)
        before = len(self.chat())
        self.page.locator("#send_but").click()
        if not waits:
            return ""
        self.page.wait_for_function(
            "n => SillyTavern.getContext().chat.length >= n", arg=before + 1 + replies, timeout=self.patience_ms
        )
        self.wait()
        return self.last()

    def wait(self) -> None:
        self.page.wait_for_timeout(300)
        self.page.wait_for_function(IS_IDLE, timeout=self.patience_ms)
        self.page.wait_for_timeout(300)

    def stop(self) -> None:
        self.page.locator("#mes_stop").click()
        self.wait()

    def swipe(self) -> str:
        """Another try of the last reply."""
        before = len(self.chat()[-1]["swipes"] or [""])
        self.page.locator(".last_mes .swipe_right").click()
        self.page.wait_for_function(
            "n => (SillyTavern.getContext().chat.at(-1).swipes || []).length > n", arg=before, timeout=self.patience_ms
        )
        self.wait()
        return self.last()

    def next_greeting(self) -> str:
        self.page.locator(".last_mes .swipe_right").click()
        self.page.wait_for_timeout(1_500)
        return self.last()

    def option(self, name: str) -> None:
        """One of the menu beside the message box."""
        self.page.locator("#options_button").click()
        self.page.locator(f"#{name}").click()

    def regenerate(self) -> str:
        self.option("option_regenerate")
        self.page.wait_for_timeout(1_000)  # the reply that stands goes first
        self.page.wait_for_function("() => !SillyTavern.getContext().chat.at(-1).is_user", timeout=self.patience_ms)
        self.wait()
        return self.last()

    def go_on(self) -> str:
        self.option("option_continue")
        self.wait()
        return self.last()

    def impersonate(self) -> str:
        self.page.fill("#send_textarea", "")
        self.option("option_impersonate")
        self.wait()
        return self.page.input_value("#send_textarea")

    def edit_last(self, text: str) -> None:
        message = self.page.locator(".last_mes")
        message.locator(".extraMesButtonsHint").click()
        message.locator(".mes_edit").click()
        message.locator("textarea.edit_textarea").fill(text)
        message.locator(".mes_edit_done").click()
        self.page.wait_for_timeout(500)

    def persona(self, description: str) -> None:
        self._drawer("#persona-management-button", is_open=True)
        self.page.fill("#persona_description", description)
        self.page.wait_for_timeout(1_500)
        self._drawer("#persona-management-button", is_open=False)

    def authors_note(self, text: str) -> None:
        self.option("option_toggle_AN")
        self.page.fill("#extension_floating_prompt", text)
        self.page.wait_for_timeout(1_500)
        self.page.locator("#ANClose").click()

    def group_of(self, names: list[str]) -> None:
        """A group chat of characters that were imported."""
        self._drawer("#rightNavHolder", is_open=True)
        self.page.locator("#rm_button_characters").click()
        self.page.locator("#rm_button_group_chats").click()
        for name in names:
            row = self.page.locator("#rm_group_add_members .group_member", has_text=name).first
            row.locator("[data-action=add]").click()
        self.page.locator("#rm_group_submit").click()
        self.page.locator("#rm_print_characters_block .group_select").first.click()
        self.page.wait_for_function("() => SillyTavern.getContext().groupId")
        self._answer_popups()
        self._drawer("#rightNavHolder", is_open=False)

    def _drawer(self, selector: str, is_open: bool) -> None:
        drawer = self.page.locator(f"{selector} > .drawer-content")
        if ("openDrawer" in (drawer.get_attribute("class") or "")) != is_open:
            self.page.locator(f"{selector} .drawer-icon").first.click()
            self.page.wait_for_timeout(700)

    def _answer_popups(self) -> None:
        """Yes to whatever it asks: a card's lorebook, a new chat."""
        self.page.wait_for_timeout(1_000)
        for _ in range(3):
            button = self.page.locator("dialog[open] .popup-button-ok")
            if button.count() == 0:
                return
            button.last.click()
            self.page.wait_for_timeout(700)
