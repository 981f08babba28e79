"""The same situation and message make the same prompt, in every process, whatever has been encoded before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROMPTS = """
from understudy.agents.recall import Recall
from understudy.story.dialogue import Turn, situation_at
from understudy.agents.prompt import build_prompt
from understudy.formats import read

story, recall = read("demo"), Recall()
for who, at, facing in (("Zita", "end", "Haake"), ("Zita", "2.3", "Benedek"), ("Danilo Reuss", "3.1.1.5", "Ould")):
    situation = situation_at(story, who, at, facing)
    for message in ("Do you trust Zita and the Prior?", "Who is Pia to me?"):
        history = [Turn(situation.faced.name, message)]
        for message in build_prompt(situation, history, recall.recall(situation, history)).messages:
            print(repr(message.content))
"""


def prompts(cache: Path, seed: str) -> str:
    environment = {**os.environ, "UNDERSTUDY_CACHE": str(cache), "PYTHONHASHSEED": seed}
    result = subprocess.run(
        [sys.executable, "-c", PROMPTS], env=environment, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return result.stdout


def test_a_cold_process_and_a_warm_one_make_the_same_prompts(tmp_path: Path) -> None:
    cold = prompts(tmp_path, "1")
    assert cold.count("What comes to your mind") == 6
    assert prompts(tmp_path, "2") == cold
