from __future__ import annotations

import builtins
import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import realdata
from reading import damage, events_of, of_kind, read_bytes, recognises, speaker_texts, stands
from samples import SAMPLES
from understudy import formats as readers
from understudy.errors import InputError, MissingExtra, UnknownFormat
from understudy.formats import read, reader_of
from understudy.formats.export import export_jsonl
from understudy.formats.table import PARQUET, READER, SPEECHES, table_reader
from understudy.sources import Description, Event, Heading, Movement, Opening, SceneStart, Speech, Unread
from understudy.sources.columns import Columns
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story

TABLE = """Season,Episode,Title,Scene,Character,Line,To
1,1,The Oar,The quay,,Rain on the quay.,
,,,,Ann,"The tide
is ""out"".",Bob
,,,,Bob and Cyril,So it is.,
,,,The shed,Ann,,
1,2,The Net,The shed,Ann,Rain.,"Bob, everyone"
"""


def spoken(content: str | bytes, named: Columns | None = None) -> list[tuple[tuple[str, ...], str]]:
    raw = content.encode() if isinstance(content, str) else content
    return [(one.speakers, one.text) for one in of_kind(read_bytes(table_reader(named), raw), Speech)]


def test_a_row_is_a_speech_where_its_cells_say() -> None:
    events = read_bytes(READER, TABLE.encode())
    assert events[0] == Opening(("season", "episode", "scene", "line"))
    assert [(one.title, one.numbers) for one in of_kind(events, Heading) if one.numbers] == [
        ("The Oar", (1, 1)),
        ("The Net", (1, 2)),
    ]
    assert [one.setting for one in of_kind(events, SceneStart)] == ["The quay", "The shed", "The shed"]
    assert [(one.speakers, one.text, one.source.line, one.units) for one in of_kind(events, Speech)] == [
        (("Ann",), 'The tide is "out".', 3, 2),
        (("Bob", "Cyril"), "So it is.", 5, 1),
        (("Ann",), "Rain.", 7, 1),
    ]
    assert [one.text for one in of_kind(events, Description)] == ["Rain on the quay."]
    assert [one.enter for one in of_kind(events, Movement)] == [("Bob",), ("Bob",)]
    assert [one.reason for one in of_kind(events, Unread)] == ["says nothing"]


def test_an_empty_cell_is_as_above_and_named_chapters_are_counted() -> None:
    rows = "chapter|scene|speaker|text\nThe Keys|3|Ann|One.\n||Bob|Two.\n|5|Ann|Three.\nThe Net|1|Bob|Four.\n"
    events = read_bytes(READER, rows.encode())
    assert [(one.title, one.numbers) for one in of_kind(events, Heading) if one.numbers] == [
        ("The Keys", (1,)),
        ("The Net", (2,)),
    ]
    assert [(one.number, one.setting) for one in of_kind(events, SceneStart)] == [(3, ""), (5, ""), (1, "")]


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@given(rows=st.lists(st.tuples(st.sampled_from(["Ann", "Bob", "Odile Brac"]), WORDS), min_size=1, max_size=6))
def test_what_a_csv_writer_writes_is_read_back_as_it_was(delimiter: str, rows: list[tuple[str, str]]) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("Speaker", "Text"), *rows])
    assert spoken(stream.getvalue()) == [((who,), " ".join(text.split())) for who, text in rows if text.strip()]


def test_marks_that_are_no_quotes_belong_to_the_text() -> None:
    assert spoken('who\ttext\nAnn\t"Well," said the sea.\nBob\tThe 6" oar.\n') == [
        (("Ann",), '"Well," said the sea.'),
        (("Bob",), 'The 6" oar.'),
    ]


def test_commas_that_nobody_quoted_stay_in_the_last_column() -> None:
    assert spoken("speaker,text\nAnn,One.\nBob,Well, yes, two.\n")[1] == (("Bob",), "Well, yes, two.")
    events = read_bytes(READER, b"text,speaker\nOne.,Ann\nWell, yes, two.,Bob\nThree.,Ann\n")
    assert of_kind(events, Unread)[0].reason == "has 4 cells, but the table has 2 columns"


def test_a_mark_of_order_a_separator_line_and_other_encodings() -> None:
    assert spoken(b"\xef\xbb\xbfspeaker;text\nAnn;One.\n") == [(("Ann",), "One.")]
    assert spoken("sep=;\nspeaker;text\nAnn;One.\n") == [(("Ann",), "One.")]
    assert spoken("speaker;text\r\nJosé;Sí.\r\n".encode("cp1252")) == [(("José",), "Sí.")]
    assert spoken("speaker\ttext\nAnn\tOne.\n".encode("utf-16")) == [(("Ann",), "One.")]


GERMAN = "Nr;Sprecher;Zeile;Szene\n1;Ann;Eins.;Kai\n2;Bob;Zwei.;Kai\n3;Ann;Drei.;Haus\n"


def test_a_table_of_other_names_is_refused_with_its_columns_and_what_to_say(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    path.write_text(GERMAN)
    with pytest.raises(
        UnknownFormat, match=r"its columns are Nr, Sprecher, Zeile, Szene.*--columns speaker=Sprecher,text=Zeile$"
    ):
        read(path)


def test_named_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    path.write_text(GERMAN)
    story = read(path, columns={"speaker": "Sprecher", "text": "zeile", "scene": "Szene"})
    assert [(scene.setting, [line.text for line in scene.lines]) for scene in story.scenes()] == [
        ("Kai", ["Eins.", "Zwei."]),
        ("Haus", ["Drei."]),
    ]
    with pytest.raises(InputError, match=r"no column 'Wer'; its columns are Nr, Sprecher"):
        read(path, columns={"speaker": "Wer", "text": "Zeile"})


def test_named_keys_of_json_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"wer": "Ann", "was": "Eins."}\n{"wer": "Bob", "was": "Zwei."}\n')
    story = read(path, columns={"speaker": "wer", "text": "was"})
    assert [(line.speaker, line.text) for scene in story.scenes() for line in scene.lines] == [
        ("Ann", "Eins."),
        ("Bob", "Zwei."),
    ]
    with pytest.raises(UnknownFormat, match=r"JSON with the keys 'wer', 'was'.*--columns speaker=KEY"):
        read(path)
    with pytest.raises(InputError, match=r"no key 'wen'; its keys are 'wer', 'was'"):
        read(path, columns={"speaker": "wen", "text": "was"})


def test_columns_are_for_tables(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("Ann: One.\nBob: Two.\n")
    with pytest.raises(UnknownFormat, match="neither a table nor JSON lines"):
        read(path, columns={"speaker": "a", "text": "b"})


def test_a_quote_that_does_not_end_is_an_error_with_its_row() -> None:
    rows = "".join(f"Ann,{number}\n" for number in range(40_000))
    with pytest.raises(InputError) as caught:
        read_bytes(READER, ("speaker,text\n" + rows + 'Ann,"never\n' + rows).encode())
    assert caught.value.line == 40_002
    assert "never closed" in str(caught.value)


@pytest.mark.parametrize(
    "other",
    [
        "Ann: Well, yes.\nBob: No, never.\n",
        "Well, yes\nNo, never\nPerhaps, then\n",
        "# A heading, with a comma\nAnn: One, two.\n",
        '{"speaker": "Ann", "text": "One."}\n',
        "speaker,text\n",
        "| speaker | text |\n|---|---|\n| Ann | One. |\n",
        "1 hello\tthere\n",
        "",
    ],
)
def test_other_text_is_no_table(other: str) -> None:
    assert not recognises(READER, other.encode(), Path("any.txt"))


@given(damage(TABLE.encode()))
def test_a_damaged_table_is_read_or_refused(content: bytes) -> None:
    stands(READER, content or b"\n")


def test_the_quotations_of_novels_are_read_as_they_are() -> None:
    path = realdata.folder("pdnc") / "Emma" / "quotation_info.csv"
    assert reader_of(SourceFile(path)).name == "csv"
    with path.open(encoding="utf-8", newline="") as file:
        said = [" ".join(row["quoteText"].split()) for row in csv.DictReader(file)]
    assert [one.text for one in of_kind(events_of(READER, path), Speech)] == said


ROWS = [
    {"season": 1.0, "episode": 1, "title": "The Oar", "character": "Ann", "lines": "The tide\nis out."},
    {"season": 1.0, "episode": 1, "title": "The Oar", "character": "Bob and Cyril", "lines": "So it is."},
    {"season": 1.0, "episode": 1, "title": "The Oar", "character": "Bob", "lines": ""},
    {"season": 1.0, "episode": 2, "title": "The Net", "character": None, "lines": "Rain on the quay."},
    {"season": 1.0, "episode": 2, "title": "The Net", "character": "Ann", "lines": "Rain."},
]


def jsonl(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read_rows(rows: list[dict[str, object]]) -> list[Event]:
    return read_bytes(SPEECHES, jsonl(rows))


def test_a_row_is_a_speech_in_its_episode() -> None:
    events = read_rows(ROWS)
    assert events[0] == Opening(("season", "episode", "scene", "line"))
    assert [(one.title, one.numbers) for one in of_kind(events, Heading)] == [("The Oar", (1, 1)), ("The Net", (1, 2))]
    assert [(one.speakers, one.text, one.source.line) for one in of_kind(events, Speech)] == [
        (("Ann",), "The tide is out.", 1),
        (("Bob", "Cyril"), "So it is.", 2),
        (("Ann",), "Rain.", 5),
    ]
    assert [one.text for one in of_kind(events, Description)] == ["Rain on the quay."]
    assert [one.reason for one in of_kind(events, Unread)] == ["says nothing"]


def test_other_names_for_the_same_things_and_scenes() -> None:
    rows: list[dict[str, object]] = [
        {"speaker": "Ann", "text": ["One.", "Two."], "scene": "The quay"},
        {"speaker": ["Ann", "Bob"], "text": "Three.", "scene": "The quay"},
        {"speaker": "Bob", "text": "Four.", "scene": "The shed"},
    ]
    events = read_rows(rows)
    assert events[0] == Opening(("scene", "line"))
    assert [one.setting for one in of_kind(events, SceneStart)] == ["The quay", "The shed"]
    assert [(one.speakers, one.text) for one in of_kind(events, Speech)] == [
        (("Ann",), "One. Two."),
        (("Ann", "Bob"), "Three."),
        (("Bob",), "Four."),
    ]


def test_whom_a_row_is_said_to_is_there() -> None:
    rows: list[dict[str, object]] = [
        {"speaker": "Ann", "text": "One.", "to": ["Bob", "everyone"]},
        {"speaker": "Ann", "text": "Two.", "to": "Bob and Cyril"},
        {"speaker": "Ann", "text": "Three.", "to": {"Dora": 0.9}},
    ]
    assert [one.enter for one in of_kind(read_rows(rows), Movement)] == [("Bob",), ("Cyril",)]


def test_a_row_that_is_dated_otherwise_is_listed_as_unread() -> None:
    events = read_rows([*ROWS, {"character": "Ann", "lines": "When?"}])
    assert "is not dated by season and episode" in of_kind(events, Unread)[-1].reason


def test_recognises_rows_with_a_speaker_and_words_only() -> None:
    assert recognises(SPEECHES, jsonl(ROWS), Path("any"))
    assert recognises(SPEECHES, b"\xef\xbb\xbf" + jsonl(ROWS), Path("any"))
    for other in (b'{"show": "x", "lines": [["a", "b"]]}', b'["a"]', b"Ann: One.", b"", b"{", b'{"name": "x"}'):
        assert not recognises(SPEECHES, other, Path("any.jsonl"))


@pytest.mark.parametrize("line", ['{"character": ', "[1, 2]", "Ann: One."])
def test_what_is_no_row_is_an_error_with_its_line(line: str) -> None:
    with pytest.raises(InputError) as caught:
        read_bytes(SPEECHES, jsonl(ROWS) + line.encode())
    assert caught.value.line == len(ROWS) + 1


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=9),
    st.lists(st.text(max_size=5)),
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["season", "episode", "scene", "character", "lines", "title"]), VALUES),
        min_size=1,
    )
)
def test_any_rows_add_up(rows: list[dict[str, object]]) -> None:
    read_rows(rows)


@given(damage(jsonl(ROWS)))
def test_a_damaged_file_is_read_or_refused_with_the_place(content: bytes) -> None:
    stands(SPEECHES, content or b"\n")


def test_half_of_a_character_is_refused_with_its_line() -> None:
    rows = b'{"character": "Ann", "lines": "One."}\n{"character": "\\ud800", "lines": "Two."}\n'
    with pytest.raises(InputError, match=r":2: holds half of a character"):
        read_bytes(SPEECHES, rows)


def test_exported_rows_are_read_back_at_their_moments(tmp_path: Path) -> None:
    story = readers.read("demo")
    path = tmp_path / "demo.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        export_jsonl(story, stream)
    again = readers.read(path)
    assert again.levels == ("part", "chapter", "scene", "line")

    def lines(of: Story) -> list[tuple[str, str | None, str]]:
        return [(line.moment.dotted, line.speaker, line.text) for scene in of.scenes() for line in scene.lines]

    assert lines(again) == lines(story)


# Parquet.


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.parquet"


def write(path: Path, columns: dict[str, Any], **options: Any) -> None:
    pyarrow.parquet.write_table(pyarrow.table(columns), path, **options)


def test_rows_are_speeches_of_their_chapters(path: Path) -> None:
    write(
        path,
        {
            "chapter": [1, 1, 2, 2],
            "Character": pyarrow.array(["Ann", "Bob and Cyril", None, "Ann"]).dictionary_encode(),
            "Line": ["The tide is out.", "So it is.", "Rain.", ""],
            "taken": pyarrow.array([1, 2, 3, 4], pyarrow.timestamp("ns")),
            "vector": [[0.5]] * 4,
        },
        row_group_size=3,
    )
    events = events_of(PARQUET, path)
    assert speaker_texts(events) == [("Ann", "The tide is out."), ("Bob & Cyril", "So it is."), ("", "Rain.")]
    assert [one.numbers for one in of_kind(events, Heading)] == [(1,), (2,)]
    assert [(one.source.line, one.reason) for one in of_kind(events, Unread)] == [(4, "says nothing")]


def test_columns_are_named_where_their_names_are_others(path: Path) -> None:
    write(path, {"Sprecher": ["Ann", "Bob"], "Zeile": ["Eins.", "Zwei."], "am": pyarrow.array([1, 2], "date32")})
    with pytest.raises(UnknownFormat, match="cannot be told; its columns are Sprecher, Zeile, am. Say it with --col"):
        read(path)
    with pytest.raises(InputError, match="no column of texts or numbers 'am'"):
        read(path, columns={"speaker": "Sprecher", "text": "am"})
    story = read(path, columns={"speaker": "Sprecher", "text": "Zeile"})
    assert [line.text for scene in story.scenes() for line in scene.lines] == ["Eins.", "Zwei."]


def test_without_the_library_the_extra_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, {"speaker": ["Ann"], "text": ["One."]})
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"\.\[parquet\]"):
        read(path)


def test_many_rows_in_few_bytes_are_read_a_batch_at_a_time(path: Path) -> None:
    write(path, {"speaker": ["Ann"] * 20_000, "text": ["Row, row."] * 20_000})
    assert path.stat().st_size < 5_000
    assert read(path).count() == (1, 20_000)


@settings(suppress_health_check=list(HealthCheck))
@given(content=damage(SAMPLES["parquet"][1]()))
def test_damage_is_an_input_error(content: bytes) -> None:
    stands(PARQUET, content, "lines.parquet")
