"""A small file of every format a reader knows: the same little quarrel, written in every way."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from reading import docx, epub, paragraph
from understudy.formats.cards import card_of
from understudy.formats.cards.file import charx_of, png_of
from understudy.formats.cards.png import portrait

__all__ = ["FDX", "FOUNTAIN", "SAMPLES", "Sample"]

Sample = tuple[str, Callable[[], bytes]]
"""A file name and its content."""

SCRIPT = """# act 1: The Quarrel
## scene 1: A kitchen at night
Present: Odile, Bastien, the cat
[The kettle sings.]
ODILE: You sold the piano, Bastien.
BASTIEN: I sold the noise of it.
[Bastien leaves.]
ODILE: Marguerite will hear of this.
## scene 2: The yard
Present: Bastien, Marguerite
MARGUERITE: She knows about the piano?
BASTIEN: She knows nothing of the money.
"""
TRANSCRIPT = """The Quarrel
Written by: nobody in particular

[Scene: A kitchen at night, Odile and Bastien are there.]
Odile: You sold the piano, Bastien.
BASTIEN (shrugging): I sold the noise
of it.
(Bastien leaves)
Odile: Marguerite will hear of this.

[Scene: The yard.]
Marguerite: She knows about the piano?
Bastien: She knows nothing of the money.
Odile and Marguerite: Bastien!
"""
PROSE = """THE QUARREL

CHAPTER I. The Kitchen

The kettle sang in the kitchen, and nobody in the house took it off the
stove. It was late, and the place at the wall where the piano had stood was
lighter than the rest of it.

"You sold the piano, Bastien," said Odile.

"I sold the noise of it," said Bastien, who did not look up. He put on his
hat, and left her with the cat.

"Marguerite will hear of this," said Odile.

CHAPTER II. The Yard

In the yard it was dark already. Marguerite was waiting at the pump.

"She knows about the piano?" asked Marguerite.

"She knows nothing of the money," said Bastien. "And nobody will tell her."
"""
TEI = """<?xml version="1.0" encoding="utf-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>The Quarrel</title></titleStmt>
</fileDesc><profileDesc><particDesc><listPerson>
<person xml:id="odile" sex="FEMALE"><persName>Odile</persName></person>
<person xml:id="bastien" sex="MALE"><persName>Bastien</persName></person>
<listRelation><relation name="siblings" mutual="#odile #bastien"/></listRelation>
</listPerson></particDesc></profileDesc></teiHeader><text><front><castList>
<castItem><role>Odile,</role> <roleDesc>a pianist</roleDesc></castItem></castList></front><body>
<div type="act" n="1"><head>ACT 1</head><div type="scene" n="1"><head>Scene 1</head>
<stage type="entrance" who="#odile #bastien">Enter Odile and Bastien.</stage>
<sp who="#odile"><speaker>ODILE</speaker><l>You sold the piano, Bastien.</l></sp>
<sp who="#bastien"><speaker>BASTIEN</speaker><l>I sold the noise of it.</l></sp>
<stage type="exit" who="#bastien">Bastien exits.</stage>
<sp who="#odile"><speaker>ODILE</speaker><l>The piano was mine, whoever hears of it.</l></sp>
</div></div></body></text></TEI>
"""
FOUNTAIN = """Title: _The Quarrel_
Credit: written by
Author: nobody in particular
Draft date: 1 April

# Act 1: The Quarrel

FADE IN:

INT. KITCHEN - NIGHT #1#

The kettle sings.

ODILE
You sold the *piano*, Bastien.

BASTIEN (CONT'D)
(shrugging)
I sold the noise
of it.

Bastien leaves. [[How?]]

@Odile ^
Marguerite will hear of this.

CUT TO:

/* INT. CELLAR - NIGHT

The piano is not there. */

EXT. YARD - NIGHT #2#

MARGUERITE
She knows about the piano?

BASTIEN
She knows nothing of the money.

> THE END <
"""
FDX = """<?xml version="1.0" encoding="UTF-8" standalone="no" ?>
<FinalDraft DocumentType="Script" Template="No" Version="5">
<Content>
<Paragraph Number="1" Type="Scene Heading"><SceneProperties Length="1/8"/><Text>INT. KITCHEN - NIGHT</Text></Paragraph>
<Paragraph Type="Action"><Text>The kettle sings.</Text></Paragraph>
<Paragraph Type="Character"><Text>ODILE (O.S.)</Text></Paragraph>
<Paragraph Type="Dialogue">
<Text>You sold the </Text><Text Style="Italic">piano</Text><Text>, Bastien.</Text></Paragraph>
<Paragraph Type="General"><DualDialogue>
<Paragraph Type="Character"><Text>BASTIEN</Text></Paragraph>
<Paragraph Type="Parenthetical"><Text>(shrugging)</Text></Paragraph>
<Paragraph Type="Dialogue"><Text>I sold the noise of it.</Text></Paragraph>
<Paragraph Type="Character"><Text>ODILE</Text></Paragraph>
<Paragraph Type="Dialogue"><Text>Marguerite will hear of this.</Text>
<ScriptNote><Paragraph><Text>Will she?</Text></Paragraph></ScriptNote></Paragraph>
</DualDialogue></Paragraph>
<Paragraph Type="Transition"><Text>CUT TO:</Text></Paragraph>
<Paragraph Number="2" Type="Scene Heading"><Text>EXT. YARD - NIGHT</Text></Paragraph>
<Paragraph Type="Character"><Text>MARGUERITE</Text></Paragraph>
<Paragraph Type="Dialogue"><Text>She knows about the piano?</Text></Paragraph>
</Content>
<TitlePage><Content><Paragraph/><Paragraph Alignment="Center"><Text>The Quarrel</Text></Paragraph>
<Paragraph Alignment="Center"><Text>nobody in particular</Text></Paragraph></Content></TitlePage>
</FinalDraft>
"""
PERSONACHAT = """1 your persona: i sell pianos.
2 your persona: i live by the yard.
3 partner's persona: i play the piano.
4 did you sell the piano , then ?\ti sold the noise of it .\t\twhat cat ?|i sold the noise of it .
5 whoever will hear of this ?\tnobody will hear of the money .\t\tnobody will hear of the money .|i am a cat .
1 your persona: i keep a cat.
2 hello there , cat person .\thello yourself , piano person .
"""
SPEECHES = [
    {"season": 1, "episode": 1, "title": "Pilot", "character": "Odile", "lines": "You sold the piano, Bastien."},
    {"season": 1, "episode": 1, "title": "Pilot", "character": "Bastien", "lines": "I sold the noise of it."},
    {"season": 1, "episode": 2, "title": "Second", "character": "Odile", "lines": "Marguerite will hear of this."},
]
TABLE = """Season,Episode,Scene,Character,Line,To
1,1,kitchen,,The kettle sings.,
,,,Odile,"You sold the piano, Bastien.",Bastien
,,,Bastien,"I sold the noise
of it.",Odile
1,2,yard,Marguerite,She knows about the piano?,Bastien
,,,Bastien,She knows nothing of the money.,
"""
MARKDOWN = """---
title: The Quarrel
---

# Chapter 1: Night

## A kitchen

*The kettle sings.*

**Odile:** You sold the piano, Bastien.

**Bastien** (shrugging): I sold the noise
of it.

_(Bastien leaves)_

## The yard

> **Marguerite:** She knows about the piano?

- **Bastien**: She knows *nothing* of the money.
"""
RENPY = """# The Quarrel
define o = Character("Odile", color="#c8ffc8", image="odile")
define b = Character(_("Bastien"))

label start:
    scene bg kitchen
    show odile stern at left
    "The kettle sings."
    o "You sold the {i}piano{/i}, Bastien."
    b happy "I sold the noise"
    extend " of it.{w=0.5}"
    $ sold = True
    menu:
        "Ask about the money.":
            jump yard
label yard:
    scene bg yard
    "Marguerite" "She knows about the piano?"
"""
INK = """# title: The Quarrel
VAR sold = true
-> kitchen
=== kitchen ===
The kettle sings. # night
ODILE: You sold the piano, Bastien.
BASTIEN: I sold the noise <>
of it.
* [Ask about the money] ODILE: And the money?
    ~ sold = false
+ \\(Leave.)
- -> yard
=== yard
= gate
MARGUERITE: She knows about the piano? -> END
"""
SUBRIP = """1
00:00:01,000 --> 00:00:03,500
ODILE: You sold the piano, Bastien.

2
00:00:03,600 --> 00:00:05,000
<i>BASTIEN: I sold the noise</i>

3
00:00:05,000 --> 00:00:06,000
of it.

4
00:00:06,500 --> 00:00:08,000
[door slams]
- ODILE: Go, then.
- Who is that?

5
00:01:30,000 --> 00:01:33,000
MARGUERITE: She knows about the piano?
"""
WEBVTT = """WEBVTT The Quarrel
Language: en

NOTE the kitchen

STYLE
::cue { color: white }

first
00:01.000 --> 00:03.500 align:start
<v Odile>You sold the piano, Bastien.</v>

00:03.600 --> 00:05.000
<v.soft Bastien>I sold the noise

00:05.000 --> 00:06.000
<v Bastien>of it.

00:07.000 --> 00:09.000
♪ A song about pianos ♪
"""
TVSHOWGUESS = [
    {
        "show": "Quarrels",
        "season": 1,
        "episode_id": "01x01",
        "scene_id": number,
        "title": f"[Scene: place number {number}]",
        "lines": [
            ["odile", f"Odile: You sold the piano, I say it {number} times."],
            ["background", "(The kettle sings.)"],
            ["bastien", f"Bastien: I sold {number} noises of it."],
        ],
        "main_characters": ["odile", "bastien"],
    }
    for number in (1, 2)
]
FEELINGS = (
    "Harry's affection to him",
    "Harry's familiarity with him",
    "His affection to Harry",
    "His familiarity with Harry",
)
HPD = {
    f"Session-{number}": {
        "position": f"Book1-chapter{number}",
        "speakers": ["Harry", "Odile"],
        "scene": f"Kitchen number {number}, at night, with a kettle on.",
        "dialogue": [f"Odile: You sold piano number {number}.", f"Harry: I sold the noise of it {number} times."],
        "positive_response": "I sold the noise.",
        "negative_response": ["No.", "Never."],
        "attributes": {"Harry": {"name": "Harry", "age": f"age {10 + number}", "belongings": "None"}},
        "relations with Harry": {
            "Odile": {"name": "Odile", "friend": 1.0, **dict(zip(FEELINGS, (number, "", -number, 2)))}
        },
    }
    for number in (1, 2)
}
SILLYTAVERN: list[dict[str, object]] = [
    {"user_name": "Bastien", "character_name": "Odile", "create_date": "2024-7-12@01h31m37s", "chat_metadata": {}},
    *(
        {"name": name, "is_user": name == "Bastien", "is_system": False, "send_date": date, "mes": text, "extra": {}}
        for name, date, text in (
            ("Odile", "July 12, 2024 1:31am", "You sold the piano, {{user}}."),
            ("Bastien", "July 12, 2024 1:33am", "*He shrugs.* I sold the noise of it."),
            ("Odile", "July 13, 2024 9:00pm", "Marguerite will hear of this."),
        )
    ),
    {"name": "System", "is_user": False, "is_system": True, "mes": "Welcome!", "extra": {"type": "welcome"}},
]
CONVOKIT: list[dict[str, object]] = [
    {"id": f"u{number}", "conversation_id": conversation, "speaker": speaker, "text": text, "reply-to": reply,
     "timestamp": None, "meta": {}, "vectors": []}
    for number, conversation, speaker, reply, text in (
        (2, "u1", "Bastien", "u1", "I sold the noise of it."),
        (1, "u1", "Odile", None, "You sold the piano, Bastien."),
        (3, "u3", "Marguerite", None, "She knows about the piano?"),
        (4, "u3", "Odile", "u3", "She knows about the money, too."),
    )
]  # fmt: skip
SHAREGPT = [
    {
        "id": f"quarrel-{number}",
        "conversations": [
            {"from": "system", "value": "You are Odile, who plays the piano."},
            {"from": "human", "value": "I sold the noise of it."},
            {"from": "gpt", "value": f"You sold piano number {number}, Bastien."},
        ],
    }
    for number in (1, 2)
]
MESSAGES = [
    {
        "messages": [
            {"role": "system", "content": "A kitchen at night."},
            {"role": "user", "name": "Bastien", "content": "I sold the noise of it."},
            {"role": "assistant", "name": "Odile", "content": f"You sold piano number {number}."},
        ]
    }
    for number in (1, 2)
]
CARD = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        "name": "Odile",
        "description": "{{char}} plays the piano. She keeps a cat.",
        "personality": "stern",
        "scenario": "A kitchen at night.",
        "first_mes": "You sold the piano, {{user}}.",
        "mes_example": "<START>\n{{user}}: I sold the noise of it.\n{{char}}: Marguerite will hear of this.",
        "alternate_greetings": ["Sit down, {{user}}, and explain the money."],
        "extensions": {"somebody/else": {"kept": True}},
    },
}


@cache
def _workbook() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    headers = ["name", "friend", "classmate", "teacher", "family", "immediate family", "lover", "opponent", "colleague",
               "teammate", "enemy", *FEELINGS]  # fmt: skip
    for chapter in (1, 2):
        sheet = book.create_sheet(f"Chapter-{chapter}")
        sheet.append(headers)
        sheet.append(["Odile", 1, *[None] * 9, 3 * chapter, chapter, 1, 2])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _novel_paragraphs() -> list[tuple[bool, str]]:
    """(is it a heading, the text) of each paragraph of the novel."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in PROSE.split("\n\n")[1:]]
    return [(paragraph.startswith("CHAPTER"), paragraph) for paragraph in paragraphs]


def _epub() -> bytes:
    body = "".join(f"<h2>{text}</h2>" if is_heading else f"<p>{text}</p>" for is_heading, text in _novel_paragraphs())
    return epub({"cover.xhtml": "<section epub:type='cover'><p>The Quarrel</p></section>", "book.xhtml": body})


def _docx() -> bytes:
    paragraphs = [paragraph(text, "berschrift1" if is_heading else "") for is_heading, text in _novel_paragraphs()]
    return docx(*paragraphs, title="The Quarrel")


def _docx_script() -> bytes:
    return docx(*(line for line in TRANSCRIPT.replace("noise\nof", "noise of").splitlines() if line))


def _lines(rows: Sequence[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(SPEECHES), stream)
    return stream.getvalue()


def _html() -> bytes:
    paragraphs = "\n".join(f"<p>{line}</p>" for line in TRANSCRIPT.replace("\nof it", " of it").splitlines() if line)
    return f"<html><head><title>The Quarrel</title></head><body>\n{paragraphs}\n</body></html>\n".encode()


SAMPLES: dict[str, Sample] = {
    "script": ("act-1.txt", SCRIPT.encode),
    "prose": ("quarrel-novel.txt", PROSE.encode),
    "transcript": ("quarrel.txt", TRANSCRIPT.encode),
    "transcript, HTML": ("quarrel.html", _html),
    "fountain": ("quarrel.fountain", FOUNTAIN.encode),
    "fdx": ("quarrel.fdx", FDX.encode),
    "TEI drama": ("quarrel.xml", TEI.encode),
    "PersonaChat dialogues": ("valid_both_original.txt", PERSONACHAT.encode),
    "speeches": ("quarrel.jsonl", lambda: _lines(SPEECHES)),
    "parquet": ("quarrel.parquet", _parquet),
    "csv": ("quarrel.csv", TABLE.encode),
    "csv, TSV": (
        "quarrel.tsv",
        lambda: b'\xef\xbb\xbfwho\ttext\nOdile\t"The piano," he said?\nBastien\tThe noise of it.\n',
    ),
    "markdown": ("quarrel.md", MARKDOWN.encode),
    "renpy": ("script.rpy", RENPY.encode),
    "ink": ("quarrel.ink", INK.encode),
    "subrip": ("quarrel.srt", SUBRIP.encode),
    "webvtt": ("quarrel.vtt", WEBVTT.encode),
    "TVShowGuess scenes": ("dev.jsonl", lambda: _lines(TVSHOWGUESS)),
    "HPD sessions": ("sessions.json", lambda: json.dumps(HPD, indent=1).encode()),
    "HPD relations (XLSX)": ("book-1_relations.xlsx", _workbook),
    "epub": ("quarrel.epub", _epub),
    "docx": ("quarrel.docx", _docx),
    "docx, script": ("quarrel-script.docx", _docx_script),
    "sillytavern": ("Odile - 2024-7-12@01h31m37s.jsonl", lambda: _lines(SILLYTAVERN)),
    "convokit": ("utterances.jsonl", lambda: _lines(CONVOKIT)),
    "sharegpt": ("quarrels.json", lambda: json.dumps(SHAREGPT, indent=1).encode()),
    "sharegpt, JSONL": ("quarrels.jsonl", lambda: _lines(SHAREGPT)),
    "messages": ("tuning.jsonl", lambda: _lines(MESSAGES)),
    "card": ("odile.json", lambda: json.dumps(CARD).encode()),
    "card, CHARX": (
        "odile.charx",
        cache(lambda: charx_of(card_of(CARD), portrait("Odile"), {"assets/other/a.mp3": b"la"})),
    ),
    "card, PNG": ("odile.png", cache(lambda: png_of(card_of(CARD)))),
}
