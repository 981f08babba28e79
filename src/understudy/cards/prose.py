"""The prose of character cards: macros filled in, descriptions cut into sentences, example talk into turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from understudy.text import fold

__all__ = ["USER", "CardNames", "ExampleTurn", "conversations", "one_line", "sentences"]

USER = "User"

YOU = {"en": "you", "ja": "あなた", "zh": "你"}
CHARACTER = re.compile(r"\{\{\s*char\s*\}\}|<(?:bot|char)>", re.IGNORECASE)
USERS = re.compile(r"(?:\{\{\s*user\s*\}\}|<user>)(?P<own>['’]s\b)?", re.IGNORECASE)
COMMENT = re.compile(r"\{\{\s*(?://|comment\s*:|hidden_key\s*:)[^{}]*+\}\}", re.IGNORECASE)
CHOICE = re.compile(r"\{\{\s*(?:random|pick)\s*:{1,2}(?P<first>(?:\\.|[^,{}:\\])*+)[^{}]*+\}\}", re.IGNORECASE)
SURROGATE = re.compile("[\ud800-\udfff]")
SENTENCE_START = re.compile(r"(?:^|[.!?]\s+|\n\s*)[\"'“‘*(\[]*\Z")

START = re.compile(r"<start>", re.IGNORECASE)
COLON = re.compile("[:：]")
LONGEST_LABEL = 80
BULLET = re.compile(r"\s*(?:[-*•·+]\s+|\d{1,2}[.)]\s+)?")
SENTENCE_END = re.compile(
    r"(?P<latin>[.!?…][\"'”’)\]*_]*)\s+(?=[\"'“‘(\[*_]*[^\W_a-z])"  # a capital, a digit or another script follows
    r"|(?P<cjk>[。！？]+)(?![」』）”’。！？])"
)
ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|prof|capt|vs|e\.g|i\.e|no)|(?<![^\W_])[A-Z])\.\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CardNames:
    """Whom a card's macros stand for: the character, what it is called in passing, and whoever reads."""

    name: str
    called: str
    language: str = "en"

    def filled(self, text: str) -> str:
        """The text with its macros filled in; one that draws lots gives its first choice, so that reading repeats."""
        text = COMMENT.sub("", text)
        text = CHOICE.sub(lambda match: match["first"].replace("\\,", ",").strip(), text)
        return USERS.sub(self._you, CHARACTER.sub(lambda _: self.called, text))

    def _you(self, match: re.Match[str]) -> str:
        word = YOU.get(self.language, YOU["en"])
        if self.language == "en" and match["own"]:
            word = "your"
        begins = SENTENCE_START.search(match.string[max(0, match.start() - 8) : match.start()])
        return word.capitalize() if begins else word

    def speaker(self, label: str) -> str | None:
        """Who a label in front of a line stands for; None if it is no label but part of the line."""
        label = label.strip("*_ ")
        if CHARACTER.fullmatch(label):
            return self.name
        if USERS.fullmatch(label) or fold(label) in ("user", "you"):
            return USER
        own = {self.name, self.called, *self.name.split()}
        return self.name if fold(label) in {fold(name) for name in own} - {""} else None


class ExampleTurn(NamedTuple):
    """One turn of example talk; text before anybody speaks has no speaker."""

    speaker: str | None
    text: str


def conversations(examples: str, names: CardNames) -> Iterator[list[ExampleTurn]]:
    """The blocks of a card's example talk, each a conversation of its own."""
    for block in START.split(examples):
        turns: list[tuple[str | None, list[str]]] = []
        for line in filter(str.strip, block.splitlines()):
            colon = COLON.search(line, 0, LONGEST_LABEL)
            speaker = names.speaker(line[: colon.start()]) if colon else None
            if colon and speaker is not None:
                turns.append((speaker, [line[colon.end() :]]))
            elif turns:
                turns[-1][1].append(line)
            else:
                turns.append((None, [line]))
        spoken = [ExampleTurn(speaker, one_line(names.filled("\n".join(lines)))) for speaker, lines in turns]
        if any(turn.text for turn in spoken):
            yield [turn for turn in spoken if turn.text]


def sentences(text: str) -> tuple[str, ...]:
    """A description as sentences: a line that is a point of a list is one by itself."""
    pieces = []
    for line in text.splitlines():
        bullet = BULLET.match(line)
        line = line[bullet.end() if bullet else 0 :]
        start = 0
        for end in SENTENCE_END.finditer(line):
            stop = end.end("latin") if end["latin"] else end.end("cjk")
            if not (end["latin"] and ABBREVIATION.search(line[max(0, stop - 8) : stop])):
                pieces.append(line[start:stop])
                start = stop
        pieces.append(line[start:])
    return tuple(one_line(piece) for piece in pieces if any(letter.isalnum() for letter in piece))


def one_line(text: str) -> str:
    """A text as a story keeps it: no line ends, and no half characters, which files cannot hold."""
    return " ".join(SURROGATE.sub("\ufffd", text).split())
