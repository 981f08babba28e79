"""Final Draft documents (FDX): XML in which every paragraph says what it is.

    <FinalDraft><Content>
      <Paragraph Type="Scene Heading" Number="1"><Text>INT. KITCHEN - NIGHT</Text></Paragraph>
      <Paragraph Type="Character"><Text>ODILE (O.S.)</Text></Paragraph>
      <Paragraph Type="Dialogue"><Text>You sold the </Text><Text Style="Italic">piano</Text><Text>.</Text></Paragraph>

A unit is a `<Paragraph>` with words of its own, wherever in the file it stands: notes, summaries, headers and footers
and omitted scenes are listed as unread, the title page is headings. Dual dialogue is speeches one after the other.
Settings of the program (styles, word lists, tables) are no paragraphs and not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from understudy.formats.screenplay import CUE, LONGEST, LONGEST_CUE, ElementKind, ScreenplayElement, screenplay_events
from understudy.sources import Reader
from understudy.sources.containers import End, Start, xml_tokens
from understudy.sources.source import SourceFile

KINDS: Mapping[str, ElementKind] = {
    "Scene Heading": "heading",
    "Character": "cue",
    "Parenthetical": "parenthetical",
    "Dialogue": "dialogue",
    "Singing": "dialogue",
    "Lyrics": "lyric",
    "Transition": "transition",
    "New Act": "section",
    "End of Act": "transition",
    "Show/Ep. Title": "transition",
    "Cast List": "transition",
}
"""By the type of a paragraph; all others (Action, General, Shot and what writers define) are action."""

BESIDES = {
    "ScriptNote": "a note",
    "ScriptNotes": "a note",
    "OmittedScene": "an omitted scene",
    "SceneProperties": "a summary of the scene",
    "HeaderAndFooter": "a running title of the page",
    "Alts": "another version of a line",
    "AltCollection": "another version of a line",
}
"""By the elements around a paragraph."""

SCRIPT = (["FinalDraft", "Content"], ["Paragraph", "DualDialogue"])
TITLE_PAGE = ["FinalDraft", "TitlePage", "Content"]


@dataclass(slots=True)
class _FdxParagraph:
    type: str
    number: str
    line: int
    pieces: list[str] = field(default_factory=list)
    size: int = 0


def fdx_elements(source: SourceFile) -> Iterator[ScreenplayElement]:
    """The paragraphs of a document as elements of a screenplay, counted into `source.units`."""
    around: list[str] = []
    paragraphs: list[_FdxParagraph] = []
    text_depth = 0
    has_title = False
    for token in xml_tokens(source):
        if isinstance(token, Start):
            if token.name == "Paragraph":
                number = token.attributes.get("Number", "")
                paragraphs.append(_FdxParagraph(token.attributes.get("Type", ""), number, token.line))
            text_depth += token.name == "Text"
            around.append(token.name)
        elif isinstance(token, End):
            around.pop()
            text_depth -= token.name == "Text"
            if token.name == "Paragraph":
                element = _element(paragraphs.pop(), around, has_title)
                if element is not None:
                    has_title = has_title or element.kind == "title entry"
                    source.units += 1
                    yield element
        elif paragraphs and text_depth:
            paragraph = paragraphs[-1]
            paragraph.size += len(token.text)
            if paragraph.size > LONGEST:
                raise source.error(f"a paragraph of over {LONGEST:,} characters: this is no screenplay", token.line)
            paragraph.pieces.append(token.text)


def _element(paragraph: _FdxParagraph, around: list[str], has_title: bool) -> ScreenplayElement | None:
    text = " ".join("".join(paragraph.pieces).split())
    if not text:
        return None
    if reason := next((BESIDES[name] for name in around if name in BESIDES), None):
        return ScreenplayElement("unread", text, paragraph.line, key=reason)
    if around == TITLE_PAGE:
        return ScreenplayElement("title entry", text, paragraph.line, key="Title page" if has_title else "Title")
    outside, inside = SCRIPT
    if around[:2] != outside or not set(around[2:]) <= set(inside):
        return ScreenplayElement("unread", text, paragraph.line, key=f"no part of the script (<{around[-1]}>)")
    kind = KINDS.get(paragraph.type, "action")
    if kind == "cue" and len(text) <= LONGEST_CUE and (cue := CUE.fullmatch(text)):
        text = cue[1]
    depth = 1 if kind == "section" else 0
    return ScreenplayElement(kind, text, paragraph.line, number=paragraph.number.strip(), depth=depth)


READER = Reader("fdx", partial(screenplay_events, elements_of=fdx_elements))
