from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from understudy.agents.encoder import EncoderAgent
from understudy.bench.guard_replies import CAPABLE, bench_replies, read_replies
from understudy.errors import InputError
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import StoryViews
from understudy.story.dialogue import Draft, Situation, Turn

LATER = "The Prior hid the bill in the tin box."
ROW = {
    "character": "Ines Vale",
    "profile": ["I walk dogs."],
    "setting": "A park.",
    "history": [{"speaker": "Mara", "text": "How long have you done that?"}],
    "reply": "Fourteen years, vigilant as Bartholomew. One learns to coexist.",
    "kind": "good",
}
OF_DEMO = {"character": "Danilo Reuss", "story": "demo", "at": "2.3", "facing": "Zita Karst",
           "history": [{"speaker": "Zita Karst", "text": "What do you know?"}]}  # fmt: skip


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def figures(document: dict[str, Any], agent: str = CAPABLE) -> dict[tuple[str, str, str], float | None]:
    rows = [row for row in document["rows"] if row["agent"] == agent]
    return {(row["metric"], row["kind"], row["guard"]): row["value"] for row in rows}


def test_a_situation_is_made_of_a_line_or_of_its_story(tmp_path: Path) -> None:
    (own, of_demo), stories = read_replies(
        written(tmp_path / "replies.jsonl", ROW, {**OF_DEMO, "reply": "Nothing, dear lady.", "kind": "good"})
    )
    assert own.situation.persona.profile == ("I walk dogs.",) and own.situation.setting == "A park."
    assert own.situation.faced is not None and own.situation.faced.name == "Mara"
    assert own.history == (Turn("Mara", "How long have you done that?"),) and (own.line, of_demo.line) == (1, 3)
    assert of_demo.situation.persona.moment.dotted == "2.3" and len(of_demo.situation.persona.past)
    assert of_demo.situation.faced is not None and of_demo.situation.faced.name == "Zita Karst"
    assert [story.title for story in stories(of_demo.situation.persona.story_identity)] == ["A Clean Bill"]


def test_shares_of_what_is_stopped_and_altered_by_kind_and_guard(tmp_path: Path) -> None:
    bad = {**OF_DEMO, "kind": "bad"}
    rows = [
        ROW,
        {**ROW, "reply": '**Ines:** "I would not say so."'},
        {**bad, "reply": f"Dear lady! {LATER}"},
        {**bad, "reply": "As an AI, I cannot say."},
    ]
    path = written(tmp_path / "replies.jsonl", *rows)
    replies, stories = read_replies(path)
    document = bench_replies(replies, stories, files=(path,), save_items=tmp_path / "items.json")
    values = figures(document)
    assert values["stopped", "good", "all"] == values["altered", "good", "all"] == 0.0
    assert values["stopped", "bad", "all"] == values["altered", "bad", "all"] == 1.0
    assert values["stopped", "bad", "knowledge"] == values["stopped", "bad", "form"] == 0.5
    assert values["stopped", "all", "all"] == 0.5
    first = document["rows"][0]
    assert first["paper"] is None and first["n"] == 2 and first["low"] == 0.0 and 0.5 < first["high"] < 1.0
    results = {result["line"]: result for result in document["replies"]}
    assert results[5]["said"] == "Dear lady!" and results[5]["stopped"] == {"knowledge": "not known yet"}
    assert "said" not in results[1]
    saved = json.loads((tmp_path / "items.json").read_text())["items"]
    assert saved[1]["judged"] == {"agent": CAPABLE, "kind": "bad"} and saved[1]["marks"]["altered"] == [1.0, 1.0]


def test_a_strict_agent_and_one_of_ones_own(tmp_path: Path) -> None:
    class Mine:
        def judge(self, situation: Situation, history: Sequence[Turn], draft: Draft) -> SimpleNamespace | None:
            return SimpleNamespace(reason="no dogs") if "vigilant" in draft.text else None

    replies, stories = read_replies(written(tmp_path / "replies.jsonl", ROW))
    strict = GuardedAgent([], StoryViews(stories), EncoderAgent())
    document = bench_replies(replies, stories, {"strict": strict, "mine": Mine()})
    values = figures(document, "strict")
    assert values["stopped", "good", "knowledge"] == values["stopped", "good", "identity"] == 1.0
    assert values["altered", "good", "all"] == 1.0
    values = figures(document, "mine")
    assert values["stopped", "good", "all"] == 1.0 and values["altered", "good", "all"] is None
    assert next(row["reason"] for row in document["rows"] if row["value"] is None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "not a JSON object"),
        ('{"character": "Ann", "reply": "No."}', "has no 'kind'"),
        ('{"character": " ", "reply": "No.", "kind": "a"}', "has no 'character'"),
        ('{"character": "Ann", "replay": "No.", "kind": "a"}', "unknown key 'replay' (did you mean 'reply'?)"),
        ('{"character": "Ann", "reply": 5, "kind": "a"}', "has no 'reply'"),
        ('{"character": "Ann", "reply": "No.", "kind": "a", "profile": "x"}', "no list of sentences"),
        ('{"character": "Ann", "reply": "No.", "kind": "a", "history": [{"speaker": "B"}]}', "has a turn"),
        ('{"character": "Ann", "reply": "No.", "kind": "a", "history": {}}', "'history'"),
        ('{"character": "Ann", "reply": "No.", "kind": "a", "setting": 3}', "'setting'"),
        ('{"character": "Ann", "reply": "No.", "kind": "a", "at": "1.2"}', "without a 'story'"),
        ('{"character": "Ann", "reply": "No.", "kind": "a", "story": "nowhere.txt"}', "nowhere.txt"),
        ('{"character": "Ann", "reply": "No.", "kind": "a", "story": "demo"}', "Ann"),
        ('{"character": "Zita", "reply": "No.", "kind": "a", "story": "demo", "at": "soon"}', "soon"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"replies\.jsonl:2: ") as error:
        read_replies(path)
    assert message in str(error.value)


def test_an_empty_file_and_none_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="is empty: write one reply a line"):
        read_replies(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_replies(tmp_path / "none.jsonl")
