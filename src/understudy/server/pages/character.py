"""The Character view: who a character is at a moment, their ties to others, and what they know since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.errors import Dead, StoryError
from understudy.server.context import context_of
from understudy.server.drawing.charts import sparkline
from understudy.server.drawing.pictures import portray
from understudy.server.drawing.ties_graph import Bond, signed
from understudy.server.pages import TimelineSlider, address, page, requested_moment, slider_at, with_query
from understudy.server.pages.story import story_address
from understudy.server.problems import Refused
from understudy.server.story_registry import resolve_name, situation_as_shown, situation_of, speakers_before, tones
from understudy.story.dialogue import Situation
from understudy.story.names import GOES_BY, shown_names, shown_names_at
from understudy.story.persona import NOT_OF_ONESELF, Persona, died_at, witnessed
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Finding, Line, Moment, holding_at
from understudy.story.wording import about_other, attribute_label
from understudy.svg import Markup

DEFAULT_SCENES = 8  # remembered scenes that are shown unless all are requested
LAST_LINES = 2  # of each


@dataclass(frozen=True, slots=True)
class KnownFact:
    """Something the character knows: its subject, the words, and since when it holds."""

    about: str
    words: tuple[str, ...]
    since: Moment | None
    found: Finding | None = None


@dataclass(frozen=True, slots=True)
class RememberedScene:
    """A scene the character was in: who else was there, and the last lines the character heard."""

    moment: Moment
    setting: str
    company: tuple[str, ...]
    lines: int
    last: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class KnownPerson:
    name: str
    since: Moment
    met: bool
    """Whether they have met; else the character has only heard the name."""


@dataclass(frozen=True, slots=True)
class CharacterQuery:
    """The parameters of the page's URL."""

    story: str
    name: str
    at: str | None
    facing: str | None
    to: str | None
    """The person whose course is shown, if not the one who is faced."""
    all_scenes: bool


@dataclass(frozen=True, slots=True)
class TieRow:
    """A row of the list of ties, with a sparkline of affection if it has a course."""

    bond: Bond
    spark: Markup | None
    has_chart: bool


@dataclass(frozen=True, slots=True)
class CharacterDetails:
    """Everything the page shows of the character."""

    situation: Situation
    name: str
    graph: Markup
    towards: str | None
    chart: Markup | None
    ties: list[TieRow]
    attributes: list[KnownFact]
    about_others: list[KnownFact]
    scenes: list[RememberedScene]
    has_more_scenes: bool
    known_people: list[KnownPerson]
    has_found_ties: bool
    linked: set[str]
    """Names of those who have a page of their own by now."""


@dataclass(frozen=True, slots=True)
class CharacterContent:
    """Everything the page shows at a moment: the cast so far, and the character or why it cannot be shown."""

    at: Moment
    slider: TimelineSlider
    cast: list[tuple[str, int]]
    tones: Mapping[str, int]
    details: CharacterDetails | None
    refusal: str = ""
    alive_at: Moment | None = None
    """If the character is dead by now: the start of the last scene before that."""


async def show_character(request: Request) -> Response:
    parameters = request.query_params
    query = CharacterQuery(
        request.path_params["story"], request.path_params["name"], parameters.get("at"),
        parameters.get("facing") or None, parameters.get("to") or None, parameters.get("scenes") == "all",
    )  # fmt: skip
    story = context_of(request).stories.story(query.story)
    content = await to_thread.run_sync(_content, story, query)
    details = content.details
    shown_name = details.name if details else query.name

    def read_at(moment: Moment) -> str:
        return story_address(query.story, content.at, moment)

    def picture(file: str, parameters: dict[str, str]) -> str:
        path = f"/api/stories/{quote(query.story, safe='')}/characters/{quote(shown_name, safe='')}/{file}"
        return with_query(path, parameters)

    def of(name: str, to: str | None = None, scenes: str | None = None) -> str:
        is_same = details is not None and name == details.name
        return character_address(query.story, content.at, name, query.facing if is_same else None, to, scenes)

    def at_moment(moment: Moment) -> str:
        return character_address(query.story, moment, query.name)

    status = 200 if details is not None or content.alive_at is not None else 404
    return page(
        request, "character.html", "character", status, story=query.story, at=content.at.dotted,
        who=shown_name, content=content, details=details, query=query,
        title=story.title, language=story.language, read_at=read_at, of=of, picture=picture, at_moment=at_moment,
        signed=signed,
    )  # fmt: skip


async def choose_character(request: Request) -> Response:
    """Redirect to the character with the most lines by then."""
    name = request.path_params["story"]
    story = context_of(request).stories.story(name)
    at = await to_thread.run_sync(requested_moment, story, request.query_params.get("at"))
    cast = await to_thread.run_sync(speakers_before, story, at)
    if not cast:
        return RedirectResponse(address("story", name, at.dotted), 303)
    return RedirectResponse(address("character", name, at.dotted, cast[0][0]), 303)


def character_address(
    story: str, at: Moment, name: str, facing: str | None = None, to: str | None = None, scenes: str | None = None
) -> str:
    path = f"/character/{quote(story, safe='')}/{quote(name, safe='')}"
    return with_query(path, {"at": at.dotted, "facing": facing, "to": to, "scenes": scenes})


def _content(story: Story, query: CharacterQuery) -> CharacterContent:
    at = requested_moment(story, query.at)
    slider = slider_at(story, at)
    cast = [(name, member.lines) for name, member in speakers_before(story, at)]
    colours = tones(story, at)
    try:
        situation = situation_of(story, query.name, at, query.facing)
    except Dead:
        refusal = f"{query.name} is dead by now. Go back to an earlier moment to meet them."
        return CharacterContent(
            at, slider, cast, colours, None, refusal, _last_alive(story, resolve_name(story, query.name, at), at)
        )
    except (Refused, StoryError) as error:
        return CharacterContent(at, slider, cast, colours, None, str(error))
    details = _details(story, situation, query, {name for name, _ in cast})
    return CharacterContent(at, slider, cast, colours, details)


def _last_alive(story: Story, who: str, at: Moment) -> Moment | None:
    """The start of the last scene before a death that happened before `at`."""
    died = died_at(story.facts(who), at) or at
    return max((scene for scene, _, _ in story.outline() if scene < died), default=None)


def _details(story: Story, situation: Situation, query: CharacterQuery, linked: set[str]) -> CharacterDetails:
    persona = situation.persona
    portrayal = portray(story, persona)
    shown = situation_as_shown(situation, shown_names_at(story, persona.moment))
    towards = shown.faced.name if shown.faced else portrayal.default_target()
    if query.to is not None and portrayal.has_course(query.to):
        towards = query.to
    scenes = remembered_scenes(portrayal.persona, None if query.all_scenes else DEFAULT_SCENES + 1)
    chart: Markup | None = None
    if towards is not None and portrayal.has_course(towards):
        chart = portrayal.chart(towards, link=lambda moment: story_address(query.story, persona.moment, moment))
    sparks = {name: sparkline(name, course, portrayal.axis) for name, course in portrayal.courses["affection"].items()}
    return CharacterDetails(
        shown,
        portrayal.shown,
        portrayal.graph(lambda name: character_address(query.story, persona.moment, name) if name in linked else None),
        towards,
        chart,
        [TieRow(bond, sparks.get(bond.name), portrayal.has_course(bond.name)) for bond in portrayal.bonds],
        dated_attributes(story, persona),
        about_others(story, persona, portrayal.known),
        scenes if query.all_scenes else scenes[:DEFAULT_SCENES],
        len(scenes) > DEFAULT_SCENES and not query.all_scenes,
        known_people(story, persona, portrayal.known),
        any(bond.is_found for bond in portrayal.bonds),
        linked,
    )


def dated_attributes(story: Story, persona: Persona) -> list[KnownFact]:
    """The persona's attributes, each with the moment since when."""
    names = shown_names_at(story, persona.moment)
    dated = {fact.attribute: (fact.since, fact.found) for fact in _witnessed_facts(story, persona, persona.name)}
    return [
        KnownFact(attribute_label(name), tuple(map(names.in_text, values)), *dated.get(name, (None, None)))
        for name, values in persona.attributes.items()
    ]


def _witnessed_facts(story: Story, persona: Persona, who: str | None = None) -> list[Fact]:
    return holding_at(witnessed(story, story.facts(who), persona.name, persona.moment), persona.moment)


def about_others(story: Story, persona: Persona, known: Mapping[str, Moment]) -> list[KnownFact]:
    """Facts about people the persona knows that only some characters, the persona among them, were told. That a person
    goes by a name is left out, since it would say that the name is false."""
    names = shown_names_at(story, persona.moment)
    facts = [
        fact
        for fact in _witnessed_facts(story, persona)
        if (fact.found is not None if fact.known_to is None else persona.name in fact.known_to)
        and fact.who != persona.name and fact.attribute not in {*NOT_OF_ONESELF, GOES_BY}
        and names.of(fact.who) in known
    ]  # fmt: skip
    owners = list(dict.fromkeys(fact.who for fact in facts))
    facts.sort(key=lambda fact: owners.index(fact.who))
    shown = [(names.of(fact.who), fact) for fact in facts]
    return [
        KnownFact(who, (names.in_text(about_other(fact, who, story.language)),), fact.since, fact.found)
        for who, fact in shown
    ]


def remembered_scenes(persona: Persona, limit: int | None) -> list[RememberedScene]:
    """The scenes the persona remembers, latest first."""
    remembered = list[RememberedScene]()
    for scene in reversed(list(persona.past.scenes(limit))):
        company = tuple(name for name in scene.present if name != persona.name)
        last = scene.lines[-LAST_LINES:]
        remembered.append(RememberedScene(scene.moment, scene.setting, company, len(scene.lines), last))
    return remembered


def known_people(story: Story, persona: Persona, known: Mapping[str, Moment]) -> list[KnownPerson]:
    """The people the persona knows, in the order of acquaintance."""
    met, _ = story.acquaintances(persona.name, persona.moment)
    renamed = shown_names(story, persona.moment)
    met_names = {renamed.get(name, name) for name in met}
    return [KnownPerson(name, since, name in met_names) for name, since in known.items()]


ROUTES = [Route("/character/{story}", choose_character), Route("/character/{story}/{name:path}", show_character)]
