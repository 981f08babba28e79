"""Two who have just met talk, each as a given persona, as PersonaChat was collected; and a side of a chat is rated.

In a `chat` study one of the two may be an agent. A chat has two personas that differ, and 6 to 8 turns of each side,
drawn. Whether the partner is a person or which agent it is was drawn as well, and nobody is told. With `rate`, people
then say what PersonaChat's asked: how fluent, engaging and consistent the partner was, and which of two profiles was
theirs. `--format chats` writes the chats as `rate` studies, `bench profiles` and others take them.

In a `rate` study one side of a chat is rated in the same way. Of the two profiles one is that of the side that is
rated, the other is drawn from the same material and shares no sentence with either side's. Nothing shows whether a side
was a person or which agent it was. `--format volunteers` writes the ratings as ConvAI2 has published its own, for
`bench judged-chats --data FILE`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError, StoryError
from understudy.formats.chat_records import (
    HUMAN,
    ChatLine,
    ChatRecord,
    read_chats,
    read_judged_chats,
    read_persona_records,
)
from understudy.papers.personachat.published import PERSONACHAT_RATED, paper_model, personachat_rating
from understudy.progress import Progress
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import replace_text
from understudy.studies import Study, open_story, personas_of
from understudy.studies.assignment import PERSON
from understudy.studies.chatting import PROFILE
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.kind import (
    RATED_SCALES,
    GivenAnswer,
    Kind,
    Row,
    answers_by,
    mean_row,
    simulated_rating,
    without_checks,
    write_json_lines,
)
from understudy.text import guess_language

CHOICE = Question(
    PROFILE,
    "choice",
    "Which of these is your partner?",
    (Option("a", "The first"), Option("b", "The second")),
    is_shuffled=True,
)
KEYS = ("story", "personas", "chats", "agents", "agents_percent", "turns", "words", "rate", "patience_s", "arrives_s",
        "writes_s")  # fmt: skip
CHAT_TEMPLATE = """\
kind = "chat"
title = "Get to know somebody"
instructions = \"\"\"
You are somebody else for a while: a few sentences say who. Talk with a partner who plays somebody as well, and get to
know each other. Say things in your own words: copying from your description is refused, and so are more than 15 words.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have what I wrote deleted."
people_per_item = 2
items_per_person = 3        # chats of one person
checks = 0
seed = 0

[material]
story = "demo"              # whose cast's profiles are the personas
# personas = "personas.jsonl"   # or instead: what a `personas` or `revise` study wrote with --format personas
chats = 20                  # how many there are to be
agents = ["encoder"]        # who may be the partner beside people; leave out for people alone
agents_percent = 50         # of the chats are with an agent
turns = [6, 8]              # of each side, drawn
words = 15                  # at most so many a message
rate = true                 # afterwards: fluency, engagingness, consistency, and which of two profiles it was
patience_s = 120            # after so many seconds of waiting an agent comes, if there are agents
arrives_s = [3, 20]         # how long one waits for an agent at first, drawn
writes_s = [3, 12]          # how long an agent takes to write, drawn
"""


def _chat_items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only(*KEYS)
    personas = personas_of(study)
    if len(personas) < 2:
        raise InputError("a chat takes two personas that differ: name more of them under [material]")
    agents = study.listed("agents")
    chats, share = study.number("chats", 20), study.number("agents_percent", 50, least=0) / 100 if agents else 0.0
    rng = random.Random(study.seed)  # noqa: S311
    questions = (*RATED_SCALES, CHOICE) if study.material.get("rate", True) else ()
    items = []
    for number in range(chats):
        progress("Items", number, chats)
        drawn = rng.sample(personas, min(3, len(personas)))
        hidden = {
            "personas": [list(drawn[0]), list(drawn[1])],
            "foil": list(drawn[2]) if len(drawn) > 2 else [],
            "right": [rng.choice("ab"), rng.choice("ab")],
            "begins": rng.choice((0, 1)),
            "partner": rng.choice(agents) if rng.random() < share else PERSON,
            "agents": list(agents),
            "turns": rng.randint(*_range(study, "turns", (6, 8))),
            "most_words": study.number("words", 15),
            "language": guess_language(" ".join(drawn[0])),
            "patience_s": study.number("patience_s", 120, least=0),
            "arrives_s": list(_range(study, "arrives_s", (3, 20))),
            "writes_s": list(_range(study, "writes_s", (3, 12))),
        }
        asked = questions if hidden["foil"] else tuple(each for each in questions if each.name != PROFILE)
        people = 2 if hidden["partner"] == PERSON else 1
        items.append(StudyItem(f"chat {number + 1}", (), asked, hidden, people=people))
    return items


def _range(study: Study, key: str, default: tuple[int, int]) -> tuple[int, int]:
    value = study.material.get(key, list(default))
    match value:
        case [int(low), int(high)] if 0 <= low <= high:
            return low, high
    raise InputError(f"`{key}` under [material] is {value!r}: write two whole numbers such as {list(default)}")


def _simulated_talker(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """What is asked after a chat."""
    answer: dict[str, Any] = {}
    for question in item.questions:
        if question.type == "scale":
            answer[question.name] = simulated_rating(question, item.hidden["partner"], item, skill, rng)
        else:
            answer[question.name] = rng.choice("ab")
    return answer


def _side_of(each: GivenAnswer) -> int:
    return int(each.item.hidden["seated"].index(each.person))


def _partner_of(each: GivenAnswer) -> str:
    """Who a person talked with: an agent's name, 'human', or blank where the partner has withdrawn."""
    seated = str(each.item.hidden["seated"][1 - _side_of(each)])
    return seated if not seated or seated in each.item.hidden["agents"] else HUMAN


def _chat_figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """PersonaChat's table 4, a row for each partner and what was rated."""
    rows, rated = list[Row](), (each for each in answers if each.answer and _partner_of(each))
    for partner, judged in answers_by(_partner_of, rated).items():
        rows += _table_4({"agent": partner}, "self", judged, _is_partner_told, study.seed)
    return rows


Told = Callable[[GivenAnswer], float | None]
"""Whether the right profile was chosen."""


def _table_4(about: Row, shown: str, judged: Sequence[GivenAnswer], is_told: Told, seed: int) -> list[Row]:
    """A row for everything that was rated, beside the paper's."""
    model, rows = paper_model(about["agent"], shown), list[Row]()
    for metric in PERSONACHAT_RATED:
        paper, value = personachat_rating(model, metric), is_told if metric == DETECTED else metric
        rows.append(mean_row(about, metric, judged, value, paper, seed))
    return rows


def _is_partner_told(each: GivenAnswer) -> float | None:
    chosen = each.answer.get(PROFILE)
    return None if chosen is None else float(chosen == each.item.hidden["right"][_side_of(each)])


def _write_chats(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    """Each chat once, as JSON lines; one whose words are gone with somebody who withdrew is left out."""
    records = {each.item.name: _record(each.item) for each in answers if all(each.item.hidden["seated"])}
    write_json_lines(path, (record.document() for record in records.values()))


def _record(item: StudyItem) -> ChatRecord:
    hidden = item.hidden
    first, second = (name if name in hidden["agents"] else HUMAN for name in hidden["seated"])
    profiles = tuple(hidden["personas"][0]), tuple(hidden["personas"][1])
    return ChatRecord(
        item.name, (first, second), profiles, tuple(ChatLine(side, text) for side, text in hidden["chat"])
    )


CHAT = Kind(
    "chat",
    "talks with another person, or an agent, not knowing which",
    CHAT_TEMPLATE,
    _chat_items,
    _simulated_talker,
    outputs={"chats": _write_chats},
    unblinding=frozenset({"chats"}),
    figures=_chat_figures,
    is_live=True,
)


SIDES = (0, 1)
LABELS = ("Person A", "Person B")
RATED = ("all", "agents", "humans")
DETECTED = PERSONACHAT_RATED[-1]
RATE_TEMPLATE = """\
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


def _rate_items(study: Study, progress: Progress) -> list[StudyItem]:
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
        items.append(_rate_item(records[number], number, side, other, rng))
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


def _rate_item(
    record: ChatRecord, number: int, side: int, other: tuple[str, ...] | None, rng: random.Random
) -> StudyItem:
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


def _simulated_rater(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    speaker = str(item.hidden.get("speaker"))
    answer: dict[str, Any] = {scale.name: simulated_rating(scale, speaker, item, skill, rng) for scale in RATED_SCALES}
    if PROFILE in item.hidden:
        answer[PROFILE] = item.hidden[PROFILE] if rng.random() < skill else rng.choice("ab")
    return answer


def _rate_figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """PersonaChat's table 4, a row for each speaker, what it was given, and what was rated."""
    by_speaker = answers_by(
        lambda each: (each.item.hidden["speaker"], each.item.hidden["given"]), without_checks(answers)
    )
    rows = list[Row]()
    for (speaker, shown), judged in by_speaker.items():
        rows += _table_4({"agent": speaker, "given": shown}, shown, judged, _is_detected, study.seed)
    return rows


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


RATE = Kind(
    "rate",
    "rates a side of a chat, and says which profile was theirs",
    RATE_TEMPLATE,
    _rate_items,
    _simulated_rater,
    outputs={"volunteers": _write_volunteers},
    unblinding=frozenset({"volunteers"}),
    figures=_rate_figures,
)
