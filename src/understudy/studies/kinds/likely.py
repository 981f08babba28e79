"""Would this character say this? Several people judge each line.

NoL (number of likelies) of a line is how many of its judges said 'likely'; the paper asked five. Lines come from a
file, or are what agents reply to questions (`studies.questions`).

`--format voice` writes the folder that `bench voice --judge` reads: a file of judged lines for each character and
names.json, which says where the character's own lines are. Where the material names no `novel`, these are the story's,
written beside them, so that the folder is its own `--data`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.progress import Progress
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona, persona_at
from understudy.story.storyfile import Story
from understudy.studies import Study, open_story
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.kind import GivenAnswer, Kind, Row, mean_row, without_checks
from understudy.studies.questions import OWN, QUESTION_KEYS, AskedQuestion, questions_of, reply_items, text_lines

YES = "likely"
QUESTION = Question(
    "likely", "choice", "Would this character say this?", (Option(YES, "Likely"), Option("unlikely", "Unlikely"))
)
SAMPLE_LINES = 10
LINES_KEYS = ("story", "character", "at", "lines")
SOMEBODY = "Somebody"
NAMES = "names.json"
TEMPLATE = """\
kind = "likely"
title = "Would Zita say this?"
instructions = \"\"\"
You see who somebody is and what they have said, then one line.
Say whether they are likely to say it. Go by how they talk and who they are; there is no right answer.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 5
items_per_person = 30
checks = 1
seed = 0

[material]
story = "demo"              # a story file or folder, or demo
at = "end"                  # the moment of the story
characters = ["Zita"]       # who is asked
questions = "story"         # its own lines; or probes.toml, or messages.txt (a message a line)
agents = ["encoder", "tfidf"]  # whose replies are judged
own = true                  # the story's own replies are judged too (questions = "story")
limit = 10                  # a sample of so many questions
# turns = 2                 # questions = "story": at least so much was said before
# facing = "Benedek"        # of messages: who puts them
# Or, instead of characters, questions, agents, own and limit, lines of a file:
# character = "Zita"
# lines = "lines.txt"       # a line each, or: what was said to them<TAB>their reply
# novel = "12.json"         # for `bench voice --data DIR`: the file of DIR that has the character's own lines
#                             (default: the story's lines, written beside the results)
"""


def number_of_likelies(answers: Sequence[GivenAnswer]) -> Counter[str]:
    """Item name -> how many people said 'likely'."""
    counts: Counter[str] = Counter({each.item.name: 0 for each in answers})
    counts.update(each.item.name for each in answers if each.answer.get(QUESTION.name) == YES)
    return counts


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    if "agents" in study.material:
        study.only(*QUESTION_KEYS, "agents", "own", "novel")
        return _reply_items(study, progress)
    study.only(*LINES_KEYS, "novel")
    persona = persona_at(open_story(study), study.text("character"), study.text("at", "end"))
    about = _about(persona, study.seed)
    rows = _rows(study.path("lines"))
    items = []
    for number, (context, reply) in enumerate(rows, 1):
        progress("Items", number, len(rows))
        said = [ShownLine(SOMEBODY, context)] if context else []
        asked = Block("The line", (*said, ShownLine(persona.name, reply, is_asked=True)))
        items.append(StudyItem(f"line {number}", (*about, asked), (QUESTION,)))
    return items


def _reply_items(study: Study, progress: Progress) -> list[StudyItem]:
    story, asked = questions_of(study)
    names = [*dict.fromkeys(study.texts("agents")), *([OWN] if study.flag("own") else [])]

    def blocks(question: AskedQuestion, text: str) -> list[Block]:
        persona, prompt = question.situation.persona, question.history[-1]
        said = (ShownLine(prompt.speaker, prompt.text), ShownLine(persona.name, text, is_asked=True))
        return [*_scene(question.situation), *_about(persona, study.seed), Block("The line", said)]

    return reply_items(study, story, asked, names, (QUESTION,), blocks, progress)


def _scene(situation: Situation) -> list[Block]:
    return [Block("The scene", (ShownLine(None, situation.setting),))] if situation.setting else []


def _about(persona: Persona, seed: int) -> list[Block]:
    """Who the character is, and a sample of what it has said."""
    own = [line.text for line in persona.past.lines()]
    sample = random.Random(seed).sample(own, min(SAMPLE_LINES, len(own)))  # noqa: S311
    blocks = [
        Block(f"Who {persona.name} is", tuple(ShownLine(None, text) for text in persona.profile)),
        Block(f"What {persona.name} has said", tuple(ShownLine(persona.name, text) for text in sample)),
    ]
    return [block for block in blocks if block.lines]


def _rows(path: Path) -> list[tuple[str, str]]:
    rows = []
    for line in text_lines(path):
        context, _, reply = line.rpartition("\t")
        rows.append((context.strip(), reply.strip()))
    if not rows:
        raise InputError("holds no line to judge: write one on each line", path)
    return rows


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """Without a right answer, skill is how far people agree: each line leans one way."""
    leaning = random.Random(item.name).choice([option.key for option in QUESTION.options])  # noqa: S311
    chosen = leaning if rng.random() < skill else rng.choice([option.key for option in QUESTION.options])
    return {QUESTION.name: chosen}


def _judged_line(item: StudyItem) -> tuple[str, str, str]:
    """(who, what was said to them, the line that was judged)."""
    *said, line = item.blocks[-1].lines
    return line.speaker or "", said[-1].text if said else "", line.text


def _figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """By character and, where agents wrote the lines, by agent: the share of 'likely' and the mean NoL of a line."""
    judged: dict[tuple[str, str], list[GivenAnswer]] = {}
    for each in without_checks(answers):
        for agent in each.item.hidden.get("agents", ("",)):
            judged.setdefault((_judged_line(each.item)[0], agent), []).append(each)
    rows = []
    for (character, agent), of_agent in judged.items():
        about = {"character": character, "agent": agent or None}
        counts = number_of_likelies(of_agent)
        lines = {each.item.name: each for each in of_agent}.values()
        rows.append(mean_row(about, "likely", of_agent, _is_likely, seed=study.seed))
        rows.append(mean_row(about, "nol", lines, lambda each, nol=counts: nol[each.item.name], seed=study.seed))  # type: ignore[misc]
    return rows


def _is_likely(each: GivenAnswer) -> float:
    return float(each.answer.get(QUESTION.name) == YES)


def _write_voice(study: Study, answers: Sequence[GivenAnswer], folder: Path) -> None:
    judged_answers = without_checks(answers)
    items = {each.item.name: each.item for each in judged_answers}
    judged: dict[str, dict[str, int]] = {}
    for name, count in number_of_likelies(judged_answers).items():
        who, context, reply = _judged_line(items[name])
        judged.setdefault(who, {})[f"{context}\t{reply}"] = count
    folder.mkdir(parents=True, exist_ok=True)
    novel = study.text("novel") if "novel" in study.material else _write_novel(open_story(study), folder)
    for who, counts in judged.items():
        _write(folder / _file(who), counts)
    _write(folder / NAMES, {_file(who): [novel, who] for who in judged})


def _write_novel(story: Story, folder: Path) -> str:
    """Everybody's lines of a story as `bench voice` takes sample lines; the file's name."""
    lines: dict[str, list[str]] = {}
    for scene in story.scenes():
        for line in scene.lines:
            if line.speaker is not None:
                lines.setdefault(line.speaker, []).append(line.text)
    name = "lines of the story.json"
    _write(folder / name, lines)
    return name


def _file(who: str) -> str:
    return f"{''.join(letter if letter.isalnum() or letter in ' -' else '_' for letter in who)}.json"


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


LIKELY = Kind(
    "likely",
    "says whether a character would say a line",
    TEMPLATE,
    _items,
    _simulated,
    outputs={"voice": _write_voice},
    figures=_figures,
)
