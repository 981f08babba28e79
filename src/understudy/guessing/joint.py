"""`joint`: all speakers of a scene at once. Who fits which mask, so that everybody gets a place?

    P(a) ~ exp( sum over masks m of  w . f(m, a(m)) )          a: one candidate for each mask

The clues f(m, c) are opinions of models of the words that m says, hears and is answered with; who is named where; and
what c has said and heard so far, and lately. Their weights w are learned together, from whole scenes: the models of
words are asked about scenes they had not seen (each fifth by models of the other four), and a memory only knows what
came earlier. What is known of c (profile, attributes, ties) is weighed as it usually is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from understudy.errors import AgentError
from understudy.guessing.assignment import can_list, marginals
from understudy.guessing.bags import SPACES
from understudy.guessing.cues import CONTEXT, CUES, cue_table, words_for
from understudy.guessing.encoded import Encodes
from understudy.guessing.facts import FACTS, fact_table
from understudy.guessing.learning import Guesses, Lessons, named
from understudy.guessing.memory import SAYINGS, TOPICS, Memory
from understudy.guessing.opinions import MEANING, OPINIONS, Evidence, Judges
from understudy.guessing.parts import Parts, parts_of, told_parts
from understudy.guessing.pieces import masks_of
from understudy.guessing.reading import named_in
from understudy.guessing.terms import Terms
from understudy.guessing.weighing import Clues, weigh
from understudy.lexical.rows import Ints, Reals
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["ABLATIONS", "CLUES", "Joint"]

FOLDS = 5
HOLD = 3.0  # how much weights are held back, in standard deviations of their clues
LEAST_SPREAD = 0.01  # of a clue that hardly ever comes up
USUAL_LENGTH = 4.0  # ln of words: opinions count as they are about masks that say so much
READ = 12  # lines of a mask that an encoder reads, the longest

CLUES: dict[str, float] = {
    **dict.fromkeys(OPINIONS, 0.5),
    MEANING: 0.0,
    **SAYINGS,
    **{f"{opinion}, by how much is said": 0.0 for opinion in (*OPINIONS, MEANING, *SAYINGS)},
    **TOPICS,
    **CUES,
    **FACTS,
}
"""Every clue, and what it weighs before anything is learned."""

ABLATIONS: dict[str, Callable[[str], bool]] = {
    "assignment": lambda _clue: False,
    "history": lambda clue: clue in TOPICS,
    "names": lambda clue: clue in CUES,
    "context": lambda clue: clue in CONTEXT or "hear" in clue or "answer" in clue,
    "words": lambda clue: "what it says" in clue or "scenes, by" in clue or clue in SAYINGS,
    "facts": lambda clue: clue in FACTS,
}
"""What can be left out, and the clues that go with it. Without history nothing is learned after the lessons, either."""


class Joint:
    """`without` names what to leave out; `encoder` adds what lines mean, at the price of reading them all."""

    def __init__(self, lessons: Lessons, without: Collection[str] = (), encoder: Encodes | None = None) -> None:
        if unknown := set(without) - ABLATIONS.keys():
            raise AgentError(
                f"joint cannot do without {', '.join(sorted(unknown))}: choose from {', '.join(ABLATIONS)}"
            )
        self._main, self._names, self.language = lessons.main, lessons.names, lessons.language
        self._without, self._encoder = frozenset(without), encoder
        left_out = [ABLATIONS[name] for name in without]
        self._counts = np.array([not any(goes(clue) for goes in left_out) for clue in CLUES], dtype=np.float64)
        told = [told_parts(scene, self._main, self._names, self.language) for scene in lessons.scenes]
        self._meant = words_for(lessons.names, (one.read for one in told))
        self._terms = Terms([bag for one in told for bag in one.listed()], SPACES)
        self._memory = Memory(self._terms, len(self._main))
        evidence = self._evidence(told)
        labels = np.array([self._main.index(who) for one in told for who in one.speakers], dtype=np.int64)
        self._weights = self._weighed(self._lessons(told, evidence, labels))
        self._judges = Judges(self._terms, evidence, labels, len(self._main))

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        parts, table = self.clues(masked, personas)
        scores = table @ self._weights
        if "assignment" in self._without:
            found = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        else:
            found = marginals(scores)
        return named(parts.speakers, [persona.name for persona in personas], found)

    def clues(self, masked: Scene, personas: Sequence[Persona]) -> tuple[Parts, Reals]:
        """The scene as it was read, and `[mask, candidate, clue]`, the clues in the order of `CLUES`."""
        parts = parts_of(masked, masks_of(masked), self._names, self.language)
        evidence, candidates = self._evidence([parts]), [persona.name for persona in personas]
        people = np.array([self._main.index(name) for name in candidates], dtype=np.int64)
        opinions, memories = self._judges.scores(evidence)[:, people], self._memory.clues(evidence.counted)[:, people]
        return parts, np.dstack((self._table(parts, candidates, opinions, memories), fact_table(parts, personas)))

    @property
    def weights(self) -> Reals:
        """What each clue weighs; one that was left out, nothing."""
        return self._weights

    def remember(self, scene: Scene) -> None:
        if "history" not in self._without:
            told = told_parts(scene, self._main, self._names, self.language)
            people = [self._main.index(who) for who in told.speakers]
            self._memory.remember(self._terms.counted(told.listed()), people)

    def named_in(self, text: str) -> set[str]:
        """Who of the main characters is named in a text."""
        return {who for who, _, _ in named_in(text, self._meant)}

    def telling(self, parts: Parts, mask: str, who: str, rival: str) -> list[str]:
        """The terms that a mask says and that speak for one main character against another, the strongest first."""
        opinion = self._judges.of_words["what it says"]
        row = opinion.view.weighed(self._terms.counted([parts.bags[mask]]))
        weights = opinion.model.weights[:, row.columns]
        speaks_for = (weights[self._main.index(who)] - weights[self._main.index(rival)]) * row.values
        numbers = opinion.view.numbers[row.columns]
        own = [place for place in np.argsort(-speaks_for, kind="stable") if speaks_for[place] > 0]
        terms = [int(numbers[place]) for place in own]
        return [self._terms.term(number) for number in terms if self._terms.space(number) == "own"]

    def _evidence(self, parts: Sequence[Parts]) -> Evidence:
        counted = self._terms.counted([bag for one in parts for bag in one.listed()])
        if self._encoder is None:
            return Evidence(counted)
        texts = [sorted(one.texts(who), key=len)[-READ:] for one in parts for who in one.speakers]
        vectors = self._encoder.encode([text for several in texts for text in several])
        return Evidence(counted, vectors, np.cumsum([0, *map(len, texts)]))

    def _lessons(self, told: Sequence[Parts], evidence: Evidence, labels: Ints) -> list[Clues]:
        """The clues of every scene that can teach what they are worth, as they were when it began."""
        starts = np.cumsum([0, *(len(one.speakers) for one in told)])
        opinions = self._unseen(evidence, labels, starts)
        found: list[Clues] = []
        for place, one in enumerate(told):
            rows = np.arange(starts[place], starts[place + 1])
            people, counted = labels[rows], evidence.counted.take(rows)
            if len(people) > 1 and can_list(len(people)):
                memories = self._memory.clues(counted)[:, people]
                table = self._table(one, one.speakers, opinions[rows][:, people], memories)
                nothing = np.zeros((*table.shape[:2], len(FACTS)))
                found.append(Clues(np.dstack((table, nothing)), np.arange(len(people))))
            self._memory.remember(counted, people.tolist())
        return found

    def _unseen(self, evidence: Evidence, labels: Ints, starts: Ints) -> Reals:
        """Opinions about every part, by judges that had not seen its fifth of the scenes."""
        fold_of = np.repeat(np.arange(len(starts) - 1) * FOLDS // max(len(starts) - 1, 1), np.diff(starts))
        found = np.zeros((len(labels), len(self._main), len(OPINIONS) + 1))
        for fold in range(FOLDS):
            seen, unseen = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            if len(seen) and len(unseen):
                judges = Judges(self._terms, evidence.some(seen), labels[seen], len(self._main))
                found[unseen] = judges.scores(evidence.some(unseen))
        return found

    def _table(self, parts: Parts, candidates: Sequence[str], opinions: Reals, memories: Reals) -> Reals:
        sayings, topics = memories[:, :, : len(SAYINGS)], memories[:, :, len(SAYINGS) :]
        believed = np.dstack((opinions - np.logaddexp.reduce(opinions, axis=1, keepdims=True), sayings))
        length = np.array([math.log1p(parts.length(who)) for who in parts.speakers])[:, None, None] - USUAL_LENGTH
        cues = cue_table(parts.read, parts.speakers, candidates, self._meant)
        return np.dstack((believed, believed * length, topics, cues))

    def _weighed(self, scenes: Sequence[Clues]) -> Reals:
        """Weights are held back by how much their clues vary, so that no clue's unit matters."""
        begin = np.array(list(CLUES.values())) * self._counts
        if not scenes:
            return begin
        kept = [Clues(scene.table * self._counts, scene.answers) for scene in scenes]
        spread = np.concatenate([scene.table.reshape(-1, len(begin)) for scene in kept]).var(axis=0)
        return weigh(kept, begin, HOLD * np.maximum(spread, LEAST_SPREAD))
