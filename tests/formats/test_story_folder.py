from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import CastError
from understudy.formats import probes_of, read
from understudy.formats.story_folder import Probe, read_cast, read_probes
from understudy.story.types import Moment

LEVELS = ("part", "scene", "line")
PEOPLE = """title = "T"
[[character]]
name = "Ann Archer"
aliases = ["Ann", "Pip"]
[[character]]
name = "Bob Baker"
aliases = ["Bob", "Pip"]
"""


def cast(folder: Path, text: str) -> Path:
    path = folder / "cast.toml"
    path.write_text(PEOPLE + text, encoding="utf-8")
    return path


def test_facts_and_ties_are_read_with_their_lines(tmp_path: Path) -> None:
    found = read_cast(
        cast(
            tmp_path,
            '[[fact]]\nwho = "Ann"\nattribute = "belongings"\nvalue = ["a key", "a knife"]\nfrom = "1.2"\nuntil = "2"\n'
            'known_to = ["Bob"]\n[[relation]]\nof = "Bob"\nto = "Ann"\naffection = -3\nfrom = 1\n',
        ),
        LEVELS,
    )
    (source, fact), ((_, tie),) = found.facts[0], found.relations
    assert (fact.who, fact.values, fact.known_to) == ("Ann Archer", ("a key", "a knife"), ("Bob Baker",))
    assert (fact.since, fact.until) == (Moment((1, 2)), Moment((2,)))
    assert source.line == 8
    assert (tie.of, tie.to, tie.kind, tie.level) == ("Bob Baker", "Ann Archer", "affection", -3)


def test_a_tie_may_have_a_word_of_its_own(tmp_path: Path) -> None:
    tie = '[[relation]]\nof = "Bob"\nto = "Ann"\nfrom = 1\nterm = "wife"\n'
    ((_, married),) = read_cast(cast(tmp_path, tie + 'kind = "spouse"\n'), LEVELS).relations
    assert (married.kind, married.term) == ("spouse", "wife")
    with pytest.raises(CastError, match="a word for a kind of tie"):
        read_cast(cast(tmp_path, tie + "affection = 7\n"), LEVELS)


FACT = '[[fact]]\nwho = "Ann"\nattribute = "{}"\nvalue = "x"\nfrom = "{}"\n'
TIE = '[[relation]]\nof = "{}"\nto = "{}"\n{}\nfrom = "1"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TIE.format("Ann", "Bob", "affection = 11"), r"cast.toml:8: affection is 11, not a whole number -10\.\.10"),
        (TIE.format("Ann", "Bob", "affection = 1.5"), "not a whole number"),
        (TIE.format("Ann", "Bob", "familiarity = -1"), r"familiarity is -1, not a whole number 0\.\.10"),
        (
            TIE.format("Ann", "Bob", 'kind = "frend"'),
            "kind 'frend' is unknown .did you mean 'friend'.*: use one of",
        ),
        (TIE.format("Ann", "Bob", 'kind = "friend"\naffection = 1'), "exactly one of"),
        (TIE.format("Ann", "Bob", ""), "exactly one of"),
        (TIE.format("Ann", "Ann Archer", "affection = 1"), "tie to themselves"),
        (TIE.format("Ann", "Carl", "affection = 1"), r"cast.toml:8: 'to': no \[\[character\]\] is called 'Carl'"),
        (TIE.format("Pip", "Bob", "affection = 1"), "'Pip' may be Ann Archer or Bob Baker"),
        (TIE.format("Ann", "Bob", "affection = 1") * 2, "given twice \\(first on line 8\\)"),
        (FACT.format("shoes", "1"), r"cast.toml:8: attribute 'shoes' is unknown"),
        (FACT.format("age", "chapter 2"), "counts by part, scene, line"),
        (FACT.format("age", "2") + 'until = "1"\n', "ends \\(1\\) before it begins \\(2\\)"),
        (FACT.format("age", "1").replace('"1"', "1.5"), 'write "1.5" in quotes'),
        (FACT.format("age", "1") + 'when = "2"\n', r"'when' is unknown in \[\[fact\]\]"),
        ('[[character]]\nname = "ann archer"\n', "declared twice \\(first on line 2\\)"),
        ('[fact]\nwho = "Ann"\n', "two brackets"),
        ("[[fact\n", r"cast.toml:8: is not TOML"),
        ('[[fact]]\nattribute = "age"\n', "'who' is missing"),
    ],
)
def test_a_persons_slip_is_an_error_with_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(CastError, match=says):
        read_cast(cast(tmp_path, text), LEVELS)


def test_a_story_may_extend_the_schema(tmp_path: Path) -> None:
    path = cast(tmp_path, TIE.format("Ann", "Bob", 'kind = "rival"') + FACT.format("shoe size", "1"))
    path.write_text(path.read_text() + '[schema]\nattributes = ["shoe size"]\nkinds = ["rival"]\n')
    found = read_cast(path, LEVELS)
    assert "rival" in found.schema.kinds
    assert found.facts[0][1].attribute == "shoe size"


def test_a_date_that_the_scripts_do_not_have_is_an_error(tmp_path: Path) -> None:
    cast(tmp_path, FACT.format("age", "7"))
    (tmp_path / "part-1.txt").write_text("# part 1: P\n## scene 1: S\nANN: Hello.\n")
    with pytest.raises(CastError, match=r"cast.toml:8: there is no part 7 in the scripts"):
        read(tmp_path)


def test_a_label_two_people_share_must_be_told_apart(tmp_path: Path) -> None:
    cast(tmp_path, "")
    (tmp_path / "part-1.txt").write_text("# part 1: P\n## scene 1: S\nANN: Hello.\nPIP: Who?\n")
    with pytest.raises(Exception, match=r"part-1.txt:4: 'PIP' may be Ann Archer or Bob Baker"):
        read(tmp_path)


def test_aliases_in_cast_toml_override_what_would_be_merged(tmp_path: Path) -> None:
    (tmp_path / "cast.toml").write_text(
        '[[character]]\nname = "Tall One"\naliases = ["Ross"]\n[[character]]\nname = "Ross Geller"\n'
    )
    (tmp_path / "a.txt").write_text("# part 1: P\n## scene 1: S\nROSS: Hi.\n## scene 2: S\nROSS GELLER: Hi.\n")
    assert {member.character.name: member.lines for member in read(tmp_path).cast()} == {
        "Tall One": 1,
        "Ross Geller": 1,
    }


DEEP = "[" * 5000 + "]" * 5000
HUGE = "9" * 5000
HEXADECIMAL = "0x" + "f" * 5000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = 7", r"title is 7, not a text"),
        ("title = [1]", r"title is \[1\], not a text"),
        (f"title = {HEXADECIMAL}", "title is a value that is too large to show"),
        (f"title = {DEEP}", "nested too deeply"),
        (f"title = {HUGE}", "holds a value that is none"),
        ("title = 2024-02-31", "is not TOML|holds a value"),
        ("language = ['en']", "language is"),
        (f"language = {HEXADECIMAL}", "language is"),
        ("levels = 3", "'levels' is 3, not a list of texts"),
        ("levels = [1, 2]", r"'levels' is \[1, 2\], not a list of texts"),
        ("levels = 'act'", "'levels' is 'act', not a list of texts"),
        ("schema = 1", "schema is 1, not a table"),
        ("[schema]\nattributes = 'shoe size'", "'attributes' is 'shoe size', not a list"),
        ("[schema]\nkinds = [[1]]", "'kinds' is"),
        ("character = 1", r"write \[\[character\]\]"),
        ("[character]\nname = 'A'", r"write \[\[character\]\]"),
        ("[[character]]\nname = ['A']", "'name' is missing or not a text"),
        ("[[character]]\nname = 'A'\naliases = {a = 1}", "'aliases' must be"),
        ("[[character]]\nname = 'A'\n[[fact]]\nwho = 'A'\nattribute = 'age'\nvalue = 7\nfrom = '1'", "'value' must be"),
        (f"[[character]]\nname = 'A'\n[[fact]]\nwho = 'A'\nattribute = 'age'\nfrom = {HEXADECIMAL}", "'from'"),
        (
            "[[character]]\nname = 'A'\n[[fact]]\nwho = 'A'\nattribute = 'age'\nfrom = '9999999999'",
            "'from': a moment is",
        ),
        (
            "[[character]]\nname = 'A'\n[[character]]\nname = 'B'\n"
            f"[[relation]]\nof = 'A'\nto = 'B'\nfrom = '1'\naffection = {HEXADECIMAL}",
            "affection is a value that is too large to show",
        ),
    ],
    ids=range(22),
)
def test_a_value_of_the_wrong_shape_says_which_and_what_is_expected(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "cast.toml"
    path.write_text(text)
    with pytest.raises(CastError, match=rf"cast\.toml(:\d+)?: .*({says})"):
        read_cast(path, LEVELS)


def test_lines_are_counted_as_toml_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "cast.toml"
    path.write_bytes("title = 'one\u2028line'\r\n[[character]]\r\nname = 3\r\n".encode())
    with pytest.raises(CastError, match=r"cast\.toml:2: 'name'"):
        read_cast(path, LEVELS)


# Probes.

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
