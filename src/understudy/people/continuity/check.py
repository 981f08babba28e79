"""Looks through a story once and puts together what the detectors of every kind of fault find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from understudy.people.continuity.absence import AbsenceDetector, DeathDetector, MeetingDetector
from understudy.people.continuity.belongings import BelongingsDetector
from understudy.people.continuity.scenes import KINDS, Detector, Fault, Learning, Mentions, learnings, watched_scenes
from understudy.people.continuity.terms import TermFinder
from understudy.people.continuity.unknown import unknown_faults
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story

__all__ = ["Continuity", "check_continuity"]


@dataclass(frozen=True, slots=True)
class Continuity:
    """What was found in a story."""

    faults: tuple[Fault, ...]
    """In story order."""
    learnings: Mapping[str, Learning]
    """Who hears of what first when, by its name; what is most worth a look first."""
    lines: int
    """How many lines somebody says."""


def check_continuity(story: Story, progress: Progress = ignore_progress) -> Continuity:
    finder = TermFinder(story)
    mentions = Mentions(finder)
    detectors: tuple[Detector, ...] = (
        BelongingsDetector(story, finder),
        DeathDetector(story, finder),
        AbsenceDetector(finder),
        MeetingDetector(story, finder),
    )
    lines = 0
    for scene in watched_scenes(story, progress):
        lines += sum(line.speaker is not None for line in scene.scene.lines)
        mentions.add(scene)
        for detector in detectors:
            detector.watch(scene)
    faults = [fault for detector in detectors for fault in detector.faults()]
    faults += unknown_faults(story, mentions, finder)
    order = {kind: number for number, kind in enumerate(KINDS)}
    faults.sort(key=lambda fault: (fault.line.moment, order[fault.kind], fault.about))
    return Continuity(tuple(faults), learnings(mentions), lines)
