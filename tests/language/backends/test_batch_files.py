from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmclient import LiveModel, answer_of, completion_line, requests_in
from understudy.errors import InputError, MissingAnswer
from understudy.language.backends import batch_files, open_batch
from understudy.language.backends.batch_files import BatchBackend, write_requests
from understudy.language.backends.settings import LLMSettings
from understudy.story.dialogue import ChatMessage, Sampling

SETTINGS = LLMSettings("m", "", "m")
SEEDED = Sampling(seed=1)
HELLO = [ChatMessage("system", "You are Ines."), ChatMessage("user", "Hello.")]

prompts = st.lists(st.builds(ChatMessage, st.sampled_from(["user", "assistant"]), st.text(max_size=12)), min_size=1)
samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([None, 0.0, 0.8]),
    stop=st.sampled_from([(), ("\nTom:",)]),
    seed=st.integers(0, 3),
    n=st.integers(1, 3),
)
questions = st.lists(st.tuples(prompts, samplings), min_size=1, max_size=6)


def collected(folder: Path, asked: list[tuple[list[ChatMessage], Sampling]]) -> dict[Any, Any]:
    """What is missing of some questions."""
    backend, missing = BatchBackend(folder, SETTINGS), dict[Any, Any]()
    for messages, sampling in asked:
        try:
            backend.complete(messages, sampling)
        except MissingAnswer as error:
            missing |= error.requests
    return missing


def asked_for(folder: Path, sampling: Sampling = SEEDED) -> str:
    """Ask for the answer to one question; what the user is told."""
    return write_requests(collected(folder, [(HELLO, sampling)]))


def put(folder: Path, name: str, *lines: object) -> None:
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def text_of(folder: Path) -> str:
    return BatchBackend(folder, SETTINGS).complete(HELLO, SEEDED)[0].text


@settings(deadline=None)
@given(questions, st.randoms(use_true_random=False), st.integers(1, 4))
def test_answers_in_any_order_and_in_several_rounds_are_those_of_a_live_model(
    asked: list[tuple[list[ChatMessage], Sampling]], random: Any, share: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "batch"
        answered = set[str]()
        for round_ in range(100):
            random.shuffle(asked)
            missing = collected(folder, asked)
            if not missing:
                break
            write_requests(missing)
            open_ids = [request_id for request_id in requests_in(folder) if request_id not in answered]
            random.shuffle(open_ids)
            lines = list[object]()
            for request_id in open_ids[: share if round_ < 5 else None]:
                text = answer_of(requests_in(folder)[request_id])
                whole = random.random() < 0.5
                lines.append(completion_line(request_id, text) if whole else {"custom_id": request_id, "text": text})
                answered.add(request_id)
            put(folder, f"{random.random()}-{round_}.jsonl", *lines)  # read in the order of their names
        backend, live = BatchBackend(folder, SETTINGS), LiveModel()
        for messages, sampling in asked:
            expected = [completion.text for completion in live.complete(messages, sampling)]
            assert [completion.text for completion in backend.complete(messages, sampling)] == expected
        written = [json.loads(line) for path in folder.glob("requests-*") for line in path.read_text().splitlines()]
        assert len({request["custom_id"] for request in written}) == len(written), "nothing is asked for twice"


def test_a_request_is_one_of_a_batch_and_the_text_comes_in_one_piece(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "batch"
    said = asked_for(folder, Sampling(temperature=0.5, max_tokens=9, seed=4, stop=("\nTom:",), n=2))
    assert "2 answers are missing" in said and str(folder / "requests-1.jsonl") in said
    first, second = map(json.loads, (folder / "requests-1.jsonl").read_text().splitlines())
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    body = {"model": "m", "temperature": 0.5, "max_tokens": 9, "seed": 4, "stop": ["\nTom:"]}
    assert first["body"] == body | {"messages": [{"role": m.role, "content": m.content} for m in HELLO]}
    assert second["body"]["seed"] == 5 and first["custom_id"] != second["custom_id"]
    assert [path.name for path in folder.iterdir()] == ["requests-1.jsonl"]

    asked_for(folder)
    request_id = json.loads((folder / "requests-2.jsonl").read_text())["custom_id"]
    put(folder, "answers.jsonl", completion_line(request_id, "Good evening."))
    pieces = BatchBackend(folder, SETTINGS).stream(HELLO, Sampling(seed=1))
    assert next(pieces) == "Good evening."
    with pytest.raises(StopIteration) as end:
        next(pieces)
    completion = end.value.value
    assert (completion.finish_reason, completion.usage.calls, completion.usage.prompt_tokens) == ("stop", 1, 7)


def test_another_model_prompt_seed_or_number_is_another_request(tmp_path: Path) -> None:
    asked = [
        (HELLO, Sampling()),
        (HELLO, Sampling(seed=1)),
        (HELLO, Sampling(temperature=0.1)),
        (HELLO[:1], Sampling()),
        (HELLO, Sampling(n=2)),
    ]
    assert len(collected(tmp_path, asked)) == len(asked)  # of the last, one is the first
    with pytest.raises(MissingAnswer) as error:
        BatchBackend(tmp_path, LLMSettings("o", "", "other")).complete(HELLO, Sampling())
    assert not error.value.requests.keys() & collected(tmp_path, asked).keys()


def test_what_waits_for_an_answer_is_not_asked_for_again(tmp_path: Path) -> None:
    assert "send" in asked_for(tmp_path)
    said = asked_for(tmp_path)
    assert "send" not in said and str(tmp_path / "requests-1.jsonl") in said
    assert asked_for(tmp_path, Sampling(seed=2)).startswith("1 answers are missing (0 of 2 are there): send")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["requests-1.jsonl", "requests-2.jsonl"]


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        ({"response": {"status_code": 500, "body": {"error": {"message": "Overloaded."}}}}, "HTTP 500.*Overloaded"),
        ({"response": None, "error": {"code": "batch_expired", "message": "It expired."}}, "It expired"),
        ({"response": {"status_code": 200, "body": {"error": {"message": "No such luck."}}}}, "No such luck"),
    ],
)
def test_a_failed_answer_is_told_and_asked_for_once_more(tmp_path: Path, failure: Any, told: str) -> None:
    asked_for(tmp_path)
    (request_id,) = requests_in(tmp_path)
    put(tmp_path, "output.jsonl", {"custom_id": request_id, **failure})
    said = asked_for(tmp_path)
    assert "send" in said and "requests-2" in said and "1 answers failed" in said and request_id in said
    assert told.split(".*")[-1] in said and f"{tmp_path / 'output.jsonl'}:1" in said
    assert "send" not in asked_for(tmp_path), "one failure, one request more"
    put(tmp_path, "again.jsonl", completion_line(request_id, "Good evening."))
    assert text_of(tmp_path) == "Good evening.", "an answer goes before a failure, wherever they lie"


def test_a_field_that_the_model_refuses_is_left_out_of_what_is_asked_for_again(tmp_path: Path) -> None:
    asked_for(tmp_path, Sampling(seed=1, max_tokens=40))
    (request_id,) = requests_in(tmp_path)
    message = "Unsupported parameter: 'max_tokens' is not supported with this model."
    body = {"error": {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}}
    put(tmp_path, "errors.jsonl", {"custom_id": request_id, "response": {"status_code": 400, "body": body}})
    asked_for(tmp_path, Sampling(seed=1, max_tokens=40))
    (line,) = (tmp_path / "requests-2.jsonl").read_text().splitlines()
    request = json.loads(line)
    assert request["custom_id"] == request_id, "what is asked is the same"
    assert "max_tokens" not in request["body"] and request["body"]["max_completion_tokens"] == 40


def test_of_several_answers_the_last_counts_and_strangers_are_counted(tmp_path: Path) -> None:
    asked_for(tmp_path)
    (request_id,) = requests_in(tmp_path)
    put(tmp_path, "a.jsonl", {"custom_id": request_id, "text": "One."}, {"custom_id": request_id, "text": "Two."})
    assert text_of(tmp_path) == "Two."
    put(tmp_path, "b.jsonl", completion_line(request_id, "Three."), {"custom_id": "nobody's", "text": "Four."})
    assert text_of(tmp_path) == "Three."
    completion = completion_line(request_id, "Five.")["response"]["body"]
    put(tmp_path, "c.jsonl", {"custom_id": request_id, "response": completion, "error": None})
    assert text_of(tmp_path) == "Five.", "some programs put the completion in the response's place"
    assert "1 answers are to no request" in asked_for(tmp_path, Sampling(seed=2))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"custom_id": "a", "te', "is the file whole"),
        ("\xff", "is the file whole"),
        ("[1]", "has no custom_id"),
        ('{"text": "Hello."}', "has no custom_id"),
        ('{"custom_id": "a"}', "neither a text nor a response"),
        ('{"custom_id": "a", "text": 3}', "neither a text nor a response"),
        ('{"custom_id": "a", "response": {"status_code": 200, "body": {"choices": 3}}}', "choices"),
        ('{"custom_id": "a", "response": {"status_code": 200, "body": {"choices": []}}}', "no choices"),
        ('{"custom_id": "a", "response": {"status_code": 200}}', "body"),
        ('{"custom_id": "a", "response": {"status_code": "200", "body": {}}}', "status_code"),
    ],
)
def test_what_is_no_answer_is_told_with_file_and_line(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"custom_id": "b", "text": "Hello."}\n\n' + line.encode("latin-1") + b"\n")
    with pytest.raises(InputError, match=told) as error:
        BatchBackend(tmp_path, SETTINGS)
    assert (error.value.path, error.value.line) == (path, 3)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="batch:FOLDER"):
        BatchBackend(tmp_path / "file", SETTINGS)


@pytest.mark.parametrize("limit", ["MAX_REQUESTS", "MAX_BYTES"])
def test_a_file_is_no_longer_than_a_batch_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(batch_files, limit, {"MAX_REQUESTS": 2, "MAX_BYTES": 600}[limit])
    said = asked_for(tmp_path, Sampling(seed=1, n=5))
    paths = sorted(tmp_path.glob("*.jsonl"))
    assert len(paths) == 3 and sum(len(path.read_text().splitlines()) for path in paths) == 5
    assert all(path.stat().st_size <= 600 for path in paths) or limit == "MAX_REQUESTS"
    assert all(str(path) in said for path in paths)


def test_a_run_that_is_killed_while_it_writes_leaves_no_half_file(tmp_path: Path) -> None:
    program = f"""
import os
from pathlib import Path
from understudy.language.backends.batch_files import write_requests
os.fsync = lambda _: os._exit(9)
write_requests({{(Path({str(tmp_path)!r}), "a"): {{"model": "m", "messages": []}}}})
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    assert not list(tmp_path.glob("*.jsonl"))
    asked_for(tmp_path)
    assert len(requests_in(tmp_path)) == 1


MODELS = """
default = "studio"
[llm.studio]
url = "https://example.org/v1"
model = "big-model"
key_env = "NOT_SET_ANYWHERE"
temperature = 0.3
max_tokens = 70
extra = {{ reasoning_effort = "low" }}
[llm.other]
url = "https://example.org/v1"
model = "small-model"
key_file = "{key}"
"""


def test_the_model_is_the_one_that_is_set_up_and_its_key_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def body(folder: str) -> dict[str, Any]:
        with pytest.raises(MissingAnswer) as error:
            open_batch(str(tmp_path / folder)).complete(HELLO, Sampling(seed=1))
        write_requests(error.value.requests)
        (body,) = requests_in(tmp_path / folder).values()
        return body

    monkeypatch.setenv("UNDERSTUDY_CONFIG", str(tmp_path / "config"))
    assert body("none")["model"] == "your-model"
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "key").write_text("sk-secret")
    (tmp_path / "config" / "models.toml").write_text(MODELS.format(key=tmp_path / "config" / "key"))
    default = body("default")
    assert (default["model"], default["temperature"], default["max_tokens"]) == ("big-model", 0.3, 70)
    assert default["reasoning_effort"] == "low"
    monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "small-model")
    monkeypatch.setenv("UNDERSTUDY_LLM_KEY", "sk-secret")
    monkeypatch.setenv("UNDERSTUDY_LLM_URL", "https://example.org/v1")
    assert body("small")["model"] == "small-model" and "temperature" not in body("small")
    monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "a-third")
    assert body("third")["model"] == "a-third"
    for path in tmp_path.glob("*/requests-*"):
        assert "sk-secret" not in path.read_text() and "example.org" not in path.read_text()
