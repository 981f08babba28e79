"""Questions put to characters, what `questions` under [material] names, and the replies that people then judge.

    questions = "story"          lines of the story with which a character answers others (`agents.reply_lines`)
    questions = "probes.toml"    the probes of a story, those that ask once; beside the study's file, or the story's own
    questions = "messages.txt"   a message on each line, put to each character at the moment `at`, by `facing`
    questions = "set.json"       sessions in HPD's form, as `understudy questions` writes them; needs no story

A question is named by its scene or source, a dot, and a number: what belongs together is resampled together.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from understudy.agents.reply_lines import characters_asked, question_at, reply_lines
from understudy.agents.word_tokens import plain_line
from understudy.database import RecordLog
from understudy.errors import AgentError, InputError, StoryError
from understudy.formats import embedded
from understudy.formats.hpd import question_of, sessions
from understudy.formats.story_folder import read_probes
from understudy.people.draft import story_fingerprint
from understudy.progress import Progress
from understudy.sources.source import SourceFile
from understudy.story.dialogue import USER_NAME, Agent, Situation, Turn, situation_at
from understudy.story.persona import Other
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.story.wording import tie_sentence
from understudy.studies import Study, open_story
from understudy.studies.item import Block, Question, ShownLine, StudyItem

OWN = "story"
"""In the place of an agent: whoever wrote the story."""
QUESTION_KEYS = ("story", "characters", "questions", "at", "facing", "turns", "limit")
SUFFIXES = {".toml": "probes", ".txt": "messages", ".json": "sessions"}
REPLIES_FILE = "study-replies.jsonl"
LIMIT = 30
TURNS = 2


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What a character is asked, in which situation and after what was said."""

    name: str
    situation: Situation
    history: tuple[Turn, ...]
    own: str | None = None
    """The story's own reply, where it has one."""
    proposed: Mapping[str, str] = field(default_factory=dict)
    """By agent: the first reply that it proposed, where the question comes with proposals."""


def questions_of(study: Study) -> tuple[Story | None, list[AskedQuestion]]:
    """The questions, and the story they are of; at most `limit`, a sample."""
    source = study.text("questions", OWN)
    if source == OWN:
        story = open_story(study)
        return story, _own_lines(study, story)
    form = SUFFIXES.get(Path(source).suffix.lower())
    if form is None:
        raise InputError(
            f"`questions` is '{source}': write \"{OWN}\", or name a file of probes (.toml), messages (.txt) or "
            "sessions (.json)"
        )
    opened = None if form == "sessions" else open_story(study)
    if opened is None:
        asked = study.sample(list(_sessions(study.path("questions"))), LIMIT)
    else:
        asked = list(_probes(study, opened) if form == "probes" else _messages(study, opened))
    if not asked:
        raise InputError(f"'{source}' gives no question: look at `questions` under [material]")
    return opened, asked


def _own_lines(study: Study, story: Story) -> list[AskedQuestion]:
    """In story order; lines whose situation cannot be had, as before somebody who is dead, are passed over."""
    until = story.moment(study.text("at")) if "at" in study.material else None
    who = characters_asked(story, study.listed("characters"))
    lines = list(reply_lines(story, who, study.number("turns", TURNS), until=until))
    asked: dict[Moment, AskedQuestion] = {}
    for line in random.Random(study.seed).sample(lines, len(lines)):  # noqa: S311
        if len(asked) == study.number("limit", LIMIT):
            break
        try:
            question = question_at(story, line)
        except StoryError:
            continue
        asked[line.moment] = AskedQuestion(line.name, question.situation, question.history, question.reply)
    if not asked:
        raise InputError(f"no line of {', '.join(who)} answers others there: take other `characters`, or `turns = 1`")
    return [asked[moment] for moment in sorted(asked)]


def _probes(study: Study, story: Story) -> Iterator[AskedQuestion]:
    name = study.text("questions")
    path = study.folder / name
    if not path.exists():
        path = (embedded(study.text("story")) or study.folder / study.text("story")) / name
    wanted = {story.character(each).name for each in study.listed("characters")}
    probes = [
        (number, probe)
        for number, probe in enumerate(read_probes(path, story), 1)
        if not probe.before and (not wanted or probe.who in wanted)
    ]
    for number, probe in study.sample(probes, LIMIT):
        situation = situation_at(story, probe.who, probe.at, probe.facing)
        yield AskedQuestion(f"probe {number}", situation, (Turn(_asker(situation), probe.ask),))


def _messages(study: Study, story: Story) -> Iterator[AskedQuestion]:
    path = study.path("questions")
    facing = study.text("facing") if "facing" in study.material else None
    lines = text_lines(path)
    situations = [situation_at(story, who, study.text("at", "end"), facing) for who in study.texts("characters")]
    asked = [(number, message, each) for number, message in enumerate(lines, 1) for each in situations]
    for number, message, situation in study.sample(asked, LIMIT):
        name = f"message {number}.{situation.persona.name.replace('.', '')}"
        yield AskedQuestion(name, situation, (Turn(_asker(situation), message),))


def text_lines(path: Path) -> list[str]:
    """The lines of a text file that are not blank."""
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text: {error}", path) from error


def _sessions(path: Path) -> Iterator[AskedQuestion]:
    source = SourceFile(path)
    members = json.loads(path.read_text(encoding="utf-8-sig"))
    for session in sessions(source):
        if not session.replies:
            continue
        example = question_of(source, session)
        proposed: dict[str, str] = {}
        for proposal in members[session.key].get("proposed", ()):
            match proposal:
                case {"agent": str(agent), "text": str(text)}:
                    proposed.setdefault(agent, text)
                case _:
                    raise source.error(
                        f'"{session.key[:60]}": each of "proposed" has a text and an agent', session.line
                    )
        own = example.candidates[min(example.gold)]
        yield AskedQuestion(example.name, example.situation, example.history, own, proposed)


def _asker(situation: Situation) -> str:
    return situation.faced.name if situation.faced else USER_NAME


def persona_blocks(situation: Situation) -> list[Block]:
    """The scene, who those in it are and how the character stands to them: what a judge must know."""
    persona, company = situation.persona, _company(situation)
    there = {other.name for other in company} or {tie.to for tie in persona.relations}
    ties = [tie_sentence(tie, persona.language) for tie in persona.relations if tie.to in there]
    blocks = [
        Block("The scene", _lines([situation.setting] if situation.setting else [])),
        Block(f"Who {persona.name} is", _lines(persona.profile)),
        *(Block(f"What {persona.name} knows of {other.name}", _lines(other.profile)) for other in company),
        Block(f"How {persona.name} stands to others", _lines(ties)),
    ]
    return [block for block in blocks if block.lines]


def _lines(texts: Iterable[str]) -> tuple[ShownLine, ...]:
    return tuple(ShownLine(None, text) for text in texts)


def _company(situation: Situation) -> list[Other]:
    there = [*([situation.faced] if situation.faced else []), *situation.present]
    return list({other.name: other for other in there}.values())


def dialogue_block(question: AskedQuestion, reply: str | None = None) -> Block:
    """What was said, and the reply that is judged where there is one to be marked."""
    said = [ShownLine(turn.speaker, turn.text) for turn in question.history]
    if reply is not None:
        said.append(ShownLine(question.situation.persona.name, reply, is_asked=True))
    return Block("The dialogue", tuple(said))


def load_agents(names: Sequence[str], story: Story | None = None) -> dict[str, Agent]:
    """Agents that reply, by the name that the material gives them, as `--agent` takes it."""
    from understudy.agents import agent_named

    agents: dict[str, Agent] = {}
    for name in names:
        if name == "auto" or name.partition(":")[0] == "guarded":
            from understudy.judging.loading import load_guarded

            agents[name] = load_guarded(name, lambda _: () if story is None else (story,))
            continue
        agent = agent_named(name)
        if not isinstance(agent, Agent):
            raise AgentError(f"'{name}' ranks replies but gives none of its own: choose an agent that has `reply`")
        agents[name] = agent
    return agents


class AgentReplies:
    """What agents reply to questions; an agent is loaded when it is first asked.

    Replies are written down as they come, in a file beside the study's: a run that was stopped goes on, and items made
    again are the same. A reply belongs to its agent, the model behind it, the story and everything it was given.
    """

    def __init__(self, study: Study, story: Story | None) -> None:
        self._story, self._seed = story, study.seed
        self._fingerprint = "" if story is None else story_fingerprint(story)
        self._agents: dict[str, Agent] = {}
        self._log = RecordLog(study.folder / REPLIES_FILE)

    def reply(self, name: str, question: AskedQuestion) -> str | None:
        """What an agent says, or the story itself; None where it has nothing for this question."""
        if name == OWN:
            return question.own
        if name in question.proposed:
            return question.proposed[name]
        if name not in self._agents:
            self._agents |= load_agents([name], self._story)
        key = self._key(name, question)
        if key not in self._log.records:
            text = plain_line(self._agents[name].reply(question.situation, question.history).text)
            if not text:
                raise AgentError(f"'{name}' gave a blank reply to {question.name}: leave it out, or ask again")
            self._log.add([{"key": key, "agent": name, "question": question.name, "text": text}])
        return str(self._log.records[key]["text"])

    def different(self, names: Sequence[str], question: AskedQuestion) -> list[tuple[str, list[str]]]:
        """Each different reply of some agents, with all who gave it, in an order drawn for the question."""
        speakers: dict[str, list[str]] = {}
        for name in names:
            if (text := self.reply(name, question)) is not None:
                speakers.setdefault(text, []).append(name)
        order = random.Random(f"{self._seed} {question.name}").sample(sorted(speakers), len(speakers))  # noqa: S311
        return [(text, speakers[text]) for text in order]

    def _key(self, name: str, question: AskedQuestion) -> str:
        situation = question.situation
        persona, faced = situation.persona, situation.faced
        card = getattr(self._agents[name], "card", None)
        inputs = [
            name, card, self._fingerprint, persona.name, persona.moment.dotted, persona.profile, situation.setting,
            faced and (faced.name, faced.profile), [(turn.speaker, turn.text) for turn in question.history],
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(inputs, default=str).encode()).hexdigest()[:24]


def reply_items(
    study: Study,
    story: Story | None,
    asked: Sequence[AskedQuestion],
    names: Sequence[str],
    questions: tuple[Question, ...],
    blocks: Callable[[AskedQuestion, str], Sequence[Block]],
    progress: Progress,
) -> list[StudyItem]:
    """An item for each different reply to a question; what several agents say alike is judged once, for all of them."""
    replies, items = AgentReplies(study, story), list[StudyItem]()
    for number, question in enumerate(asked):
        progress("Replies", number, len(asked))
        for nth, (text, agents) in enumerate(replies.different(names, question), 1):
            shown = tuple(blocks(question, text))
            items.append(StudyItem(f"{question.name}.{nth}", shown, questions, {"agents": agents}))
    progress("Replies", len(asked), len(asked))
    if not items:
        raise InputError("no question has a reply to judge: name `agents` that reply, or set `own = true`")
    return items
