"""Replies of language models and lines of novels as drafts for `understudy bench guard --replies`, from CoSER's data.

    python benchmarks/coser_replies.py DATA/coser -o replies.jsonl [--of gpt-4o ...] [--half first] [--actions strip]

Each reply of a simulated conversation becomes a line: who says it, with the profile, the scene and the talk so far.
Thoughts in square brackets are taken out, since nobody hears them; actions in round ones are kept unless they are to be
stripped. `--half` takes every other conversation, so that guards can be tuned on one half and judged on the other.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OF = ("gpt-4o", "gpt3.5", "llama3p1-8b-instruct", "groundtruth")
NOBODY = ("NSP", "Environment")  # who speaks next, and what happens: nobody's words
HALVES = {"first": 0, "second": 1}
THOUGHT = re.compile(r"\[[^\[\]]*\]")
ACTION = re.compile(r"\([^()]*\)|(?<!\*)\*[^*\n]+\*(?!\*)")
LABEL = re.compile(r"^[*_ ]*[^:\n]{1,40}:[*_ ]*$", re.MULTILINE)  # a name with nothing after it
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'])|\n+")
MARKUP = re.compile(r"\*\*|^[-#\s]+")


def rows(path: Path, kind: str, half: str | None, strip_actions: bool) -> Iterator[dict[str, Any]]:
    for number, conversation in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        if half is not None and number % 2 != HALVES[half]:
            continue
        profiles = conversation["involved_character_profiles"]
        history: list[dict[str, str]] = []
        for message in conversation["simulation"]:
            who, text = message["role"], spoken(message["role"], message["content"], strip_actions)
            if who == "NSP" or not text:
                continue
            if who not in NOBODY:
                spoke = [turn["speaker"] for turn in history if turn["speaker"] not in NOBODY]
                yield {
                    "character": who,
                    "profile": sentences(profiles.get(who, "")),
                    "setting": conversation["circumstance"]["scenario"],
                    "facing": next((name for name in reversed(spoke) if name != who), ""),
                    "history": list(history),
                    "reply": text,
                    "kind": kind,
                }
            history.append({"speaker": who, "text": text})


def spoken(who: str, text: str, strip_actions: bool) -> str:
    """What others hear: the text without the label that the simulation puts before it, and without thoughts."""
    text = THOUGHT.sub("", text)
    text = ACTION.sub("", text) if strip_actions else text
    text = re.sub(rf"^(?:\s*{re.escape(who)}:)+", "", text)
    if not any(letter.isalnum() for letter in LABEL.sub("", text)):
        return ""
    return re.sub(r"[ \t]+", " ", re.sub(r"\s*\n\s*", "\n", text)).strip()


def sentences(profile: str) -> list[str]:
    parts = (MARKUP.sub("", part).strip() for part in SENTENCE_END.split(profile))
    return [part for part in parts if part]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder with simulation_*.json")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--of", action="append", choices=OF, help="whose replies; all by default, may be repeated")
    parser.add_argument("--half", choices=tuple(HALVES), help="every other conversation, from the first or the second")
    parser.add_argument("--actions", choices=("keep", "strip"), default="keep")
    options = parser.parse_args()
    count = 0
    with options.output.open("w", encoding="utf-8") as out:
        for kind in options.of or OF:
            path = options.data / f"simulation_{kind}.json"
            for row in rows(path, kind, options.half, options.actions == "strip"):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
    print(f"{count:,} replies in {options.output}")


if __name__ == "__main__":
    main()
