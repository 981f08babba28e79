"""From what a language model writes to what a character says: labels, quotation marks and special tokens taken off.

Nothing is judged here. What is left of a text that ran into its limit ends with its last whole sentence.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from understudy.agents.word_tokens import plain_line
from understudy.story.dialogue import Evidence, Reply, Streamed, Turn
from understudy.story.persona import Persona
from understudy.story.types import Line
from understudy.text import fold, sentence_ends, sentences

THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
SPECIAL = re.compile(r"<\|[^|<>]{1,40}\|>|</?s>|<(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>|\[/?INST\]")
PERHAPS_SPECIAL = re.compile(r"(?:<\|[^|<>]{0,40}\|?|</?\w{0,40}|\[/?I?N?S?T?)\Z")
QUOTES = {'"': '"', "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "'": "'"}
LABEL = re.compile(
    r"[*_\[]*(?P<name>[^:：\n()]{1,60}?)[*_\]]*\s*(?P<aside>\([^()\n]{0,80}\))?[*_\]]*\s*[:：][*_\]]*\s*"
)
LABEL_BEGUN = re.compile(r"[*_\[]*(?P<name>[^:：\n()]{0,60}?)[*_\]]*\s*(?:\([^()\n]{0,80}\)?)?[*_\]]*\s*\Z")
SAID_BY_ME = ("Me", "Assistant")
SAID_BY_USER = ("You", "User")
NEAR_LIMIT = 40  # tokens before the limit from which on only whole sentences are let through
LETTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ReplyCleaner:
    """`names` are those the character goes by, `others` those it talks to."""

    names: tuple[str, ...]
    others: tuple[str, ...] = ()

    def clean(self, text: str, finish_reason: str = "stop") -> str:
        said = self._until_other_speaks(self._spoken(SPECIAL.sub("", THOUGHT.sub("", text)))).strip()
        if len(said) > 1 and QUOTES.get(said[0]) == said[-1] and said[-1] not in said[1:-1]:
            said = said[1:-1].strip()
        return _whole_sentences(said) if finish_reason == "length" else said

    def settled(self, text: str) -> str:
        """The beginning of the cleaned text that no further piece can change."""
        text = SPECIAL.sub("", THOUGHT.sub("", text))
        text = PERHAPS_SPECIAL.sub("", text)
        said = self._spoken(text)
        if self._may_become_label(said) or (said[:1] in QUOTES and not _continues_after_quote(said)):
            return ""
        before, newline, last = said.rpartition("\n")
        if newline and any(label.startswith(last.strip().casefold()) for label in self._other_labels()):
            said = before
        return self._until_other_speaks(said).rstrip()

    def _spoken(self, text: str) -> str:
        return without_label(text.lstrip(), (*self.names, *SAID_BY_ME))

    def _may_become_label(self, text: str) -> bool:
        """Is this the beginning of 'Name:' or 'Name (softly):', with nothing after it yet?"""
        match = LABEL_BEGUN.match(text)
        if match is None:
            return False
        begun, names = fold(match["name"]), [fold(name) for name in (*self.names, *SAID_BY_ME)]
        is_whole = "(" in match[0]  # a name that an aside follows is complete
        return begun in names if is_whole else any(name.startswith(begun) for name in names)

    def _until_other_speaks(self, text: str) -> str:
        """What comes before a line that begins with somebody else's name and a colon."""
        labels = "|".join(re.escape(name) for name in (*self.others, *SAID_BY_USER) if name)
        match = re.search(rf"\n\s*[*_]*(?:{labels})[*_]*\s*[:：]", text)
        return text if match is None else text[: match.start()]

    def _other_labels(self) -> list[str]:
        return [f"{name.casefold()}:" for name in (*self.others, *SAID_BY_USER) if name]


def without_label(text: str, names: Sequence[str]) -> str:
    """A text without a name and a colon before it: 'Pip: Yes.', '**Pip:** Yes.'; an aside to the name stays."""
    known = {fold(name) for name in names}
    while (match := LABEL.match(text)) and fold(match["name"]) in known:
        rest = text[match.end() :]
        text = f"{match['aside']} {rest}" if match["aside"] else rest
    return text


class StreamCleaner:
    """Cleans a reply while it is being written: each piece goes in, what can be shown of it comes out."""

    def __init__(self, cleaner: ReplyCleaner, max_tokens: int | None = None) -> None:
        self.text = ""
        self._cleaner, self._max_tokens = cleaner, max_tokens
        self._raw, self._pieces = "", 0

    def feed(self, piece: str) -> str:
        self._raw += piece
        self._pieces += 1
        settled = self._cleaner.settled(self._raw)
        if self._is_near_limit():  # the sentence that is being written may have to be taken back
            settled = _sentences_only(settled)
        return self._release(settled)

    def finish(self, finish_reason: str) -> str:
        """The rest of the reply, once nothing more comes."""
        final = self._cleaner.clean(self._raw, finish_reason)
        if not final.startswith(self.text):  # its last sentence was shown before it broke off
            final = f"{self.text.rstrip(' ,;:-')}..." if finish_reason == "length" else self.text
            final = final if final.startswith(self.text) else self.text
        return self._release(final)

    def _release(self, text: str) -> str:
        if not text.startswith(self.text):
            return ""
        released, self.text = text[len(self.text) :], text
        return released

    def _is_near_limit(self) -> bool:
        written = max(self._pieces, len(self._raw) // LETTERS_PER_TOKEN)
        return self._max_tokens is not None and written > self._max_tokens - NEAR_LIMIT


def _whole_sentences(text: str) -> str:
    """A text that was cut off, without its last sentence; a single sentence ends in dots."""
    return _sentences_only(text) or (f"{text.rstrip(' .,;:-')}..." if text else "")


def _sentences_only(text: str) -> str:
    ends = sentence_ends(text)
    return text[: ends[-1]] if ends else ""


def _continues_after_quote(text: str) -> bool:
    closing = text.find(QUOTES[text[0]], 1)
    return closing > 0 and bool(text[closing + 1 :].strip())


def join_names(*groups: Sequence[str]) -> tuple[str, ...]:
    """Names without blanks and repetitions, each with its first and last part."""
    names = [name for group in groups for name in group if name.strip()]
    return tuple(dict.fromkeys(part for name in names for part in (name, name.split()[0], name.split()[-1])))


# Going on with a reply that has begun: a history whose last turn is the character's own asks for what comes after it.
#
#     history     (..., You: 'Who wrote it?', Zita: 'Nobody you')     ->  ' know.'
#
# An agent that writes is given the beginning as its own; one that chooses offers the rest of the line that was begun,
# or something that it has not said yet. Either way the beginning and the reply, joined as they are, are the whole
# text.


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
    start, held, text, written = begun.strip(), "", "", Streamed(writing)
    for written_piece in written:
        piece = written_piece
        if not text:
            held += piece
            if start.startswith(held.strip()):
                continue  # it may be the beginning once more
            more = held.lstrip().removeprefix(start)
            piece = joint(begun, more) + more if more.strip() else ""
        text += piece
        if piece:
            yield piece
    if not text and held.strip() and not _is_repeated(held, begun):
        text = joint(begun, held.strip()) + held.strip()
        yield text
    return _as_continued(written.value, text)


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
