"""Which format a file is of: a table of the formats, each with a predicate on the evidence of its files.

Formats are asked in the order of the table, those with certain marks first: where several would take a file, the first
of them has it. A reader is imported when a file is of its format.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from understudy.formats.evidence import TIMES, FileEvidence, measure
from understudy.formats.markdown_syntax import CAST_LIST, FENCE, atx_heading, bare_line, emphasised_label
from understudy.novels.prose import Block, paragraphs_of, rows_of, without_frame
from understudy.sources import Reader
from understudy.sources.columns import DELIMITERS, Columns
from understudy.sources.source import SourceFile


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its name, the evidence for it, and where its reader is in this package."""

    name: str
    recognises: Callable[[FileEvidence], bool]
    module: str
    attribute: str = "READER"

    @property
    def reader(self) -> Reader:
        reader: Reader = getattr(import_module(f"understudy.formats.{self.module}"), self.attribute)
        return reader


def recognised(evidence: FileEvidence, formats: Iterable[Format] | None = None) -> Format | None:
    """The format of a file, or None where it is of none."""
    return next((item for item in (FORMATS if formats is None else formats) if item.recognises(evidence)), None)


def recognised_table(evidence: FileEvidence) -> Format | None:
    """The format of a file whose columns are named by the caller, so that they need not have the usual names."""
    shown = (is_parquet(evidence), evidence.first_row is not None, evidence.table is not None)
    return next((table for table, is_shown in zip(TABLES, shown) if is_shown), None)


# Formats with a signature.

PNG, ZIP, JPEG, PARQUET_MARK = b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"\xff\xd8\xff", b"PAR1"
CARD_FIELDS = re.compile(
    r'"spec"\s*:\s*"chara_card_v\d"|"(?:first_mes|mes_example|alternate_greetings|post_history_instructions)"\s*:'
)
EPUB_TYPE, EPUB_CONTAINER = b"application/epub+zip", "META-INF/container.xml"


def is_card(evidence: FileEvidence) -> bool:
    """Any PNG, for the card may lie behind the picture; a zip file with a card; JSON with fields of cards alone."""
    if evidence.head.startswith(PNG):
        return True
    if evidence.head.startswith((ZIP, JPEG)):  # some programs put a JPEG picture in front of the archive
        from understudy.formats.cards.file import is_charx

        return is_charx(evidence.path)
    text = evidence.json_text
    return text.startswith("{") and CARD_FIELDS.search(text) is not None


def is_epub(evidence: FileEvidence) -> bool:
    """An archive that says it is an EPUB, or has the part that leads to a book's package."""
    if not evidence.head.startswith(ZIP):
        return False
    return EPUB_TYPE in evidence.head[:200] or EPUB_CONTAINER in evidence.archive_names


def is_docx(evidence: FileEvidence) -> bool:
    return evidence.head.startswith(ZIP) and any(name.startswith("word/") for name in evidence.archive_names)


def is_workbook(evidence: FileEvidence) -> bool:
    is_named = evidence.path.suffix.lower() == ".xlsx"
    return evidence.head.startswith(ZIP) and (b"xl/" in evidence.head or is_named)


def is_parquet(evidence: FileEvidence) -> bool:
    return evidence.head.startswith(PARQUET_MARK)


# Formats with an element of XML or keys of JSON.

TEI_ROOT = re.compile(r"<(?:\w+:)?(?:TEI|TEI\.2|teiCorpus)[\s>]")
FDX_ROOT = re.compile(r"<FinalDraft[\s>]")
HPD_KEYS = ('"position"', '"dialogue"', '"speakers"')
SHOW_KEYS = ('"show"', '"episode_id"', '"lines"')
OPEN_WEBUI_KEYS = ('"chat"', '"history"', '"currentId"')
SILLYTAVERN_START = re.compile(
    r'\{\s*(?:"user_name"\s*:|"chat_metadata"\s*:|"name"\s*:[^\n]{0,300}?"is_user"\s*:\s*(?:true|false))'
)
OBJECT = re.compile(r"\s*\[?\s*\{")
MEMBER = r'\s*"[^"\\]*+"\s*:\s*(?:"(?:[^"\\]|\\.)*+"|[\w.+-]++)\s*,'
MESSAGE_LIST = rf'"\s*:\s*\[\s*(?:\]|\{{(?:{MEMBER})*?\s*"(?:from|value|role|content)"\s*:)'
CONVERSATIONS, MESSAGES = (re.compile(f'"{key}{MESSAGE_LIST}') for key in ("conversations", "messages"))
BARE_MESSAGE = re.compile(
    r'\s*\[?\s*\{\s*(?:"(?:name|content)"\s*:\s*"(?:[^"\\]|\\.)*+"\s*,\s*)*+'
    r'"role"\s*:\s*"(?:system|developer|user|assistant|tool)"'
)


def is_tei(evidence: FileEvidence) -> bool:
    return TEI_ROOT.search(evidence.xml_text) is not None


def is_fdx(evidence: FileEvidence) -> bool:
    return FDX_ROOT.search(evidence.xml_text) is not None


def is_hpd(evidence: FileEvidence) -> bool:
    return evidence.first_line.startswith("{") and all(key in evidence.text for key in HPD_KEYS)


def hpd_files(folder: Path) -> list[Path]:
    """HPD's files in a folder, or the file itself where it is one."""
    paths = [folder] if folder.is_file() else sorted(folder.glob("*.json"))
    return [path for path in paths if is_hpd(measure(SourceFile(path).head(), path))]


def is_tvshowguess(evidence: FileEvidence) -> bool:
    line = evidence.first_line
    return line.startswith("{") and all(key in line for key in SHOW_KEYS)


def is_sillytavern(evidence: FileEvidence) -> bool:
    """The first row is the metadata of a chat, or a message of one."""
    row = evidence.first_row
    if row is None:
        return SILLYTAVERN_START.match(evidence.first_line) is not None
    if "mes" in row:
        return "is_user" in row or "name" in row
    return "chat_metadata" in row or ("user_name" in row and "character_name" in row)


def is_convokit(evidence: FileEvidence) -> bool:
    """The first object is an utterance: an id, a text, a conversation and a speaker."""
    row = evidence.first_object or {}
    conversation = row.get("conversation_id", row.get("root"))
    return "id" in row and "text" in row and conversation is not None and ("speaker" in row or "user" in row)


def is_sharegpt(evidence: FileEvidence) -> bool:
    return OBJECT.match(evidence.text) is not None and CONVERSATIONS.search(evidence.text) is not None


def is_messages(evidence: FileEvidence) -> bool:
    text = evidence.text
    if OBJECT.match(text) is None:
        return False
    has_messages = BARE_MESSAGE.match(text) is not None or MESSAGES.search(text) is not None
    return has_messages or all(key in text for key in OPEN_WEBUI_KEYS)


def is_speeches(evidence: FileEvidence) -> bool:
    """The first row has a speaker and words, by the usual names of their keys."""
    row = evidence.first_row
    if row is None:
        return False
    columns = Columns().completed(row)
    return columns.speaker is not None and columns.text is not None and not isinstance(row[columns.text], dict | bool)


# Text with marks of its own.

PERSONACHAT_LINE = re.compile(r"1 (?:your persona:|partner's persona:|[^\t\n]*\t)")
FOUNTAIN_SUFFIXES = (".fountain", ".spmd")
NOT_FOUNTAIN = re.compile(r"\s*(?:WEBVTT\b|<|\{|\[\s*(?:\[\s*)?[{\"]|\d+\s*\n\d\d?:\d\d:)")
SHARE_SPOKEN = 0.3
WEBVTT_LINE = re.compile(r"WEBVTT(?:[ \t].*)?")
RENPY_CHARACTER = re.compile(r"^[ \t]*(?:define|default|\$)[ \t]+[\w.]+[ \t]*=[ \t]*\w*Character[ \t]*\(", re.MULTILINE)
RENPY_LABEL = re.compile(r"^[ \t]*label[ \t]+[\w.]+[ \t]*(?:\([^()\n]*\))?[ \t]*(?:hide[ \t]*)?:", re.MULTILINE)
RENPY_SAYING = re.compile(r"^[ \t]*(?:[A-Za-z_]\w*[ \t]+){0,4}(?:\"[^\"\n]*\"[ \t]*)?\"[^\n]", re.MULTILINE)
INK_KNOT = re.compile(r"^={2,} ?[^\W\d]\w* ?(?:\([^()\n]*\))? ?=*$", re.MULTILINE)
INK_LOGIC = re.compile(r"^(?:VAR \w+ ?=|~ ?(?:temp )?\w+ ?(?:[-+]?=|\+\+|--|\())", re.MULTILINE)
INK_DIVERT = re.compile(r"(?:^| )(?:->|<-) ?[\w.]+$", re.MULTILINE)
INK_END = re.compile(r"-> ?(?:END|DONE)$", re.MULTILINE)
SCRIPT_HEADING = re.compile(r"#+\s+[^\W\d_]+\s+\d+\s*(?:[:：].*)?")


def is_personachat(evidence: FileEvidence) -> bool:
    return PERSONACHAT_LINE.match(evidence.text) is not None


def is_fountain(evidence: FileEvidence) -> bool:
    """Text with cues, or with scene headings or a title page and no labels.

    The name decides where there is little of either. Marks that force an element count only beside a title page or
    the name, for other languages have `@` and `.` too.
    """
    if evidence.has_nul or NOT_FOUNTAIN.match(evidence.text):
        return False
    marks, is_named = evidence.screenplay, evidence.path.suffix.casefold() in FOUNTAIN_SUFFIXES
    is_forced = is_named or marks.title_entries > 0
    cues = marks.cues + (marks.forced_cues if is_forced else 0)
    headings = marks.headings + (marks.forced_headings if is_forced else 0)
    if marks.title_entries and (marks.forced_headings or marks.numbered_headings):
        return True
    if is_named and marks.labels <= cues + headings + marks.title_entries:
        return cues + headings + marks.title_entries + marks.others > 0
    if marks.labels > cues + headings:
        return False
    if headings and (cues or (headings > 1 and not marks.labels)):
        return True
    return cues > 0 if marks.title_entries else cues > 1 and marks.spoken >= SHARE_SPOKEN * marks.lines


def is_subrip(evidence: FileEvidence) -> bool:
    """The first line is a line of times, or a number above one."""
    lines = evidence.lines[:2]
    if len(lines) == 2 and lines[0].isdecimal():
        del lines[0]
    return bool(lines) and TIMES.fullmatch(lines[0]) is not None


def is_webvtt(evidence: FileEvidence) -> bool:
    return WEBVTT_LINE.fullmatch(evidence.text.partition("\n")[0].rstrip()) is not None


def is_renpy(evidence: FileEvidence) -> bool:
    """Characters that are defined, or labels with something said below."""
    text = evidence.text
    if evidence.first_line.startswith(("{", "<")):
        return False
    if RENPY_CHARACTER.search(text) is not None:
        return True
    return RENPY_LABEL.search(text) is not None and RENPY_SAYING.search(text) is not None


def is_ink(evidence: FileEvidence) -> bool:
    """Two of knots, logic and diverts, or a divert to the end; one of these in a file that is named as one of ink."""
    is_named = evidence.path.suffix == ".ink"
    if not is_named and (evidence.first_line.startswith(("{", "<")) or "```" in evidence.text):  # or a page about ink
        return False
    text = "\n".join(" ".join(line.split()) for line in evidence.lines)
    marks = sum(mark.search(text) is not None for mark in (INK_KNOT, INK_LOGIC, INK_DIVERT))
    return marks >= (1 if is_named else 2) or INK_END.search(text) is not None


def is_script(evidence: FileEvidence) -> bool:
    """The first line that is no comment is a heading with its level and number."""
    first = next((line for line in evidence.lines if not line.startswith("%")), "")
    return SCRIPT_HEADING.fullmatch(first) is not None


FRONT_LINES = 9  # in which the front matter shows that it lists a cast
MARKDOWN_SHARE = 10  # at least one line in so many is a speech


def is_markdown(evidence: FileEvidence) -> bool:
    """Lines that begin with an emphasised name; or a heading, and lines that begin with a name.

    Pages of documentation have emphasised words and colons too.
    """
    lines = evidence.lines
    if not lines or lines[0][0] in "{<":
        return False
    if lines[0] == "---" and any(CAST_LIST.fullmatch(line) for line in lines[:FRONT_LINES]):
        return True
    names: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    listed = 0
    fenced = False
    for line in lines:
        bare, is_item = bare_line(line)
        fenced = fenced != (FENCE.match(line) is not None)
        if fenced:
            continue
        if label := emphasised_label(bare):
            names[label.raw_name] += 1
            listed += is_item
        elif bare and not is_item and (name := evidence.label(bare)):
            plain[name] += 1
    said = names.total()
    if said >= 2 and said * MARKDOWN_SHARE >= len(lines) and said > plain.total():
        return said - listed >= 2 or max(names.values()) > 1  # a list of `**terms**: explained` is no dialogue
    if atx_heading(lines[0]) is None or plain.total() < 2 or is_script(evidence):
        return False
    return plain.total() * (MARKDOWN_SHARE if max(plain.values()) > 1 else 3) >= len(lines)


def is_table(evidence: FileEvidence) -> bool:
    """Rows of cells under usual names, or under names of their own that are plainly a table's."""
    if evidence.table is None:
        return False
    columns = evidence.table.columns(Columns())
    known = columns.speaker is not None and columns.text is not None
    return known or evidence.table.is_plainly_a_table(evidence.path)


# Running text: long paragraphs of sentences, perhaps with quotations, and next to no labels.
#
# Verse has short lines that all begin with a capital; a table has the same number of separators in every line;
# scripts and transcripts have a label every few lines; code, subtitles and markup show themselves.

NOT_PROSE = re.compile(r"\s*(?:[{\[<%]|#{1,6}\s|WEBVTT|\d+\s*\n[\d:,. ]+-->)")
FOREIGN_LINE = re.compile(r"^\s*(?:(?:INT|EXT|EST|INT\./EXT|I/E)[. ]|.*-->|===|\$ |label \w+:|VAR )", re.MULTILINE)
HAN_KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»」』)]*(?:\s|$|(?<=[。！？」』]))")
QUOTED = re.compile(r"[\"“«„「『][^\"”»“」』\n]{2,}|(?:^|\s)['‘]\w[^\n]{2,}['’]|^\s*[—–―]\s*\w")
MARKUP = re.compile(r"</?[a-z]{1,10}>")
HEADER = re.compile(r"\"?\w[\w .-]{0,29}\"?(?:[,;\t|]\"?\w[\w .-]{0,29}\"?){2,40}")

FEWEST_WORDS = 25
LONG_PARAGRAPH = 20  # words that make a paragraph one of running text
SHARE_LABELLED = 0.08
SHARE_VERSE = 0.9
VERSE_WIDTH = 62


def is_prose(evidence: FileEvidence) -> bool:
    """Most of its words stand in paragraphs of sentences."""
    text = evidence.text
    if evidence.has_nul or text.count("\ufffd") * 20 > len(text) or NOT_PROSE.match(text) or FOREIGN_LINE.search(text):
        return False
    rows, _ = without_frame(text, rows_of(text))
    lines = [text[row.start : row.end] for row in rows]
    if (
        not lines
        or _has_columns(lines[:20])
        or sum(MARKUP.search(line) is not None for line in lines) * 10 > len(lines)
    ):
        return False
    paragraphs = paragraphs_of(text, rows)
    if _is_verse(text, paragraphs):
        return False
    words = [" ".join(text[row.start : row.end] for row in paragraph) for paragraph in paragraphs]
    for pieces, fewest in ((words, 1), (lines, 2)):
        if evidence.labelled(pieces) > max(fewest, SHARE_LABELLED * len(pieces)):
            return False
    lengths = [len(line.split()) + len(HAN_KANA.findall(line)) // 2 for line in words]
    running = sum(
        length
        for line, length in zip(words, lengths)
        if SENTENCE_END.search(line) and (length >= LONG_PARAGRAPH or QUOTED.search(line))
    )
    return sum(lengths) >= FEWEST_WORDS and running * 2 >= sum(lengths)


def _has_columns(lines: list[str]) -> bool:
    """The same number of separators in every line, and more than a sentence has commas."""
    if len(lines) < 2:
        return False
    if HEADER.fullmatch(lines[0]):
        return True
    for delimiter in DELIMITERS:
        counts = {line.count(delimiter) for line in lines[:-1]}
        if len(counts) == 1 and (counts.pop() >= (1 if delimiter == "\t" else 2)):
            return True
    return False


def _is_verse(text: str, paragraphs: list[Block]) -> bool:
    inner = [row for paragraph in paragraphs for row in paragraph[1:]]
    if len(inner) < len(paragraphs):
        return False
    capitals = sum(text[row.start].isupper() or not text[row.start].isalpha() for row in inner)
    short = sum(row.end - row.start <= VERSE_WIDTH for row in inner)
    return capitals >= SHARE_VERSE * len(inner) and short >= SHARE_VERSE * len(inner)


PERSONACHAT_FIRST = re.compile(r"\d+ (?:your persona|partner's persona):|\d+ [^\t\n]*\t")
MARKDOWN_FIRST = re.compile(r"#+\s")
OTHER_MARKUP = re.compile(r"<\?xml|<(?:TEI|PLAY|play|text|script|doc|root)\b|<!DOCTYPE (?!html)", re.IGNORECASE)
TRANSCRIPT_LINES = 400
LONGEST_LINE = 600  # characters


def is_transcript(evidence: FileEvidence) -> bool:
    """Text that shows labels or scene markers, or is of a numbered episode; never another format's file."""
    text, first, lines = evidence.text, evidence.first_line, evidence.lines[:TRANSCRIPT_LINES]
    if not lines or PERSONACHAT_FIRST.match(first) or MARKDOWN_FIRST.match(first):
        return False
    if evidence.is_html:
        return not OTHER_MARKUP.match(first) or "<html" in text[:2000].lower()
    if OTHER_MARKUP.match(first) or _is_json(first, text):
        return False
    if evidence.has_scene_marks(TRANSCRIPT_LINES):
        return True
    labelled = evidence.labelled(lines)
    if labelled >= 2 and labelled * 10 >= len(lines):
        return True
    return evidence.episode is not None and max(map(len, lines)) <= LONGEST_LINE


def _is_json(first: str, text: str) -> bool:
    if first[0] == "{" or first[:2] in ("[{", "[["):
        return first == "{" or '"' in first or first in ("[{", "[[")
    try:
        return isinstance(json.loads(first), (dict, list)) or text.lstrip().startswith("[\n")
    except RecursionError:
        return True
    except ValueError:
        return first == "["


TABLES = PARQUET, SPEECHES, TABLE = (
    Format("parquet", is_parquet, "table", "PARQUET"),
    Format("speeches", is_speeches, "table", "SPEECHES"),
    Format("csv", is_table, "table"),
)
"""Formats whose columns may be named."""

FORMATS: tuple[Format, ...] = (
    Format("card", is_card, "cards.reader"),
    Format("epub", is_epub, "epub"),
    Format("docx", is_docx, "docx"),
    PARQUET,
    Format("TEI drama", is_tei, "tei"),
    Format("fdx", is_fdx, "fdx"),
    Format("HPD sessions", is_hpd, "hpd"),
    Format("HPD relations (XLSX)", is_workbook, "hpd.relations"),
    Format("TVShowGuess scenes", is_tvshowguess, "tvshowguess"),
    Format("sillytavern", is_sillytavern, "sillytavern"),
    Format("convokit", is_convokit, "convokit"),
    Format("sharegpt", is_sharegpt, "conversations", "SHAREGPT"),
    Format("messages", is_messages, "conversations", "MESSAGES"),
    SPEECHES,
    Format("PersonaChat dialogues", is_personachat, "personachat"),
    Format("fountain", is_fountain, "fountain"),  # before scripts and transcripts: sections and cuts look like theirs
    Format("subrip", is_subrip, "subtitles", "SUBRIP"),
    Format("webvtt", is_webvtt, "subtitles", "WEBVTT"),
    Format("renpy", is_renpy, "renpy"),
    Format("ink", is_ink, "ink"),
    Format("markdown", is_markdown, "markdown"),
    TABLE,
    Format("script", is_script, "script"),
    Format("prose", is_prose, "prose"),
    Format("transcript", is_transcript, "transcript.reading"),  # last: it takes any text in which people speak
)
