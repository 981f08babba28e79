"""From lines of text to events: which line begins something, and which only goes on with what stands before it.

Every piece of every line ends up in exactly one event, and the first piece of a line carries its count, so the counts
add up by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from understudy.readers.brackets import CLOSERS, OPENERS, WHOLE, ends_open, without_brackets
from understudy.readers.directions import comings_and_goings
from understudy.readers.events import Cue, Description, Event, Heading, SceneStart, Speech, Unread
from understudy.readers.source import SourceFile
from understudy.readers.transcript.furniture import is_credit, is_furniture, is_page_matter, may_be_glued, unglued
from understudy.readers.transcript.labels import Label
from understudy.readers.transcript.markup import TextLine, without_bbcode
from understudy.readers.transcript.parting import parted
from understudy.readers.transcript.scenes import is_bare_location, is_cut, is_scene_mark, names_place, present, setting
from understudy.readers.transcript.survey import KNOWN, Survey

__all__ = ["stitched"]

HEADER_LINES = 60
LONGEST_HEADER = 220
LONGEST_SPEECH = 40_000  # characters; keeps memory constant in a file that stops being a transcript half-way
MANY_PLACES = 4  # lines in capitals: so many are no titles, but a way to mark scenes
MOST_IN_BRACKETS = 14  # lines a bracket that is never closed may swallow

DIRECTION = re.compile(r"[(\[{<*♪-]")
BETWEEN = re.compile(
    r"\d{1,2}[.)]\s*[(\[{<]|(?:time (?:shift|lapse|cut|passes)|(?:moments |later |much |hours |days )*later|meanwhile"
    r"|(?:the )?(?:next|following|same) (?:day|morning|evening|night)|present day|back to the present)\W*$",
    re.IGNORECASE,
)
ENDS = re.compile(r"[.!?…:)\]}>*\"”'’♪~-]\s*$")
NARRATING = re.compile(
    r"(?:(?:he|she|they|it|the|a|an|everyone|everybody|both|all|we|meanwhile|suddenly|later|time|cut|camera|back|fantasy"
    r"|end of|flashback|general|phone|music|another|next|in|on|at|as|after|when|while|two|three|one|some|from|outside"
    r"|inside|following|same|present|the next|montage|voice|sound|various|shot|credits|there|commercial|opening"
    r"|previously|jumps?|zoom|pan|close-up|still|begin|more|his|her|their|throughout|during|continues|knock|applause|laughter|silence|pause)\b)",
    re.IGNORECASE,
)
TALKING = re.compile(r"\b(?:I|you|your|my|me|we|us|our|I['’]m|you['’]re|let['’]s)\b")
BEWARE = re.compile(r"\[\s*S[cC]|CUT TO|\[/?(?:[biusBIUS]|[a-zA-Z]+=?[^\]\s]*)\]|[\])}]\s*[\[({]")
WORD = re.compile(r"\w+")
RULE = re.compile(r"[\W_]+")


@dataclass(slots=True)
class _Open:
    """The event being put together."""

    kind: Literal["speech", "description", "scene"]
    number: int
    takes: int
    parts: list[str]
    speakers: tuple[str, ...] = ()
    lines: int = 1
    length: int = 0

    @property
    def last(self) -> str:
        return self.parts[-1] if self.parts else ""

    @property
    def unclosed(self) -> bool:
        """The last bracket opens: what follows still stands in it."""
        return self.lines <= MOST_IN_BRACKETS and ends_open(self.last)

    def add(self, text: str, takes: int) -> None:
        self.parts.append(text)
        self.takes += takes
        self.lines += 1
        self.length += len(text)


@dataclass(slots=True)
class _Stitcher:
    source: SourceFile
    survey: Survey
    open: _Open | None = None
    begun: bool = False
    seen: int = 0
    after_scene: bool = False
    after_credit: bool = False
    done: list[Event] = field(default_factory=list)

    def line(self, line: TextLine) -> None:
        self.seen += 1
        if self._is_plain(line):
            return
        takes = 1
        pieces = [piece for text in unglued(without_bbcode(line.text).strip()) for piece in parted(text, self.survey)]
        if not pieces:
            self.close()
            self.done.append(Unread(self.source.at(line.number), line.text, "nothing but formatting marks", 1))
        for text in pieces:
            self._piece(TextLine(line.number, text, line.gap and takes == 1), takes)
            takes = 0

    def _is_plain(self, line: TextLine) -> bool:
        """The quick way for most lines: a frequent name and what it says, or the rest of a wrapped speech."""
        now = self.open
        if line.text[0].islower():
            goes_on = now is not None and now.kind == "speech" and not line.gap and now.length <= LONGEST_SPEECH
            if now is None or not goes_on or may_be_glued(line.text) or BEWARE.search(line.text):
                return False
            now.add(line.text, 1)
            return True
        plain = self.survey.plain_speech(line.text)
        if plain is None or may_be_glued(plain.text) or BEWARE.search(plain.text):
            return False
        self._speech(plain, line.number, 1)
        return True

    def _piece(self, line: TextLine, takes: int) -> None:
        text = line.text
        now = self.open
        wrapped = now is not None and not line.gap and self._is_full(now.last)
        broken = wrapped and now is not None and not ENDS.search(now.last)
        if now is not None and now.length > LONGEST_SPEECH:
            self.close()
            now = None
        if RULE.fullmatch(text):
            if now is not None and not line.gap and len(text) < 8 and now.kind == "speech":
                now.add(text, takes)
            else:
                self.close()
                self.done.append(Unread(self.source.at(line.number), text, "no words in it", takes))
            return
        if is_page_matter(text):  # stands in the middle of what is said, and does not end it
            self.done.append(Heading(self.source.at(line.number), text, takes=takes))
            return
        if is_furniture(text) and not broken:
            self.close()
            self.after_credit = not self.begun and is_credit(text)
            self.done.append(Heading(self.source.at(line.number), text, takes=takes))
            return
        if is_scene_mark(text) or self._is_cut(text):
            self._begin(_Open("scene", line.number, takes, [text]))
            return
        label = self._label(text, now, wrapped, broken)
        if label is not None and self.after_credit and self.survey.count(label.name) < KNOWN:
            self.done.append(
                Heading(self.source.at(line.number), text, takes=takes)
            )  # one more credit, of a kind not seen before
            return
        if label is not None:
            self._speech(label, line.number, takes)
            return
        if text.isupper() and not wrapped and text[-1] not in ".!?" and self.survey.count(text) >= KNOWN:
            # a name on a line of its own: what it says follows
            self._speech(Label(text, text, ""), line.number, takes)
            return
        if self._is_place(text, now, broken):
            self._begin(_Open("scene", line.number, takes, [text]))
        elif BETWEEN.match(text) and not broken and not (now is not None and now.unclosed):
            self._begin(_Open("description", line.number, takes, [text]))
        elif now is not None and self._goes_on(now, line, wrapped, broken):
            now.add(text, takes)
        elif DIRECTION.match(text):
            self._begin(_Open("description", line.number, takes, [text]))
        elif not self.begun and self.survey.labelled and self.seen <= HEADER_LINES and len(text) <= LONGEST_HEADER:
            self.close()
            self.done.append(Heading(self.source.at(line.number), text, takes=takes))
        elif self._narrates(text):
            self._begin(_Open("description", line.number, takes, [text]))
        elif now is not None and now.kind == "speech" and not line.gap:
            now.add(text, takes)
        elif not self.survey.labelled:
            self._begin(_Open("description", line.number, takes, [text]))
        else:
            self.close()
            reason = "names no speaker, and is neither a direction nor the rest of a speech"
            self.done.append(Unread(self.source.at(line.number), text, reason, takes))

    def _label(self, text: str, now: _Open | None, wrapped: bool, broken: bool) -> Label | None:
        if text[0] in OPENERS:
            return None
        in_brackets = now is not None and now.unclosed
        after_brackets = now is not None and not in_brackets and now.last[-1:] in CLOSERS
        label = self.survey.label(text, wrapped and not after_brackets, broken)
        return None if label is not None and in_brackets and self.survey.count(label.name) < KNOWN else label

    def _is_full(self, text: str) -> bool:
        return self.survey.full is not None and len(text) >= self.survey.full

    def _is_cut(self, text: str) -> bool:
        if not is_cut(text):
            return False
        return self.survey.scene_marks < 2 or (text.isupper() and text[0] not in OPENERS)

    def _is_place(self, text: str, now: _Open | None, broken: bool) -> bool:
        """A bare location, unless it stands in mid-sentence, or all of this file's scenes are marked as such."""
        if not is_bare_location(text) or not self.survey.labelled:
            return False
        if now is not None and (now.unclosed or broken or (now.kind == "speech" and not ENDS.search(now.last))):
            return False
        marked = self.survey.scene_marks >= 2
        return not marked or (text[0] not in OPENERS and (names_place(text) or self.survey.places >= MANY_PLACES))

    def _goes_on(self, now: _Open, line: TextLine, wrapped: bool, broken: bool) -> bool:
        text = line.text
        if now.unclosed or (now.kind == "speech" and not now.last):
            return True
        if text[0] in OPENERS:
            whole = WHOLE.match(text)
            alone = whole is None or not text[whole.end() :].strip(" .")
            return now.kind == "speech" and (broken or (not alone and not line.gap))
        if now.kind != "speech" and now.last.rstrip(" .,")[-1:] in CLOSERS:
            return False
        if text[0].islower():
            return True
        if line.gap:
            return False
        return wrapped or (now.kind == "speech" and not ENDS.search(now.last))

    def _narrates(self, text: str) -> bool:
        if TALKING.search(text):
            return False
        words = text.split(maxsplit=4)
        for size in (1, 2, 3):
            name = " ".join(words[:size]).rstrip(",")
            if len(words) > size and self.survey.count(name.removesuffix("'s").removesuffix("’s")) >= KNOWN:
                return words[size][0].islower() or words[size][0] == "(" or name != " ".join(words[:size])
        return (len(words) > 1 or len(text) > 5) and text[-1] in ".)]:" and NARRATING.match(text) is not None

    def _speech(self, label: Label, number: int, takes: int) -> None:
        speakers = self.survey.speakers(label.name)
        self.close()
        if label.head != speakers[0] and _says_more(label.head, speakers):
            # what the label says besides the names is a direction of its own, before the words are spoken
            self.done.append(Description(self.source.at(number), label.head, comings_and_goings(label.head), takes=0))
        self._begin(_Open("speech", number, takes, [label.text] if label.text else [], speakers))

    def _begin(self, event: _Open) -> None:
        self.close()
        self.begun = self.begun or event.kind != "description"
        self.after_credit = False
        event.length = len(event.last)
        self.open = event

    def close(self) -> None:
        """Hand out the event being put together."""
        now, self.open = self.open, None
        if now is None:
            return
        at = self.source.at(now.number)
        text = " ".join(now.parts)
        if now.kind == "speech":
            if text:
                self.done.append(Speech(at, now.speakers, text, now.takes))
            else:
                self.done.append(Unread(at, " and ".join(now.speakers) + ":", "a speaker, and nothing said", now.takes))
        elif now.kind == "scene":
            where = setting(text)
            self.done.append(SceneStart(at, where, present(where), takes=now.takes))
        else:
            inner = without_brackets(text)
            cues = comings_and_goings(inner)
            if self.after_scene:  # the first direction of a scene says who is there
                cues = (*(Cue("enter", name) for name in present("," + inner)), *cues)
            self.done.append(Description(at, inner, cues, now.takes))
        self.after_scene = now.kind == "scene"


def _says_more(head: str, speakers: tuple[str, ...]) -> bool:
    """Does a label hold other words than the names of those who speak?"""
    names = {"and", *WORD.findall(" ".join(speakers).casefold())}
    return not names.issuperset(WORD.findall(head.casefold()))


def stitched(source: SourceFile, lines: Iterable[TextLine], survey: Survey) -> Iterator[Event]:
    """The events of a transcript's lines."""
    stitcher = _Stitcher(source, survey)
    for line in lines:
        stitcher.line(line)
        if stitcher.done:
            yield from stitcher.done
            stitcher.done.clear()
    stitcher.close()
    yield from stitcher.done
