"""The Character and Story views in a real browser: moving through time, following links, reading on, saving."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.accessibility import WIDTHS, assert_accessible, fits, resize
from browser.conftest import FREELY, SCRIPT
from server.conftest import serving
from understudy.agents import Scripted
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry
from understudy.story.storyfile import Story

ZITA = "/character/demo/Zita%20Karst"


@pytest.fixture(scope="module")
def site(on_stage: dict[str, Story], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all of them: these views are only read."""
    opened = AppContext.open(StoryRegistry(on_stage), Scripted(SCRIPT), tmp_path_factory.mktemp("views"))
    with opened as context, serving(make_app(context, limits=FREELY)) as url:
        yield url


@pytest.fixture
def view(page: Page, site: str) -> Iterator[Page]:
    """A page of the site, and no complaint of the browser about it."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.goto(site)
    yield page
    assert complaints == []


def people(page: Page) -> dict[str, tuple[float, float]]:
    """Who is on the graph, and in which direction from the middle."""
    positions = page.locator(".graph .other").evaluate_all(
        """all => all.map((element) => {
            const face = element.querySelector(".ground");
            return [element.dataset.who, Number(face.getAttribute("cx")), Number(face.getAttribute("cy"))];
        })"""
    )
    return {name: (x, y) for name, x, y in positions}


def test_moving_by_keys_changes_graph_chart_and_address(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=2.2.2")
    before, marks = people(view), view.locator(".chart .marks.affection .change").count()
    expect(view.locator("#course-title")).to_have_text("Towards Pia Lenk")
    thumb = view.get_by_role("slider", name="Moment in the story")
    thumb.focus()
    view.keyboard.press("ArrowRight")
    view.keyboard.press("ArrowRight")
    view.keyboard.press("Enter")
    expect(view).to_have_url(re.compile("at=2.2.4"))
    expect(view.locator(".chart .marks.affection .change")).not_to_have_count(marks)
    expect(thumb).to_be_focused()
    expect(view.locator('.graph .other[data-who="Pia Lenk"] .kind')).to_have_text("opponent")
    after = people(view)
    same_nearness = [name for name in before if name in after and name not in ("Pia Lenk", "Casimir Ould")]
    assert len(same_nearness) > 4
    assert all(after[name] == before[name] for name in same_nearness)


def test_dragging_back_takes_later_people_away_and_the_way_back_returns_them(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=3.1")
    expect(view.locator('.graph .other[data-who="Danilo Reuss"]')).to_be_visible()
    track = view.locator("[data-timeline-track]")
    box = track.bounding_box()
    assert box is not None
    view.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2)
    view.mouse.down()
    view.mouse.move(box["x"] + box["width"] * 0.08, box["y"] + box["height"] / 2, steps=5)
    view.mouse.up()
    expect(view.locator('.graph .other[data-who="Danilo Reuss"]')).to_have_count(0)
    expect(view.locator('.graph .other[data-who="Aurel Benedek"]')).to_be_visible()
    assert "Danilo" not in view.content()
    view.go_back()
    expect(view).to_have_url(re.compile("at=3.1"))
    expect(view.locator('.graph .other[data-who="Danilo Reuss"]')).to_be_visible()


def test_a_mark_leads_to_the_scene_that_changed_it(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=2.3")
    mark = view.locator('.chart .marks.affection .change[data-moment="2.2.2"]')
    mark.focus()
    expect(view.get_by_role("tooltip")).to_contain_text("The boathouse")
    view.keyboard.press("Enter")
    expect(view).to_have_url(re.compile(r"/story/demo\?at=2\.3.*#m-2\.2\.2$"))
    expect(view.locator("#m-2\\.2\\.2")).to_be_in_viewport()


def test_a_remembered_line_leads_to_the_line(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=2.3")
    view.locator(".remembered a", has_text="Noon. The fourteenth. Entered.").click()
    expect(view.locator(".speech:target")).to_contain_text("Noon. The fourteenth. Entered.")
    expect(view.locator(".speech:target")).to_be_in_viewport()


def test_another_course_is_shown_without_losing_the_moment(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=2.3")
    view.get_by_role("navigation", name="Towards whom").get_by_role("link", name="Gudrun Haake").click()
    expect(view.locator("#course-title")).to_have_text("Towards Gudrun Haake")
    expect(view).to_have_url(re.compile("at=2.3&to=Gudrun"))
    view.reload()
    expect(view.locator("#course-title")).to_have_text("Towards Gudrun Haake")


def test_people_on_the_graph_tell_about_themselves_and_can_be_visited(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=2.3")
    pia = view.locator('.graph .other[data-who="Pia Lenk"]')
    pia.hover()
    expect(view.get_by_role("tooltip")).to_contain_text("I cannot stand Pia Lenk.")
    pia.click()
    expect(view.get_by_role("heading", level=1)).to_have_text("Pia Lenk")
    expect(view).to_have_url(re.compile("at=2.3"))


def test_reading_on_asks_first(view: Page, site: str) -> None:
    view.goto(f"{site}/story/demo?at=1.2")
    assert "parlatory, the third of October" not in view.content()
    view.locator(".read-on summary").click()
    show = view.get_by_role("link", name="Show 1.2.1")
    expect(show).to_be_focused()
    view.keyboard.press("Enter")
    expect(view).to_have_url(re.compile("at=1.2.2"))
    expect(view.get_by_role("heading", name="The parlatory, the third of October")).to_be_in_viewport()


def test_a_line_alone_finds_its_page(view: Page, site: str) -> None:
    view.goto(f"{site}/story/demo?at=2.3#m-1.1.1.7")
    expect(view.locator(".speech:target")).to_have_attribute("id", "m-1.1.1.7")
    expect(view.locator(".speech:target")).to_be_in_viewport()


def test_search_by_keyboard_finds_only_what_was_read(view: Page, site: str) -> None:
    view.goto(f"{site}/story/demo?at=1.2")
    view.get_by_label("Search what you have read").fill("goat")
    view.keyboard.press("Enter")
    expect(view.get_by_role("heading", level=1)).to_contain_text("found for “goat”")
    view.locator(".found a").first.focus()
    view.keyboard.press("Enter")
    expect(view.locator(":target mark").first).to_have_text("goat")
    view.get_by_label("Search what you have read").fill("Commissary's oranges")
    view.keyboard.press("Enter")
    expect(view.get_by_role("heading", level=1)).to_contain_text("Nothing found")
    assert "#" not in view.url  # the line that was read before is no part of a new search


def test_nothing_runs_out_of_the_side(view: Page, site: str) -> None:
    for path in (f"{ZITA}?at=2.3", "/story/demo?at=2.3", "/story/demo?at=2.3&q=the"):
        for width in WIDTHS:
            resize(view, width)
            view.goto(f"{site}{path}")
            assert fits(view), (path, width)


def test_labels_on_the_graph_do_not_overlap(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=end")
    crossing = view.locator(".graph").evaluate(
        """graph => {
            const boxes = [...graph.querySelectorAll(".name")].map((element) => element.getBoundingClientRect());
            return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
                a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length;
        }"""
    )
    assert crossing == 0


def test_pictures_are_saved_as_svg_and_png(view: Page, site: str, tmp_path: Path) -> None:
    view.goto(f"{site}{ZITA}?at=2.3")
    for number, root in ((0, "ties"), (1, "towards Pia Lenk")):
        with view.expect_download() as download:
            view.get_by_role("link", name="Save as SVG").nth(number).click()
        assert download.value.suggested_filename == f"Zita Karst {root} 2.3.svg"
        saved = ElementTree.parse(download.value.path()).getroot()
        assert saved.tag.endswith("svg") and "drawing" in str(saved.get("class"))
        with view.expect_download() as download:
            view.get_by_role("button", name="PNG").nth(number).click()
        picture = Path(download.value.path()).read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) > 8_000
        assert int.from_bytes(picture[16:20]) > 600


def test_a_saved_picture_has_its_colours(view: Page, site: str) -> None:
    view.goto(f"{site}{ZITA}?at=2.3")
    colours = view.evaluate(
        """async () => {
            const { pngOf } = await import("/static/drawing.js");
            const blob = await pngOf(document.querySelector("[data-save-png]").dataset.savePng);
            const picture = await createImageBitmap(blob);
            const canvas = new OffscreenCanvas(picture.width, picture.height);
            const pen = canvas.getContext("2d");
            pen.drawImage(picture, 0, 0);
            const seen = new Set();
            const { data } = pen.getImageData(0, 0, picture.width, picture.height);
            for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 3).join());
            return [...seen];
        }"""
    )
    assert "163,52,31" in colours, "the line of a great affection"
    assert "255,253,249" in colours, "the paper"


def test_without_scripts_everything_can_be_read_and_time_still_moves(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}{ZITA}?at=1.2")
    expect(page.locator(".graph")).to_be_visible()
    page.get_by_label("Go to").select_option("2.3.1")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page).to_have_url(re.compile("at=2.3.1"))
    expect(page.locator("#course-title")).to_have_text("Towards Pia Lenk")
    page.goto(f"{site}/story/demo?at=1.2")
    page.locator(".read-on summary").click()
    page.get_by_role("link", name="Show 1.2.1").click()
    expect(page.locator("#m-1\\.2\\.1")).to_be_visible()
    context.close()


VIEWS = (
    f"{ZITA}?at=2.3&facing=Pia",
    "/character/demo/Ignace%20Bohm?at=end",
    "/story/demo?at=2.3&see=2.2&q=tongs",
    "/story/demo?at=2.3&q=tongs",
    "/story/demo?at=start",
)


def test_everything_has_a_name_and_can_be_told_from_its_ground(page: Page, site: str) -> None:
    for path in VIEWS:
        page.goto(f"{site}{path}")
        assert_accessible(page, [1280])
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(FAINT) == [], (path, scheme)


FAINT = """() => {
    // Words in drawings, which stand on the card around them; portraits and badges bring a ground of their own.
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => {
        const share = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * share(r) + 0.7152 * share(g) + 0.0722 * share(b);
    };
    return [...document.querySelectorAll("main svg text:not(.medallion *, .badge *)")].flatMap((text) => {
        const ink = light(numbers(getComputedStyle(text).fill));
        const ground = light(numbers(getComputedStyle(text.closest(".card")).backgroundColor));
        const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
        return contrast < 4.5 ? [`${text.textContent}: ${contrast.toFixed(2)}`] : [];
    });
}"""
