"""Invented Japanese characters for tests of `voice`: each has a manner, and each talks of the same few things."""

from __future__ import annotations

import random
from collections.abc import Mapping

__all__ = ["CAST", "judged", "novel"]

THINGS = (
    "船",
    "灯台",
    "港町",
    "手紙",
    "宝石",
    "薬草",
    "市場",
    "地図",
    "約束",
    "仕事",
    "料理",
    "剣術",
    "魔法",
    "学校",
    "兄弟",
    "祭り",
)

CAST: Mapping[str, tuple[str, ...]] = {
    "ゴンタ": (
        "俺は{0}なんか怖くねえぞ。",
        "おい、{0}はどうした？俺に任せろ！",
        "{0}だと？ふざけるな、俺の{1}だぞ。",
        "行くぜ、{0}が待ってるんだ！",
        "俺が{0}を見つけたんだぜ。",
        "{0}も{1}もいらねえよ。",
    ),
    "サヨ": (
        "わたくしは{0}を存じませんわ。",
        "まあ、{0}でございますの？",
        "{0}と{1}をお願いいたしますわ。",
        "わたくし、{0}が好きですのよ。",
        "{0}はどちらでございましょう？",
        "まあ、素敵な{0}ですこと。",
    ),
    "ケン": (
        "僕は{0}を見に行きたいです。",
        "{0}ですか？僕にはよくわかりません。",
        "すみません、{0}と{1}はどこですか？",
        "僕も{0}を手伝います。",
        "はい、{0}なら知っています。",
        "{0}は大切だと思います。",
    ),
    "爺": (
        "わしは{0}など知らんのう。",
        "ほっほっほ、{0}とは懐かしいのう。",
        "{0}はな、{1}と同じじゃよ。",
        "わしの若い頃は{0}があったものじゃ。",
        "{0}を持ってまいれ、急ぐのじゃ。",
        "うむ、{0}じゃな。",
    ),
}  # fmt: skip


def novel(seed: int, lines: int = 50, names: Mapping[str, tuple[str, ...]] = CAST) -> dict[str, list[str]]:
    """Lines of everybody, with things drawn by a seed."""
    rng = random.Random(seed)
    return {name: [rng.choice(manners).format(*rng.sample(THINGS, 2)) for _ in range(lines)]
            for name, manners in names.items()}  # fmt: skip


def judged(name: str, seed: int = 99, each: int = 10) -> dict[str, int]:
    """Replies as people judge them: 5 for the character's manner, 0 for another's."""
    told = novel(seed, each)
    return {
        f"問い{place}{other}\t{line}": 5 if other == name else 0
        for other, said in told.items()
        for place, line in enumerate(said)
    }
