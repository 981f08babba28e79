from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from realdata import folder
from understudy.errors import InputError
from understudy.formats.evidence import measure
from understudy.formats.transcript import reading as transcript
from understudy.formats.transcript.line_parser import BBCODE
from understudy.formats.transcript.reading import READER, episode_title, page_lines
from understudy.sources import Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

HARBOUR = """\
Scene: The harbour office. Ann and Bob are there.
Ann: The tide is out again.
Bob: It comes back. It always comes back.
(Cyril enters with a wet dog.)
Cyril: Whose dog is this?
Ann and Bob: Not mine!
Ann: Well then.
Bob: Out with it.
Credits sequence.
Scene: The quay.
Ann: There it goes.
Bob: There it goes indeed.
Ann: Home, then.
Bob: Home.
"""

WRAPPED = """\
01x02 - The Lost Oar
written by Nobody In Particular
OPEN IN THE HARBOUR TOWN
[Dora walks along the quay with a basket of fish. She stops at the door of the harbour office and looks
through the window, then she goes in]
DORA: I have been up and down the whole of this quay since six in the morning and nobody, not one of
the people I met, has seen my brother.
EDIE: He was in the boat shed.
DORA: The boat shed? I looked in the boat shed. There was a cat, there was a net that somebody ought
to have mended a year ago, and there was no brother of mine.Posted: 10/17/00 10:42EDIE: Look again.
DORA: Fine. But I am telling you that a man of his size does not disappear behind a net, even if it is
the largest net in town.
CUT TO BOAT SHED
EDIE [calling]: Fred?
DORA: See?
FRED: Up here! I have been up here since yesterday because somebody took the ladder away and nobody in
this town ever looks up.
EDIE: The ladder --FRED: Yes. The ladder.
DORA: Oh.
EDIE: Oh dear.
DORA: We need a ladder.
EDIE: We do.
Page 1 of 1FRED: Hurry.
"""

PAGE = """\
<html><head><title>The One With the Oar</title>
<style>p { color: red }</style></head>
<body><h1>The One With<br>the Oar</h1>
<!-- saved by
nobody -->
<p>Written by: Somebody</p>
<p><b>[Scene: The office, Gil,
Hana, and Ivo are there.]</b></p>
<p><b>Gil:</b> Nobody&#146;s been here &amp; the door
was open.</p>
<p><font
size="3">Hana</font> (off): I opened it.<br>
&lt;Ivo looks up&gt;<br>
<Gil sighs><br>
Ivo: Why?</p>
<p>Gil: It was hot.</p><p>Hana: It was.</p><p>Ivo: Hm.</p><p>Gil: Hm.</p><p>Hana: Hm.</p>
</body></html>
"""


def read(text: str, name: str = "file.txt") -> list[Event]:
    return read_bytes(READER, text.encode(), name)


def speeches(events: list[Event]) -> list[tuple[tuple[str, ...], str]]:
    return [(event.speakers, event.text) for event in of_kind(events, Speech)]


def test_names_colons_scenes_and_directions() -> None:
    events = read(HARBOUR)
    assert speeches(events)[0] == (("Ann",), "The tide is out again.")
    assert (("Ann", "Bob"), "Not mine!") in speeches(events)
    assert [scene.setting for scene in of_kind(events, SceneStart)] == [
        "The harbour office. Ann and Bob are there.",
        "The quay.",
    ]
    assert of_kind(events, SceneStart)[0].present == ("Ann", "Bob")
    (enters,) = of_kind(events, Description)
    assert (enters.text, enters.enter) == ("Cyril enters with a wet dog.", ("Cyril",))
    assert [heading.title for heading in of_kind(events, Heading)] == ["Credits sequence."]
    assert not of_kind(events, Unread)


def test_a_speech_says_on_which_line_it_begins() -> None:
    assert [event.source.line for event in of_kind(read(HARBOUR), Speech)][:4] == [2, 3, 5, 6]


def test_wrapped_lines_are_joined_and_glued_ones_parted() -> None:
    events = read(WRAPPED)
    said = speeches(events)
    assert said[0][1].endswith("not one of the people I met, has seen my brother.")
    assert (("EDIE",), "Look again.") in said
    assert (("EDIE",), "The ladder --") in said
    assert (("FRED",), "Yes. The ladder.") in said
    assert (("FRED",), "Hurry.") in said
    assert of_kind(events, Speech)[0].units == 2
    assert [scene.setting for scene in of_kind(events, SceneStart)] == ["THE HARBOUR TOWN", "BOAT SHED"]
    assert of_kind(events, Description)[0].text.endswith("through the window, then she goes in")
    assert "Posted: 10/17/00 10:42" in [heading.title for heading in of_kind(events, Heading)]
    assert not of_kind(events, Unread)


def test_what_a_label_says_besides_the_name_is_a_direction_before_the_speech() -> None:
    events = read(WRAPPED)
    index = next(i for i, event in enumerate(events) if isinstance(event, Speech) and event.text == "Fred?")
    before = events[index - 1]
    assert isinstance(before, Description)
    assert (before.text, before.units) == ("EDIE [calling]", 0)


def test_a_page_is_read_without_its_markup() -> None:
    source_lines = of_kind(read(PAGE, "page.html"), Speech)
    assert [(one.speakers, one.text) for one in source_lines[:3]] == [
        (("Gil",), "Nobody’s been here & the door was open."),
        (("Hana",), "I opened it."),
        (("Ivo",), "Why?"),
    ]
    events = read(PAGE, "page.html")
    assert [one.text for one in of_kind(events, Description)] == ["Hana (off)", "Ivo looks up", "Gil sighs"]
    (scene,) = of_kind(events, SceneStart)
    assert scene.present == ("Gil", "Hana", "Ivo")
    assert scene.source.line == 7
    text = " ".join(getattr(event, "text", "") + getattr(event, "title", "") or "" for event in events[1:])
    assert "color" not in text
    assert "saved by" not in text


@pytest.mark.parametrize(
    ("name", "numbers", "title"),
    [
        ("0304.html", (3, 4), "The One With the Oar"),
        ("0212-0213.html", (2, 12), "The One With the Oar"),
        ("03x04.txt", (3, 4), "The One With the Oar"),
        ("3x10+11.txt", (3, 10), "The One With the Oar"),
        ("harbour.s02e07.html", (2, 7), "The One With the Oar"),
    ],
)
def test_a_numbered_name_gives_season_and_episode(name: str, numbers: tuple[int, int], title: str) -> None:
    events = read(PAGE, name)
    assert events[0] == Opening(("season", "episode", "scene", "line"))
    assert isinstance(events[1], Heading)
    assert (events[1].numbers, events[1].title, events[1].units) == (numbers, title, 0)


def test_the_place_may_stand_in_the_text_instead() -> None:
    events = read(WRAPPED, "transcript.txt")
    assert isinstance(events[1], Heading)
    assert (events[1].numbers, events[1].title) == ((1, 2), "The Lost Oar")


def test_without_a_place_there_are_only_scenes_and_lines() -> None:
    events = read(HARBOUR)
    assert events[0] == Opening(("scene", "line"))
    assert all(heading.numbers is None for heading in of_kind(events, Heading))


@pytest.mark.parametrize(
    ("line", "speakers", "text"),
    [
        ("ANN:No space at all.", ("ANN",), "No space at all."),
        ("Ann : A space before.", ("Ann",), "A space before."),
        ("Ann:: Two of them.", ("Ann",), "Two of them."),
        ("Ann; The wrong sign.", ("Ann",), "The wrong sign."),
        ("Ann You forgot the sign.", ("Ann",), "You forgot the sign."),
        ("Ann [b]: [/b]Bold.", ("Ann",), "Bold."),
        ("Ann turns around to Bob: Well?", ("Ann",), "Well?"),
        ("Ann & Bob: Together.", ("Ann", "Bob"), "Together."),
        ("Ann/Bob: Also together.", ("Ann", "Bob"), "Also together."),
        ("Ann, Bob, and Cyril: All three.", ("Ann", "Bob", "Cyril"), "All three."),
        ("Ann and Bob (in unison): Yes.", ("Ann", "Bob"), "Yes."),
        ("Mr. and Mrs. Dunn: We object.", ("Mr. Dunn", "Mrs. Dunn"), "We object."),
        ("Cyril, the Drowned: I am back.", ("Cyril, the Drowned",), "I am back."),
        ("Woman on TV: Rain.", ("Woman on TV",), "Rain."),
        ("Everyone but Bob: No!", ("Everyone but Bob",), "No!"),
        ("Edward R. Moss: Good evening.", ("Edward R. Moss",), "Good evening."),
    ],
)
def test_labels_as_they_are_found(line: str, speakers: tuple[str, ...], text: str) -> None:
    talk = "Ann: One.\nBob: Two.\nCyril: Three.\n" * 6
    found = speeches(read(talk + line + "\n" + talk))
    assert (speakers, text) in found


@pytest.mark.parametrize(
    "line",
    [
        "I have one question: why?",
        "Here is the thing: it leaks.",
        "http://harbour.example/oars",
    ],
)
def test_a_colon_alone_makes_no_label(line: str) -> None:
    talk = "Ann: One.\nBob: Two.\n" * 6
    assert {who for speakers, _ in speeches(read(talk + line + "\n" + talk)) for who in speakers} == {"Ann", "Bob"}


def test_a_bracket_that_is_never_closed_does_not_swallow_the_speeches_after_it() -> None:
    events = read("Ann: One.\nBob: Two. (he goes\nout of the door\nAnn: Three.\n[She waits\nBob: Four.\nAnn: Five.\n")
    assert speeches(events) == [
        (("Ann",), "One."),
        (("Bob",), "Two. (he goes out of the door"),
        (("Ann",), "Three."),
        (("Bob",), "Four."),
        (("Ann",), "Five."),
    ]
    assert [one.text for one in of_kind(events, Description)] == ["She waits"]


def test_cuts_are_scenes_only_where_nothing_else_marks_them() -> None:
    talk = "Ann: One.\nBob: Two.\n" * 3
    cut = "[Cut to the quay.]\n"
    assert len(of_kind(read(talk + cut + talk), SceneStart)) == 1
    marked = "[Scene: The office]\n" + talk + cut + talk + "[Scene: The shed]\n" + talk
    assert [one.setting for one in of_kind(read(marked), SceneStart)] == ["The office", "The shed"]


def test_text_without_a_single_label_is_kept_as_text() -> None:
    events = read("Are you there?\nI am here.\nWhere is here?\nOver here.\n", "1x02.txt")
    assert not of_kind(events, Speech)
    assert [one.text for one in of_kind(events, Description)] == [
        "Are you there?",
        "I am here.",
        "Where is here?",
        "Over here.",
    ]


def test_lost_characters_and_old_encodings_do_not_stop_the_reading() -> None:
    events = read_bytes(READER, b"Ann: It was\0 odd.\nBob: Caf\xe9, then.\nAnn: Caf\xc3\xa9.\nBob: Yes.\n")
    assert [text for _, text in speeches(events)] == ["It was  odd.", "Café, then.", "Café.", "Yes."]


def test_a_page_that_breaks_off_in_a_comment_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<html>\n<p>Ann: One.</p>\n<!-- and then\nnothing\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(READER.events(SourceFile(path)))
    assert (caught.value.path, caught.value.line) == (path, 3)


def test_a_file_larger_than_the_look_ahead_is_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = read(WRAPPED), read(PAGE, "p.html")
    monkeypatch.setattr(transcript, "LOOK_AHEAD", 0)
    assert (read(WRAPPED), read(PAGE, "p.html")) == at_once


@pytest.mark.parametrize("text", [HARBOUR, WRAPPED, PAGE, "CUT TO THE QUAY\nWater.\n"])
def test_recognises_transcripts(text: str) -> None:
    assert recognises(READER, text.encode(), Path("any"))


@pytest.mark.parametrize(
    "text",
    [
        '{"character": "Ann", "lines": "One."}\n',
        '[{"speaker": "Ann"}]',
        '[\n  {"speaker": "Ann"}\n]',
        "<?xml version='1.0'?>\n<TEI><text>Ann: One.</text></TEI>",
        "1 your persona: i like fish.\n2 hello\thi\t\ta|b\n",
        "# part 1: The Harbour\n## scene 1: Office\nAnn: One.\nBob: Two.\n",
        "",
        "\n \n",
        "\x89PNG\r\n\x1a\n" + "\0" * 400,
        "It was a dark night on the quay, and the rain fell.\nNobody spoke.\n",
    ],
)
def test_leaves_other_formats_alone(text: str) -> None:
    assert not recognises(READER, text.encode(), Path("any"))


LABELS = st.sampled_from(["Ann", "BOB", "Cyril (off)", "Ann and Bob", "ALL", "Mrs. Dunn [calling]", "Scene", "Posted"])
PIECES = st.one_of(
    st.text(max_size=60),
    st.builds("{}: {}".format, LABELS, st.text(max_size=40)),
    st.sampled_from(
        [
            "[Scene: The quay, Ann is there.]",
            "CUT TO THE SHED[Ann waits",
            "(Ann leaves",
            "then she comes back)",
            "the rest of it.Posted: 10/17/00 10:42BOB: What?",
            "Page 1 of 1ANN: Here.",
            "[b][/b]",
            "* * *",
            "Written by: Nobody",
            "THE HARBOUR OFFICE",
            "<p>",
            "Ann",
        ]
    ),
)


MARKERS = re.compile(
    r"\[/?b\]|\b(?:scene|cuts?|fades?|quick|smash|jump|hard|open|opens|opening|back|to|into|in|at|on|and)\b",
    re.IGNORECASE,
)


def letters_of(text: str) -> Counter[str]:
    return Counter(letter for letter in text.casefold() if letter.isalnum())


@given(st.lists(PIECES, max_size=30))
@example(["Jo (V): Hm.", "Jo: Hm."])
def test_nothing_is_lost_whatever_the_text(lines: list[str]) -> None:
    """Every unit is accounted for (by `read_bytes`), and every letter is in some event."""
    text = "\n".join(line.replace("\0", "").replace("\r", " ").replace("\n", " ") for line in lines)
    if not text or "<p>" in text or re.search("[\ud800-\udfff]", text):
        return
    events = read(text + "\n")
    kept: Counter[str] = Counter()
    for event in events:
        for field in ("text", "title", "setting"):
            kept += letters_of(getattr(event, field, None) or "")
        kept += letters_of(" ".join(getattr(event, "speakers", ())))
    assert not letters_of(MARKERS.sub(" ", text)) - kept


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_with_the_place(content: bytes) -> None:
    stands(READER, content or b"\n", "3x04.html")


@given(damage(PAGE.encode()))
def test_a_damaged_page_is_read_or_refused_with_the_place(content: bytes) -> None:
    stands(READER, content or b"\n", "page.html")


@pytest.mark.parametrize("show", ["friends", "the_big_bang_theory", "gilmore_girls", "the_office"])
def test_every_real_transcript_is_recognised_and_read_nearly_whole(show: str) -> None:
    files = sorted(folder("tvshowguess").joinpath("transcripts", show).iterdir())
    assert files
    units = unread = 0
    for file in files[::9]:
        assert recognises(READER, SourceFile(file).head(), file)
        events = events_of(READER, file)
        units += sum(event.units for event in events if not isinstance(event, Opening))
        unread += len(of_kind(events, Unread))
    assert unread < 0.005 * units


def test_titles() -> None:
    assert episode_title(measure(b"<html><title>\nThe  Oar &amp; I</title>", Path("a.html"))) == "The Oar & I"
    assert episode_title(measure(b"x\n03x04 - The Oar\n", Path("a.txt"))) == "The Oar"
    assert episode_title(measure(b"Ann: One.\n", Path("0304.txt"))) == "0304"


# The lines of web pages.


def lines_of(page: str) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in page_lines(enumerate(page.split("\n"), 1))]


def test_blocks_break_lines_and_line_ends_do_not() -> None:
    assert lines_of("<p>one\ntwo<br>three</p><div>four</div>\n<b>fi</b>ve") == [
        (1, "one two"),
        (2, "three"),
        (2, "four"),
        (3, "five"),
    ]


def test_a_tag_may_go_on_in_the_next_line() -> None:
    assert lines_of('<font\ncolor="red">one</font\n> two') == [(2, "one two")]


def test_preformatted_text_keeps_its_lines() -> None:
    assert lines_of("<pre>one\ntwo\n</pre>three\nfour") == [(1, "one"), (2, "two"), (3, "three four")]


def test_scripts_styles_and_comments_are_no_text() -> None:
    assert lines_of("<style>\np {}\n</style>a<script>x < y</script><!-- b\n <p>c --> d") == [(3, "a"), (4, "d")] or (
        lines_of("<style>\np {}\n</style>a<script>x < y</script><!-- b\n <p>c --> d") == [(3, "a d")]
    )


@pytest.mark.parametrize("text", ["<Ann looks up>", "3 < 4 and 5 > 4", "<a man enters>", "a <b"])
def test_what_only_looks_like_a_tag_is_text(text: str) -> None:
    assert lines_of(f"<p>{text}</p>") == [(1, text)]


def test_what_never_ends_is_an_error_with_its_line() -> None:
    with pytest.raises(ValueError, match="never ends") as caught:
        lines_of("one\n<!-- two")
    assert caught.value.args[1] == 2


def test_only_formatting_bbcode_goes() -> None:
    assert BBCODE.sub("", "[b]Ann[/b]: [i]Oh[/i] [sighs] [url=x]here[/url] [B]!") == "Ann: Oh [sighs] here !"


def test_html_is_told_by_its_tags() -> None:
    def is_html(text: str) -> bool:
        return measure(text.encode(), Path("page.txt")).is_html

    assert is_html("  <!DOCTYPE html>\n<p>")
    assert is_html("Ann: one<br>Bob: two<br>Ann: three<br>")
    assert not is_html("Ann: <sighs> one <p> two")


@given(st.text(alphabet="ab <>/!-p\n&;", max_size=80))
def test_any_text_is_lines_or_an_error(page: str) -> None:
    try:
        found = lines_of(page)
    except ValueError:
        return
    assert all(text.strip() for _, text in found)
    assert [number for number, _ in found] == sorted(number for number, _ in found)
