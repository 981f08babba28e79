from __future__ import annotations

from pathlib import Path

from understudy.formats import read
from understudy.server.drawing.ties_graph import bonds_of, known_since
from understudy.story.persona import persona_at
from understudy.story.types import Moment


def test_since_when_others_are_known() -> None:
    story = read("demo")
    for at in ("1.2", "2.3", "end"):
        persona = persona_at(story, "Zita", at)
        known = known_since(story, persona)
        for name, since in known.items():
            true = story.character(name).name
            assert true not in story.acquaintances(persona.name, since)[1]
            after = next((scene for scene, _, _ in story.outline() if scene > since), persona.moment)
            assert true in story.acquaintances(persona.name, min(after, persona.moment))[1]
        assert {story.character(name).name for name in known} == set(
            story.acquaintances(persona.name, persona.moment)[1]
        ) - {persona.name}


def test_they_go_by_the_names_a_reader_is_shown() -> None:
    story = read("demo")
    assert "Aurel Benedek" in known_since(story, persona_at(story, "Zita", "2.1"))
    assert "Danilo Reuss" in known_since(story, persona_at(story, "Zita", "end"))
    assert "Aurel Benedek" in known_since(story, persona_at(story, "Haake", "1.2"))  # who is in on it, but no reader is


def test_ties_are_gathered_by_person_in_the_order_of_acquaintance() -> None:
    story = read("demo")
    persona = persona_at(story, "Zita", "2.3")
    known = known_since(story, persona)
    bonds = bonds_of(persona, known)
    assert {bond.name for bond in bonds} == {tie.to for tie in persona.relations}
    assert [known[bond.name] for bond in bonds] == sorted(known[bond.name] for bond in bonds)
    pia = next(bond for bond in bonds if bond.name == "Pia Lenk")
    assert (pia.feeling, pia.nearness, [tie.kind for tie in pia.kinds]) == (-6, 5, ["opponent"])
    assert len(pia.sentences) == 3


def test_what_they_are_now_comes_before_what_they_were() -> None:
    story = read("demo-ja")
    persona = persona_at(story, "真鍋千夏", "2.3")
    bond = next(bond for bond in bonds_of(persona, known_since(story, persona)) if bond.name == "久我志保里")
    assert [tie.kind for tie in bond.kinds] == ["enemy", "opponent"]


def test_ranks_stay_the_same_while_the_moment_changes() -> None:
    story = read("demo")
    ranks: dict[str, int] = {}
    for scene, _, _ in story.outline():
        persona = persona_at(story, "Zita", scene)
        now = {story.character(bond.name).name: bond.rank for bond in bonds_of(persona, known_since(story, persona))}
        assert all(now.get(name, rank) == rank for name, rank in ranks.items())
        ranks |= now
    assert len(set(ranks.values())) == len(ranks) > 8


def test_somebody_only_stood_before_comes_after_all(story: Path) -> None:
    source = read(story)
    persona = persona_at(source, "Ines", "1.1", before=["Tobias"])
    known = known_since(source, persona)
    assert known == {} and [bond.name for bond in bonds_of(persona, known)] == ["Tobias Rook"]
    assert known_since(source, persona_at(source, "Ines", "1.2")) == {"Tobias Rook": Moment((1, 1))}
