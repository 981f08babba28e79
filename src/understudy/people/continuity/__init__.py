"""Faults of continuity in a story, for its author: who cannot know, have, say or have forgotten that yet?

It looks at the whole story, the future included: no agent and no persona can reach it. See docs/continuity.md.
"""

from understudy.people.continuity.check import Continuity, check_continuity
from understudy.people.continuity.scenes import KINDS, Fault

__all__ = ["KINDS", "Continuity", "Fault", "check_continuity"]
