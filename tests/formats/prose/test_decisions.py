"""What a language model answers is a proposal: of the cast, not too sure, and never instead of a decision."""

from __future__ import annotations

import json
from pathlib import Path

from novel_texts import guessed, prose_of
from understudy.formats.prose.corrections import Corrections, SpeakerProposal
from understudy.formats.prose.decisions import BATCH, SpeakerAsker, doubtful_quotations, set_speaker, speaker_prompt
from understudy.language.backends import ScriptedBackend
from understudy.text import fold

NAMES = {fold("Odile"): "Odile", fold("Madame Marchand"): "Odile", fold("Bastien"): "Bastien"}


def corrections(quotes: int) -> Corrections:
    prose = prose_of("\n\n".join(f'She turned. "Number {n} is mine," came a voice. "Yes."' for n in range(quotes)))
    return doubtful_quotations(Corrections(Path("x.quotations.toml")), prose, guessed(prose, ("Odile", "Bastien")))


def asked(answer: object, quotes: int = 4) -> tuple[Corrections, SpeakerAsker]:
    asker = SpeakerAsker(ScriptedBackend([answer if isinstance(answer, str) else json.dumps(answer)]))
    start = set_speaker(corrections(quotes), "1", "Marguerite")
    *_, last = asker.ask(start, NAMES, ["Odile", "Bastien"])
    return last, asker


def test_answers_become_proposals_of_those_asked_about() -> None:
    answers = [
        {"number": 1, "speaker": "madame marchand", "confidence": 0.99},
        {"number": 2, "speaker": "Nobody Known"},
        {"number": 3, "speaker": "Bastien", "confidence": "very"},
        {"number": 9, "speaker": "Odile"},
    ]
    result, asker = asked({"answers": answers})
    assert [entry.proposal for entry in result.entries] == [
        None,  # it is decided, and was not asked about
        SpeakerProposal("Odile", 0.85, "llm"),
        None,
        SpeakerProposal("Bastien", 0.7, "llm"),
    ]
    assert asker.dropped == {
        "it names somebody who is not of the cast": 1,
        "it is about no passage that was asked": 1,
    }
    assert asker.usage.calls == 1


def test_what_is_no_answer_changes_nothing() -> None:
    for answer in ("I cannot say.", "{", '{"answers": 3}', "[" * 5000):
        result, asker = asked(answer)
        assert not any(entry.proposal for entry in result.entries)
        assert asker.dropped == {"the answer is not JSON": 1}


def test_many_are_asked_in_several_questions_and_none_twice() -> None:
    result, asker = asked({"answers": [{"number": 1, "speaker": "Odile"}]}, quotes=2 * BATCH + 1)
    assert len(asker.backend.requests) == 2  # type: ignore[attr-defined]
    assert sum(entry.proposal is not None for entry in result.entries) == 2
    again = SpeakerAsker(ScriptedBackend(["{}"]))
    list(again.ask(result, NAMES, []))
    prompts = "\n".join(message.content for request, _ in again.backend.requests for message in request)  # type: ignore[attr-defined]
    assert "[[Number 1 " not in prompts and "[[Number 2 " in prompts


def test_the_prompt_marks_the_quotation_and_lists_who_it_may_be() -> None:
    system, user = speaker_prompt(corrections(1).entries, ["Marguerite"])
    assert "Odile; Bastien; Marguerite" in system.content
    assert user.content.startswith('1. She turned. " [[Number 0 is mine," came a voice. "Yes.]]')
