from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import realdata
from novel_texts import guessed, prose_of
from understudy.errors import CastError, InputError
from understudy.formats.prose.corrections import (
    Corrections,
    SpeakerDecision,
    SpeakerProposal,
    context_of,
    corrected,
    match_quotations,
    parse_corrections,
    quotations_file_of,
    read_corrections,
)
from understudy.formats.prose.decisions import (
    entry_named,
    set_not_speech,
    set_speaker,
    write_doubtful,
)
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Attribution
from understudy.sources.source import SourceFile

NOVEL = """Odile put down the kettle.

"You sold the piano," she said, "and told nobody."

"Yes."

"Marguerite will hear of this before the week is out."

Bastien looked at the yard.

"Yes."

He had read "The Noise" twice.
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "novel.quotations.toml"


def listed(path: Path, text: str = NOVEL, bound: float | None = None) -> Corrections:
    prose = prose_of(text)
    return write_doubtful(path, prose, guessed(prose, ("Odile", "Bastien")), bound, "novel.txt")


def applied(path: Path, text: str) -> list[tuple[str, str | None, float]]:
    prose = prose_of(text)
    attributions, _ = read_corrections(path).applied(prose, guessed(prose, ("Odile", "Bastien")), "novel.txt")
    return [(prose.said(q), a.speaker, a.confidence) for q, a in zip(prose.quotations, attributions)]


def test_the_doubtful_are_listed_with_all_that_helps_to_decide(path: Path) -> None:
    listed(path)
    document = tomllib.loads(path.read_text())
    assert document["bound"] == 0.6
    first = document["quotation"][0]
    assert first["quote"] == "You sold the piano, and told nobody."
    assert first["passage"] == 'You sold the piano," she said, "and told nobody.'
    assert NOVEL[slice(*first["span"])].startswith("You sold") and first["chapter"] == "1"
    assert first["before"].endswith('kettle. "') and first["after"].startswith('" "Yes."')
    assert (first["guess"], first["confidence"], first["speaker"]) == ("Odile", 0.4, "")
    assert first["candidates"] == [["Odile", 0.4], ["Bastien", 0.1]]
    assert len(document["quotation"]) == 5


def test_what_is_sure_is_not_listed_and_no_file_is_made_of_nothing(path: Path) -> None:
    prose = prose_of(NOVEL)
    write_doubtful(path, prose, guessed(prose, ("Odile",), confidence=0.9))
    assert not path.exists()
    assert len(write_doubtful(path, prose, guessed(prose, ("Odile",), confidence=0.9), bound=0.95).entries) == 5


def test_a_quote_is_cut_and_found_again_all_the_same(path: Path) -> None:
    text = '"' + "So it went on and on. " * 30 + '"\n'
    corrections = listed(path, text)
    assert len(corrections.entries[0].quote) == 200
    set_speaker(corrections, "1", "Bastien").write()
    assert [speaker for _, speaker, _ in applied(path, "Once.\n\n" + text)] == ["Bastien"]


def test_decisions_are_applied_with_certainty(path: Path) -> None:
    corrections = listed(path)
    corrections = set_speaker(corrections, "2", "  The   Cat ")
    corrections = set_not_speech(corrections, corrections.entries[4].id)
    corrections.write()
    result = applied(path, NOVEL)
    assert result[1] == ("Yes.", "The Cat", 1.0)
    assert result[4] == ("The Noise", None, 1.0)
    assert result[3] == ("Yes.", "Bastien", 0.4)


def test_decisions_survive_edits_around_them_and_in_them(path: Path) -> None:
    set_speaker(set_speaker(listed(path), "2", "Second"), "4", "Fourth").write()
    set_speaker(read_corrections(path), "3", "Third").write()
    longer = "A chapter before, in which nobody speaks. " * 200 + "\n\n" + NOVEL
    assert [speaker for _, speaker, sure in applied(path, longer) if sure == 1.0] == ["Second", "Third", "Fourth"]
    mended = NOVEL.replace("before the week is out", "before this week is out")
    assert [speaker for _, speaker, sure in applied(path, mended) if sure == 1.0] == ["Second", "Third", "Fourth"]
    between = NOVEL.replace("Bastien looked", '"Yes."\n\nShe waited.\n\nBastien looked')
    assert [speaker for said, speaker, sure in applied(path, between) if said == "Yes." and sure == 1.0] == [
        "Second",
        "Fourth",
    ]


def test_a_decision_is_never_given_to_words_said_elsewhere(path: Path) -> None:
    set_speaker(listed(path), "2", "Second").write()
    elsewhere = "A long way off. " * 500 + '\n\nSomebody else was there.\n\n"Yes."\n\nThey went.\n'
    assert all(sure < 1.0 for _, _, sure in applied(path, elsewhere))
    prose = prose_of(elsewhere)
    _, gone = read_corrections(path).applied(prose, guessed(prose, ("Odile",)), "novel.txt")
    assert [entry.decision.speaker for entry in gone] == ["Second"]


def test_listing_again_keeps_every_decision_and_proposal(path: Path) -> None:
    corrections = set_speaker(set_not_speech(listed(path), "5"), "1", "Marguerite")
    proposal = SpeakerProposal("Bastien", 0.7, "llm")
    proposed = replace(corrections.entries[2], proposal=proposal)
    replace(corrections, entries=(*corrections.entries[:2], proposed, *corrections.entries[3:])).write()
    without_title = NOVEL.replace('"The Noise"', "the papers")
    prose = prose_of(without_title)
    again = write_doubtful(path, prose, guessed(prose, ("Odile",), confidence=0.8), file="novel.txt")
    assert [entry.decision for entry in again.entries] == [
        SpeakerDecision("Marguerite"),
        SpeakerDecision(),
        SpeakerDecision(not_speech=True),  # its quotation is gone; it is kept
    ]
    assert again.entries[1].proposal == proposal
    assert read_corrections(path) == again
    assert len(again.undo) == 2


def test_a_proposal_gives_way_to_a_surer_guess_and_to_the_author(path: Path) -> None:
    corrections = listed(path)
    entries = [replace(entry, proposal=SpeakerProposal("Marguerite", 0.7, "llm")) for entry in corrections.entries]
    corrections = set_speaker(replace(corrections, entries=tuple(entries)), "1", "Odile")
    prose = prose_of(NOVEL)
    guesses = [Attribution("Bastien", sure) for sure in (0.2, 0.2, 0.9, 0.2, 0.2)]
    result, _ = corrections.applied(prose, guesses)
    assert [(a.speaker, a.confidence) for a in result[:3]] == [("Odile", 1.0), ("Marguerite", 0.7), ("Bastien", 0.9)]


def test_undo_takes_back_one_decision_after_the_other(path: Path) -> None:
    start = listed(path)
    one = set_speaker(start, "1", "Odile")
    two = set_speaker(one, "1", "Bastien")
    two.write()
    back = read_corrections(path).undone()
    assert back.entries == one.entries and back.undone().entries == start.entries
    with pytest.raises(InputError, match="no decision to take back"):
        back.undone().undone()


def test_an_entry_is_named_by_its_number_or_id(path: Path) -> None:
    corrections = listed(path)
    assert entry_named(corrections, "2") is entry_named(corrections, corrections.entries[1].id)
    with pytest.raises(InputError, match="from 1 to 5"):
        entry_named(corrections, "6")
    with pytest.raises(InputError, match="a name"):
        set_speaker(corrections, "1", "  ")


def test_of_several_files_of_a_folder_each_has_its_own_entries(tmp_path: Path) -> None:
    path = tmp_path / "quotations.toml"
    prose = prose_of(NOVEL)
    guesses = guessed(prose, ("Odile", "Bastien"))
    write_doubtful(path, prose, guesses, file="one.txt")
    set_speaker(read_corrections(path), "1", "First").write()
    both = write_doubtful(path, prose, guesses, file="two.txt")
    assert [entry.file for entry in both.entries] == ["one.txt"] * 5 + ["two.txt"] * 5
    assert both.applied(prose, guesses, "one.txt")[0][0].speaker == "First"
    assert both.applied(prose, guesses, "two.txt") == (guesses, [])


def test_the_file_lies_beside_its_source(tmp_path: Path) -> None:
    novel = tmp_path / "novel.txt"
    novel.write_text(NOVEL)
    assert quotations_file_of(novel) == tmp_path / "novel.quotations.toml"
    assert quotations_file_of(tmp_path) == tmp_path / "quotations.toml"
    prose = prose_of(NOVEL)
    guesses = guessed(prose, ("Odile", "Bastien"))
    seen: list[int] = []
    set_speaker(listed(quotations_file_of(novel)), "1", "Beside").write()
    source = SourceFile(novel, attributed=lambda _, attributions: seen.append(len(attributions)))
    assert corrected(source, prose, guesses)[0][0].speaker == "Beside" and seen == [5]
    within = SourceFile(novel, story_folder=tmp_path)
    assert corrected(within, prose, guesses) == (guesses, [])


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('[[quotation]]\nspeaker = "Ann"', "'quote' is missing"),
        ('[[quotation]]\nquote = "x"\nspeaker = 3', "'speaker' is 3, not a text"),
        ('[[quotation]]\nquote = "x"\nspeaker = "Ann"\nnot_speech = true', "keep one of the two"),
        ('[[quotation]]\nquote = "x"\nspan = [1]', "not two offsets"),
        ('[[quotation]]\nquote = "x"\nwho = "Ann"', r"'who' is unknown in \[\[quotation\]\]"),
        ('[[quotation]]\nquote = "x"\nconfidence = 2', "from 0 to 1"),
        ('[[quotation]]\nquote = "x"\ncandidates = ["a"]', r"list of \[name, probability\]"),
        ('[quotation]\nquote = "x"', "two brackets"),
        ("bound = ", "is not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(path: Path, written: str, message: str) -> None:
    path.write_text("bound = 0.5\n" + written if "bound" not in written else written)
    with pytest.raises(CastError, match=message):
        read_corrections(path)


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


@given(quotes=st.lists(TEXT.filter(lambda text: text.strip() and '"' not in text), min_size=1, max_size=5))
def test_whatever_is_said_is_written_and_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, quotes: list[str]
) -> None:
    path = tmp_path_factory.mktemp("corrections") / "x.quotations.toml"
    prose = prose_of("\n\n".join(f'Then: "{" ".join(quote.split())}"' for quote in quotes))
    corrections = write_doubtful(path, prose, guessed(prose, ("Ann", "Bob")))
    if corrections.entries:
        corrections = set_speaker(corrections, "1", "Ann")
    corrections.write()
    assert read_corrections(path) == corrections
    text = path.read_text(encoding="utf-8")
    assert text == corrections.render()
    assert parse_corrections(text, path) == read_corrections(path)
    assert set(corrections.matched(prose).values()) == set(range(len(prose.quotations)))


def test_decisions_stay_with_their_quotations_in_an_edited_novel() -> None:
    text = (realdata.folder("pdnc") / "TheSunAlsoRises" / "novel_text.txt").read_text(encoding="utf-8")
    text = text.replace("\r\n", "\n")[:150_000]
    prose, chance = parse_prose(text), random.Random(1)
    pieces, moved, deleted, last, length = list[str](), dict[int, int](), set[int](), 0, 0
    for number, paragraph in enumerate(prose.paragraphs):
        start, end = paragraph.span
        before, body, draw = text[last:start], text[start:end], chance.random()
        before += "It rained.\n\n" if 0.04 <= draw < 0.08 else ""
        if draw < 0.04:
            deleted.add(number)
            body = ""
        moved[number] = length + len(before) - start
        pieces += [before, body]
        length, last = length + len(before) + len(body), end
    edited = parse_prose("".join([*pieces, text[last:]]))
    matched = match_quotations([context_of(prose, quotation) for quotation in prose.quotations], edited)
    wrong = 0
    for index, quotation in enumerate(prose.quotations):
        if quotation.paragraph in deleted:
            wrong += index in matched
        elif index in matched:
            wrong += edited.quotations[matched[index]].span.start != quotation.span.start + moved[quotation.paragraph]
    left = sum(quotation.paragraph not in deleted for quotation in prose.quotations)
    assert left > 500 and len(deleted) > 20
    assert len(matched) >= 0.99 * left and wrong <= 0.002 * left
