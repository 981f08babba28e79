from __future__ import annotations

import subprocess
import sys
import time

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


def test_importing_takes_no_time() -> None:
    python("import understudy")
    begun = time.perf_counter()
    seconds = min(
        float(python("import time; t = time.perf_counter(); import understudy; print(time.perf_counter() - t)"))
        for _ in range(3)
    )
    assert seconds < 0.3
    assert time.perf_counter() - begun < 30


def test_importing_starts_nothing_heavy() -> None:
    loaded = set(python("import sys, understudy; print(*sys.modules)").split())
    assert loaded.isdisjoint({"torch", "numpy", "rich", "click", "sqlite3", "understudy.readers"})


def test_the_command_line_starts_nothing_of_a_model() -> None:
    loaded = set(python("import sys, understudy.cli; print(*sys.modules)").split())
    assert loaded.isdisjoint({"torch", "numpy", "pyarrow", "rapidfuzz", "onnxruntime"})


def test_the_nouns_and_verbs_work_together() -> None:
    story = understudy.read("demo-zh")
    who = story.cast()[0].character.name
    situation = understudy.situation_at(story, who, "end")
    assert isinstance(situation, understudy.Situation)
    assert isinstance(understudy.persona_at(story, who, understudy.Moment.end()), understudy.Persona)
    with pytest.raises(understudy.UnderstudyError):
        story.character("nobody at all")
