"""What people do for HPD, of any story: rate a reply in its scene, or pick the proposed replies that would do.

A `criteria` study asks what HPD's human evaluation did: fluency, and relevance with scene, attributes and relations.
Each item is one reply of one agent; who wrote it is hidden. Beside agents, the story's own line can be rated
(`own = true`), which says what a reply that is right is given.

A `candidates` study is how HPD's test set was annotated. The material is what `understudy questions` writes: agents'
proposals that nobody has looked at. People tick those that would do, or write one; who proposed what is hidden.
`--format hpd` writes the set with "reviewed": true, as `bench hpd --data` reads it, and without who proposed what:

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
from understudy.papers.hpd.published import HPD_CRITERIA, hpd_rating
from understudy.progress import Progress
from understudy.sources.jsonstream import json_members
from understudy.sources.source import HEAD_BYTES, SourceFile
from understudy.story.dialogue import Example
from understudy.story.storyfile.toml_tables import replace_text
from understudy.story.wording import tie_sentence
from understudy.studies import Study, questions
from understudy.studies.item import Answer, Block, Option, Problem, Question, ShownLine, StudyItem
from understudy.studies.kind import (
    GivenAnswer,
    Kind,
    Row,
    answers_by,
    mean_row,
    scale_question,
    simulated_rating,
    without_checks,
    write_json_lines,
)

SCALES = (
    scale_question("fluency", "Is the reply fluent?", "cannot be understood", "as a person would say it"),
    scale_question("scene", "Does it fit the scene and what was said?", "not at all", "entirely"),
    scale_question("attributes", "Does it fit who they are?", "contradicts it", "entirely"),
    scale_question("relations", "Does it fit how they stand to the others?", "contradicts it", "entirely"),
)
METRICS = dict(zip((scale.name for scale in SCALES), HPD_CRITERIA, strict=True))
CRITERIA_TEMPLATE = """\
kind = "criteria"
title = "Does this reply fit?"
instructions = \"\"\"
You see a scene of a story, who the people in it are and how one of them stands to the others, what was said so far,
and a reply, which is marked. Rate the reply alone, from 1 to 5, in four respects.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 3
items_per_person = 20
checks = 1
seed = 0

[material]
story = "demo"              # a story file or folder, or demo
# characters = ["Zita"]     # whose replies (default: the main characters)
questions = "story"         # their own lines in the story; or a file: probes.toml, messages.txt (a message a line), or
                            # set.json as `understudy questions` writes it, with the replies that were proposed
# at = "2.1"                # lines before this moment only; of messages, the moment they are put (default: the end)
# facing = "Benedek"        # of messages: who puts them
turns = 2                   # lines before which at least so much was said in the scene
limit = 10                  # a sample of so many questions
agents = ["encoder", "tfidf"]   # who replies; of a set.json those who proposed, unless it is said
own = true                  # the story's own reply is rated too
"""


def _criteria_items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only(*questions.QUESTION_KEYS, "agents", "own")
    story, asked = questions.questions_of(study)
    names = _speakers(study, asked)

    def blocks(question: questions.AskedQuestion, text: str) -> list[Block]:
        return [*questions.persona_blocks(question.situation), questions.dialogue_block(question, text)]

    return questions.reply_items(study, story, asked, names, SCALES, blocks, progress)


def _speakers(study: Study, asked: Sequence[questions.AskedQuestion]) -> list[str]:
    if "agents" in study.material:
        names = list(dict.fromkeys(study.texts("agents")))
    else:
        names = list(dict.fromkeys(name for question in asked for name in question.proposed))
    return [*names, *([questions.OWN] if study.flag("own") else [])]


def _simulated_rating(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    agent = " ".join(item.hidden.get("agents", ()))
    return {scale.name: simulated_rating(scale, agent, item, skill, rng) for scale in SCALES}


def _criteria_figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """HPD's human columns, a row for each agent and criterion."""
    judged, rows = without_checks(answers), list[Row]()
    for agent in dict.fromkeys(agent for each in judged for agent in each.item.hidden["agents"]):
        of_agent = [each for each in judged if agent in each.item.hidden["agents"]]
        for name, metric in METRICS.items():
            paper = hpd_rating(agent, metric)
            rows.append(mean_row({"agent": agent}, metric, of_agent, name, paper, study.seed))
    return rows


def _write_ratings(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    """JSON lines: who replied what, and what one person gave it."""
    lines = []
    for each in without_checks(answers):
        reply = next(line for block in each.item.blocks for line in block.lines if line.is_asked)
        about = {"item": each.item.name, "agents": each.item.hidden["agents"], "character": reply.speaker}
        scores = {METRICS[name]: value for name, value in each.answer.items() if name in METRICS}
        lines.append(about | {"reply": reply.text, "person": each.person} | scores)
    write_json_lines(path, lines)


CRITERIA = Kind(
    "criteria",
    "rates a reply in its scene",
    CRITERIA_TEMPLATE,
    _criteria_items,
    _simulated_rating,
    outputs={"ratings": _write_ratings},
    unblinding=frozenset({"ratings"}),
    figures=_criteria_figures,
)


PICKED, WRITTEN = "picked", "own"
LEAST_NEGATIVES, MOST_NEGATIVES = 9, 10
LONGEST = 60  # words of a reply that somebody writes
STORY = "the story"
CANDIDATES_TEMPLATE = """\
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


def _candidate_items(study: Study, progress: Progress) -> list[StudyItem]:
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
        items.append(_candidate_item(session.key, question_of(source, session), proposed, study.seed))
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


def _candidate_item(name: str, example: Example, proposed: Mapping[str, str], seed: int) -> StudyItem:
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


def _candidate_problems(item: StudyItem, answer: Answer) -> list[Problem]:
    picked, written = answer.get(PICKED) or (), str(answer.get(WRITTEN) or "").strip()
    if not picked and not written:
        return [Problem(PICKED, "Tick at least one reply that would do, or write one below.")]
    if written in _texts(item).values():
        return [Problem(WRITTEN, "This reply stands in the list: tick it there.")]
    return []


def _candidate_figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
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


def _simulated_picks(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
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


CANDIDATES = Kind(
    "candidates",
    "picks the replies that would do among those that agents propose, or writes one",
    CANDIDATES_TEMPLATE,
    _candidate_items,
    _simulated_picks,
    _candidate_problems,
    outputs={"hpd": _write_hpd},
    figures=_candidate_figures,
)
