"""HPD files of an invented story, in English and Chinese: Wren keeps what is lost in a harbour, and is asked for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

THINGS = (
    ("compass", "pier"), ("lantern", "stairs"), ("violin", "attic"), ("teapot", "kitchen"), ("ladder", "orchard"),
    ("feather", "bridge"), ("anchor", "beach"), ("mirror", "hallway"), ("barrel", "cellar"), ("blanket", "stable"),
    ("trumpet", "tower"), ("candle", "chapel"),
)  # fmt: skip
ZH_THINGS = ("罗盘", "灯笼", "提琴", "茶壶", "梯子", "羽毛", "船锚", "镜子", "木桶", "毯子", "小号", "蜡烛")
NEGATIVES = 10


def tie(name: str, affection: int, *kinds: str) -> dict[str, Any]:
    return {
        "name": name,
        **{kind: float(kind in kinds) for kind in ("friend", "teacher", "family", "enemy")},
        "Wren's affection to him": float(affection),
        "Wren's familiarity with him": 5.0,
        "His affection to Wren": 0.0,
        "His familiarity with Wren": 5.0,
    }


def session(number: int, right: str, wrong: list[str], scene: str, asked: str, chinese: bool = False) -> dict[str, Any]:
    other = "莫斯" if chinese else "Moss"
    return {
        "position": f"Book1-chapter{number + 1}",
        "speakers": [other, "Wren"],
        "scene": scene,
        "dialogue": [f"{other}: {asked}"],
        "positive_response": right,
        "negative_response": wrong,
        "attributes": {
            "Wren": {"name": "Wren", "age": "9", "belongings": "a kite, a whistle"},
            other: {"name": other, "title": "Captain"},
        },
        "relations with Wren": {other: tie(other, 4, "friend")},
    }


def sessions(count: int = 12) -> dict[str, Any]:
    """The right reply speaks of what was asked for; the wrong ones are right elsewhere."""
    replies = [f"I put your {thing} by the {place}, Moss." for thing, place in THINGS]
    return {
        f"Session-{number}": session(
            number,
            replies[number],
            [reply for index, reply in enumerate(replies) if index != number][:NEGATIVES],
            f"It is morning. Moss looks for the {thing} near the {place}.",
            f"Have you seen my {thing}?",
        )
        for number, (thing, place) in enumerate(THINGS[:count])
    }


def chinese_sessions(count: int = 12) -> dict[str, Any]:
    replies = [f"我看见你的{thing}了，莫斯。" for thing in ZH_THINGS]
    return {
        f"Session-{number}": session(
            number,
            replies[number],
            [reply for index, reply in enumerate(replies) if index != number][:NEGATIVES],
            f"早晨，莫斯在找他的{thing}。",
            f"你看见我的{thing}了吗？",
            chinese=True,
        )
        for number, thing in enumerate(ZH_THINGS[:count])
    }


def training_sessions() -> dict[str, Any]:
    """As HPD's training set: whole dialogues, and no replies to choose from."""
    rest = ("positive_response", "negative_response")
    return {
        name: {key: value for key, value in one.items() if key not in rest}
        | {"dialogue": [*one["dialogue"], f"Wren: {one['positive_response']}", "Moss: Thank you."]}
        for name, one in sessions().items()
    }


def write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def folder(where: Path) -> Path:
    """A test set in each language, a training set, and a file that is none of them."""
    where.mkdir(parents=True, exist_ok=True)
    write(where / "en_test_set.json", sessions())
    write(where / "zh_test_set.json", chinese_sessions())
    write(where / "en_train_set.json", training_sessions())
    write(where / "notes.json", {"about": "nothing"})
    return where
