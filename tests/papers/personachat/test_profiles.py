from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from measured import TRADES, chat, profile, volunteers
from realdata import folder
from understudy.errors import InputError
from understudy.formats.chat_records import ChatLine, ChatRecord
from understudy.papers.personachat.profiles import (
    Side,
    bench_profiles,
    direction_of,
    error_rows,
    fields_of,
    rank_of,
    sides_in,
    sides_of,
)
from understudy.papers.personachat.profiling import profile_of, sentences_in
from understudy.papers.personachat.scorers import (
    Training,
    by_links,
    by_words,
    learn_links,
    resemblance_named,
    scorer_named,
)

PAIRS = [(f"i make {trade} .", f"my {trade} are what i live from .") for trade in TRADES]


def dialogues(trades: list[str]) -> str:
    """Each first speaker makes one thing, each second the one after it, and both say so in their second line."""
    lines = []
    for index, trade in enumerate(trades):
        another = trades[(index + 1) % len(trades)]
        own = [f"i make {another}.", f"i sell {another} at the market {index}b.", "i am called b.", f"i am {index}."]
        partner = [f"i make {trade}.", f"i sell {trade} at the market {index}a.", f"i live at {index}.", f"age {index}"]
        content = [f"your persona: {text}" for text in own[:2]] + [f"partner's persona: {text}" for text in partner[:2]]
        content += ["hello .\thello to you .", f"i have {trade} to finish .\tand i {another} ."]
        lines += [f"{number} {text}" for number, text in enumerate(content, 1)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "valid_both_original.txt").write_text(dialogues(TRADES[:8]), encoding="utf-8")
    (tmp_path / "train_both_original_no_cands.txt").write_text(dialogues(TRADES[8:]), encoding="utf-8")
    (tmp_path / "train_entailed_persona_utterance_pairs.json").write_text(json.dumps(PAIRS), encoding="utf-8")
    return tmp_path


def test_errors_fall_as_more_is_said(data: Path) -> None:
    document = bench_profiles(data)
    results = {
        (row["scorer"], row["profile"], row["unit"], row["length"]): row
        for row in document["rows"]
        if row["speaker"] == "both" and row["metric"] == "error_rate"
    }
    assert {scorer for scorer, *_ in results} >= {"tfidf", "words", "links"}
    for scorer in ("tfidf", "words"):
        assert results[scorer, "own", "profile", 1]["value"] == 1.0
        assert results[scorer, "own", "profile", 2]["value"] == 0.0
        assert results[scorer, "own", "profile", "whole"]["value"] == 0.0
        assert results[scorer, "partner", "profile", "whole"]["value"] > 0.5
    whole = results["words", "own", "profile", "whole"]
    assert (whole["n"], whole["paper"]) == (16, 0.057)
    assert results["words", "own", "profile", 3]["paper"] == 0.35
    assert results["words", "own", "sentences", "whole"]["n"] == 32
    assert json.loads(json.dumps(document)) == document


def test_a_sample_is_of_dialogues(data: Path) -> None:
    rows = bench_profiles(data, scorers=["words"], limit=3)["rows"]
    assert {row["n"] for row in rows if row["unit"] == "profile" and row["speaker"] == "both"} == {6}


def test_what_is_missing_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="test_both_original"):
        bench_profiles(data, "test")
    (data / "train_entailed_persona_utterance_pairs.json").write_text("{]", encoding="utf-8")
    with pytest.raises(InputError, match="list of pairs"):
        bench_profiles(data)
    (data / "train_entailed_persona_utterance_pairs.json").unlink()
    assert "links" not in {row["scorer"] for row in bench_profiles(data)["rows"]}
    with pytest.raises(InputError, match="links"):
        bench_profiles(data, scorers=["links"])


def side(number: int, *profile: str) -> Side:
    return Side(number, False, ("hello",), profile, ())


def test_a_field_shares_no_sentence_with_the_true_profile_and_holds_nobody_twice() -> None:
    judged = [side(1, "a", "b"), side(2, "b", "c"), side(3, "d", "e"), side(4, "e", "f"), side(5, "g", "h")]
    more = [side(9, *(f"{index}{letter}" for letter in "wxyz")) for index in range(6)] + [side(10, "short")]
    profiles, fields = fields_of(judged, more, 4, seed=0)
    assert len(fields) == 5
    for true, field in fields.items():
        assert profiles[field[0]] == true
        rivals = [set(profiles[another]) for another in field[1:]]
        assert len(rivals) == 4
        assert all(not rival & set(true) for rival in rivals)
        own = [rival for rival in rivals if all(len(text) == 1 for text in rival)]
        assert len(own) == 2  # the other two personas of the split, then training
        assert {"short"} not in rivals


def test_both_chairs_of_a_dialogue(data: Path) -> None:
    first, second = sides_of(data / "valid_both_original.txt")[:2]
    assert first.said == ("hello .", "i have clocks to finish .")
    assert second.said == ("hello to you .", "and i bread .")
    assert (first.profile, first.partner) == (second.partner, second.profile)
    assert (first.letter, second.letter) == ("A", "B")


def test_links_are_learnt_from_pairs() -> None:
    pairs = [("my mother bakes", "mom bakes well"), ("my mother sings", "mom sings"), ("i bake", "i bake")] * 5
    links = learn_links(pairs)
    assert max(links["mother"], key=links["mother"].__getitem__) == "mom"
    assert sum(links["mother"].values()) <= 1 + 1e-9
    assert learn_links([]) == {}
    training = Training(["mom is here", *(f"the dog {number} is there" for number in range(200))], [], pairs)
    scores = by_links(["my mother is kind", "i own a boat"], training)(["mom came along"])
    assert scores[0, 0] > scores[0, 1] >= 0


def test_rare_words_count_more() -> None:
    training = Training(["i like rain", "i like tea", "i like the sea"], [])
    scores = by_words(["i like glass", "i knit rugs"], training)(["i like rugs"])
    assert scores[0, 1] > scores[0, 0]


def test_joined_scorers_count_alike() -> None:
    training = Training(["i mend clocks", "i bake bread"], ["i mend clocks", "i bake bread"], PAIRS)
    sentences = ["i mend clocks", "i bake bread"]
    alone = resemblance_named("words", sentences, training)(["clocks"])
    joined = resemblance_named("words+words", sentences, training)(["clocks"])
    assert np.argmax(joined) == np.argmax(alone) == 0
    assert scorer_named("words", [sentences], training).starts.tolist() == [0]


def test_a_profile_with_what_gave_it_away() -> None:
    said = ["hello there", "my two dogs chew everything", "i was a nurse for years"]
    traits = profile_of(said, ["i work as a nurse.", "i own two dogs.", "i sail.", "i own two dogs."])
    assert {(trait.sentence, trait.said) for trait in traits} == {
        ("i work as a nurse.", "i was a nurse for years"),
        ("i own two dogs.", "my two dogs chew everything"),
    }
    assert traits[0].score >= traits[1].score
    assert {"dogs", "nurse"} <= {word for trait in traits for word in trait.words}
    assert profile_of([], ["i sail."]) == profile_of(["i sail"], []) == profile_of(["   "], ["i sail."]) == []


def test_sentences_to_choose_from(data: Path, tmp_path: Path) -> None:
    plain = tmp_path / "sentences.txt"
    plain.write_text("i sail.\n\n  i knit.\n", encoding="utf-8")
    assert sentences_in(plain) == ["i sail.", "i knit."]
    assert "i make clocks." in sentences_in(data / "valid_both_original.txt")
    plain.write_text("\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="no sentence"):
        sentences_in(plain)


def test_the_real_dialogues_keep_what_was_reached() -> None:
    rows = bench_profiles(folder("personachat"), scorers=["words"], limit=150)["rows"]
    errors = {row["length"]: row["value"] for row in rows if (row["profile"], row["unit"]) == ("own", "profile")
              and row["speaker"] == "both" and row["metric"] == "error_rate"}  # fmt: skip
    assert errors["whole"] < 0.2
    assert errors[1] > errors[4] > errors["whole"]


def told(own: str, other: str, name: str, speakers: tuple[str, str], **options: Any) -> ChatRecord:
    """Side 0 talks of what side 1 makes, side 1 of what it makes itself."""
    turns = [
        (0, "hello"),
        (1, f"i make {own} all day"),
        (0, f"where do you sell {own} ?"),
        (1, f"{own} are all i sell"),
    ]
    return ChatRecord(
        name,
        speakers,
        (tuple(profile(other)), tuple(profile(own))),
        tuple(ChatLine(*turn) for turn in turns),
        **options,
    )


def written(path: Path, speakers: tuple[str, str], **options: Any) -> Path:
    records = [
        told(trade, TRADES[(number + 1) % 8], str(number), speakers, **options)
        for number, trade in enumerate(TRADES[:8])
    ]
    path.write_text("".join(json.dumps(record.document()) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def chatted(tmp_path: Path) -> Path:
    lines = []
    for trade, another in zip(TRADES, (*TRADES[1:], TRADES[0])):
        content = [f"your persona: {text}" for text in profile(trade)]
        content += [f"partner's persona: {text}" for text in profile(another)]
        content += [f"hello , do you like {another} ?\ti make {trade} , you know ."]
        lines += [f"{number} {text}" for number, text in enumerate(content, 1)]
    (tmp_path / "valid_both_original.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def rows_of(chatted: Path, *chats: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    document = bench_profiles(chatted, scorers=["tfidf"], chats=chats)
    assert json.loads(json.dumps(document)) == document
    return {
        (row["chats"], row["told"], row["metric"]): row
        for row in document["rows"]
        if "chats" in row and (row["unit"], row["length"]) == ("profile", "whole")
    }


def test_directions_of_the_papers_table(tmp_path: Path) -> None:
    human, model = sides_in(written(tmp_path / "a.jsonl", ("human", "kv")))[:2]
    assert (direction_of(human, "own"), direction_of(human, "partner")) == ("human -> human", "human -> model")
    assert (direction_of(model, "own"), direction_of(model, "partner")) == ("model -> model", "model -> human")
    one, _ = sides_in(written(tmp_path / "b.jsonl", ("kv", "kv")))[:2]
    assert direction_of(one, "partner") == "model -> other model"


def test_words_tell_of_whom_they_are_about(chatted: Path, tmp_path: Path) -> None:
    rows = rows_of(chatted, written(tmp_path / "real.jsonl", ("human", "kv")))
    assert rows["real", "model -> model", "pairwise_error"]["value"] == 0
    assert rows["real", "human -> model", "error_rate"]["value"] == 0
    assert rows["real", "human -> human", "pairwise_error"]["value"] > 0.3
    assert rows["real", "model -> model", "pairwise_error"]["paper"] == 0.011
    assert rows["real", "human -> model", "pairwise_error"]["paper"] == 0.234
    assert rows["real", "model -> human", "error_rate"]["n"] == 8


def test_a_replay_tells_nothing_of_the_model_from_the_person(chatted: Path, tmp_path: Path) -> None:
    replayed = written(tmp_path / "replay.jsonl", ("human", "kv"), replayed=True, given="none")
    rows = rows_of(chatted, replayed)
    row = rows["replay", "human -> model", "error_rate"]
    assert (row["value"], row["paper"]) == (None, 0.491) and "somebody else" in row["reason"]
    assert rows["replay", "model -> model", "pairwise_error"]["paper"] == 0.512


def test_chats_of_volunteers_and_of_agents_beside_each_other(chatted: Path, tmp_path: Path) -> None:
    both = written(tmp_path / "both.jsonl", ("kv", "kv"))
    people = volunteers(tmp_path / "people", [chat(number, turns=4 if number else 1) for number in range(6)])
    rows = rows_of(chatted, both, people)
    assert rows["both", "model -> other model", "error_rate"]["paper"] is None
    assert rows["convai2_volunteers", "model -> model", "error_rate"]["n"] == 5, "who left at once is left out"
    assert rows["convai2_volunteers", "model -> model", "error_rate"]["value"] == 0


def test_a_file_without_chats_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    with pytest.raises(InputError, match="holds no chat"):
        sides_in(empty)


def test_a_place_by_hand() -> None:
    ranked = rank_of("3.B.2", 0.5, np.array([0.9, 0.5, 0.5, 0.1], np.float32))
    assert (ranked.rank, ranked.above) == (4, 0.5), "equal ones come before it in rank, and count half in pairs"
    assert (ranked.dialogue, ranked.side) == ("3", "3.B")
    assert rank_of("1.A", 1.0, np.zeros(0, np.float32)).rank == 1


def test_chance_is_a_half_in_pairs_and_nearly_one_in_rank() -> None:
    rng = np.random.default_rng(0)
    places = [rank_of(f"{n}.A", float(rng.random()), rng.random(100).astype(np.float32)) for n in range(2000)]
    errors = {row["metric"]: row for row in error_rows({"told": "x"}, places, 0.512, 0)}
    assert errors["pairwise_error"]["value"] == pytest.approx(0.5, abs=0.02)
    assert errors["error_rate"]["value"] == pytest.approx(100 / 101, abs=0.01)
    assert errors["error_rate"]["paper"] == 0.512 and errors["error_rate"]["n"] == 2000
