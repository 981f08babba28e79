"""The check of pages finds what is wrong with one, and nothing where nothing is."""

from __future__ import annotations

from playwright.sync_api import Page

from browser.accessibility import complaints, too_wide

GOOD = """<!doctype html><html lang="en"><body><header><nav><a href="/">Home</a></nav></header>
<main><h1>Title</h1><label>Name <input></label><p>Text</p>{}</main></body></html>"""


def test_what_is_wrong_is_found(page: Page) -> None:
    page.set_content(GOOD.format(""))
    assert complaints(page) == []
    for wrong, complaint in (
        ("<button></button>", "no name"),
        ("<input placeholder='Name'>", "no name"),
        ("<a href='/'><img src='x' alt=''></a>", "no name"),
        ("<img src='x'>", "no alt"),
        ("<svg></svg>", "a picture without words"),
        ("<h1>Another</h1>", "more than one <h1>"),
        ("<p id='a'></p><p id='a'></p>", "id used twice"),
        ("<p style='color: #888'>Grey on white</p>", "contrast 3.54"),
        ("<div style='background: #000'><p style='color: rgb(255 255 255 / 30%)'>Faint</p></div>", "contrast 2."),
    ):
        page.set_content(GOOD.format(wrong))
        problems = complaints(page)
        assert any(complaint in problem for problem in problems), (wrong, problems)


def test_what_is_too_wide_is_found(page: Page) -> None:
    page.set_content(GOOD.format("<div class='wide' style='width: 3000px'>Wide</div>"))
    assert too_wide(page) != []
    page.set_content(GOOD.format("<p>Narrow</p>"))
    assert too_wide(page) == []
