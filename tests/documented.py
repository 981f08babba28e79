"""The commands that README and docs print, what they are given, and which of them a test cannot run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import realdata
from stories import brass_key
from understudy.formats import embedded
from understudy.formats.cards.file import parse_card, write_card

__all__ = ["NOT_RUN", "PAGES", "ROOT", "PrintedCommand", "commands_of", "prepare", "reason_not_run"]

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
COMMAND = re.compile(r"(?:\$ )?((?:[A-Z_]+=\S+ )*understudy [a-z].*)")

RUNS_ON = "runs until it is stopped: tests/cli/test_serve.py and test_study_serve.py start it"
NEEDS_SERVER = "talks to a server that the command before it has started: tests/cli/test_check.py"
NEEDS_CLIENT = "reads a chat that another program has saved: tests/clients saves and reads one, tests/formats others"
NEEDS_LLM = "needs a language model behind an API, and its key"
NEEDS_NETWORK = "fetches a model from the network"
NEEDS_MODEL = "needs a model that is not in the package"
NEEDS_TRAINING = "needs a model of one's own, which takes a long training"
NEEDS_DATA = "needs a data set that is not in the package: tests/bench reads the real ones"
NEEDS_CLUSTER = "needs a cluster, or a database server"
NEEDS_PEOPLE = "needs the answers of people: tests/cli/test_study.py gives them"
NEEDS_IDS = "names entries by ids that depend on the text: tests/cli/test_draft.py and test_continuity.py"
TAKES_LONG = "takes minutes on some machines: tests/cli/test_questions.py and test_score_scaled.py run it on less"
HAS_A_TEST = "is run, and its output compared, by tests/test_readme.py"

NOT_RUN: tuple[tuple[str, str], ...] = (
    (r"^understudy serve |^understudy study serve .*--(?:store|open)", RUNS_ON),
    (r"--url http", NEEDS_SERVER),
    (r"\bllm\b|--llm\b|LLM_URL", NEEDS_LLM),
    (r"\bbatch:", NEEDS_LLM),
    (r"^understudy read (?:chat-export-|\"Zita Karst - )", NEEDS_CLIENT),
    (r"models pull", NEEDS_NETWORK),
    (r"local:smollm2|--agent writer|BERT/|--agents auto ", NEEDS_MODEL),
    (r"^understudy train |\bmy-(?:memory|model|seq2seq|bob|kv|writer)\b|\btalker\b|\bwho --", NEEDS_TRAINING),
    (
        r"--data (?!judged )\S|movie-corpus|friends|^understudy study import|^understudy study \w+ (?:tvs|volun)",
        NEEDS_DATA,
    ),
    (r"ray://|postgresql://", NEEDS_CLUSTER),
    (r"study results (?!zita)|study agree|study correlate|bench voice --data judged", NEEDS_PEOPLE),
    (r"compare run.json other.json", NEEDS_DATA),
    (r"--(?:dismiss|take|change) ?[0-9a-f]{8}|^understudy draft review|^understudy draft apply", NEEDS_IDS),
    (r"^understudy questions |--engine daft", TAKES_LONG),
    (r"\| tail", HAS_A_TEST),
)
"""Patterns of commands that a test cannot run as they are printed, each with the reason; the first that matches."""


@dataclass(frozen=True, slots=True)
class PrintedCommand:
    page: str
    line: int
    text: str
    output: tuple[str, ...] = ()
    """What the page shows below it, up to a blank line, where it shows a prompt."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"

    def words(self) -> list[list[str]]:
        """The words of each of the commands that `&&` joins, without comments."""
        words = shlex.split(self.text, comments=True)
        ends = [index for index, word in enumerate(words) if word == "&&"]
        return [words[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(words)])]


def commands_of(page: str) -> Iterator[PrintedCommand]:
    """The commands in a page's blocks of code, in order, lines that are continued with a backslash joined."""
    text_lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    lines = iter(enumerate(text_lines, 1))
    fence: str | None = None
    for number, line in lines:
        if line.startswith("```"):
            fence = line[3:].strip() if fence is None else None
            continue
        is_code = line.startswith("    ") if fence is None else fence in ("console", "sh", "text", "")
        match = COMMAND.match(line.strip()) if is_code else None
        if match is None or (fence in ("console", "text") and not line.startswith("$ ")):
            continue
        text = match[1]
        while text.endswith("\\"):
            text = f"{text[:-1].rstrip()} {next(lines)[1].strip()}"
        shown = takewhile(str.strip, text_lines[number:]) if line.strip().startswith("$ ") else ()
        yield PrintedCommand(page, number, text, tuple(map(str.strip, shown)))


def reason_not_run(command: PrintedCommand) -> str:
    """Why a test cannot run it; blank where it can."""
    return next((reason for pattern, reason in NOT_RUN if re.search(pattern, command.text)), "")


LINES = (
    "Who wrote the letter?",
    "I count what I burn.",
    "As an AI language model I cannot give you the map.",
    "The Prior took the boat out at dawn.",
    *(f"I count the letters, and there are {number} of them." for number in range(12, 24)),
)
MIRA = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {"name": "Mira", "description": "{{char}} keeps a lighthouse.", "first_mes": "Hello, {{user}}."},
}
GOOD = {
    "character": "Zita",
    "story": "demo",
    "at": "1.3",
    "facing": "Pia",
    "kind": "mine",
    "reply": "It is a long night.",
}
MINE = """
from understudy import Reply

class Agent:
    def reply(self, situation, history):
        return Reply("The tide is out.")

agent = LastWord = Agent

def guard(story):
    return lambda situation, history, draft: ""
"""


def prepare(page: str, folder: Path, whole: bool = False) -> None:
    """What the commands of a page are given: the files of whoever follows it; of a novel chapters, or the whole."""
    for name in ("lines.txt", "sentences.txt", "million.txt"):
        (folder / name).write_text("\n".join(LINES) + "\n", encoding="utf-8")
    judged = [{"text": text, "fit": index % 2 == 1} for index, text in enumerate((*LINES, *map(str.upper, LINES)))]
    (folder / "judged.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in judged), encoding="utf-8")
    (folder / "good.jsonl").write_text(json.dumps(GOOD) + "\n", encoding="utf-8")
    (folder / "lines.csv").write_text("Sprecher;Zeile;Szene\nAnn;Wer ist da?;1\nBob;Ich.;1\nAnn;Gut.;2\n")
    (folder / "harbour.json").write_text('{"entries": {"0": {"key": ["quay"], "content": "The quay is old."}}}')
    write_card(parse_card(json.dumps(MIRA).encode()), folder / "mira.png")
    if page == "docs/continuity.md":  # it names people of the story that comes with the program
        demo = embedded("demo")
        assert demo is not None
        shutil.copytree(demo, folder / "my-story")
    else:
        brass_key(folder / "my-story")
    (folder / "scripts").mkdir()
    for script in (folder / "my-story").glob("*.txt"):
        shutil.copy(script, folder / "scripts")
    if page in ("docs/novels.md", "docs/formats.md"):
        text = (realdata.folder("pdnc/Emma") / "novel_text.txt").read_text(encoding="utf-8")
        (folder / "emma.txt").write_text(text if whole else some_chapters(text), encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    (folder / "mine.py").write_text("\n".join(code) if page == "docs/writing-an-agent.md" else MINE, encoding="utf-8")


CHAPTERS = (range(1, 16), (1, 2, 3), (6,))
"""Of Emma's three volumes: four tenths of the novel, in which is whoever the pages name."""


def some_chapters(novel: str) -> str:
    """The chapters in which is whoever the pages name, under the headings that the novel has."""
    volumes = re.split(r"(?m)^(?=VOLUME )", novel)
    kept = volumes[:1]
    for volume, numbers in zip(volumes[1:], CHAPTERS, strict=True):
        chapters = re.split(r"(?m)^(?=CHAPTER )", volume)
        kept += [chapters[0], *(chapters[number] for number in numbers)]
    return "".join(kept)
