"""Who is speaking? People name the masked speakers of a scene, as TVShowGuess's people did, and say what it took.

Of each mask is asked who it is, which evidence tells (`formats.annotations`), whether earlier scenes were needed, how
the evidence was put together and, of up to twenty earlier scenes that can be opened below, which were needed: the gold
that `history_recall` of `bench guess` measures retrieval by. `--format annotation` writes the folder that bench reads
as human_annotation/, `--format answers` the file for its `--people`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.errors import InputError
from understudy.formats.annotations import EVIDENCE, HISTORY, REASONING
from understudy.formats.tvshowguess import show_scenes
from understudy.guessing import CharacterNames, Masked, Masking, split_long_scenes
from understudy.guessing.scenes import NAMES, masks_of
from understudy.guessing.shows import scene_of_show
from understudy.guessing.story import GuessSettings
from understudy.progress import Progress
from understudy.story.types import Scene
from understudy.studies.item import Answer, Block, Option, Problem, Question, ShownLine, StudyItem
from understudy.studies.kind import Kind
from understudy.studies.speaker_annotations import EARLIER, speaker_figures, write_annotation, write_guesses
from understudy.studies.study import Study, open_story

__all__ = ["KIND", "masked_item"]

WINDOW = 20  # earlier scenes that can be looked up
LABELS = {
    "direct": "Yes: something that happened in an earlier scene",
    "indirect": "Only what one knows of these people by then",
    "none": "No: this scene is enough",
}
TEMPLATE = """\
kind = "guess"
title = "Who is speaking?"
instructions = \"\"\"
The speakers of a scene are hidden behind P0, P1, ... Name each of them, and say what told you.
Earlier scenes can be opened below: look up what you need, and tick those that you needed.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 2
items_per_person = 10
seed = 0

[material]
story = "demo"              # a story file or folder, or demo; for scenes of TVShowGuess write instead:
# scenes = "dev.jsonl"
since = "3.1"               # only scenes from here on; of a story alone
limit = 20                  # a seeded sample of so many scenes; leave it out for all
main = 6                    # how many main characters are hidden: those who speak most; of a story alone
candidates = "scene"        # the names to choose from: who speaks in the scene, or all main characters: cast
names = "keep"              # names within the texts: keep, mask or swap; of a story alone
"""


@dataclass(frozen=True, slots=True)
class _MaskedShow:
    """Scenes in order, which of them may be asked about, and how speakers are hidden."""

    name: str
    scenes: Sequence[Scene]
    is_asked: Sequence[bool]
    masking: Masking


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only("story", "scenes", "since", "limit", "main", "candidates", "names")
    among = study.text("candidates", "scene")
    if among not in ("scene", "cast"):
        raise InputError(f'`candidates` under [material] is \'{among}\': write "scene" or "cast"')
    shows = list(_shows_of_file(study)) if "scenes" in study.material else [_show_of_story(study)]
    asked = [(show, index) for show in shows for index, is_asked in enumerate(show.is_asked) if is_asked]
    if not asked:
        raise InputError("no scene there has two main characters who speak: take other scenes")
    if "limit" in study.material:
        most = min(study.number("limit"), len(asked))
        chosen = set(random.Random(study.seed).sample(range(len(asked)), most))  # noqa: S311
        asked = [pair for number, pair in enumerate(asked) if number in chosen]
    items = []
    for number, (show, index) in enumerate(asked):
        progress("Items", number, len(asked))
        masked = show.masking.masked(show.scenes[index])
        candidates = masked.candidates if among == "scene" else tuple(sorted(show.masking.people))
        earlier = [show.masking.with_names(scene) for scene in show.scenes[max(index - WINDOW, 0) : index]]
        items.append(masked_item(show.name, masked, candidates, earlier, is_first=index <= WINDOW))
    return items


def _show_of_story(study: Study) -> _MaskedShow:
    story = open_story(study)
    names = study.choice("names", NAMES)
    masking = GuessSettings(most=study.number("main", 6, least=2), names=names, seed=study.seed).masking(story)
    scenes = list(split_long_scenes(story.scenes()))
    since = story.moment(study.text("since", "start"))
    is_asked = [scene.moment >= since and len(masking.masked(scene).answers) > 1 for scene in scenes]
    return _MaskedShow(story.title, scenes, is_asked, masking)


def _shows_of_file(study: Study) -> Iterator[_MaskedShow]:
    """Shows of a file of TVShowGuess; where it has splits, only scenes of one are asked about."""
    for key in ("story", "since", "main", "names"):
        if key in study.material:
            raise InputError(f"`{key}` under [material] is for a story: leave it out beside `scenes`")
    by_show: dict[str, list[Any]] = {}
    for scene in show_scenes(study.path("scenes")):
        by_show.setdefault(scene.show, []).append(scene)
    for name, records in by_show.items():
        records.sort(key=lambda scene: (scene.season, scene.episode, scene.number))
        main = list(dict.fromkeys(who for scene in records for who in scene.main_characters))
        names = {who: who.title() for who in main}
        forms = CharacterNames({who: (who,) for who in names.values()})
        masking = Masking(list(names.values()), forms, seed=study.seed)
        has_splits = any(scene.split for scene in records)
        scenes = [scene_of_show(scene, names) for scene in records]
        is_asked = [
            (record.split is not None or not has_splits) and len(masking.masked(scene).answers) > 1
            for record, scene in zip(records, scenes)
        ]
        yield _MaskedShow(name, scenes, is_asked, masking)


def masked_item(
    show: str, masked: Masked, candidates: Sequence[str], earlier: Sequence[Scene], is_first: bool = True
) -> StudyItem:
    """The item of a scene. `is_first`: nothing comes before the earlier scenes that are shown."""
    *episode, number = masked.scene.moment.numbers
    masks = masks_of(masked.scene)
    lines = tuple(ShownLine(line.speaker, line.text) for line in masked.scene.lines)
    setting = (ShownLine(None, masked.scene.setting),) if masked.scene.setting else ()
    blocks = [Block("The scene", (*setting, *lines))]
    for scene in reversed(earlier):
        title = f"{scene.moment.dotted} {scene.setting}".strip()
        said = tuple(ShownLine(line.speaker, line.text) for line in scene.lines)
        blocks.append(Block(title, said, is_folded=True, name=scene.moment.dotted))
    further = () if is_first else (Option(EARLIER, "a scene further back than these"),)
    scenes = (*(Option(block.name, block.title) for block in blocks[1:]), *further)
    questions = tuple(question for mask in masks for question in _questions(mask, candidates, scenes))
    hidden = {
        "show": show,
        "episode": episode,
        "scene": number,
        "answers": dict(masked.answers),
        "masks": list(masks),
        "is_one_each": len(candidates) == len(masks),
    }
    numbers = "x".join(f"{level:02d}" for level in episode)
    return StudyItem(f"{show.replace('.', '')}/{numbers}/{number}", tuple(blocks), questions, hidden)


def _questions(mask: str, candidates: Sequence[str], scenes: Sequence[Option]) -> Iterator[Question]:
    yield Question(
        f"{mask} who", "choice", f"Who is {mask}?", tuple(Option(name, name) for name in candidates), about=mask
    )
    kinds = tuple(Option(kind, kind) for kind in EVIDENCE)
    yield Question(f"{mask} evidence", "choices", "What tells?", kinds, least=1, most=3, about=mask)
    history = tuple(Option(need, LABELS[need]) for need in HISTORY)
    yield Question(f"{mask} history", "choice", "Did it take earlier scenes?", history, about=mask)
    reasoning = tuple(Option(kind, kind) for kind in REASONING)
    yield Question(f"{mask} reasoning", "choice", "How is the evidence put together?", reasoning, about=mask)
    if scenes:
        label = "Which earlier scenes were needed?"
        yield Question(f"{mask} needed", "choices", label, tuple(scenes), is_required=False, about=mask)


def _problems(item: StudyItem, answer: Answer) -> list[Problem]:
    problems = []
    asked = {question.name for question in item.questions}
    names = Counter(answer[f"{mask} who"] for mask in item.hidden["masks"] if f"{mask} who" in answer)
    for mask in item.hidden["masks"]:
        who, needed = answer.get(f"{mask} who"), answer.get(f"{mask} needed") or ()
        history = answer.get(f"{mask} history")
        if item.hidden["is_one_each"] and who is not None and names[who] > 1:
            problems.append(Problem(f"{mask} who", f"{who} is behind one mask only: choose others for the rest"))
        if history == "none" and needed:
            problems.append(Problem(f"{mask} needed", "You say that this scene is enough: untick these, or say yes."))
        if history == "direct" and not needed and f"{mask} needed" in asked:
            problems.append(Problem(f"{mask} needed", "Tick the earlier scenes in which it happened."))
    return problems


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """Skill is how often all masks are named rightly, and how far people agree on what it took."""
    hidden = item.hidden
    masks = hidden["masks"]
    names = [hidden["answers"][mask] for mask in masks]
    if rng.random() >= skill:
        rng.shuffle(names)
    answer: dict[str, Any] = {}
    options = {question.name: [option.key for option in question.options] for question in item.questions}
    for mask, name in zip(masks, names):
        leaning = random.Random(f"{item.name} {mask}")  # noqa: S311
        by = leaning if rng.random() < skill else rng
        history = by.choice([need for need in HISTORY if need != "direct" or f"{mask} needed" in options])
        answer[f"{mask} who"] = name
        answer[f"{mask} evidence"] = [by.choice(options[f"{mask} evidence"])]
        answer[f"{mask} history"] = history
        answer[f"{mask} reasoning"] = by.choice(options[f"{mask} reasoning"])
        if history == "direct":
            answer[f"{mask} needed"] = [by.choice(options[f"{mask} needed"])]
    return answer


KIND = Kind(
    "guess",
    "names the masked speakers of a scene, and says what told",
    TEMPLATE,
    _items,
    _simulated,
    _problems,
    outputs={"annotation": write_annotation, "answers": write_guesses},
    figures=speaker_figures,
)
