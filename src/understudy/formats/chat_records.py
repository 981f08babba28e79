"""Chats of two sides and personas, as they lie in files.

A chat is an object of JSON lines:

    {"id": "7", "speakers": ["kv", "human"], "profiles": [["i sail."], ["i knit."]],
     "turns": [{"speaker": 0, "text": "hello"}, {"speaker": 1, "text": "hi"}], "given": "self"}

`speakers` says who sat on each side: the agent as it was named, or 'human'. A turn's speaker is its side, 0 or 1,
since both sides may be the same agent. `given` is what an agent was shown of the profiles: 'self', 'both' or 'none'.
`replayed` is true where a person's side was taken from another chat, so that it answers nobody here. A chat of a
story's characters has their `names` and the `moment` too.

A persona is an object of JSON lines, too:

    {"persona": ["i love to ski.", "i have two cats."], "original": ["..."]}

`original` are the sentences that a persona was revised from, one for each of its own; it is there only where it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from understudy.errors import InputError
from understudy.sources.jsonstream import json_lines, load_json
from understudy.sources.source import SourceFile

HUMAN = "human"
GIVEN = ("self", "both", "none")


class ChatLine(NamedTuple):
    """One turn, and which side said it."""

    side: int
    text: str


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """One chat; what is there for each side has side 0 first."""

    id: str
    speakers: tuple[str, str]
    profiles: tuple[tuple[str, ...], tuple[str, ...]]
    turns: tuple[ChatLine, ...]
    given: str = "self"
    replayed: bool = False
    names: tuple[str, str] | None = None
    moment: str = ""

    def said(self, side: int) -> tuple[str, ...]:
        """What one side said, turn by turn; turns without words are left out."""
        return tuple(turn.text for turn in self.turns if turn.side == side and turn.text.strip())

    def document(self) -> dict[str, Any]:
        about: dict[str, Any] = {"given": self.given}
        if self.replayed:
            about["replayed"] = True
        if self.names is not None:
            about |= {"names": list(self.names), "moment": self.moment}
        return {
            "id": self.id,
            "speakers": list(self.speakers),
            "profiles": [list(profile) for profile in self.profiles],
            **about,
            "turns": [{"speaker": turn.side, "text": turn.text} for turn in self.turns],
        }


def _documents(path: Path) -> Iterator[tuple[int, Any]]:
    """The documents of a file, one a line, each with its line; none in an empty file."""
    if path.stat().st_size:
        yield from ((location.line, document) for location, document in json_lines(SourceFile(path)))


def read_chats(path: Path) -> Iterator[ChatRecord]:
    """The chats of a file, one a line."""
    seen: set[str] = set()
    for number, document in _documents(path):
        record = _record(document, path, number)
        if record.id in seen:
            raise InputError(f"has the chat '{record.id}' a second time", path, number)
        seen.add(record.id)
        yield record


def _record(document: Any, path: Path, number: int) -> ChatRecord:
    def problem(what: str) -> InputError:
        return InputError(f"{what}: a chat is {{id, speakers, profiles, turns: [{{speaker, text}}]}}", path, number)

    if not isinstance(document, dict):
        raise problem("is no object")
    speakers, names = (_pair_of_texts(document.get(key)) for key in ("speakers", "names"))
    if speakers is None:
        raise problem("'speakers' are not two names")
    if names is None and "names" in document:
        raise problem("'names' are not two names")
    profiles, turns = document.get("profiles"), document.get("turns")
    own, partner = map(parse_profile, profiles if isinstance(profiles, list) and len(profiles) == 2 else (None, None))
    if own is None or partner is None:
        raise problem("'profiles' are not two lists of sentences")
    lines = [_line(turn) for turn in turns] if isinstance(turns, list) else [None]
    if not all(lines):
        raise problem("'turns' are not objects with a speaker, 0 or 1, and a text")
    given = document.get("given", GIVEN[0])
    if given not in GIVEN:
        raise problem(f"'given' is none of {', '.join(GIVEN)}")
    return ChatRecord(
        str(document.get("id", number)), speakers, (own, partner), tuple(line for line in lines if line), given,
        document.get("replayed") is True, names, str(document.get("moment", "")),
    )  # fmt: skip


def parse_profile(sentences: object) -> tuple[str, ...] | None:
    """The sentences of a profile; None where it is no list of texts."""
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        return None
    return tuple(sentence.strip() for sentence in sentences if sentence.strip())


def _pair_of_texts(value: object) -> tuple[str, str] | None:
    match value:
        case [str(first), str(second)]:
            return first, second
        case _:
            return None


def _line(turn: object) -> ChatLine | None:
    match turn:
        case {"speaker": (0 | 1) as side, "text": str(text)} if not isinstance(side, bool):
            return ChatLine(side, text)
        case _:
            return None


# People's chats with bots, as ConvAI2 collected and published them: a JSON list, an object a chat.
#
#     dialog          messages in order: {"sender_class": "Human" | "Bot", "text", "evaluation_score"}, the last one 1
#                     or 0 where the person liked or disliked a message of the bot, else null
#     bot_profile     the profile that the bot was given; user_profile the person's
#     eval_score      how the person liked the chat, 1 to 5; null where they did not say
#     profile_match   1 where the person, shown the bot's profile and another one drawn at random, chose the bot's, 0
#                     where they chose the other; "" where they were not asked or did not say
#
# The other profile that was shown is not in the file. `participant1_id` and `participant2_id`, where they are there,
# say who chatted with which bot; without them every chat counts as a person of its own.
#
# In a record the person is side 0 and the bot side 1.


HUMAN_SIDE, BOT_SIDE = 0, 1
SIDES = {"Human": HUMAN_SIDE, "Bot": BOT_SIDE}
SCORES = range(1, 6)
FILES = "*volunteers*.json"


@dataclass(frozen=True, slots=True)
class JudgedChat:
    """A chat of a person with a bot, what the person said of it, and who they were."""

    record: ChatRecord
    person: str
    score: int | None
    matched: bool | None
    liked: tuple[bool | None, ...]
    """Of each turn: whether the person liked it; None where they did not say."""

    @property
    def name(self) -> str:
        """What an item is called: the part before the dot is the group it belongs to."""
        return f"{self.person.replace('.', ' ')}.{self.record.id}"


def volunteers_file(data: Path) -> Path:
    """The file of chats in a folder, or the file itself."""
    if data.is_file():
        return data
    files = sorted(data.glob(FILES))
    if not files:
        raise InputError(f"holds no {FILES}, the chats of ConvAI2's volunteers: name the folder that has it", data)
    return files[0]


def read_judged_chats(path: Path) -> list[JudgedChat]:
    documents = load_json(path)
    if not isinstance(documents, list) or not documents:
        raise InputError("is not a list of chats", path)
    return [_judged_chat(document, number, path) for number, document in enumerate(documents, 1)]


def _judged_chat(document: Any, number: int, path: Path) -> JudgedChat:
    def problem(what: str) -> InputError:
        return InputError(f"record {number}: {what}", path)

    def answer(value: Any, allowed: Collection[int], form: str, what: str, blank: Collection[Any] = (None,)) -> Any:
        """A number that a person was asked for; None where they did not say."""
        if value in blank:
            return None
        if isinstance(value, bool) or value not in allowed:
            raise problem(f"{what} {value!r}, and must {form}")
        return value

    def participant(key: str) -> str:
        match document.get(key):
            case {"user_id": str(user)}:
                return user
            case None:
                return ""
            case _:
                raise problem(f"'{key}' has no user_id")

    if not isinstance(document, dict):
        raise problem("is no object")
    person, bot = participant("participant1_id") or f"chat {number}", participant("participant2_id") or "bot"
    profiles = {key: parse_profile(document.get(key)) or () for key in ("user_profile", "bot_profile")}
    if empty := [key for key, profile in profiles.items() if not profile]:
        raise problem(f"'{empty[0]}' is no list of sentences")
    dialog = document.get("dialog")
    if not isinstance(dialog, list):
        raise problem("'dialog' is no list of messages")
    turns, liked = list[ChatLine](), list[bool | None]()
    for at, message in enumerate(dialog, 1):
        match message:
            case {"sender_class": ("Human" | "Bot") as sender, "text": str(text)}:
                turns.append(ChatLine(SIDES[sender], text))
            case _:
                raise problem(f"message {at} lacks a text, or a sender_class that is Human or Bot")
        mark = answer(
            message.get("evaluation_score"), (0, 1), "have 0, 1 or null", f"message {at} has the evaluation_score"
        )
        liked.append(None if mark is None else mark == 1)
    score = answer(document.get("eval_score"), SCORES, "be 1 to 5 or null", "'eval_score' is")
    matched = answer(document.get("profile_match"), (0, 1), 'be 0, 1 or ""', "'profile_match' is", ("", None))
    record = ChatRecord(str(number), (HUMAN, bot), (profiles["user_profile"], profiles["bot_profile"]), tuple(turns))
    return JudgedChat(record, person, score, None if matched is None else matched == 1, tuple(liked))


# Personas.


@dataclass(frozen=True, slots=True)
class PersonaRecord:
    """The sentences of a persona, and those they were revised from."""

    sentences: tuple[str, ...]
    original: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        document = {"persona": list(self.sentences)}
        return document | ({"original": list(self.original)} if self.original else {})


def read_persona_records(path: Path) -> Iterator[PersonaRecord]:
    """The personas of a file, one a line."""
    for number, document in _documents(path):
        sentences = parse_profile(document.get("persona")) if isinstance(document, dict) else None
        if not sentences:
            raise InputError('has no persona: write {"persona": ["...", "..."]} on each line', path, number)
        yield PersonaRecord(sentences, parse_profile(document.get("original")) or ())
