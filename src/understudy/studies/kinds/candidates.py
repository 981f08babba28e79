"""Which of the proposed replies would do? How HPD's test set was annotated, for the questions of any story.

The material is what `understudy questions` writes: agents' proposals that nobody has looked at. People tick those that
would do, or write one; who proposed what is hidden. `--format hpd` writes the set with "reviewed": true, as
`bench hpd --data` reads it, and without who proposed what:

    positives   the story's own reply, what more than half of a question's judges picked, and what they wrote
    negatives   of the others the ten that the fewest picked, at least nine
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.evidence import measure
from understudy.formats.hpd import question_of, session_of
from understudy.formats.recognition import is_hpd
from understudy.metrics.statistics import interval
from understudy.progress import Progress
from understudy.sources.jsonstream import json_members
from understudy.sources.source import HEAD_BYTES, SourceFile
from understudy.story.dialogue import Example
from understudy.story.storyfile.toml_tables import replace_text
from understudy.story.wording import tie_sentence
from understudy.studies import Study
from understudy.studies.item import Answer, Block, Option, Problem, Question, ShownLine, StudyItem
from understudy.studies.kind import GivenAnswer, Kind, Row, answers_by

PICKED, WRITTEN = "picked", "own"
LEAST_NEGATIVES, MOST_NEGATIVES = 9, 10
LONGEST = 60  # words of a reply that somebody writes
STORY = "the story"
TEMPLATE = """\
kind = "candidates"
title = "Which reply would do?"
instructions = \"\"\"
You see a scene, who somebody is then and how they stand to the others, and what has been said.
Tick every reply that this character could well give here. If none would do, write one yourself.
Leave unticked what does not fit the scene, contradicts who they are, or how they feel about whom they talk to.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 3
items_per_person = 20
seed = 0

[material]
questions = "set.json"      # made by: understudy questions demo -o set.json --limit 20
own_reply = "shown"         # the story's own reply stands among the others, unmarked; or "hidden"
"""


def reviewed_sessions(documents: Mapping[str, Any], answers: Sequence[GivenAnswer]) -> dict[str, Any]:
    """HPD's sessions by name, those that were judged, with the replies as people picked them over."""
    by_item = answers_by(lambda each: each.item.name, answers)
    reviewed = {name: documents[name] | _reviewed(documents[name], of_item) for name, of_item in by_item.items()}
    for session in reviewed.values():
        del session["proposed"]  # it says which agent wrote what
    return reviewed


def _reviewed(document: Mapping[str, Any], answers: Sequence[GivenAnswer]) -> dict[str, Any]:
    """What of a session changes."""
    own = answers[0].item.hidden["own"]
    texts = _texts(answers[0].item)
    picks = Counter(dict.fromkeys(texts, 0))
    picks.update(key for each in answers for key in each.answer.get(PICKED, ()))
    proposed = [key for key in texts if key != own]
    proposed.sort(key=lambda key: -picks[key])  # those picked by the same number stay in their order
    picked = [key for key in proposed if 2 * picks[key] > len(answers)][: max(len(proposed) - LEAST_NEGATIVES, 0)]
    wrong = [key for key in reversed(proposed) if key not in picked][:MOST_NEGATIVES]
    written = [str(each.answer.get(WRITTEN) or "").strip() for each in answers]
    right = [document["positive_response"], *(texts[key] for key in picked), *filter(None, written)]
    return {
        "positive_response": list(dict.fromkeys(right)),
        "negative_response": [texts[key] for key in wrong],
        "picked": {texts[key]: picks[key] for key in texts},
        "judges": len(answers),
        "reviewed": True,
    }


def _texts(item: StudyItem) -> dict[str, str]:
    return {option.key: option.label for option in item.questions[0].options}


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only("questions", "own_reply")
    path = study.path("questions")
    own_reply = study.choice("own_reply", ("shown", "hidden"))
    with path.open("rb") as file:
        if not is_hpd(measure(file.read(HEAD_BYTES), path)):
            raise InputError("is no set of questions: make one with `understudy questions STORY -o FILE`", path)
    source = SourceFile(path)
    members = list(json_members(source))
    items = []
    for number, (location, document) in enumerate(members):
        progress("Items", number, len(members))
        session = session_of(source, location, document)
        proposed = _proposed(document, session.key, path)
        if own_reply == "shown":
            proposed[document["positive_response"]] = ""
        items.append(_item(session.key, question_of(source, session), proposed, study.seed))
    return items


def _proposed(document: Mapping[str, Any], name: str, path: Path) -> dict[str, str]:
    """Each proposed reply's agent; whoever proposed what the story says itself proposed nothing wrong."""
    match document:
        case {"positive_response": str(own), "proposed": list(entries)} if all(map(_is_proposal, entries)):
            pass
        case _:
            raise InputError(f"'{name}' lacks what agents proposed: make the set with `understudy questions`", path)
    if document.get("reviewed"):
        raise InputError(f"'{name}' has been reviewed: take the set as `understudy questions` wrote it", path)
    proposed = {entry["text"]: entry["agent"] for entry in entries if entry["text"] != own}
    if len(proposed) <= LEAST_NEGATIVES:
        raise InputError(f"'{name}' has {len(proposed)} proposals, too few to leave {LEAST_NEGATIVES} wrong ones", path)
    return proposed


def _is_proposal(entry: Any) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("text", "agent"))


def _item(name: str, example: Example, proposed: Mapping[str, str], seed: int) -> StudyItem:
    """`proposed`: each reply's agent; blank for the story's own."""
    order = random.Random(f"{seed} {name}").sample(list(proposed), len(proposed))  # noqa: S311
    options = tuple(Option(f"r{number}", text) for number, text in enumerate(order, 1))
    who = example.situation.persona.name
    own = next((option.key for option in options if not proposed[option.label]), None)
    agents = {option.key: proposed[option.label] for option in options if option.key != own}
    # The same whatever is ticked: a limit that fell with the story's own reply unticked would tell which one it is.
    most = len(agents) - LEAST_NEGATIVES
    questions = (
        Question(
            PICKED, "choices", f"Which of these could {who} say now?", options, is_required=False, is_shuffled=True,
            most=most, help=f"At most {most}: the ones that fit best.",
        ),
        Question(WRITTEN, "text", "If none would do: what could they say?", is_required=False, most_words=LONGEST),
    )  # fmt: skip
    return StudyItem(name, tuple(_blocks(example)), questions, {"agents": agents, "own": own})


def _blocks(example: Example) -> Iterator[Block]:
    situation = example.situation
    persona = situation.persona
    if situation.setting:
        yield Block("The scene", (ShownLine(None, situation.setting),))
    if persona.profile:
        yield Block(f"Who {persona.name} is now", tuple(ShownLine(persona.name, text) for text in persona.profile))
    others_profiles = [
        text for other in (situation.faced, *situation.present) if other is not None for text in other.profile
    ]
    ties = [tie_sentence(tie, persona.language) for tie in persona.relations]
    if ties or others_profiles:
        said = dict.fromkeys(
            [*(ShownLine(persona.name, text) for text in ties), *(ShownLine(None, text) for text in others_profiles)]
        )
        yield Block(f"{persona.name} and the others", tuple(said))
    yield Block("What has been said", tuple(ShownLine(turn.speaker, turn.text) for turn in example.history))


def _problems(item: StudyItem, answer: Answer) -> list[Problem]:
    picked, written = answer.get(PICKED) or (), str(answer.get(WRITTEN) or "").strip()
    if not picked and not written:
        return [Problem(PICKED, "Tick at least one reply that would do, or write one below.")]
    if written in _texts(item).values():
        return [Problem(WRITTEN, "This reply stands in the list: tick it there.")]
    return []


def _figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """picked: how often a judge ticked a reply of each agent, and the story's own; intervals draw whole questions."""
    marks: dict[str, list[tuple[str, bool]]] = {}
    for each in answers:
        authors = dict(each.item.hidden["agents"])
        if each.item.hidden["own"] is not None:
            authors[each.item.hidden["own"]] = STORY
        for key, agent in authors.items():
            marks.setdefault(agent, []).append((each.item.name, key in (each.answer.get(PICKED) or ())))
    rows = []
    for agent, ours in marks.items():
        share = interval([picked for _, picked in ours], [name for name, _ in ours], study.seed)
        row = {"agent": agent, "metric": "picked", "value": share.value, "low": share.low, "high": share.high}
        rows.append(row | {"n": len(ours), "paper": None})
    return rows


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """Somebody skilled ticks the story's own reply, if it is there, and some on which all lean the same way."""
    keys = list(_texts(item))
    leaning = random.Random(item.name).sample(keys, 1)  # noqa: S311
    wanted = dict.fromkeys([item.hidden["own"] or leaning[0]])
    wanted[leaning[0]] = None
    picked = [key if rng.random() < skill else rng.choice(keys) for key in wanted]
    picked = list(dict.fromkeys(picked))[: item.questions[0].most]
    return {PICKED: picked, WRITTEN: "" if picked else "Let me think about it."}


def _write_hpd(study: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    questions = study.path("questions")
    documents = {location.key: document for location, document in json_members(SourceFile(questions))}
    for each in answers:
        if each.item.name not in documents:
            raise InputError(f"has no question '{each.item.name}' any more, which people have judged", questions)
    replace_text(path, json.dumps(reviewed_sessions(documents, answers), ensure_ascii=False, indent=1) + "\n")


KIND = Kind(
    "candidates",
    "picks the replies that would do among those that agents propose, or writes one",
    TEMPLATE,
    _items,
    _simulated,
    _problems,
    outputs={"hpd": _write_hpd},
    figures=_figures,
)
