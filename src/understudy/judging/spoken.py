"""A reply that is said while it is written: sentence by sentence, each shown once it has passed.

A sentence that is stopped is not shown. The writer is asked again, twice at most: to go on after what was shown, or for
another reply where nothing was, and without what the stopped sentences say. What it then says a second time is left
out. After that the reply ends where it is.

Whether somebody listens makes no difference: a reply that is not streamed is the same pieces, joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from understudy.agents.reply_text import joint, split_begun, without_label
from understudy.agents.word_tokens import roots
from understudy.errors import BackendError
from understudy.judging.guards import Verdict
from understudy.judging.guards.phrases import plain
from understudy.progress import Cancellation
from understudy.story.dialogue import Evidence, Reply, Sampling, Situation, Streamed, StreamingAgent, Turn, Usage
from understudy.text import LONGEST_ABBREVIATION, ends_with_abbreviation

ATTEMPTS = 3
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]*\s+|[。！？][」』”]*|\n+")
CLOSING = ".!?…\"'”’)]*_。！？」』"  # of an end that has not come whole
FEWEST_ROOTS, SAME = 4, 0.8  # words of meaning, and the share of them that makes two sentences say the same
LARGEST_SEED = 2**31

Judge = Callable[[str], Verdict | None]
"""Why a text may not be said; None where it may. It is asked of each sentence, and of all up to it."""


@runtime_checkable
class ResumingAgent(StreamingAgent, Protocol):
    """One that can be asked to go on with a reply that was begun."""

    def resume(
        self,
        situation: Situation,
        history: Sequence[Turn],
        begun: str,
        avoid: Sequence[str],
        sampling: Sampling,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        """What comes after `begun`, which was said; all of a reply where it is blank. `avoid` is not to be said."""


@dataclass
class Spoken:
    """What was said, the sentences that were stopped, and what the writer told of its replies."""

    text: str = ""
    stopped: list[tuple[str, Verdict]] = field(default_factory=list)
    evidence: tuple[Evidence, ...] = ()
    usage: Usage = field(default_factory=Usage)
    log_probs: tuple[float, ...] | None = None
    is_cancelled: bool = False


def speak(
    writer: StreamingAgent,
    situation: Situation,
    history: Sequence[Turn],
    judge: Judge,
    sampling: Sampling,
    cancellation: Cancellation | None = None,
    names: Sequence[str] = (),
) -> Generator[str, None, Spoken]:
    """The pieces of a reply that pass; joined they are the text of what the generator returns.

    `names` are the character's own: one that is written before the reply, with a colon, is left out. Where the
    character has begun the reply already (see `agents.reply_text`), what comes after it is judged with it.
    """
    spoken, gap = Spoken(), ""
    before_reply, begun = split_begun(situation.persona, history)
    for attempt in range(ATTEMPTS):
        is_stopped = False
        said_before = _Said(begun + spoken.text)
        writing = _writing(writer, situation, before_reply, begun, spoken, _seeded(sampling, attempt), cancellation)
        written = _sentences(writing)
        try:
            while True:
                sentence = next(written)
                if (attempt or begun) and said_before.has(sentence):
                    continue
                said = begun + spoken.text
                stripped = sentence.strip() if spoken.text else without_label(sentence.strip(), names)
                if not stripped:
                    continue
                before, after = sentence.partition(sentence.strip())[::2]
                piece = joint(said, stripped, gap + before) + stripped
                verdict = judge(stripped) or (judge(said + piece) if said else None)
                if verdict is not None:
                    spoken.stopped.append((stripped, verdict))
                    is_stopped = True
                    break
                gap = after
                spoken.text += piece
                yield piece
        except StopIteration as stop:
            _note(spoken, stop.value)
        except BackendError as error:
            if not spoken.text and not attempt:
                raise
            spoken.evidence = (*spoken.evidence, Evidence("notice", f"broken off: {error}"))
        finally:
            writing.close()
        spoken.is_cancelled = cancellation is not None and cancellation.is_cancelled
        if not is_stopped or spoken.is_cancelled:
            break
    return spoken


def judged_texts(text: str) -> Iterator[str]:
    """What is judged while a text is said: each sentence, and all up to it."""
    said = ""
    for piece in pieces_of(text):
        if piece.strip():
            yield piece.strip()
        if piece.strip() and said:
            yield f"{said}{piece}".strip()
        said += piece


def pieces_of(text: str) -> Iterator[str]:
    """A text by sentences; joined they are the text."""
    position = 0
    while (end := _first_end(text, position)) > position:
        yield text[position:end]
        position = end
    if position < len(text):
        yield text[position:]


def _first_end(text: str, position: int = 0, searched: int = 0) -> int:
    """Where the sentence that begins at a position ends, with the space after it; the position where it goes on.

    Up to `searched` no end begins. No sentence is empty. The time is proportional to the text.
    """
    begin = max(position + 1, searched)
    while match := SENTENCE_END.search(text, begin):
        mark = match.start() + len(match[0].rstrip())
        if not ends_with_abbreviation(text[max(position, mark - LONGEST_ABBREVIATION) : mark]):
            return match.end()
        begin = match.end() + 1
    return position


class _Said:
    """The sentences of what was shown, by what they say."""

    def __init__(self, text: str) -> None:
        self._text = plain(text)
        self._sentences = {plain(sentence) for sentence in pieces_of(text)}
        self._roots = [roots(sentence) for sentence in pieces_of(text)]

    def has(self, sentence: str) -> bool:
        """Is a sentence among them, or one that says the same?"""
        same, own = plain(sentence), roots(sentence)
        if same in self._sentences or (len(own) >= FEWEST_ROOTS and same in self._text):
            return True
        return len(own) >= FEWEST_ROOTS and any(
            len(own & other) >= SAME * max(len(own), len(other)) for other in self._roots
        )


def _writing(
    writer: StreamingAgent,
    situation: Situation,
    history: Sequence[Turn],
    begun: str,
    spoken: Spoken,
    sampling: Sampling,
    cancellation: Cancellation | None,
) -> Generator[str, None, Reply]:
    said = begun + spoken.text
    if spoken.stopped and isinstance(writer, ResumingAgent):
        avoid = [sentence for sentence, _ in spoken.stopped]
        return writer.resume(situation, history, said, avoid, sampling, cancellation)
    turns = (Turn(situation.persona.name, said),) if said else ()
    return writer.stream(situation, (*history, *turns), sampling, cancellation)


def _sentences(writing: Generator[str, None, Reply]) -> Generator[str, None, Reply]:
    """The pieces of a stream put together to whole sentences."""
    buffer, blank, searched, written = "", "", 0, Streamed(writing)
    for written_piece in written:
        buffer += written_piece
        while 0 < (end := _first_end(buffer, 0, searched)) < len(buffer):
            piece, buffer, searched = buffer[:end], buffer[end:], 0
            if piece.strip():
                yield blank + piece
            blank = "" if piece.strip() else blank + piece
        searched = len(buffer.rstrip().rstrip(CLOSING))
    if buffer.strip():
        yield blank + buffer
    return written.value


def _note(spoken: Spoken, reply: Reply | None) -> None:
    if reply is not None:
        spoken.evidence = reply.evidence
        spoken.usage += reply.usage or Usage()
        spoken.log_probs = reply.log_probs if reply.text == spoken.text else None


def _seeded(sampling: Sampling, attempt: int) -> Sampling:
    """Another seed for another attempt: the same one would write the same again."""
    if not attempt:
        return sampling
    return replace(sampling, seed=((sampling.seed or 0) + attempt) % LARGEST_SEED)
