"""Training the writer: its examples, and a whole training of a tiny model."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

from recipes.writer.adapter import quantize_q8
from recipes.writer.chats import asked_examples, chat_examples
from recipes.writer.corpora import entailed_sentences, readable, readable_dialogues
from recipes.writer.examples import chat_text, held_back_examples
from recipes.writer.grounding import grounded, support
from recipes.writer.novels import NovelExamples
from recipes.writer.preferences import Preference
from recipes.writer.seeds import HELD_BACK, read_seeds, seed_examples
from recipes.writer.settings import WriterSettings
from recipes.writer.ties import tie_examples
from recipes.writer.train import train as train_writer
from speakers import tiny_reader
from understudy.agents.writer import writer_agent
from understudy.errors import InputError
from understudy.language.backends import ScriptedBackend
from understudy.language.model_folder import read_agent_name
from understudy.training.dialogues import ProfiledDialogue
from understudy.training.pdnc import join_parts, novel_speeches
from understudy.training.run import TrainingTask

pytestmark = pytest.mark.thorough  # what it made ships already

PROFILES = (
    ("i work as a baker .", "i live in boston ."),
    ("i have two dogs .", "my favorite color is blue ."),
)
TURNS = (
    ("hi , what do you do ?", "i work as a baker . you ?"),
    ("i have two dogs to walk .", "that is nice . i live in boston ."),
    ("what is your favorite color ?", "i do not have one . yours ?"),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """PersonaChat in small: dialogues of two, and which utterance expresses which sentence."""
    folder = tmp_path / "pc"
    folder.mkdir()
    lines = list[str]()
    for _ in range(6):
        rows = [f"your persona: {text}" for text in PROFILES[0]] + [
            f"partner's persona: {text}" for text in PROFILES[1]
        ]
        rows += [f"{heard}\t{said}" for heard, said in TURNS]
        lines += [f"{number} {text}" for number, text in enumerate(rows, 1)]
    (folder / "train_both_original_no_cands.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = [["i work as a baker .", "i work as a baker . you ?"], ["i have two dogs .", "i have two dogs to walk ."]]
    (folder / "train_entailed_persona_utterance_pairs.json").write_text(json.dumps(pairs), encoding="utf-8")
    return folder


@pytest.fixture
def novels(tmp_path: Path) -> Path:
    """PDNC in small: one novel to learn from, one that is held back, and the one that is not free."""
    for name in ("Harbour", "TheAwakening", "AHandfulOfDust"):
        folder = tmp_path / "pdnc" / name
        folder.mkdir(parents=True)
        with (folder / "quotation_info.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["quoteByteSpans", "subQuotationList", "addressees", "speaker"])
            writer.writeheader()
            for number in range(40):
                who, to = ("Ines", "Tomas") if number % 2 == 0 else ("Tomas", "Ines")
                text = [f"Where is boat {number}?"] if who == "Ines" else [f"I am at boat number {number - 1}."]
                spans = [[100 * number, 100 * number + 50]]
                writer.writerow({"quoteByteSpans": spans, "subQuotationList": text, "addressees": [to], "speaker": who})
    return tmp_path / "pdnc"


def test_chats_are_made_readable() -> None:
    assert readable("i ' m fine , thanks . you ?") == "I'm fine, thanks. You?"
    assert readable("i live in boston and cant swim") == "I live in Boston and can't swim."
    assert join_parts(["Well,", "go."]) == "Well, go."
    assert join_parts(["Well, Harthouse,", "You think so"]) == "Well, Harthouse. You think so."


def test_replies_come_with_the_profile_they_use(data: Path) -> None:
    dialogues, expressed = readable_dialogues(data), entailed_sentences(data)
    assert dialogues[0].profiles[1] == ("I work as a baker.", "I live in Boston.")
    examples = list(chat_examples(dialogues, expressed, Random(1)))
    bakers = [example for example in examples if example.reply == "I work as a baker. You?"]
    assert bakers
    assert all("I work as a baker." in example.contents.profile for example in bakers)
    assert all(example.contents.message == "Hi, what do you do?" for example in bakers)
    from_questions = list(asked_examples(dialogues, expressed, Random(1), 10))
    assert any("baker" in example.reply for example in from_questions)


def test_only_free_novels_that_are_not_held_back_are_learned(novels: Path) -> None:
    assert list(novel_speeches(novels, held_back=False)) == ["Harbour"]
    assert list(novel_speeches(novels, held_back=True)) == ["TheAwakening"]
    with pytest.raises(InputError, match="holds no novels"):
        novel_speeches(novels / "Harbour", held_back=False)


def test_a_speech_of_a_novel_is_learned_with_what_it_answers(novels: Path) -> None:
    speeches = novel_speeches(novels, held_back=False)["Harbour"]
    rng = np.random.default_rng(0)
    vectors = {speech.text: rng.normal(size=8).astype(np.float32) for speech in speeches}
    book = NovelExamples(speeches, vectors)
    judged = list(book.judged(Random(0)))
    example = next(example for example in judged if example.reply == "I am at boat number 20.")
    assert (example.contents.name, example.contents.facing) == ("Tomas", "Ines")
    assert example.contents.message == "Where is boat 20?"
    assert all("20" not in item.said for item in example.contents.own), "nothing gives the reply away"
    assert all(example.contents.own for example in judged)
    assert list(book.examples(Random(0), copied=1.0))


def test_a_reply_is_grounded_where_the_prompt_has_its_names() -> None:
    (example, *_) = seed_examples(Random(4), 1)
    assert grounded(example.contents, "I know.")
    assert not grounded(example.contents, "Go and ask Zebediah about it.")
    assert support(example.contents, example.contents.message) == 1.0


def test_the_people_made_up_for_this_come_with_other_names() -> None:
    people = read_seeds()
    assert len(people) >= 44
    assert {person.name for person in people} >= set(HELD_BACK)
    examples = list(seed_examples(Random(1), 1))
    assert len(examples) == sum(len(person.questions) for person in people if person.name not in HELD_BACK)
    named = {example.contents.name for example in examples}
    assert len(named - {person.name for person in people}) > len(named) / 2
    assert not any("_" in chat_text(example.contents).replace("<|im_", "") for example in examples)


def test_ties_are_answered_by_what_is_felt() -> None:
    dialogue = ProfiledDialogue((("I bake.",), ("I sail.",)), ())
    for example in tie_examples([dialogue], Random(2), 200):
        facts = " ".join(example.contents.facts)
        if "hate" in example.reply:
            assert any(word in facts for word in ("hate", "despise", "took from me"))


def test_training_text_is_the_prompt_that_running_uses() -> None:
    (example, *_) = seed_examples(Random(4), 1)
    text = chat_text(example.contents)
    assert text.startswith(f"<|im_start|>system\nYou are {example.contents.name}.\nAbout you: ")
    assert text.endswith(f"{example.contents.message}<|im_end|>\n<|im_start|>assistant\n")


SMALL = WriterSettings(epochs=1, rounds=1, rank=32, batch=700, longest=2_000)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen examples instead of those of all corpora."""
    examples = list(seed_examples(Random(0), 1))[:12]
    module = "recipes.writer.train"
    monkeypatch.setattr(f"{module}.training_examples", lambda *_: examples)
    monkeypatch.setattr(f"{module}.held_back_examples", lambda *_: {"people": examples[:4]})
    pairs = [Preference(chat_text(contents), reply, "No no no.") for contents, reply in examples[:4]]
    monkeypatch.setattr(f"{module}.read_preferences", lambda: pairs)


@pytest.mark.thorough
@pytest.mark.usefixtures("few")
def test_a_tiny_model_is_trained_and_its_folder_is_a_writer(data: Path, novels: Path, tmp_path: Path) -> None:
    base, out = tiny_reader(tmp_path / "base", "causal", longest=2_048), tmp_path / "my-writer"
    task = TrainingTask((data, novels), out, SMALL, base, device="cpu")
    card = train_writer(task).card
    assert card["agent"] == read_agent_name(out) == "writer"
    perplexity = card["figures"]["perplexity_per_word"]["people"]
    assert perplexity["trained"] < perplexity["untrained"]
    gguf = pytest.importorskip("gguf")
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(str(out / "writer.gguf")).tensors}
    assert len(tensors) == 2 * 6 * 2, "two matrices for six layers of two blocks"
    assert tensors["blk.0.attn_q.weight.lora_a"].tensor_type.name == "Q8_0"
    assert writer_agent(out, backend=ScriptedBackend(["Aye."])).style == "compact"
    with pytest.raises(InputError, match="is there already"):
        train_writer(task)


@pytest.mark.thorough
@pytest.mark.usefixtures("few")
def test_a_stopped_training_resumes(data: Path, novels: Path, tmp_path: Path) -> None:
    base = tiny_reader(tmp_path / "base", "causal", longest=2_048)
    steps = list[int]()

    def task(name: str) -> TrainingTask[tuple[Path, Path], WriterSettings]:
        return TrainingTask((data, novels), tmp_path / name, SMALL, base, device="cpu", every=1)

    def stop(done: int, total: int, _loss: float) -> None:
        steps.append(done)
        if done == total // 2:
            raise KeyboardInterrupt

    train_writer(task("whole"))
    with pytest.raises(KeyboardInterrupt):
        train_writer(task("resumed"), stop)
    before = len(steps)
    train_writer(task("resumed"), lambda done, _total, _loss: steps.append(done))
    assert before > 1
    assert steps[before] == steps[before - 1], "it goes on from the last checkpoint"
    assert (tmp_path / "resumed/writer.gguf").read_bytes() == (tmp_path / "whole/writer.gguf").read_bytes()


def test_q8_keeps_numbers_to_a_hundredth() -> None:
    values = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    blocks = quantize_q8(values).reshape(-1, 34)
    back = blocks[:, :2].copy().view(np.float16).astype(np.float32) * blocks[:, 2:].view(np.int8)
    assert np.abs(back.reshape(values.shape) - values).max() < 0.02


def test_examples_of_all_kinds_and_what_is_held_back(data: Path, novels: Path) -> None:
    reserved = held_back_examples(data, novels)
    assert set(reserved) == {"novels", "people"}, "there is no validation file"
    (data / "valid_self_original.txt").write_text(
        "1 your persona: i bake .\n2 what do you do ?\ti bake bread .\t\ta|b\n3 nice !\tthanks .\t\ta|b\n",
        encoding="utf-8",
    )
    questions = held_back_examples(data, novels)["personachat"]
    assert [example.reply for example in questions] == ["I bake bread.", "Thanks."]
    assert questions[0].contents.facts == ("I bake.",)
    assert [turn.text for turn in questions[1].contents.turns] == ["What do you do?", "I bake bread."]


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="multiple of 32"):
        WriterSettings(rank=20)
    with pytest.raises(InputError, match="rate must be above 0"):
        WriterSettings(rate=0)
