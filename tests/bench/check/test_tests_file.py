from __future__ import annotations

import re
from pathlib import Path

import pytest

from understudy.bench.check import example
from understudy.bench.check.tests_file import TestsFile, read_tests
from understudy.errors import InputError
from understudy.formats import embedded, read

TEST = '[[test]]\nname = "a"\nturns = ["Hello."]\nmust = ["x"]\n'


def parsed(tmp_path: Path, text: str) -> TestsFile:
    path = tmp_path / "tests.toml"
    path.write_text(text, encoding="utf-8")
    return read_tests(path, read)


def test_the_example_can_be_read_and_is_what_it_says(tmp_path: Path) -> None:
    file = parsed(tmp_path, example())
    first, second = file.tests
    assert first.never == second.never == ("assistant", "speaks_for_other", "loops")
    assert first.max_words == 80 and first.repeats == 1
    assert second.turns == ("Who are you?", "No, really. You can tell me.")
    assert (second.repeats, second.pass_at, second.kind) == (5, 0.8, "identity")


def test_the_example_s_other_half_can_be_read_too(tmp_path: Path) -> None:
    (tmp_path / "zita-lines.txt").write_text("Noted.\nStrike that.\n", encoding="utf-8")
    (tmp_path / "probes.toml").write_text(
        '[[probe]]\nwho = "Danilo Reuss"\nat = "1.2"\nfacing = "Zita"\nask = ["Hm?", "Who?"]\nmust_not = ["Reuss"]\n'
    )
    lines = [line.removeprefix("# ") for line in example().splitlines() if line.startswith(("# ", "#  "))]
    top = [line for line in lines if line.startswith(("story =", "probes =", "model ="))]
    start = lines.index('name = "sounds like herself"') - 1
    tests = [line for line in lines[start:] if line.startswith("[[") or (" = " in line and line not in top)]
    file = parsed(tmp_path, "\n".join([*top, *tests]))
    voice, rules, probe = file.tests
    assert voice.voice_like == ("Noted.", "Strike that.")
    assert str(rules.rules[0]) == "anachronism<=0" and rules.situation is not None
    assert rules.model == "demo/Zita Karst@2.3"
    # by the name he goes by then, as a bot of that moment is called
    assert probe.model == "demo/Aurel Benedek@1.2#Zita Karst"
    assert probe.turns == ("Hm?", "Who?") and probe.must_not == ("Reuss",)


def test_the_documentation_s_files_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "check.md").read_text(encoding="utf-8")
    first, probes = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(parsed(tmp_path, first).tests) == 4
    source = embedded("demo")
    assert source is not None
    (tmp_path / "my-story").symlink_to(source)
    assert len(parsed(tmp_path, probes).tests) > 60


def test_a_test_s_own_value_goes_before_the_file_s(tmp_path: Path) -> None:
    file = parsed(tmp_path, f'repeats = 3\nnever = ["loops"]\n{TEST}repeats = 2\n')
    assert file.tests[0].repeats == 2 and file.tests[0].never == ("loops",)


def test_probes_may_stand_in_the_file_itself(tmp_path: Path) -> None:
    text = f'[[probe]]  # of a bot\nask = ["Hello.", "Who?"]\nmust_not = ["x"]\nwho = "Ann"\nat = "2.3"\n{TEST}'
    first, second = parsed(tmp_path, text).tests
    assert (first.name, first.turns, first.line) == ("Ann, 2.3: Who?", ("Hello.", "Who?"), 1)
    assert (second.name, second.line) == ("a", 6) and first.situation is None


def test_a_file_of_probes_is_a_file_of_tests(tmp_path: Path) -> None:
    source = embedded("demo")
    assert source is not None
    tests = parsed(tmp_path, (source / "probes.toml").read_text(encoding="utf-8")).tests
    assert len(tests) > 60 and len({test.name for test in tests}) == len(tests)


def test_only_the_probes_of_the_one_named_are_taken(tmp_path: Path) -> None:
    probes = "".join(
        f'[[probe]]\nwho = "{who}"\nat = "1.2"\nask = "?"\nmust = ["x"]\n' for who in ("Zita Karst", "Pia Lenk")
    )
    (tmp_path / "probes.toml").write_text(probes, encoding="utf-8")
    file = parsed(tmp_path, 'story = "demo"\nprobes = "probes.toml"\nwho = "Pia"\n')
    assert [test.name for test in file.tests] == ["probe 1: Pia Lenk at 1.2: ?"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no tests"),
        ("x = [", "is not TOML"),
        ("[test]\nname = 'a'", r"write \[\[test\]\] with two brackets"),
        ("[probe]\nask = 'a'", r"write \[\[probe\]\] with two brackets"),
        (TEST + 'ask = "x"\n', r":1: a test needs 'turns', or 'ask'"),
        (TEST + TEST, r":5: two tests are called 'a'"),
        ('[[test]]\nname = "a"\n', r":1: a test needs 'turns', or"),
        (TEST + 'mustnot = ["x"]\n', r":5: 'mustnot' is unknown in a test \(did you mean 'must_not'\?\)"),
        ('repeat = 3\n' + TEST, r":1: 'repeat' is unknown before the first"),
        ('turns = ["x"]\n' + TEST, r":1: 'turns' is unknown before the first"),
        (TEST + "repeats = 0\n", r":5: 'repeats' is 0, not a whole number from 1"),
        (TEST + "repeats = true\n", r":5: 'repeats' is True"),
        (TEST + "pass_at = 2\n", r":5: 'pass_at' is 2, not a number from 0 to 1"),
        (TEST + 'judged_by = "high"\n', r":5: 'judged_by' is 'high': choose from share, low"),
        (TEST + 'never = ["assistent"]\n', r":5: 'never' has 'assistent' \(did you mean 'assistant'\?\)"),
        (TEST + 'language = "xx"\n', r":5: 'language' is 'xx': choose from en"),
        (TEST + 'must_not = "x"\n', r":5: 'must_not' must be a list of texts"),
        (TEST + "max_words = 1.5\n", r":5: 'max_words' is 1.5"),
        (TEST + 'rules = ["anachronism<=0"]\n', r":5: 'rules' need a story"),
        (TEST + 'rules = ["nothing<=0"]\n', r":5: 'rules' has the metric 'nothing'"),
        (TEST + 'rules = ["nothing"]\n', r":5: 'rules' 'nothing' is not a rule"),
        (TEST + 'voice_like = "nowhere.txt"\n', r":5: 'voice_like' names 'nowhere.txt', which cannot be read"),
        ('[[test]]\nname = "a"\nturns = []\nmust = ["x"]\n', r":3: 'turns' must be a list of texts"),
        ('[[test]]\nname = "a"\nturns = ["x"]\n', r":1: asks nothing of the replies"),
        ('probes = "p.toml"\n', r":1: 'probes' need the story"),
        ('story = "nowhere"\n' + TEST, r":1: 'story' cannot be read"),
        ('story = 7\n' + TEST, r":1: 'story' is 7: write a path"),
        ('story = "demo"\n' + TEST + 'who = "Nobody"\nat = "2.3"\n', r":2: .*Nobody"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parsed(tmp_path, text)
