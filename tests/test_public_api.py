from __future__ import annotations

import subprocess
import sys

import pytest

import understudy


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", understudy.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(understudy, name) is not None
    assert name in dir(understudy)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sing'"):
        _ = understudy.sing  # type: ignore[attr-defined, unused-ignore]


def test_importing_takes_no_time_because_nothing_else_is_imported() -> None:
    code = "import sys; before = set(sys.modules); import understudy; print(*set(sys.modules) - before)"
    assert set(python(code).split()) <= {"understudy", "__future__"}


def test_the_command_line_starts_nothing_of_a_model() -> None:
    loaded = set(python("import sys, understudy.cli; print(*sys.modules)").split())
    heavy = {"torch", "numpy", "scipy", "pyarrow", "rapidfuzz", "onnxruntime", "tokenizers", "safetensors", "daft"}
    served = {"starlette", "uvicorn", "msgspec"}
    assert loaded.isdisjoint(heavy | served)


def test_the_nouns_and_verbs_work_together() -> None:
    story = understudy.read("demo-zh")
    who = story.cast()[0].character.name
    situation = understudy.situation_at(story, who, "end")
    assert isinstance(situation, understudy.Situation)
    assert isinstance(understudy.persona_at(story, who, understudy.Moment.end()), understudy.Persona)
    with pytest.raises(understudy.UnderstudyError):
        story.character("nobody at all")
