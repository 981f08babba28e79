from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novels.dialogue_text import prose_of
from understudy.novels.context import NovelContext
from understudy.novels.prose import NovelCharacter
from understudy.novels.subjects import SubjectKind, best_tag, decisive_tag

CAST = (
    NovelCharacter("Ines Duarte", ("Ines",), "f"),
    NovelCharacter("Mr. Tomas Reyes", ("Tomas", "Mr. Reyes"), "m"),
    NovelCharacter("The Harbour Master", ("The Harbour Master",), "m"),
    NovelCharacter("Nanny", (), "f"),
)


def tag(text: str) -> tuple[int, str | None]:
    found = best_tag(NovelContext.of(prose_of(text), CAST).tags[0])
    return found.kind, CAST[found.who].name if found.who >= 0 else None


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ('"Come in," said Ines.', "Ines Duarte"),
        ('"Come in," Ines said.', "Ines Duarte"),
        ('"Come in," at last replied Mr. Reyes, smiling.', "Mr. Tomas Reyes"),
        ('"Well," said the harbour master, "come in."', "The Harbour Master"),
        ('Ines looked at Tomas and said: "Come in."', "Ines Duarte"),
        ('Ines waited, and at last Tomas said, "Come in."', "Mr. Tomas Reyes"),
        ('Tomas turned to the door and said:\n\n"Come in."', "Mr. Tomas Reyes"),
        ('"Come in!" was Tomas\'s answer.', "Mr. Tomas Reyes"),
        ('"Come in!" proclaimed the harbour master.', "The Harbour Master"),
        ('Nanny heard. "Come in," said nanny.', "Nanny"),
    ],
)
def test_a_name_beside_a_verb_of_speech_is_the_subject_of_the_tag(text: str, who: str) -> None:
    assert tag(text) == (SubjectKind.NAME, who)


def test_a_pronoun_stands_for_the_last_subject_of_its_gender() -> None:
    kind, who = tag('Ines came in with a lamp. Tomas did not look up.\n\n"It is late," she said.')
    assert (kind, who) == (SubjectKind.PRONOUN, "Ines Duarte")


def test_another_noun_names_nobody_but_has_a_head_and_a_gender() -> None:
    context = NovelContext.of(prose_of('"It is late," said the old lady at the door.'), CAST)
    found = best_tag(context.tags[0])
    assert (found.kind, found.who, found.noun, found.gender) == (SubjectKind.NOUN, -1, "lady", "f")


def test_what_ines_has_is_not_ines() -> None:
    assert tag('"It is late," said Ines\'s mother.')[0] == SubjectKind.NOUN


def test_narration_that_only_follows_is_a_beat_not_a_tag() -> None:
    context = NovelContext.of(prose_of('"It is late." Ines closed the book.'), CAST)
    assert best_tag(context.tags[0]).kind == SubjectKind.NONE
    assert context.tags[0].beat_after.who == 0


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ('Ines, who had been watching Nanny and Tomas, now said, "Come in."', "Ines Duarte"),
        ('He was met by Ines, who, running to him, cried out, "Come in."', "Ines Duarte"),
        ('Ines saw he was tired and said, "Come in."', "Ines Duarte"),
        ('Ines saw what he was doing, and, turning to Tomas, said, "Come in."', "Ines Duarte"),
        ('It was late when Tomas looked round for Ines, and said, "Come in."', "Mr. Tomas Reyes"),
        ('They waited, while Ines, under his eyes, added: "Come in."', "Ines Duarte"),
        ('Not till then did Ines reply: "Come in."', "Ines Duarte"),
        ('They were stopped by Ines\'s saying, "Come in."', "Ines Duarte"),
    ],
)
def test_the_subject_of_a_verb_is_looked_for_over_the_parts_of_its_sentence(text: str, who: str) -> None:
    assert tag(text) == (SubjectKind.NAME, who)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ('Ines\'s voice came, cool and clear:\n\n"Come in."', "Ines Duarte"),
        ('"Come in!" exclaimed the voice of old Mr. Reyes.', "Mr. Tomas Reyes"),
        ('"Come in," said wise Ines.', "Ines Duarte"),
        ('"Come in," eagerly rejoined Ines.', "Ines Duarte"),
        ('"Come in," Tomas heard Ines say.', "Ines Duarte"),
        ('Ines addressed her at the door:\n\n"Come in."', "Ines Duarte"),
        ('Ines began again.\n\n"Come in."', "Ines Duarte"),
        ('Ines said, "Come in", and Tomas asked him in.', "Ines Duarte"),
        ('Ines said: "Come in." Tomas said: "No."', "Ines Duarte"),
    ],
)
def test_other_ways_of_telling_who_speaks(text: str, who: str) -> None:
    assert tag(text) == (SubjectKind.NAME, who)


@pytest.mark.parametrize(
    "text",
    [
        '"Yes," said Tomas.\n\n"Come in."',  # the tag of what was said before
        'Tomas said nothing.\n\n"Come in."',
        '"Come in," turning to Tomas.',
    ],
)
def test_what_tells_of_others_names_nobody(text: str) -> None:
    found = best_tag(NovelContext.of(prose_of(text), CAST).tags[-1])
    assert found.who < 0


def test_who_acts_between_two_parts_speaks_where_no_verb_says_so() -> None:
    prose = prose_of('"Who is she?" Ines turned round, "And why?"')
    assert best_tag(NovelContext.of(prose, CAST).tags[0]).who == 0


def test_a_noun_beside_the_verb_goes_before_a_name_further_off() -> None:
    found = best_tag(NovelContext.of(prose_of('Tomas had risen, and his mother added: "Come in."'), CAST).tags[0])
    assert (found.kind, found.noun) == (SubjectKind.NOUN, "mother")


def test_only_a_name_beside_its_verb_decides() -> None:
    texts = ('"Come in," said Ines.', '"Come in," said the girl.', 'Ines laughed, and went on.\n\n"Come in."')
    found = [decisive_tag(NovelContext.of(prose_of(text), CAST).tags[0]).who for text in texts]
    assert found == [0, -1, -1]


PIECES = (
    *'" , . : ; -- ( ) ? ! he she her Ines Tomas and who whose said saying heard made to reply voice of the'.split(),
    *"nanny girl old turning when while with was Ines's quickly went on nothing".split(),
    "\n\n",
)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_whatever_stands_beside_a_quotation_a_tag_is_of_the_cast_and_of_its_text(text: str) -> None:
    prose = prose_of(text)
    context = NovelContext.of(prose, CAST)
    assert len(context.tags) == len(context.named) == len(prose.quotations)
    for tags in context.tags:
        found = best_tag(tags)
        assert -1 <= found.who < len(CAST)
        assert (found.kind == SubjectKind.NONE) == (found.start < 0) and found.start < len(context.words.texts)
