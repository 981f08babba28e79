"""An agent for servers in processes of their own: it says that it is at work, and replies once it is let go."""

from __future__ import annotations

__all__ = ["WAITING_AGENT"]

WAITING_AGENT = """
import os
import time
from pathlib import Path

from understudy.story.dialogue import Reply


class Waiting:
    def reply(self, situation, history):
        Path(f"thinking-{os.getpid()}").touch()
        while not Path("free").exists():
            time.sleep(0.02)
        return Reply(f"Said after {len(history)} by {os.getpid()}.")


def waiting():
    return Waiting()
"""
