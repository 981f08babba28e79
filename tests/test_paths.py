"""How large the package is, and how many modules a reply and a file go through: `budget.toml` has the bounds."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "understudy"
BUDGETS = tomllib.loads(Path(__file__).with_name("budget.toml").read_text(encoding="utf-8"))
SIZE: dict[str, int] = BUDGETS["size"]
BUDGET: dict[str, int] = BUDGETS["paths"]

COUNTING = """
import sys
from inspect import CO_OPTIMIZED
from pathlib import Path

import understudy.formats

PACKAGE = str(Path(understudy.formats.__file__).parents[1])
{before}
called = set()


def is_imported(frame):  # called by the body of a module: that of a class, of a comprehension there
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(PACKAGE):
            return True
        frame = frame.f_back
    return False


def note_call(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(PACKAGE):
        if code.co_filename not in called and not is_imported(frame):
            called.add(code.co_filename)


sys.setprofile(note_call)
{counted}
sys.setprofile(None)
print("\\n".join(sorted(called)))
"""

CHAT = """
from understudy.agents.conversation import Conversation
from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.recall import Recall
from understudy.agents.writer import WriterAgent
from understudy.judging.guarded import GuardedAgent
from understudy.language.backends import ScriptedBackend

story, encoder = understudy.formats.read("demo"), EncoderAgent()
writer = WriterAgent(ScriptedBackend(["I keep the letters dry. Ask me tomorrow."] * 8), Recall(encoder))
agent = GuardedAgent([OldLines(encoder), writer], lambda _: [story], encoder, best_of=4)
conversation = Conversation(story, agent, "Zita Karst", "2.3", "Danilo Reuss")
conversation.say("How is the boy?")
"""

TRANSCRIPT = """Ann: Is the tide out?
Bob: Since noon.
Ann: Then we can walk.
Bob: Not in those shoes.
[Ann leaves.]
Bob: She never listens.
Carl: Who does?
Bob: You do, Carl.
Carl: I only wait.
Bob: It comes to the same.
"""


def modules_called(counted: str, *arguments: str, before: str = "") -> list[str]:
    """The modules of which a function is called by some code, in a process of its own."""
    run = [sys.executable, "-c", COUNTING.format(before=before, counted=counted), *arguments]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()


def check(modules: list[str], path: str) -> None:
    assert len(modules) <= BUDGET[path], "more modules than tests/budget.toml allows:\n" + "\n".join(modules)


def test_reading_a_transcript_goes_through_few_modules(tmp_path: Path) -> None:
    path = tmp_path / "quay.txt"
    path.write_text(TRANSCRIPT, encoding="utf-8")
    modules = modules_called("understudy.formats.read(Path(sys.argv[1]))", str(path))
    assert any(module.endswith("transcript/line_parser.py") for module in modules)
    check(modules, "read_transcript")


def test_a_second_reply_in_a_chat_goes_through_few_modules() -> None:
    modules = modules_called('conversation.say("What did the captain say this morning?")', before=CHAT)
    assert any(module.endswith("agents/recall.py") for module in modules)
    assert any(module.endswith("guards/foretold.py") for module in modules)
    check(modules, "chat_reply")


def test_no_reader_is_imported_before_a_file_is_of_its_format() -> None:
    code = "import sys, understudy.formats; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    readers = (
        "cards",
        "convokit",
        "docx",
        "epub",
        "fdx",
        "fountain",
        "hpd",
        "ink",
        "messages",
        "table",
        "renpy",
        "tei",
    )
    assert [name for name in readers if f"understudy.formats.{name}" in loaded] == []


def test_the_package_is_no_larger_than_its_budget() -> None:
    lines = {
        path: sum(map(bool, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
        for path in PACKAGE.rglob("*.py")
    }
    folders = {path.relative_to(PACKAGE).parts[0] for path in lines if path.parent != PACKAGE}
    sizes = {
        "lines": sum(lines.values()), "modules": len(lines), "folders": len(folders),
        "longest_module": max(lines.values()),
    }  # fmt: skip
    assert {name: size for name, size in sizes.items() if size > SIZE[name]} == {}, "larger than budget.toml allows"
    assert {name: size for name, size in sizes.items() if size < 0.99 * SIZE[name]} == {}, (
        "a gain: write the smaller number into tests/budget.toml, so that it stays"
    )
