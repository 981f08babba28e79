"""Why a mask is taken for somebody: the clues that speak for them most, in words.

called      a name is said or written next to what the mask says
phrase      words and pairs of words that this one uses more than the other candidates
memory      an earlier scene in which this one spoke of the same
profile     something that is known of this one, and that the mask speaks of
relation    a tie of this one to somebody, and the mask speaks of them
exclusion   nothing of its own: everybody else is likelier behind another mask
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.guessing.clues import CONTEXT, CUES, FACTS, shared_facts
from understudy.guessing.features import SceneFeatures
from understudy.guessing.joint import CLUES, SUB_MODELS, Joint
from understudy.guessing.memory import SAYINGS, TOPICS
from understudy.lexical import TfIdf
from understudy.persona import Persona
from understudy.story import Scene
from understudy.text import stop_words

__all__ = ["Reason", "reasons_for"]

CUE_TEXTS = {
    "calls": "is called by this one",
    "talks of": "is talked of by this one",
    "talks of theirs": "has something of theirs talked of by this one",
    "says 'I am'": "is who this one says they are",
    "turns to": "is turned to by this one",
    "aside names": "is named in what this one does",
    "called before it speaks": "is called just before this one speaks",
    "called after it spoke": "is called just after this one spoke",
    "called two before": "is called two lines before this one speaks",
    "called two after": "is called two lines after this one spoke",
    "talked of before": "is talked of just before this one speaks",
    "talked of after": "is talked of just after this one spoke",
    "turned to before": "is turned to just before this one speaks",
    "turned to after": "is turned to just after this one spoke",
    "aside before": "is named in what is done just before this one speaks",
    "aside after": "is named in what is done just after this one spoke",
    "called between two of its lines": "is called between two lines of this one",
    "called by name alone": "is called by name alone, and this one answers",
    "described before": "is named in the direction before this one speaks",
    "described before, not first": "is named besides in the direction before this one speaks",
    "described after": "is named in the direction after this one spoke",
    "described after, not first": "is named besides in the direction after this one spoke",
    "comes in before": "comes in, and this one speaks",
    "setting, speaks first": "is named in the setting, and this one speaks first",
    "setting, not first": "is named besides in the setting, and this one speaks first",
    "setting, speaks late": "is named in the setting, and this one speaks late",
    "never names": "is named, but never by this one",
    "never calls": "is called, but never by this one",
}
"""Each cue as a sentence about whom it names, told of the mask it is about."""

NAMED = 2  # cues that are given
REMEMBERED = 200  # scenes back
LONGEST = 70  # letters of a line that is quoted
PHRASES = 4  # terms
LEAST = 0.25  # what a clue must add to be given


@dataclass(frozen=True, slots=True)
class Reason:
    """`weight` is how much it speaks for the one guessed, against the likeliest other."""

    kind: str
    text: str
    weight: float


def reasons_for(
    joint: Joint, masked: Scene, personas: Sequence[Persona], chosen: Mapping[str, str], earlier: Sequence[Scene]
) -> dict[str, list[Reason]]:
    """For each mask, why it is taken for whom it is; the strongest reason first. `earlier` is what came before."""
    scene, table = joint.clues(masked, personas)
    names = [persona.name for persona in personas]
    weighted = table * joint.weights
    reasons: dict[str, list[Reason]] = {}
    for row, mask in enumerate(scene.speakers):
        own = names.index(chosen[mask])
        rivals = [index for index in range(len(names)) if index != own]
        rival = max(rivals, key=lambda index: float(weighted[row, index].sum())) if rivals else own
        apart = dict(zip(CLUES, (weighted[row, own] - weighted[row, rival]).tolist()))
        against = {clue for clue, a, b in zip(CLUES, table[row, own], table[row, rival]) if a < b}
        of_mask = [
            *_named(joint, scene, mask, chosen[mask], names[rival], apart, against),
            *_phrases(joint, scene, mask, chosen[mask], names[rival], apart),
            *_remembered(joint.language, scene, mask, chosen[mask], earlier, apart),
            *_known(scene, mask, personas[own], apart),
        ]
        of_mask.sort(key=lambda reason: -reason.weight)
        reasons[mask] = of_mask or [Reason("exclusion", "everybody else is likelier behind another mask", 0.0)]
    return reasons


def _named(
    joint: Joint,
    scene: SceneFeatures,
    mask: str,
    who: str,
    rival: str,
    apart: Mapping[str, float],
    against: Collection[str],
) -> Iterator[Reason]:
    """Cues, with the words in which the name stands; those `against` the rival are told of the rival."""
    strongest = sorted((clue for clue in CUES if apart[clue] > LEAST), key=lambda clue: -apart[clue])[:NAMED]
    for clue in strongest:
        about = rival if clue in against else who
        where = _where(joint, scene, mask, about, clue) if clue in CONTEXT else ""
        yield Reason("called", f"{about} {CUE_TEXTS[clue]}{where}", apart[clue])


def _where(joint: Joint, scene: SceneFeatures, mask: str, who: str, clue: str) -> str:
    if clue.startswith("setting"):
        return f": '{_short(scene.scene.setting)}'"
    described = clue.startswith(("described", "comes in"))
    lines = scene.scene.lines
    for index, line in enumerate(lines):
        beside = {near.speaker for near in lines[max(index - 2, 0) : index + 3]}
        fits = (line.speaker is None) == described and line.speaker != mask
        if fits and mask in beside and who in joint.named_in(line.text):
            return f": '{_short(line.text)}'"
    return ""


def _phrases(
    joint: Joint, scene: SceneFeatures, mask: str, who: str, rival: str, apart: Mapping[str, float]
) -> Iterator[Reason]:
    weight = sum(apart[clue] for clue in (*SUB_MODELS, *SAYINGS) if "says" in clue or clue.startswith("own"))
    light = stop_words(joint.language)
    telling = [
        term.strip("<> ")
        for term in joint.telling_terms(scene, mask, who, rival)
        if ":" not in term and any(word[0].isalnum() and word not in light for word in term.split())
    ]
    if weight > LEAST and telling:
        yield Reason("phrase", ", ".join(f"'{term}'" for term in list(dict.fromkeys(telling))[:PHRASES]), weight)


def _remembered(
    language: str, scene: SceneFeatures, mask: str, who: str, earlier: Sequence[Scene], apart: Mapping[str, float]
) -> Iterator[Reason]:
    """The earlier scene in which this one spoke most like the mask does now."""
    weight = sum(apart[clue] for clue in TOPICS)
    spoken = [(past, [line.text for line in past.lines if line.speaker == who]) for past in earlier[-REMEMBERED:]]
    spoken = [(past, texts) for past, texts in spoken if texts]
    if weight <= LEAST or not spoken:
        return
    search = TfIdf([" ".join(texts) for _, texts in spoken], language)
    query = " ".join(scene.texts(mask))
    best = int(np.argmax(search.scores(query)))
    shared = [word for word, _ in search.shared_terms(query, best) if word not in stop_words(language)][:PHRASES]
    if shared:
        past = spoken[best][0]
        yield Reason("memory", f"spoke of {', '.join(shared)} at {past.moment.dotted}", weight)


def _known(scene: SceneFeatures, mask: str, persona: Persona, apart: Mapping[str, float]) -> Iterator[Reason]:
    weight = sum(apart[clue] for clue in FACTS)
    shared = shared_facts(scene, mask, persona)
    if weight > LEAST and shared:
        sentence, common = shared[0]
        kind = "relation" if sentence in persona.feelings() else "profile"
        yield Reason(kind, f"{sentence} ({', '.join(common)})", weight)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
