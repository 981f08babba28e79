from __future__ import annotations

from pathlib import Path

import judged
from understudy.bench.run import sampled
from understudy.papers.personachat.bench import DISTRACTORS, files_of, questions_in


def test_without_candidates_others_are_drawn_from_other_dialogues(tmp_path: Path) -> None:
    lines = []
    for dialogue in range(30):
        lines += [f"1 hello {dialogue}\treply {dialogue}a", f"2 and {dialogue} ?\treply {dialogue}b"]
    path = tmp_path / "test_none_original_no_cands.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    questions = questions_in(files_of(tmp_path, "test")["none"], "none", seed=1)
    assert questions.drawn
    for example in questions.examples:
        (right,) = (example.candidates[index] for index in example.gold)
        number = right.removeprefix("reply ")[:-1]
        assert len(set(example.candidates)) == len(example.candidates) == DISTRACTORS + 1
        assert all(text == right or text[:-1] != f"reply {number}" for text in example.candidates)
    offered = [example.candidates for example in questions.examples]
    assert [example.candidates for example in questions_in(path, "none", seed=1).examples] == offered
    assert [example.candidates for example in questions_in(path, "none", seed=2).examples] != offered


def test_a_sample_is_the_same_questions_on_every_condition(tmp_path: Path) -> None:
    data = judged.personachat(tmp_path / "data")
    files = files_of(data, "valid")
    names = [
        [example.name for example in questions_in(path, condition, 2, 7).examples] for condition, path in files.items()
    ]
    assert len(names[0]) == 2
    assert names[0] == names[1]


def test_some_of_the_questions_in_their_order(tmp_path: Path) -> None:
    every = questions_in(files_of(judged.personachat(tmp_path), "valid")["none"], "none").examples
    some = sampled(every, 2, 3)
    assert [example.name for example in some] == sorted(example.name for example in some)
    assert sampled(every, 2, 3) == some
    assert sampled(every, 9, 3) == list(every)
    assert sampled(every, 0, 3) == []
