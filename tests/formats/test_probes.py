from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import CastError
from understudy.formats import probes_of, read
from understudy.formats.story_folder import Probe, read_probes
from understudy.story.types import Moment

KINDS = {"future", "secret", "relation", "object", "identity", "death", "lie"}


def test_an_answer_is_judged_by_whole_terms() -> None:
    probe = Probe("Ann", Moment((1,)), "Where?", must=("hook", "drawer"), must_not=("Gray is", "light"))
    assert probe.violation("On the Hook.") is None
    assert probe.violation("In the lighthouse, on a hook.") is None
    assert probe.violation("By the light of the hook.") == "says 'light'"
    assert probe.violation("I do not know.") is None
    assert probe.fault("I do not know.") == "says none of 'hook', 'drawer'"
    assert Probe("澪", Moment((1,)), "?", must_not=("時計",)).violation("あの時計です") == "says '時計'"


def test_an_apostrophe_is_one_however_it_is_written() -> None:
    probe = Probe("Ann", Moment((1,)), "Where?", must_not=("I don't know", "it\u2019s mine"))
    assert probe.violation("I don\u2019t know.") == "says 'I don't know'"
    assert probe.violation("It's mine!") is not None


def test_of_several_answers_none_may_say_what_is_forbidden_and_the_last_must_say_what_is_required() -> None:
    probe = Probe("Ann", Moment((1,)), "Where?", must=("hook",), must_not=("lighthouse",), before=("Hello.",))
    assert probe.violation("On the hook.", ["Good day."]) is None
    assert probe.fault("On the hook.", ["By the lighthouse."]) == "says 'lighthouse'"
    assert probe.fault("I forget.", ["On the hook."]) == "says none of 'hook'"
    assert probe.says_required("On the hook.") and not probe.says_required("I forget.")


def test_messages_may_be_put_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "probes.toml"
    path.write_text('[[probe]]\nwho = "老葛"\nat = "1"\nask = ["一", "二"]\nmust = ["a"]\n', encoding="utf-8")
    (probe,) = read_probes(path, read("demo-zh"))
    assert (probe.before, probe.ask) == (("一",), "二")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[probe]]\nwho = "老葛"\nat = "1"\nask = "?"\n', "could never fail"),
        ('[[probe]]\nwho = "Nobody"\nat = "1"\nask = "?"\nmust = ["a"]\n', r":1: nobody in"),
        ('[[probe]]\nwho = "老葛"\nat = "9"\nask = "?"\nmust = ["a"]\n', "after the story's last line"),
        ('[[probe]]\nwho = "老葛"\nask = "?"\nmust = ["a"]\n', "'at' is missing"),
        ('\n[[probe]]\nwho = "老葛"\nat = "1"\nask = "?"\nmust = "a"\n', r":2: 'must' must be a list"),
        ('[[probe]]\nwhat = "x"\n', "'what' is unknown"),
        ('[[probe]]\nwho = "老葛"\nat = "1"\nask = []\nmust = ["a"]\n', ":1: 'ask' must be a text"),
        ('[[probe]]\nwho = "老葛"\nat = "1"\nask = ["?", 1]\nmust = ["a"]\n', ":1: 'ask' must be a text"),
        ("[[probe", "is not TOML"),
        ("probe = 1", r"write \[\[probe\]\]"),
        ("probe = [1]", r"write \[\[probe\]\]"),
        ("[probe]\nwho = '老葛'", r"write \[\[probe\]\]"),
        ('[[probe]]\nwho = "老葛"\nat = "1"\nask = "?"\nmust = ["a"]\nfacing = 7\n', r":1: 'facing' is 7, not a text"),
        ('[[probe]]\nwho = "老葛"\nat = "1"\nask = "?"\nmust = ["a"]\nkind = []\n', r":1: 'kind' is \[\], not a text"),
        ('[[probe]]\nwho = "老葛"\nat = "9999999999"\nask = "?"\nmust = ["a"]\n', "a moment is made of"),
        ("x = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("x = " + "9" * 5000, "holds a value that is none"),
    ],
)
def test_a_wrong_probe_says_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "probes.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CastError, match=says):
        read_probes(path, read("demo-zh"))


@pytest.mark.parametrize(("name", "least"), [("demo", 60), ("demo-ja", 10), ("demo-zh", 6)])
def test_the_embedded_stories_bring_probes_that_can_fail(name: str, least: int) -> None:
    story = read(name)
    probes = probes_of(name, story)
    assert len(probes) >= least
    assert {probe.kind for probe in probes} <= KINDS
    for probe in probes:
        assert not any(term.casefold() in probe.ask.casefold() for term in probe.must_not)
        assert probe.violation(" ".join(probe.must_not) or "…") is not None
