"""A language model's claims are kept only where the scene carries them, and no scene is paid for twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import BackendError
from understudy.formats import read
from understudy.language.backends import ScriptedBackend
from understudy.people.draft import draft
from understudy.people.llm_reader import LlmReader, scene_parts
from understudy.progress import ignore_progress
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Moment, Relation

HOOKS = {"line": "1.1.3", "words": "I never look at hooks"}
HOBBY = {"who": "Tobias", "attribute": "hobby", "value": "hooks", "confidence": 0.8, "quotes": [HOOKS]}
TIE = {"of": "Tobias Rook", "to": "Ines", "kind": "spouse", "term": "wife", "quotes": [HOOKS]}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "cache"))


def answered(*documents: Any) -> ScriptedBackend:
    return ScriptedBackend([text if isinstance(text, str) else json.dumps(text) for text in documents])


def claims_of(story: Path | Story, document: Any) -> tuple[list[Fact | Relation], LlmReader]:
    """The claims of an answer that is given for every scene; it fits only one of them."""
    reader = LlmReader(answered(document), fresh=True)
    return reader(read(story) if isinstance(story, Path) else story, ignore_progress), reader


def test_claims_that_quote_their_lines_are_kept(story: Path) -> None:
    claims, reader = claims_of(story, {"facts": [HOBBY], "relations": [TIE]})
    fact, tie = claims
    assert isinstance(fact, Fact) and isinstance(tie, Relation) and fact.found is not None
    assert (fact.who, fact.values, fact.since) == ("Tobias Rook", ("hooks",), Moment((1, 1, 4)))
    assert fact.found.sources == (Moment((1, 1, 3)),) and fact.found.confidence == 0.8
    assert (tie.of, tie.to, tie.kind, tie.term) == ("Tobias Rook", "Ines Vale", "spouse", "wife")
    assert reader.dropped == {"it quotes a line that is not in the scene": 6}, (
        "the answer was given for other scenes too"
    )
    assert reader.usage.calls == 4 and reader.usage.prompt_tokens > 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quotes": []}, "it quotes no lines"),
        ({"quotes": "1.1.3"}, "it quotes no lines"),
        ({"quotes": [{"line": "9.9.9", "words": "I never look"}]}, "it quotes a line that is not in the scene"),
        ({"quotes": [{"line": "1.1.3", "words": "I always look"}]}, "the line does not say those words"),
        ({"quotes": [{"line": "1.1.3", "words": ""}]}, "the line does not say those words"),
        ({"quotes": [HOOKS, {"line": "1.1.2", "words": "made up"}]}, "the line does not say those words"),
        ({"who": "Nobody"}, "it is about somebody who is not of the cast"),
        ({"who": 7}, "it is about somebody who is not of the cast"),
        ({"attribute": "secret"}, "its attribute is none of the story's"),
        ({"attribute": "shoe size"}, "its attribute is none of the story's"),
        ({"value": ["hooks"]}, "its value is no text"),
        ({"value": "hooks\x1b[2J"}, "its value is no text"),
    ],
)
def test_what_the_scene_does_not_carry_is_dropped_and_counted(story: Path, change: Any, reason: str) -> None:
    claims, reader = claims_of(story, {"facts": [{**HOBBY, **change}]})
    assert claims == [] and reason in reader.dropped


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"to": "Tobias"}, "it ties somebody to themselves"),
        ({"kind": "confidant"}, "its kind is none of the story's"),
        ({"kind": "nemesis"}, "its kind is none of the story's"),
        ({"kind": "affection", "level": 11}, "its level is none of its kind"),
    ],
)
def test_ties_are_checked_as_well(story: Path, change: Any, reason: str) -> None:
    claims, reader = claims_of(story, {"relations": [{**TIE, **change}]})
    assert claims == [] and reason in reader.dropped


@pytest.mark.parametrize("garbage", ["", "I cannot help with that.", "{", '{"facts": [', "[1, 2]", "{" * 5000])
def test_garbage_is_counted_and_harms_nothing(story: Path, garbage: str) -> None:
    claims, reader = claims_of(story, garbage)
    assert claims == [] and reader.dropped == {"the answer is not JSON": 4}


def test_json_is_found_among_other_words(story: Path) -> None:
    claims, _ = claims_of(story, f"Here it is:\n```json\n{json.dumps({'facts': [HOBBY]})}\n```\nAnything else?")
    assert len(claims) == 1


def test_a_model_is_never_certain(story: Path) -> None:
    for said, kept in ((1.0, 0.85), (0.3, 0.3), (7, 0.7), ("high", 0.7), (True, 0.7)):
        (fact,), _ = claims_of(story, {"facts": [{**HOBBY, "confidence": said}]})
        assert fact.found is not None and fact.found.confidence == kept


def test_reading_goes_on_where_it_was_stopped(story: Path) -> None:
    opened = read(story)

    class Failing(ScriptedBackend):
        def complete(self, *arguments: Any, **options: Any) -> Any:
            if len(self.requests) == 2:
                raise BackendError("the server is gone")
            return super().complete(*arguments, **options)

    with pytest.raises(BackendError):
        draft(opened, finders=[("llm", LlmReader(Failing([json.dumps({"facts": [HOBBY]})])))])
    backend = answered({"facts": [HOBBY]})
    reader = LlmReader(backend)
    drafted = draft(opened, finders=[("llm", reader)])
    assert len(backend.requests) == 2 and reader.stored == 2 and reader.usage.calls == 2
    assert [placed.problem for placed in drafted.entries] == [""]
    again = LlmReader(answered("unused"))
    draft(opened, finders=[("llm", again)])
    assert again.usage.calls == 0 and again.stored == 4
    fresh = LlmReader(answered({"facts": []}), fresh=True)
    draft(opened, finders=[("llm", fresh)], fresh=True)
    assert fresh.usage.calls == 4


def test_the_same_claim_of_two_scenes_is_one(story: Path) -> None:
    second = {"line": "2.2.2", "words": "I bought it back"}
    documents = {"facts": [{**HOBBY, "quotes": [HOOKS]}, {**HOBBY, "quotes": [second], "confidence": 0.5}]}
    (fact,), _ = claims_of(story, documents)
    assert fact.found is not None and fact.since == Moment((1, 1, 4))
    assert fact.found.sources == (Moment((1, 1, 3)), Moment((2, 2, 2)))


def test_long_scenes_are_read_in_parts(story: Path) -> None:
    scene = next(read(story).scenes())
    whole = list(scene_parts(scene, 8000))
    assert whole == [list(scene.lines)]
    parts = list(scene_parts(scene, 0))
    assert [line for part in parts for line in part] == list(scene.lines)


KEYS = st.sampled_from([*HOBBY, *TIE, "line", "words"])
json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8) | st.sampled_from(["1.1.3", "Tobias"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*HOBBY, *TIE, "line", "words"]), inner)
    ),
    max_leaves=12,
)


@given(document=st.fixed_dictionaries({"facts": json_values, "relations": json_values}))
def test_any_json_is_survived(story: Path, document: Any) -> None:
    claims, _ = claims_of(read(story), document)
    assert all(claim.found is not None and claim.found.sources for claim in claims)
