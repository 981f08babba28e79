"""Going on with a reply that has begun: a history whose last turn is the character's own asks for what comes after it.

    history     (..., You: 'Who wrote it?', Zita: 'Nobody you')     ->  ' know.'

An agent that writes is given the beginning as its own; one that chooses offers the rest of the line that was begun, or
something that it has not said yet. Either way the beginning and the reply, joined as they are, are the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from understudy.agents.passages import plain_line
from understudy.story.dialogue import Evidence, Reply, Turn
from understudy.story.persona import Persona
from understudy.story.types import Line
from understudy.text import fold, sentences

__all__ = ["continued", "continuing", "is_mid_sentence", "joint", "rest_of", "rests", "split_begun"]

UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff。！？」』]\Z")
CLOSING = tuple(".,;:!?…)]}'’\"”。、！？」』")
SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’」』)\]*_]*\s*\Z")
NOTHING_MORE = Evidence("notice", "there was nothing to add")


def split_begun(persona: Persona, history: Sequence[Turn]) -> tuple[Sequence[Turn], str]:
    """The history before a reply that the character has begun, and what it has said of it; blank where it has not."""
    if history and fold(history[-1].speaker) == fold(persona.name) and history[-1].text.strip():
        return history[:-1], history[-1].text
    return history, ""


def joint(begun: str, more: str, gap: str = "") -> str:
    """What stands between a beginning and what comes after it: the `gap` its writer left, or a space if due."""
    if not begun or begun[-1].isspace() or more[:1].isspace():
        return ""
    return gap or ("" if UNSPACED.search(begun) or more.startswith(CLOSING) else " ")


def continuing(writing: Generator[str, None, Reply], begun: str) -> Generator[str, None, Reply]:
    """The pieces of what comes after `begun`, with the space before them; a writer may say all of it again first."""
    start, held, text = begun.strip(), "", ""
    try:
        while True:
            try:
                piece = next(writing)
            except StopIteration as stop:
                reply: Reply = stop.value
                break
            if not text:
                held += piece
                if start.startswith(held.strip()):
                    continue  # it may be the beginning once more
                more = held.lstrip().removeprefix(start)
                piece = joint(begun, more) + more if more.strip() else ""
            text += piece
            if piece:
                yield piece
    finally:
        writing.close()
    if not text and held.strip() and not _is_repeated(held, begun):
        text = joint(begun, held.strip()) + held.strip()
        yield text
    return _as_continued(reply, text)


def continued(reply: Reply, begun: str) -> Reply:
    """What an agent that chooses says after `begun`: the rest of a candidate that it begins, else another of them.

    In the middle of a sentence only such a rest will do.
    """
    texts = [reply.text, *(candidate.text for candidate in reply.candidates if not candidate.rejected)]
    rests = [rest for text in texts if (rest := rest_of(text, begun))]
    others = [] if is_mid_sentence(begun) else [text.strip() for text in texts]
    for more in (*rests, *others):
        if more and not _is_repeated(more, begun):
            return _as_continued(reply, joint(begun, more) + more)
    return _as_continued(reply, "")


def is_mid_sentence(begun: str) -> bool:
    return bool(begun.strip()) and SENTENCE_END.search(begun) is None


def rest_of(text: str, begun: str) -> str:
    """What comes after a beginning in a text that has it; blank where it has not."""
    before, _, after = plain_line(text).partition(" ".join(begun.split()))
    return after.strip() if not before or before[-1].isspace() else ""


def rests(persona: Persona, begun: str, most: int) -> Iterator[tuple[str, Line | str]]:
    """What comes after a beginning in the character's latest lines, then in its profile; and where it was found."""
    sources: list[Line | str] = [line for line in reversed(persona.past.lines(most)) if line.speaker == persona.name]
    for source in (*sources, *persona.profile):
        if rest := rest_of(source if isinstance(source, str) else source.text, begun):
            yield rest, source


def _is_repeated(text: str, begun: str) -> bool:
    said = {fold(sentence) for sentence in sentences(begun)}
    return all(fold(sentence) in said for sentence in sentences(text))


def _as_continued(reply: Reply, text: str) -> Reply:
    if reply.text == text:
        return reply
    listed = tuple(replace(each, text=text) if each.text == reply.text else each for each in reply.candidates)
    evidence = reply.evidence if text else (NOTHING_MORE,)
    return replace(reply, text=text, candidates=listed, evidence=evidence, log_probs=None)
