"""What a play's file says of its people: who is what, and what they are to each other, from the start on."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story

SPEECHES = "".join(
    f'<sp who="#{who}"><speaker>{who.upper()}</speaker><p>Yes.</p></sp>' for who in ("ann", "ben", "cora", "dan", "eve")
)
PERSONS = """
<person xml:id="ann" sex="FEMALE"><persName>Ann</persName></person>
<person xml:id="ben" sex="MALE"><persName>Ben</persName></person>
<person xml:id="cora" sex="FEMALE"><persName>Cora</persName></person>
<person xml:id="dan"><persName>Dan</persName></person>
<person xml:id="eve"><persName>Old Eve</persName></person>
"""


def play(folder: Path, relations: str = "", cast_list: str = "", body: str = SPEECHES, language: str = "en") -> Story:
    path = folder / "play.xml"
    path.write_text(
        f"""<TEI><teiHeader><fileDesc><titleStmt><title>Low Water</title></titleStmt></fileDesc><profileDesc>
        <langUsage><language ident="{language}"/></langUsage>
        <particDesc><listPerson>{PERSONS}<listRelation>{relations}</listRelation></listPerson></particDesc>
        </profileDesc></teiHeader><text><front><castList>{cast_list}</castList></front>
        <body><div type="scene">{body}</div></body></text></TEI>""",
        encoding="utf-8",
    )
    return read(path)


def ties(story: Story) -> set[tuple[str, str, str, str]]:
    return {(tie.of, tie.to, tie.kind, tie.term) for tie in story.relations()}


def test_relations_are_ties_both_ways_in_the_words_for_a_man_and_a_woman(tmp_path: Path) -> None:
    story = play(
        tmp_path,
        '<relation name="parent_of" active="#ann #ben" passive="#dan"/><relation name="spouses" mutual="#ann #ben"/>'
        '<relation name="friends" mutual="#dan #cora"/><relation name="associated_with" active="#eve" passive="#ann"/>'
        '<relation name="wikidata" active="#ann" passive="#ben"/><relation name="siblings" mutual="#nobody #ben"/>',
    )
    assert ties(story) == {
        ("Ann", "Dan", "child", ""),
        ("Ben", "Dan", "child", ""),
        ("Dan", "Ann", "parent", "mother"),
        ("Dan", "Ben", "parent", "father"),
        ("Ann", "Ben", "spouse", "husband"),
        ("Ben", "Ann", "spouse", "wife"),
        ("Dan", "Cora", "friend", ""),
        ("Cora", "Dan", "friend", ""),
        ("Old Eve", "Ann", "associate", ""),
        ("Ann", "Old Eve", "associate", ""),
    }
    assert persona_at(story, "Dan", "start", ["Ann"]).feelings() == ("Ann is my mother.",)


def test_a_tie_is_shown_once_the_other_is_known(tmp_path: Path) -> None:
    story = play(
        tmp_path,
        '<relation name="spouses" mutual="#ann #ben"/>',
        body='<sp who="#ann"><p>Yes.</p></sp></div><div type="scene"><sp who="#ann"><p>No.</p></sp>'
        '<sp who="#ben"><p>Yes.</p></sp>',
    )
    assert persona_at(story, "Ann", "1.1").feelings() == persona_at(story, "Ann", "2").feelings() == ()
    assert persona_at(story, "Ann", "end").feelings() == ("Ben is my husband.",)


def test_who_loves_is_not_said_to_be_loved(tmp_path: Path) -> None:
    one_way = '<relation name="lover_of" active="#ann" passive="#ben"/>'
    story = play(tmp_path, one_way)
    assert persona_at(story, "Ann", "start", ["Ben"]).feelings() == ("Ben is my beloved.",)
    assert persona_at(story, "Ben", "start", ["Ann"]).feelings() == ()
    both = play(tmp_path, f'{one_way}<relation name="lover_of" active="#ben" passive="#ann"/>')
    assert ties(both) == {("Ann", "Ben", "lover", ""), ("Ben", "Ann", "lover", "")}


def test_children_of_one_parent_are_siblings(tmp_path: Path) -> None:
    story = play(tmp_path, '<relation name="parent_of" active="#ann" passive="#ben #cora"/>')
    assert {("Ben", "Cora", "sibling", "sister"), ("Cora", "Ben", "sibling", "brother")} < ties(story)


def test_the_cast_list_is_quoted_and_sexes_are_told(tmp_path: Path) -> None:
    story = play(
        tmp_path,
        cast_list="<head>Persons</head><castItem><role>Ann,</role> <roleDesc>Fürstin</roleDesc></castItem>"
        "<castItem>Ben, ein <hi>alter</hi> Fischer.</castItem><castItem>Eve.</castItem><castItem>Dan</castItem>"
        '<castGroup><castItem sameAs="#cora">C.</castItem><roleDesc>Diener</roleDesc></castGroup>'
        "<castItem>Somebody else, a baker</castItem>",
        language="de",
    )
    assert {(fact.who, fact.attribute, fact.values) for fact in story.facts()} == {
        ("Ann", "gender", ("female",)),
        ("Ben", "gender", ("male",)),
        ("Cora", "gender", ("female",)),
        ("Ann", "cast list", ("Ann, Fürstin",)),
        ("Ben", "cast list", ("Ben, ein alter Fischer",)),
        ("Cora", "cast list", ("C; Diener",)),
    }
    assert persona_at(story, "Ben", "start").profile == (
        "I am male.",
        'In the list of characters I am "Ben, ein alter Fischer".',
    )


@pytest.mark.parametrize(
    ("cast_list", "expected"),
    [
        ("<castItem>Cora, child to Ann and Ben</castItem>", {("Ann", "Cora", "child"), ("Ben", "Cora", "child")}),
        ("<castItem>Dan, Ann’s elder brother</castItem>", {("Ann", "Dan", "brother")}),
        ("<castGroup><castItem>Dan</castItem><head>sons of Ann</head></castGroup>", {("Ann", "Dan", "")}),
        ("<castItem>Ann</castItem><castItem>Dan, her son, a pilot</castItem>", {("Ann", "Dan", "son")}),
        ("<castItem>Ann</castItem><castItem>Ben</castItem><castItem>Dan, her son</castItem>", {("Ann", "Dan", "son")}),
        ("<castItem>Ann, now married to Ben</castItem>", {("Ben", "Ann", "wife")}),
        ("<castItem>Ann, sister to the late Ben, friend of Eve</castItem>", {("Old Eve", "Ann", "friend")}),
        ('<castItem>Dan, <roleDesc><rs ref="#cora">her</rs> uncle</roleDesc></castItem>', {("Cora", "Dan", "uncle")}),
        ("<castItem>Dan, servant to Ann</castItem><castItem>Cora, a sister of mercy</castItem>", set()),
    ],
)  # fmt: skip
def test_what_a_cast_list_says_in_english_is_a_tie(
    tmp_path: Path, cast_list: str, expected: set[tuple[str, str, str]]
) -> None:
    story = play(tmp_path, cast_list=cast_list)
    said = {(of, to, term) for of, to, _, term in ties(story)}
    assert expected <= said
    assert len({frozenset((of, to)) for of, to, _ in said}) == len(expected)


def test_a_name_in_the_list_of_persons_is_not_lost_to_a_label_of_somebody_else(tmp_path: Path) -> None:
    body = '<sp who="#eve"><speaker>Dan.</speaker><p>Yes.</p></sp><sp who="#dan"><speaker>Dan.</speaker><p>No.</p></sp>'
    assert {member.character.name for member in play(tmp_path, body=body).cast() if member.lines} == {"Old Eve", "Dan"}
