"""What bears on a message, of all that a character is, has said and has heard: for the prompt of a writer.

    fact(f)     = cos(m, f) + 0.5 words(m, f) + 0.4 [f is about somebody the message asks after]
    own(e)      = the encoder agent's own score of an exchange: fit + 0.5 likeness of what was heard + 0.5 words + age
    other(l)    = cos(m, l) + 0.5 words(m, l)

Long lines are shown by the sentences that bear on the message. The voice is shown by lines spread over the past.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from corpora import sentences
from prepare import content
from prompting import Recalled, first_person

FACTS, OWN, OTHERS, VOICE = 3, 3, 2, 4
LONG = 40  # words of a recalled line
WHO = re.compile(r"\b(who are you|your name|yourself|introduce)\b", re.I)


class Recall:
    def __init__(self, encoder: Any) -> None:
        from understudy.agents.encoded_memory import EncodedMemories
        from understudy.agents.fit import CachedEncoder
        from understudy.agents.pools import own_past

        self._cached = CachedEncoder(encoder)
        self._memories = EncodedMemories(own_past)

    def of(self, situation: Any, history: Sequence[Any], aliases: dict[str, Sequence[str]] | None = None) -> tuple[Recalled, tuple[str, ...]]:
        from understudy.agents.dialogue_context import content as counted
        from understudy.agents.dialogue_context import heard_words, last_heard
        from understudy.agents.encoder import HEARD, LONG_PAST, RECENT, WORDS
        from understudy.agents.fit import build_fits

        persona = situation.persona
        message = last_heard(persona, history)
        heard = self._cached.encode([message])[0]
        past = self._memories.of(situation, self._cached.encoder)
        own, voice = [], ()
        if past.exchanges:
            fit = build_fits(self._cached, [(situation, history)])[0]
            bag = counted(heard_words(persona, message), persona.language)
            scores = fit.scores(past.said) + HEARD * past.heard_likeness(heard) + WORDS * past.shared_words(bag)
            scores += RECENT * np.arange(len(scores), dtype=np.float32) / max(len(scores), LONG_PAST)
            seen: set[str] = set()
            for place in np.argsort(-scores, kind="stable").tolist():
                exchange = past.exchanges[place]
                said = cleaned(exchange.said.text)
                if len(content(said)) < 2 or said in seen:
                    continue
                seen.add(said)
                asked = "" if exchange.heard is None else cleaned(exchange.heard.text)
                who = "" if exchange.heard is None or exchange.heard.speaker is None else exchange.heard.speaker
                own.append((who if asked else "", bearing(asked, message, 25), bearing(said, message, LONG)))
                if len(own) == OWN:
                    break
            voice = typical([cleaned(e.said.text) for e in past.exchanges], {said for _, _, said in own}, VOICE)
        return Recalled(self._facts(situation, message, heard, aliases or {}), tuple(own), self._others(past, persona.name, message, heard, own)), voice

    def _facts(self, situation: Any, message: str, heard: Any, aliases: dict[str, Sequence[str]]) -> tuple[str, ...]:
        from understudy.wording import tie_sentence

        persona = situation.persona
        asked = content(message)
        ties = [(tie_sentence(t, persona.language), t) for t in persona.relations]
        about_me = bool(re.search(r"\b(me|us)\b", message.lower())) and situation.faced is not None
        texts, bonus = [], []
        for text in persona.profile:
            texts.append(first_person(text, persona.name))
            bonus.append(0.0)
        for text, tie in ties:
            about = any(content(n) & asked for n in (tie.to, *aliases.get(tie.to, ()))) or (about_me and situation.faced.name == tie.to)
            texts.append(text)
            bonus.append((0.4 if about else -0.3) - (0.15 if tie.kind == "familiarity" else 0))
        if not texts:
            return ()
        scores = self._cached.encode(texts) @ heard + np.array([0.5 * overlap(asked, content(t)) for t in texts]) + np.array(bonus)
        if WHO.search(message):
            scores[: min(3, len(persona.profile))] += 0.5
        order = [i for i in np.argsort(-scores).tolist() if scores[i] > 0.15][:FACTS]
        return tuple(texts[i] for i in order)

    def _others(self, past: Any, name: str, message: str, heard: Any, own: Sequence[tuple[str, str, str]]) -> tuple[tuple[str, str], ...]:
        lines = [line for line in past._lines if line.speaker != name][-800:]
        if not lines:
            return ()
        asked = content(message)
        texts = [cleaned(line.text) for line in lines]
        words = np.array([overlap(asked, content(t)) for t in texts])
        # the words first, so that not every line has to be encoded
        some = np.argsort(-words, kind="stable")[:60]
        scores = self._cached.encode([texts[i] for i in some]) @ heard + 0.5 * words[some]
        shown = {asked_text for _, asked_text, _ in own}
        found: list[tuple[str, str]] = []
        for at in np.argsort(-scores).tolist():
            text = bearing(texts[some[at]], message, 30)
            if scores[at] < 0.45 or len(found) == OTHERS:
                break
            if text not in shown and lines[some[at]].speaker:
                found.append((lines[some[at]].speaker, text))
        return tuple(found)


def cleaned(text: str) -> str:
    """A line as it is said: without directions in brackets."""
    return re.sub(r"\s+", " ", re.sub(r"[\[(][^\])]*[\])]", "", text)).strip()


def overlap(asked: set[str], told: set[str]) -> float:
    return len(asked & told) / (len(asked) * len(told)) ** 0.5 if asked and told else 0.0


def bearing(text: str, message: str, most: int) -> str:
    """Of a long text the run of sentences that bears most on the message."""
    if len(text.split()) <= most:
        return text
    parts, asked = sentences(text), content(message)
    best = max(range(len(parts)), key=lambda i: (overlap(asked, content(parts[i])), -i))
    first = last = best
    while True:
        size = sum(len(p.split()) for p in parts[first : last + 1])
        if last + 1 < len(parts) and size + len(parts[last + 1].split()) <= most:
            last += 1
        elif first and size + len(parts[first - 1].split()) <= most:
            first -= 1
        else:
            break
    return " ".join(" ".join(parts[first : last + 1]).split()[: most + 10])


def typical(lines: Sequence[str], without: set[str], count: int) -> tuple[str, ...]:
    fit = [line for line in dict.fromkeys(lines) if 5 <= len(line.split()) <= 20 and line not in without]
    if len(fit) <= count:
        return tuple(fit)
    step = len(fit) / count
    return tuple(fit[int((place + 0.5) * step)] for place in range(count))
