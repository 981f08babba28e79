"""Who is in a novel: names joined, towns left out, people without names, the narrator; on little passages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novel_texts import called, names_of, quoted_prose
from understudy.novels.cast import NARRATOR, find_cast
from understudy.novels.prose import Chapter, Paratext, Prose, Span

HARBOUR = """
Ines Varga came down to Marlow before it was light. In Marlow nobody locked a door. "You are early," said Mr. Benedek.
Ines smiled at him. "I never went to bed, Mr. Benedek," she said. At Marlow the ferry went at six.

"Then sit," said Mr. Benedek, and he took his hat from the chair. Benedek was old, and he liked to be asked.

"Miss Varga, you should sleep," said Mrs. Benedek from the stairs. She had her coat on.

Ines laughed. "In March, perhaps." But Tomas said nothing. Tomas had been in Marlow since March, and he looked at Ines.
"""


def test_first_name_full_name_and_title_are_one_person() -> None:
    ines = called(find_cast(quoted_prose(HARBOUR)), "Ines")
    assert names_of(ines) == {"Ines Varga", "Ines", "Miss Varga"}
    assert ines.gender == "f"


def test_a_husband_and_a_wife_are_two() -> None:
    cast = find_cast(quoted_prose(HARBOUR))
    assert names_of(called(cast, "Mr. Benedek")) == {"Mr. Benedek", "Benedek"}
    assert names_of(called(cast, "Mrs. Benedek")) == {"Mrs. Benedek"}


def test_towns_and_months_are_nobody() -> None:
    names = {name for character in find_cast(quoted_prose(HARBOUR)) for name in names_of(character)}
    assert "Tomas" in names
    assert names.isdisjoint({"Marlow", "March", "In", "But", "You", "Then"})


def test_the_name_is_the_fullest_that_is_used_often() -> None:
    text = 'Ines Varga smiled. "Well," said Ines Varga. Then Ines Varga left. ' + "Ines nodded at him. " * 10
    assert called(find_cast(quoted_prose(text)), "Ines").name == "Ines Varga"
    rarely = 'Ines Varga smiled. "Well," said Ines. ' + "Ines nodded at him. " * 60
    assert called(find_cast(quoted_prose(rarely)), "Ines").name == "Ines"


def test_headings_name_nobody() -> None:
    text = "Ottilie Speaks\n\n" + "The rain went on. " * 3
    prose = Prose(text, "en", ("chapter",), (Chapter(Span(0, 14), (1,), "Ottilie Speaks"),), (), ())
    assert find_cast(prose) == ()


def test_what_stands_around_a_book_names_nobody() -> None:
    licence = "Ask for Ottilie Kern. Then Ottilie Kern said so. "
    text = licence + '"Well," said Ada. Ada smiled at her.'
    whole = quoted_prose(text)
    assert any("Ottilie Kern" in names_of(character) for character in find_cast(whole))
    framed = replace(whole, paratexts=(Paratext(Span(0, len(licence)), "a frame"),))
    assert [character.name for character in find_cast(framed)] == ["Ada"]


def test_who_only_has_an_epithet_and_speaks_is_somebody() -> None:
    text = '"Tickets," said the porter.\n\nNobody had one.\n\n"Tickets," the porter said again. "All," said the wind.'
    (porter,) = find_cast(quoted_prose(text))
    assert (porter.name, porter.gender) == ("the porter", "m")


def test_the_girl_is_whoever_has_been_named_and_somebody_where_nobody_has() -> None:
    speech = '"Come," said the girl.\\n\\n"Now," the girl said.\\n\\n'.replace("\\n", "\n")
    assert [who.name for who in find_cast(quoted_prose(speech))] == ["the girl"]
    named = "Nora Quist smiled at him, and she rose. Nora Quist nodded.\n\n"
    assert [who.name for who in find_cast(quoted_prose(named + speech))] == ["Nora Quist"]
    man = "Mr. Quist smiled, and he rose. Mr. Quist nodded.\n\n"
    assert {who.name for who in find_cast(quoted_prose(man + speech))} == {"Mr. Quist", "the girl"}


def test_a_family_calls_its_members_without_an_article() -> None:
    text = '"Bed," said mother. "Now," said mother. "At once," said mother. "A letter came for mother," said father.'
    (mother,) = find_cast(quoted_prose(text))
    assert (mother.name, mother.gender) == ("mother", "f")


def test_the_only_colonel_is_the_colonel() -> None:
    text = 'Colonel Ashby sat down. "No," said Colonel Ashby.\n\n"Never," said the colonel. "Never," the colonel said.'
    (ashby,) = find_cast(quoted_prose(text))
    assert names_of(ashby) == {"Colonel Ashby", "the colonel"}


FIRST_PERSON = (
    "I went up. I knocked, and I waited. {called} I said that I was late, and I sat where I could see Ada. Ada smiled."
)


def test_the_narrator_is_whom_others_call_by_name() -> None:
    spoken = '"Come in, Felix," said Ada. "Felix, sit down," said Ada. "You are late, Felix!" said Ada.'
    cast = find_cast(quoted_prose(FIRST_PERSON.format(called=spoken)))
    assert [character.name for character in cast if character.is_narrator] == ["Felix"]
    assert not called(cast, "Ada").is_narrator


def test_a_narrator_whom_nobody_calls_is_the_narrator() -> None:
    cast = find_cast(quoted_prose(FIRST_PERSON.format(called='"Come in," said Ada.')))
    assert [character.name for character in cast if character.is_narrator] == [NARRATOR]


def test_a_book_in_the_third_person_has_no_narrator() -> None:
    assert not any(character.is_narrator for character in find_cast(quoted_prose(HARBOUR)))


def test_french_and_german_names_are_those_who_speak() -> None:
    french = '"Non," dit Mathilde. "Si," répondit M. Arnoux. Elle regarda la mer. "Non," dit Mathilde, et elle se leva.'
    names = {name for character in find_cast(quoted_prose(french, "fr")) for name in names_of(character)}
    assert names == {"Mathilde", "M. Arnoux"}
    german = 'Der Hund schlief. "Nein," sagte Lotte. Sie sah das Haus. "Doch," sagte Herr Kern. "Nein," rief Lotte.'
    names = {name for character in find_cast(quoted_prose(german, "de")) for name in names_of(character)}
    assert names == {"Lotte", "Herr Kern"}


WORDS = "Mr. Mrs. Miss Sir Ines Varga Tom Thomas de said the porter I , - \" O' St. É 田中さん 田中は言った。 张三说"
PIECES = st.sampled_from([*(f"{word} " for word in WORDS.split()), "'s ", "\n", "\n\n"])


@given(
    text=st.lists(PIECES, max_size=60).map("".join) | st.text(),
    language=st.sampled_from(["en", "fr", "de", "ja", "zh"]),
)
def test_any_text_has_a_cast_whose_names_it_has(text: str, language: str) -> None:
    cast = find_cast(quoted_prose(text, language))
    plain = " ".join(text.split()).lower()
    names = [name for character in cast for name in (character.name, *character.aliases)]
    assert len(names) == len(set(names))
    assert all(name.lower() in plain for name in names if name != NARRATOR)


# Gender from titles, pronouns and first names.


@pytest.mark.parametrize(
    ("text", "name", "gender"),
    [
        ("Signora Belli nodded. Signora Belli sang.", "Signora Belli", "f"),
        ("Marek smiled, and he rose. Marek took his hat. Marek knew himself.", "Marek", "m"),
        ("Captain Ruiz nodded. Captain Ruiz left.", "Captain Ruiz", "m"),
        ("Captain Ruiz nodded, and she left. " * 4 + "Mr. Hale took his hat. " * 4, "Captain Ruiz", "f"),
        ("Captain Edith Ruiz nodded. Captain Edith Ruiz left.", "Captain Edith Ruiz", "f"),
        ("Edith smiled. Edith nodded.", "Edith", "f"),
        ("Marek smiled. Marek nodded.", "Marek", ""),
        ("Frank smiled, and she rose. " * 15 + "Mr. Hale took his hat. " * 5, "Frank", "f"),
    ],
)
def test_gender(text: str, name: str, gender: str) -> None:
    assert called(find_cast(quoted_prose(text)), name).gender == gender


def test_what_follows_a_name_is_weighed_by_how_rare_it_is() -> None:
    heroine = "Ilka took her hat, and she left. " * 60
    text = heroine + "Marek saw her there. " * 5 + "Marek saw him there. " * 5
    assert called(find_cast(quoted_prose(text)), "Marek").gender == "m"


def test_a_rare_pronoun_does_not_outweigh_four_times_as_many() -> None:
    men = "Ilya took his hat, and he left. " * 60
    text = men + "Marek saw him there. " * 16 + "Marek saw her there. " * 4
    assert called(find_cast(quoted_prose(text)), "Marek").gender != "f"
