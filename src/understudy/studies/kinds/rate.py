"""Rate one side of a chat, as PersonaChat's table 4: fluency, engagingness, consistency, and which profile was theirs.

Of the two profiles one is that of the side that is rated, the other is drawn from the same material and shares no
sentence with either side's. Nothing shows whether a side was a person or which agent it was.

`--format volunteers` writes the ratings as ConvAI2 has published its own, for `bench judged-chats --data FILE`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError, StoryError
from understudy.formats.chat_records import HUMAN, ChatRecord, read_chats, read_judged_chats, read_persona_records
from understudy.papers.personachat.published import PERSONACHAT_RATED, paper_model, personachat_rating
from understudy.progress import Progress
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import replace_text
from understudy.studies import Study, open_story
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.kind import RATED_SCALES, GivenAnswer, Kind, Row, mean_row, simulated_rating, without_checks

SIDES = (0, 1)
LABELS = ("Person A", "Person B")
PROFILE = "profile"
RATED = ("all", "agents", "humans")
DETECTED = PERSONACHAT_RATED[-1]
TEMPLATE = """\
kind = "rate"
title = "Rate a chat"
instructions = \"\"\"
You read a chat of two who have just met and rate one of them. Some are people, some are programs; you are not told.
Fluency: do they write as people do? Engagingness: would you go on talking with them? Consistency: do they fit
themselves from line to line? Then say which of two descriptions is theirs.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 3
items_per_person = 10
checks = 1
seed = 0

[material]
chats = "chats.jsonl"       # from a `chat` study, ConvAI2's volunteers, or made by agents:
#   understudy self-chat --story demo --who Zita,Benedek --agents encoder,tfidf --chats 20 -o chats.jsonl
rate = "all"                # whose sides: all, agents or humans
profiles = "demo"           # where the other profile is drawn from: a story, for chats of its characters, or a file of
                            # personas; without it, from the other chats
# limit = 100               # a sample of so many sides
"""


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only("chats", "rate", "limit", "profiles")
    records = _records(study)
    sides = [(number, side) for number, record in enumerate(records) for side in _rated(study, record)]
    if not sides:
        raise InputError("holds no side to rate: set `rate` to another of all, agents, humans", study.path("chats"))
    rng = random.Random(study.seed)  # noqa: S311
    limit = study.number("limit", len(sides))
    chosen = sides if limit >= len(sides) else sorted(rng.sample(sides, limit))
    profiles = _ProfilePool(study, records)
    items: list[StudyItem] = []
    for number, side in chosen:
        progress("Items", len(items), len(chosen))
        other = profiles.draw(records[number], side, rng)
        items.append(_item(records[number], number, side, other, rng))
    return items


def _records(study: Study) -> list[ChatRecord]:
    path = study.path("chats")
    with path.open("rb") as file:
        is_list = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    records = [chat.record for chat in read_judged_chats(path)] if is_list else list(read_chats(path))
    if not records:
        raise InputError("holds no chat to rate: make some with `understudy self-chat`, or a `chat` study", path)
    return records


def _rated(study: Study, record: ChatRecord) -> Iterator[int]:
    """The sides of a chat that are rated; a person whose part was replayed answers nobody, so there is none to rate."""
    wanted = study.choice("rate", RATED)
    for side in SIDES:
        is_human = record.speakers[side] == HUMAN
        is_wanted = wanted == "all" or (wanted == "humans") == is_human
        if is_wanted and record.said(side) and not (is_human and record.replayed):
            yield side


def _item(record: ChatRecord, number: int, side: int, other: tuple[str, ...] | None, rng: random.Random) -> StudyItem:
    names = record.names or LABELS
    said = tuple(
        ShownLine(names[turn.side], turn.text, is_asked=turn.side == side) for turn in record.turns if turn.text.strip()
    )
    hidden = {"chat": record.id, "side": side, "speaker": record.speakers[side], "given": record.given}
    questions: tuple[Question, ...] = RATED_SCALES
    if record.profiles[side] and other:
        keys = ["a", "b"]
        rng.shuffle(keys)
        options = sorted(zip(keys, (record.profiles[side], other)))
        label = f"Which of these is {names[side]}?"
        labels = tuple(Option(key, "\n".join(profile)) for key, profile in options)
        questions = (*RATED_SCALES, Question(PROFILE, "choice", label, labels, is_shuffled=True))
        hidden[PROFILE] = keys[0]
    return StudyItem(f"chat {number + 1}.{side}", (Block(f"A chat. You rate {names[side]}", said),), questions, hidden)


class _ProfilePool:
    """Profiles of which the other one is drawn: those of all chats, of a file, or of a story's cast.

    A story's people are as they are at the moment of the chat, so that their profiles are like those of the chat;
    sentences that would fit many of them ('I am a woman.') are left out where a side has them too.
    """

    def __init__(self, study: Study, records: Sequence[ChatRecord]) -> None:
        self._story: Story | None = None
        self._by_moment: dict[str, list[tuple[str, ...]]] = {}
        if "profiles" not in study.material:
            self._every = sorted({profile for record in records for profile in record.profiles if profile})
        elif Path(study.text("profiles")).suffix.lower() == ".jsonl":
            self._every = [record.sentences for record in read_persona_records(study.path("profiles"))]
        else:
            self._story = open_story(study, "profiles")

    def draw(self, record: ChatRecord, side: int, rng: random.Random) -> tuple[str, ...] | None:
        """One that shares no sentence with either side's; None where there is none."""
        taken = {sentence.casefold() for profile in record.profiles for sentence in profile}
        if self._story is None:
            candidates = [each for each in self._every if taken.isdisjoint(sentence.casefold() for sentence in each)]
        else:
            remainders = {
                each: tuple(sentence for sentence in each if sentence.casefold() not in taken)
                for each in self._at(self._story, record.moment or "end")
            }
            candidates = [
                remainder for each, remainder in remainders.items() if len(remainder) > len(each) / 2
            ]  # others than the two
            longer = [each for each in candidates if len(each) >= len(record.profiles[side]) / 2]
            candidates = longer or candidates  # a profile that is far shorter would be told by its length
        return rng.choice(candidates) if candidates else None

    def _at(self, story: Story, moment: str) -> list[tuple[str, ...]]:
        if moment not in self._by_moment:
            described = (member.character.name for member in story.cast() if member.character.profile)
            self._by_moment[moment] = list(_profiles(story, described, moment))
        return self._by_moment[moment]


def _profiles(story: Story, names: Iterable[str], moment: str) -> Iterator[tuple[str, ...]]:
    for name in names:
        try:
            yield persona_at(story, name, moment).profile
        except StoryError:  # not born yet, or dead
            continue


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    speaker = str(item.hidden.get("speaker"))
    answer: dict[str, Any] = {scale.name: simulated_rating(scale, speaker, item, skill, rng) for scale in RATED_SCALES}
    if PROFILE in item.hidden:
        answer[PROFILE] = item.hidden[PROFILE] if rng.random() < skill else rng.choice("ab")
    return answer


def _figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """PersonaChat's table 4, a row for each speaker, what it was given, and what was rated."""
    by_speaker: dict[tuple[str, str], list[GivenAnswer]] = {}
    for each in without_checks(answers):
        by_speaker.setdefault((each.item.hidden["speaker"], each.item.hidden["given"]), []).append(each)
    rows = []
    for (speaker, shown), judged in by_speaker.items():
        about = {"agent": speaker, "given": shown}
        model = paper_model(speaker, shown)
        for metric in PERSONACHAT_RATED:
            value = _is_detected if metric == DETECTED else _scale(metric)
            rows.append(mean_row(about, metric, judged, value, personachat_rating(model, metric), study.seed))
    return rows


def _scale(name: str) -> Any:
    return lambda each: each.answer.get(name)


def _is_detected(each: GivenAnswer) -> float | None:
    if PROFILE not in each.item.hidden or PROFILE not in each.answer:
        return None
    return float(each.answer[PROFILE] == each.item.hidden[PROFILE])


def _write_volunteers(study: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    """A chat for each rating: the rated side is the bot, the other the person; the score is engagingness."""
    records = {record.id: record for record in _records(study)}
    documents = []
    for each in without_checks(answers):
        hidden = each.item.hidden
        record, side = records[hidden["chat"]], hidden["side"]
        if not all(record.profiles):
            continue
        matched = _is_detected(each)
        documents.append(
            {
                "dialog": [
                    {"id": number, "sender_class": "Bot" if turn.side == side else "Human", "text": turn.text,
                     "evaluation_score": None}
                    for number, turn in enumerate(record.turns)
                ],
                "bot_profile": list(record.profiles[side]),
                "user_profile": list(record.profiles[1 - side]),
                "eval_score": each.answer["engagingness"],
                "profile_match": "" if matched is None else int(matched),
                "participant1_id": {"class": "User", "user_id": each.person},
                "participant2_id": {"class": "Bot", "user_id": hidden["speaker"]},
            }
        )  # fmt: skip
    replace_text(path, json.dumps(documents, ensure_ascii=False, indent=1) + "\n")


KIND = Kind(
    "rate",
    "rates a side of a chat, and says which profile was theirs",
    TEMPLATE,
    _items,
    _simulated,
    outputs={"volunteers": _write_volunteers},
    unblinding=frozenset({"volunteers"}),
    figures=_figures,
)
