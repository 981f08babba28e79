"""Chats of people with bots, invented: bots that talk of their trade, people who like some of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["TRADES", "chat", "profile", "volunteers"]

TRADES = "clocks bread boats roses wine glass saddles kites bells maps lenses rugs".split()


def profile(trade: str) -> list[str]:
    return [f"i make {trade}.", f"i sell {trade} at the market.", f"my aunt taught me about {trade}.", f"{trade} pay."]


def chat(
    number: int,
    talks: bool = True,
    score: int | None = 3,
    match: int | str = "",
    person: str | None = None,
    turns: int = 5,
) -> dict[str, Any]:
    """A bot that talks of its own trade, or of nothing at all, and a person who asks."""
    bot, user = TRADES[number % len(TRADES)], TRADES[(number + 5) % len(TRADES)]
    dialog: list[dict[str, Any]] = []
    for turn in range(turns):
        asked = "hello there" if turn == 0 else f"so what else do you do on day {turn} ?"
        answer = f"i like to make {bot} number {turn}" if talks else "ok"
        for sender, text in (("Human", asked), ("Bot", answer)):
            dialog.append({"id": len(dialog), "sender_class": sender, "text": text, "evaluation_score": None})
    return {
        "dialog": dialog,
        "bot_profile": profile(bot),
        "user_profile": profile(user),
        "eval_score": score,
        "profile_match": match,
        "participant1_id": {"class": "User", "user_id": person or f"User {number:05}"},
        "participant2_id": {"class": "Bot", "user_id": "Bot 1"},
    }


def volunteers(folder: Path, chats: list[dict[str, Any]]) -> Path:
    """The file as ConvAI2 has it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "convai2_volunteers.json"
    path.write_text(json.dumps(chats), encoding="utf-8")
    return path
