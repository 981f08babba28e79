from __future__ import annotations

from novels.dialogue_text import prose_of
from understudy.novels.mentions import NARRATION, ProseWords, find_mentions, narrator_of
from understudy.novels.prose import NovelCharacter


def named(text: str, cast: tuple[NovelCharacter, ...]) -> list[tuple[str, str]]:
    words = ProseWords.of(prose_of(text))
    return [
        (" ".join(words.texts[each.first : each.last]), cast[each.who].name) for each in find_mentions(words, cast).all
    ]


def test_the_longest_alias_wins_and_a_name_needs_its_capital() -> None:
    cast = (NovelCharacter("May Welland", ("May",), "f"), NovelCharacter("Mrs. Welland", (), "f"))
    found = named("It may rain, thought May. Mrs. Welland saw May Welland.", cast)
    assert found == [("May", "May Welland"), ("Mrs Welland", "Mrs. Welland"), ("May Welland", "May Welland")]


def test_an_epithet_is_found_without_its_capitals() -> None:
    cast = (NovelCharacter("Miss Lavish", ("The Clever Lady",), "f"),)
    assert named("Then the clever lady rose.", cast) == [("the clever lady", "Miss Lavish")]


def test_an_ambiguous_surname_is_whoever_was_named_last_in_full() -> None:
    cast = (NovelCharacter("Jan Hale", (), "m"), NovelCharacter("Piet Hale", (), "m"))
    found = named("Jan Hale sat. Hale was tired. Piet Hale came. Hale was late.", cast)
    assert [who for _, who in found] == ["Jan Hale", "Jan Hale", "Piet Hale", "Piet Hale"]


def test_a_surname_without_a_title_is_a_mans() -> None:
    cast = (NovelCharacter("Anna Hale", (), "f"), NovelCharacter("Piet Hale", (), "m"))
    assert named("Anna Hale sat. Hale was tired.", cast)[1] == ("Hale", "Piet Hale")


def test_a_surname_alone_in_the_cast_gives_way_to_its_bearer() -> None:
    cast = (NovelCharacter("Bounderby"), NovelCharacter("Josiah Bounderby", ("Mr. Bounderby",), "m"))
    assert named("Mr. Bounderby rose. Bounderby spoke.", cast)[1] == ("Bounderby", "Josiah Bounderby")


def test_whoever_has_a_first_name_with_the_title_is_not_who_has_none() -> None:
    cast = (NovelCharacter("Mr. Hale", (), "m"), NovelCharacter("Jan Hale", ("Mr. Jan Hale",), "m"))
    assert named("Jan Hale sat. Mr. Hale came.", cast)[1] == ("Mr Hale", "Mr. Hale")
    other = (NovelCharacter("Mr. Hale", (), "m"), NovelCharacter("Jan Hale", ("Jan",), "m"))
    assert named("Jan Hale sat. Mr. Hale came.", other)[1] == ("Mr Hale", "Jan Hale")


def test_a_particle_needs_no_capital() -> None:
    assert named("Then de Griers rose.", (NovelCharacter("De Griers", (), "m"),)) == [("de Griers", "De Griers")]


def test_pronouns_of_narration_refer_to_the_last_subject_and_those_in_speech_to_nobody() -> None:
    cast = (NovelCharacter("Ines", (), "f"), NovelCharacter("Tomas", (), "m"), NovelCharacter("Rosa", (), "f"))
    text = 'Ines saw Tomas with Rosa. She waved; he did not. "She is late."'
    words = ProseWords.of(prose_of(text))
    pronouns = [each for each in find_mentions(words, cast).all if each.is_pronoun]
    assert [(words.texts[each.first], cast[each.who].name) for each in pronouns] == [("She", "Ines"), ("he", "Tomas")]
    assert all(each.quotation == NARRATION for each in pronouns)


def test_the_narrator_is_who_is_called_in_speech_and_not_named_in_narration() -> None:
    cast = (NovelCharacter("Jake", (), "m"), NovelCharacter("Brett", (), "f"))
    text = 'I sat down. Brett came to me. I rose. "Hello, Jake." I said nothing. Brett sat down. "Jake, drink."'
    assert narrator_of(ProseWords.of(prose_of(text)), cast) == 0
    told = 'Jake sat down. Brett came. "Hello, Jake." Jake said nothing.'
    assert narrator_of(ProseWords.of(prose_of(told)), cast) == -1
