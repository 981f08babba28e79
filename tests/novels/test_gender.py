"""Gender from titles, pronouns and first names."""

from __future__ import annotations

import pytest

from quoted_prose import called, prose_of
from understudy.novels.cast import find_cast


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
    assert called(find_cast(prose_of(text)), name).gender == gender


def test_what_follows_a_name_is_weighed_by_how_rare_it_is() -> None:
    heroine = "Ilka took her hat, and she left. " * 60
    text = heroine + "Marek saw her there. " * 5 + "Marek saw him there. " * 5
    assert called(find_cast(prose_of(text)), "Marek").gender == "m"


def test_a_rare_pronoun_does_not_outweigh_four_times_as_many() -> None:
    men = "Ilya took his hat, and he left. " * 60
    text = men + "Marek saw him there. " * 16 + "Marek saw her there. " * 4
    assert called(find_cast(prose_of(text)), "Marek").gender != "f"
