"""Examples from novels: speeches that answer a speech, with recalled lines of the speaker and of others.

Recalled lines are near to what was heard, or near to the reply; sometimes the reply itself is among them, to be copied.
Replies whose names or numbers are not in the prompt are left out, but for a few.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random

import numpy as np

from recipes.writer.chats import TrainingExample
from recipes.writer.grounding import content, first_sentences, grounded, support
from understudy.agents.prompt_contents import ChatTurn, PastExchange, PastLine, PromptContents
from understudy.language.encoding import Floats
from understudy.text import sentences
from understudy.training.pdnc import NovelSpeech

__all__ = ["ENCODED_LETTERS", "NovelExamples"]

ENCODED_LETTERS = 240
NEAR = 8  # speeches around a reply that are never recalled for it
GAP = 1_500  # bytes of narration after which nothing is answered
FEWEST_LINES = 5
CLAIM = re.compile(r"^(?:I (?:am|have|was|never|always|do not|don't|love|hate|live|like|know|must|mean to|want)|My )\b")


class NovelExamples:
    """The speeches of one novel, with the vectors of their texts."""

    def __init__(self, speeches: Sequence[NovelSpeech], vectors: Mapping[str, Floats]) -> None:
        self._speeches = speeches
        self._vectors = np.stack([vectors[speech.text[:ENCODED_LETTERS]] for speech in speeches])
        self._by, self._to = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        self._heard: dict[int, int] = {}
        for index, speech in enumerate(speeches):
            self._by[speech.speaker].append(index)
            for name in speech.addressees:
                self._to[name].append(index)
            if self._answers_last(index):
                self._heard[index] = index - 1
        self._claims = {name: list(self._claims_of(indices)) for name, indices in self._by.items()}

    def examples(self, rng: Random, copied: float) -> Iterator[TrainingExample]:
        """To learn from; a share `copied` of the replies stands in its own prompt."""
        for index in self._heard:
            if (example := self._example(index, rng, copied, judged=False)) and self._is_learned(example, rng):
                yield example

    def judged(self, rng: Random) -> Iterator[TrainingExample]:
        """To be measured on: nothing found by looking at the reply, and no reply left out."""
        for index in self._heard:
            if example := self._example(index, rng, 0.0, judged=True):
                yield example

    def _answers_last(self, index: int) -> bool:
        """Does a speech answer the one before it: close by, and one is said to the other's speaker?"""
        if index == 0:
            return False
        speech, before = self._speeches[index], self._speeches[index - 1]
        is_close = speech.start - before.end <= GAP and not speech.speaker.startswith("_")
        is_to = before.speaker in speech.addressees or speech.speaker in before.addressees
        return is_close and is_to and before.speaker != speech.speaker

    def _claims_of(self, indices: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Sentences in which somebody says what they are: their profile."""
        for index in indices:
            for sentence in sentences(self._speeches[index].text):
                if CLAIM.match(sentence) and 4 <= len(sentence.split()) <= 14 and sentence.endswith("."):
                    yield index, sentence

    def _example(self, index: int, rng: Random, copied: float, judged: bool) -> TrainingExample | None:
        speech, prompting = self._speeches[index], self._speeches[index - 1]
        reply = first_sentences(speech.text, rng.choice((14, 22, 30, 40)))
        own = [position for position in self._by[speech.speaker] if abs(position - index) > NEAR]
        message = prompting.text if len(prompting.text.split()) <= 50 else " ".join(sentences(prompting.text)[-2:])
        if reply is None or len(reply) < 3 or '"' in reply or len(own) < FEWEST_LINES or len(message.split()) > 60:
            return None
        query = self._vectors[index if not judged and rng.random() < 0.45 else index - 1]
        best = self._nearest_own(own, query)[: rng.choice((1, 2, 3))]
        recalled = list(self._recalled(best, rng))
        if rng.random() < copied and len(content(reply)) >= 2:
            heard = message if rng.random() < 0.25 and len(message.split()) < 25 else ""
            whole = first_sentences(speech.text, 45) or reply
            recalled.insert(rng.choice((0, 0, 1)), PastExchange(prompting.speaker if heard else "", heard, whole))
        claims = [text for position, text in self._claims[speech.speaker] if abs(position - index) > NEAR]
        contents = PromptContents(
            name=speech.speaker,
            profile=tuple(rng.sample(claims, min(len(claims), rng.choice((0, 2, 4, 5))))),
            facing=prompting.speaker,
            voice=self._voice(own, best, rng),
            turns=self._turns(index, rng),
            message=message,
            own=tuple(recalled),
            others=tuple(self._others(index, query, rng)),
        )
        return TrainingExample(contents, reply)

    def _is_learned(self, example: TrainingExample, rng: Random) -> bool:
        contents, reply = example
        if "?" not in contents.message and rng.random() > 0.65:
            return False
        if len(reply.split()) < 3 and rng.random() > 0.3:
            return False
        if not grounded(contents, reply) and rng.random() > 0.05:
            return False
        return len(content(reply)) < 4 or support(contents, reply) >= 0.3 or rng.random() <= 0.4

    def _nearest_own(self, own: Sequence[int], query: Floats) -> list[int]:
        said = self._vectors[own] @ query
        heard = [float(self._vectors[self._heard[index]] @ query) if index in self._heard else -1.0 for index in own]
        scores = np.maximum(said, 0.9 * np.array(heard, np.float32))
        return [own[row] for row in np.argsort(-scores, kind="stable").tolist()]

    def _recalled(self, best: Sequence[int], rng: Random) -> Iterator[PastExchange]:
        for index in best:
            if said := first_sentences(self._speeches[index].text, 40):
                before = self._speeches[self._heard[index]] if index in self._heard and rng.random() < 0.5 else None
                heard = "" if before is None else first_sentences(before.text, 25) or ""
                yield PastExchange(before.speaker if before is not None and heard else "", heard, said)

    def _others(self, index: int, query: Floats, rng: Random) -> Iterator[PastLine]:
        speaker = self._speeches[index].speaker
        heard = [
            position
            for position in self._to[speaker]
            if abs(position - index) > NEAR and self._speeches[position].speaker != speaker
        ]
        if not heard or rng.random() >= 0.5:
            return
        order = np.argsort(-(self._vectors[heard] @ query), kind="stable").tolist()
        for row in order[: rng.choice((1, 2))]:
            if text := first_sentences(self._speeches[heard[row]].text, 30):
                yield PastLine(self._speeches[heard[row]].speaker, text)

    def _voice(self, own: Sequence[int], best: Sequence[int], rng: Random) -> tuple[str, ...]:
        drawn = [index for index in rng.sample(own, min(len(own), 8)) if index not in best]
        lines = [first_sentences(self._speeches[index].text, 25) for index in drawn]
        return tuple(line for line in lines if line and len(line.split()) >= 3)[: rng.choice((3, 4, 5))]

    def _turns(self, index: int, rng: Random) -> tuple[ChatTurn, ...]:
        """What the two said before the message, in turn."""
        speech, prompting = self._speeches[index], self._speeches[index - 1]
        turns: list[ChatTurn] = []
        at = index - 1
        for _ in range(rng.choice((0, 1, 2, 3))):
            if at == 0 or self._speeches[at].start - self._speeches[at - 1].end > GAP:
                break
            at -= 1
            before = self._speeches[at]
            is_own, text = before.speaker == speech.speaker, first_sentences(before.text, 40)
            is_in_turn = is_own != (turns[0].is_own if turns else False)
            if before.speaker not in (speech.speaker, prompting.speaker) or text is None or not is_in_turn:
                break
            turns.insert(0, ChatTurn(is_own, text, before.speaker))
        return tuple(turns)
