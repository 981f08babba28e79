from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from models import dialogue_base, trades
from realdata import folder
from understudy.agents.causal import DialogueFormat
from understudy.errors import InputError
from understudy.story.dialogue import Turn
from understudy.training.causal_corpora import (
    CausalSettings,
    DialogueDrawer,
    like_lengths,
    read_corpus,
    under_condition,
)
from understudy.training.corpus import PAIRS

NOVEL = "AnneOfGreenGables"


def test_a_dialogue_of_personachat_is_learnt_from_both_chairs(tmp_path: Path) -> None:
    corpus = read_corpus(trades(tmp_path, 3), 0, 0)
    assert len(corpus.training) == 6 and not corpus.held
    first, second = corpus.training[:2]
    assert first.turns == second.turns and len(first.turns) == 4
    assert first.learnt == {0, 2} and second.learnt == {1, 3}
    assert first.situation.faced is not None
    assert first.situation.faced.profile == second.situation.persona.profile != first.situation.persona.profile


def test_held_back_are_people_and_nothing_of_them_is_learnt(tmp_path: Path) -> None:
    data = trades(tmp_path, 40)
    everybody = read_corpus(data, 0, 0).training
    said = {dialogue.situation.persona.profile[0]: dialogue.turns[0].text for dialogue in everybody}
    (data / PAIRS).write_text(json.dumps([[sentence, f"so {text}"] for sentence, text in said.items()]))
    corpus = read_corpus(data, 0.2, 0)
    held = {dialogue.situation.persona.profile for dialogue in corpus.held}
    assert held and held.isdisjoint(dialogue.situation.persona.profile for dialogue in corpus.training)
    hidden = {sentence for profile in held for sentence in profile}
    monologues = [dialogue for dialogue in corpus.training if dialogue.situation.faced is None]
    assert monologues and all(hidden.isdisjoint(dialogue.situation.persona.profile) for dialogue in monologues)
    assert hidden.isdisjoint(corpus.paraphrases)


def test_pairs_are_monologues_of_people_with_a_few_sentences(tmp_path: Path) -> None:
    data = trades(tmp_path, 2)
    pairs = [[f"i am {number // 2} .", f"yes , {number} !"] for number in range(12)]
    (data / PAIRS).write_text(json.dumps(pairs))
    corpus = read_corpus(data, 0, 0)
    first, second = corpus.training[4:]
    assert first.situation.persona.profile == tuple(f"i am {number} ." for number in range(4))
    assert [turn.text for turn in first.turns] == [f"yes , {number} !" for number in range(8)]
    assert first.learnt == set(range(8)) and len(second.turns) == 4
    assert corpus.paraphrases["i am 0 ."] == ["yes , 0 !", "yes , 1 !"]
    assert len(read_corpus(data, 0, 0, monologues=False).training) == 4


def test_of_a_session_of_hpd_the_owners_turns_are_learnt(tmp_path: Path) -> None:
    session = {
        "position": "Book1-chapter2",
        "speakers": ["Wren", "Moss"],
        "scene": "Wren asks for the key.",
        "dialogue": ["Moss: No.", "Wren: Please, Moss.", "Moss: What for?", "Wren: Later."],
        "attributes": {"Wren": {"age": "9"}},
        "relations with Wren": {"Moss": {"friend": 1.0, "Wren's affection to him": 5.0}},
    }
    silent = {**session, "dialogue": ["Moss: Nobody here."]}
    (tmp_path / "sessions.json").write_text(json.dumps({"Session-1": session, "Session-2": silent}))
    for path in (tmp_path, tmp_path / "sessions.json"):
        [dialogue] = read_corpus(path, 0, 0).training
        assert dialogue.learnt == {1, 3} and dialogue.situation.setting == "Wren asks for the key."
        assert dialogue.situation.persona.profile and dialogue.situation.persona.relations


def test_speeches_of_a_novel_that_are_near_each_other_are_a_dialogue(tmp_path: Path) -> None:
    novel = tmp_path / "TheKey"
    novel.mkdir()
    with (novel / "quotation_info.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["speaker", "addressees", "subQuotationList", "quoteByteSpans"])
        for speaker, text, start in (("Ines", "Who is it?", 0), ("Tomas", "Me.", 40), ("Ines", "Late.", 90_000)):
            rows.writerow([speaker, "[]", str([text]), str([[start, start + 10]])])
    near, far = read_corpus(tmp_path, 0, 0).training
    assert near.turns == (Turn("Ines", "Who is it?"), Turn("Tomas", "Me.")) and near.learnt == {0, 1}
    assert far.turns == (Turn("Ines", "Late."),) and not far.situation.persona.profile


def test_a_story_is_its_scenes_and_a_text_its_lines(tmp_path: Path) -> None:
    story = read_corpus(Path("demo"), 0.1, 0)
    assert len(story.training) > 20 and len(story.held) == round(0.1 * (len(story.training) + len(story.held)))
    assert {turn.speaker for dialogue in story.training for turn in dialogue.turns} >= {"Zita Karst", "Casimir Ould"}
    (tmp_path / "subtitles.txt").write_text("are you there\n  yes\nwhere\n\nnobody\n")
    first, second = read_corpus(tmp_path / "subtitles.txt", 0, 0).training
    assert [turn.text for turn in first.turns] == ["are you there", "yes", "where"]
    assert [turn.speaker[-1] for turn in first.turns] == ["A", "B", "A"] and len(second.turns) == 1


def test_what_holds_no_dialogue_is_refused(tmp_path: Path) -> None:
    (tmp_path / "blank.txt").write_text("\n \n")
    with pytest.raises(InputError):
        read_corpus(tmp_path / "blank.txt", 0, 0)


def test_real_data_can_be_read(tmp_path: Path) -> None:
    """Of the novels one that may be learned from: each is read by itself."""
    (tmp_path / NOVEL).symlink_to(folder("pdnc") / NOVEL, target_is_directory=True)
    sizes = [len(read_corpus(path, 0.05, 0).training) for path in (folder("personachat"), folder("hpd"), tmp_path)]
    assert sizes[0] > 2_500 and sizes[1] > 40 and sizes[2] > 20


@pytest.mark.thorough
def test_real_novels_can_all_be_read() -> None:
    assert len(read_corpus(folder("pdnc"), 0.05, 0).training) > 500


pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


def test_profiles_are_shown_as_often_as_asked_in_any_order_and_the_same_again(tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    data = trades(tmp_path / "data", 2)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(dialogue_base(tmp_path / "base", data, more=["another"]))
    dialogues = read_corpus(data, 0, 0).training[:1]
    own = dialogues[0].situation.persona.profile
    reworded = {own[0]: ["another", dialogues[0].turns[0].text]}
    settings = CausalSettings(none=0.3, both=0.2, paraphrase=0.5)
    drawer = DialogueDrawer(dialogues, reworded, settings, DialogueFormat(tokenizer, 128), seed=3)
    texts = [tokenizer.decode(drawer(epoch, 0).ids) for epoch in range(300)]
    assert texts[:20] == [tokenizer.decode(drawer(epoch, 0).ids) for epoch in range(20)]
    shown = Counter(("B" if "About B:" in text else "") + ("A" if "About A:" in text else "") for text in texts)
    assert shown[""] == pytest.approx(90, abs=25) and shown["BA"] + shown["AB"] == pytest.approx(60, abs=22)
    assert shown["A"] == pytest.approx(150, abs=30) and shown["B"] == 0, "the one who answers is A here"
    with_profile = [text for text in texts if "About A:" in text]
    assert sum(text.startswith(f"About A: {own[1]}") for text in with_profile) == pytest.approx(105, abs=30)
    assert sum("another" in text for text in with_profile) == pytest.approx(105, abs=30)
    assert all(text.count(dialogues[0].turns[0].text) == 1 for text in texts), "never what is to be said"


def test_a_condition_hides_profiles_and_nothing_else(tmp_path: Path) -> None:
    told = read_corpus(trades(tmp_path, 1), 0, 0).training[0].situation
    none, self, both = (under_condition(told, condition) for condition in ("none", "self", "both"))
    assert both == told and self.persona == told.persona and none.persona.profile == ()
    assert self.faced is not None and none.faced is not None and told.faced is not None
    assert self.faced.profile == none.faced.profile == () and self.faced.name == told.faced.name


def test_dialogues_of_one_length_are_a_batch(tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    data = trades(tmp_path / "data", 12)
    form = DialogueFormat(PreTrainedTokenizerFast.from_pretrained(dialogue_base(tmp_path / "base", data)), 128)
    dialogues = read_corpus(data, 0, 0).training
    dialogues = [replace(one, turns=one.turns[: 2 + number % 3]) for number, one in enumerate(dialogues)]
    batches = like_lengths(dialogues, form, 200)
    assert sorted(index for batch in batches for index in batch) == list(range(len(dialogues)))
    lengths = [len(form.dialogue(one.situation, one.turns, one.learnt).ids) for one in dialogues]
    sizes = [[lengths[index] for index in batch] for batch in batches]
    assert all(max(some) * len(some) <= 200 for some in sizes) and len(batches) < len(dialogues) / 2
    assert [max(some) for some in sizes] == sorted(max(some) for some in sizes)
