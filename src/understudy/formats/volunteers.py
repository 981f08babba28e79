"""People's chats with bots, as ConvAI2 collected and published them: a JSON list, an object a chat.

    dialog          messages in order: {"sender_class": "Human" | "Bot", "text", "evaluation_score"}, the last one 1
                    or 0 where the person liked or disliked a message of the bot, else null
    bot_profile     the profile that the bot was given; user_profile the person's
    eval_score      how the person liked the chat, 1 to 5; null where they did not say
    profile_match   1 where the person, shown the bot's profile and another one drawn at random, chose the bot's, 0
                    where they chose the other; "" where they were not asked or did not say

The other profile that was shown is not in the file. `participant1_id` and `participant2_id`, where they are there, say
who chatted with which bot; without them every chat counts as a person of its own.

In a record the person is side 0 and the bot side 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.chat_records import HUMAN, ChatLine, ChatRecord, parse_profile

__all__ = ["BOT_SIDE", "HUMAN_SIDE", "JudgedChat", "read_judged_chats", "volunteers_file"]

HUMAN_SIDE, BOT_SIDE = 0, 1
SIDES = {"Human": HUMAN_SIDE, "Bot": BOT_SIDE}
SCORES = range(1, 6)
FILES = "*volunteers*.json"


@dataclass(frozen=True, slots=True)
class JudgedChat:
    """A chat of a person with a bot, what the person said of it, and who they were."""

    record: ChatRecord
    person: str
    score: int | None
    matched: bool | None
    liked: tuple[bool | None, ...]
    """Of each turn: whether the person liked it; None where they did not say."""

    @property
    def name(self) -> str:
        """What an item is called: the part before the dot is the group it belongs to."""
        return f"{self.person.replace('.', ' ')}.{self.record.id}"


def volunteers_file(data: Path) -> Path:
    """The file of chats in a folder, or the file itself."""
    if data.is_file():
        return data
    files = sorted(data.glob(FILES))
    if not files:
        raise InputError(f"holds no {FILES}, the chats of ConvAI2's volunteers: name the folder that has it", data)
    return files[0]


def read_judged_chats(path: Path) -> list[JudgedChat]:
    try:
        documents = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # not UTF-8, or not JSON
        raise InputError(f"is not JSON in UTF-8 ({error})", path) from error
    if not isinstance(documents, list) or not documents:
        raise InputError("is not a list of chats", path)
    return [_Record(document, number, path).chat() for number, document in enumerate(documents, 1)]


class _Record:
    """One chat being read; problems name it."""

    def __init__(self, document: Any, number: int, path: Path) -> None:
        self._number, self._path = number, path
        if not isinstance(document, Mapping):
            raise self._problem("is no object")
        self._document = document

    def chat(self) -> JudgedChat:
        document = self._document
        person = self._participant("participant1_id") or f"chat {self._number}"
        bot = self._participant("participant2_id") or "bot"
        record = ChatRecord(
            str(self._number),
            (HUMAN, bot),
            (self._profile("user_profile"), self._profile("bot_profile")),
            self._turns(),
        )
        score, matched = document.get("eval_score"), document.get("profile_match")
        if score is not None and (isinstance(score, bool) or score not in SCORES):
            raise self._problem(f"'eval_score' is {score!r}, and must be 1 to 5 or null")
        if matched not in ("", None) and (isinstance(matched, bool) or matched not in (0, 1)):
            raise self._problem(f"'profile_match' is {matched!r}, and must be 0, 1 or \"\"")
        return JudgedChat(record, person, score, None if matched in ("", None) else matched == 1, self._liked())

    def _turns(self) -> tuple[ChatLine, ...]:
        dialog = self._document.get("dialog")
        if not isinstance(dialog, list):
            raise self._problem("'dialog' is no list of messages")
        turns = []
        for at, message in enumerate(dialog, 1):
            match message:
                case {"sender_class": ("Human" | "Bot") as sender, "text": str(text)}:
                    turns.append(ChatLine(SIDES[sender], text))
                case _:
                    raise self._problem(f"message {at} lacks a text, or a sender_class that is Human or Bot")
        return tuple(turns)

    def _liked(self) -> tuple[bool | None, ...]:
        liked = [message.get("evaluation_score") for message in self._document["dialog"]]
        for at, mark in enumerate(liked, 1):
            if mark is not None and (isinstance(mark, bool) or mark not in (0, 1)):
                raise self._problem(f"message {at} has the evaluation_score {mark!r}, and must have 0, 1 or null")
        return tuple(None if mark is None else mark == 1 for mark in liked)

    def _profile(self, key: str) -> tuple[str, ...]:
        profile = parse_profile(self._document.get(key))
        if not profile:
            raise self._problem(f"'{key}' is no list of sentences")
        return profile

    def _participant(self, key: str) -> str:
        match self._document.get(key):
            case {"user_id": str(user)}:
                return user
            case None:
                return ""
            case _:
                raise self._problem(f"'{key}' has no user_id")

    def _problem(self, what: str) -> InputError:
        return InputError(f"record {self._number}: {what}", self._path)
