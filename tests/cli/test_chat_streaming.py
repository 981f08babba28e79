"""A chat with an agent that writes: pieces are printed as they come, and Ctrl-C stops the reply, not the chat."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cliruns import Run
from understudy.agents.conversation import Conversation
from understudy.cli.chat import ChatPrompt, print_why
from understudy.cli.show import Screen
from understudy.errors import BackendError
from understudy.formats import read
from understudy.formats.documents import reply_document
from understudy.story.dialogue import Candidate, Reply, Usage
from writers import PIECES, Writer

TEXT = "".join(PIECES)


class Terminal(io.StringIO):
    """Keeps what was printed, write by write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return super().write(text)


def prompt_of(writer: Writer, story: Path) -> tuple[Terminal, ChatPrompt]:
    terminal = Terminal()
    out = Screen(file=terminal, force_terminal=True, color_system=None, markup=False, highlight=False)
    return terminal, ChatPrompt(out, Conversation(read(story), writer, "Ines", "2.1"))


def test_pieces_are_printed_as_they_come(story: Path) -> None:
    terminal, prompt = prompt_of(Writer(), story)
    prompt.say("Where were you?", spoken=True)
    assert [text for text in terminal.writes if text.strip()] == list(PIECES)
    assert terminal.getvalue() == f"{TEXT}\n"
    assert [turn["text"] for turn in prompt.conversation.turns()] == ["Where were you?", TEXT]


def test_ctrl_c_stops_the_writing_and_keeps_what_came(
    story: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = Writer(gated=True)
    terminal, prompt = prompt_of(writer, story)
    show = prompt.out.print

    def interrupted(*objects: object, **options: object) -> None:
        show(*objects, **options)  # type: ignore[arg-type]
        if objects:
            raise KeyboardInterrupt

    monkeypatch.setattr(prompt.out, "print", interrupted)
    writer.release()
    assert prompt._handle("Where were you?")
    assert writer.ended.wait(60) and writer.written == [PIECES[0]]
    assert "Stopped" in capsys.readouterr().err
    assert [turn["text"] for turn in prompt.conversation.turns()] == ["Where were you?", "I"]
    monkeypatch.undo()
    writer.gated = False
    assert prompt._handle("Go on.")
    assert terminal.getvalue().endswith(f"{TEXT}\n")


def test_a_back_end_that_breaks_off_is_told_and_what_came_is_kept(
    story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, prompt = prompt_of(Writer(fails_at=2), story)
    assert prompt._handle("Where were you?")
    assert "broke off" in capsys.readouterr().err
    assert [turn["text"] for turn in prompt.conversation.turns()] == ["Where were you?", "I never"]


def test_before_the_first_piece_nothing_is_kept(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, prompt = prompt_of(Writer(fails_at=0), story)
    assert prompt._handle("Where were you?")
    assert "broke off" in capsys.readouterr().err
    assert not prompt.conversation.answered
    with pytest.raises(BackendError):
        prompt.conversation.say("Where were you?")


def test_why_tells_where_candidates_come_from_and_why_they_were_kept_back() -> None:
    terminal = Terminal()
    candidates = (
        Candidate("I never left.", 0.9, source="writer"),
        Candidate("The Prior did.", 0.8, source="writer", rejected="names somebody absent"),
        Candidate("", 0.7, source="exchange", rejected="later"),
    )
    print_why(Screen(file=terminal, width=100), Reply("Well.", candidates))
    printed = terminal.getvalue()
    assert "I never left.  [writer]" in printed
    assert "[writer; kept back: names somebody absent]" in printed
    assert "not known yet  [exchange; kept back: later]" in printed


def test_why_shows_no_score_where_nothing_was_compared() -> None:
    terminal = Terminal()
    print_why(Screen(file=terminal, width=100), Reply("Well.", (Candidate("So be it.", None, source="writer"),)))
    assert "0.00" not in terminal.getvalue() and "So be it.  [writer]" in terminal.getvalue()


def test_documents_tell_usage_and_verdicts() -> None:
    reply = Reply("Well.", (Candidate("No.", 0.5, source="writer", rejected="a loop"),), (), Usage(1, 20, 3, 0.5))
    document = reply_document(reply)
    assert document["usage"] == {"calls": 1, "prompt_tokens": 20, "completion_tokens": 3, "seconds": 0.5}
    assert document["candidates"][0]["source"] == "writer" and document["candidates"][0]["rejected"] == "a loop"


def test_somebody_of_ones_own_is_faced(run: Run, story: Path) -> None:
    typed = "Hello\n/save chat.jsonl\n/facing Ann: a doctor\nAnd now?\n/facing Tobias: a liar\n"
    chat = run("chat", story, "Ines", "--agent", "scripted", "--facing", "Tom: a sailor, 40", stdin=typed)
    assert '"speaker": "Tom"' in Path("chat.jsonl").read_text()
    assert "facing Ann" in chat.stderr
    assert "'Tobias' is a name of somebody in the story" in chat.stderr
    shown = run("persona", story, "Ines", "--facing", "Tom: a sailor, 40")
    assert "Tom: a sailor, 40" in shown.stdout
