"""The Talk view with an agent that writes: pieces as they come, a stop that stops it, Markdown, agents, one's own."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from browser.conftest import MakeSite
from browser.test_talk import begin, bubbles, replies, say
from understudy.agents import Scripted
from understudy.story.dialogue import Candidate
from writers import PIECES, Writer

TEXT = "".join(PIECES)


def test_pieces_are_shown_as_they_come(page: Page, make_site: MakeSite) -> None:
    writer = Writer(gated=True)
    site, _ = make_site(writer)
    page.clock.install()
    begin(page, site)
    expect(page.locator("[data-agent-name]")).to_have_text("writer")
    say(page, "Where were you?")
    expect(page.get_by_role("status", name="Ines Vale is about to answer")).to_be_visible()
    page.clock.fast_forward(2_000)
    expect(page.get_by_text("Ines Vale is thinking about it")).to_be_visible()
    writer.release(2)
    expect(page.locator(".message[aria-busy] .bubble")).to_have_text("I never")
    page.clock.fast_forward(1_000)
    expect(page.locator(".message[aria-busy] .typing")).to_be_visible()  # more is to come
    writer.release(len(PIECES))
    expect(replies(page)).to_have_text([TEXT])
    expect(page.locator("[data-announce]")).to_have_text(f"Ines Vale: {TEXT}")


def test_stop_stops_what_writes(page: Page, make_site: MakeSite) -> None:
    writer = Writer(gated=True)
    site, _ = make_site(writer)
    begin(page, site)
    say(page, "Where were you?")
    writer.release(3)
    expect(page.locator(".message[aria-busy] .bubble")).to_have_text("I never left")
    page.get_by_role("button", name="Stop").click()
    expect(replies(page)).to_have_text(["I never left"])
    expect(page.get_by_text("Stopped here.")).to_be_visible()
    assert writer.ended.wait(120) and writer.written == list(PIECES[:3])


def test_a_back_end_that_breaks_off_is_told_and_can_be_tried_again(page: Page, make_site: MakeSite) -> None:
    writer = Writer(fails_at=2)
    site, _ = make_site(writer)
    begin(page, site)
    say(page, "Where were you?")
    expect(page.get_by_role("alert")).to_contain_text("the back end broke off")
    expect(replies(page)).to_have_text(["I never"])
    expect(page.get_by_text("Broken off: the back end broke off: is it still running?")).to_be_visible()
    writer.fails_at = None
    page.get_by_role("button", name="Retry").click()
    expect(replies(page)).to_have_text([TEXT])
    expect(page.get_by_role("alert")).to_be_hidden()


def test_who_finds_the_words_can_be_chosen(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site({"script": Scripted(["From the script."] * 9), "writer": Writer()})
    begin(page, site)
    page.get_by_label("Words by").select_option("writer")
    expect(page.locator("[data-agent-name]")).to_have_text("writer")
    expect(page).to_have_url(f"{site}/?story=brass-key&at=2.1&who=Ines+Vale&agent=writer")
    say(page, "Where were you?")
    expect(replies(page)).to_have_text([TEXT])
    page.get_by_label("Words by").select_option("script")
    expect(page.locator("[data-agent-name]")).to_have_text("script")
    say(page, "Where were you?")
    expect(replies(page)).to_have_text([TEXT, "From the script."])
    page.reload()
    expect(page.get_by_label("Words by")).to_have_value("script")


def test_one_speaks_as_somebody_of_ones_own_who_is_kept(page: Page, make_site: MakeSite) -> None:
    writer = Writer()
    site, _ = make_site(writer)
    begin(page, site)
    page.get_by_label("Speaking as").select_option("Somebody of your own…")
    dialog = page.get_by_role("dialog", name="Somebody of your own")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Speaking as")).to_have_value("")
    page.get_by_label("Speaking as").select_option("Somebody of your own…")
    dialog.get_by_label("Name").fill("Tobias")
    dialog.get_by_label("Who they are").fill("A liar.")
    dialog.get_by_role("button", name="Speak as them").click()
    expect(page.get_by_role("alert")).to_contain_text("choose another name")
    expect(page.locator(".chat-link")).to_have_count(0)
    page.get_by_label("Speaking as").select_option("Somebody of your own…")
    dialog.get_by_label("Name").fill("Tom")
    dialog.get_by_label("Who they are").fill("A sailor, 40.")
    dialog.get_by_role("button", name="Speak as them").click()
    expect(page.get_by_label("Speaking as")).to_have_value("own:Tom")
    say(page, "Ahoy.")
    expect(page.locator(".message-author")).to_have_text(["Tom", "Ines Vale"])
    expect(page.locator(".by-character")).to_contain_text("to Tom")
    faced = writer.heard[-1][0].faced
    assert faced is not None and faced.profile == ("Tom: A sailor, 40.",)
    begin(page, site, at="2.2")  # a new chat: whoever was made up can be chosen again
    page.get_by_label("Speaking as").select_option("Tom")
    page.wait_for_url("**/chats/*")
    say(page, "Ahoy again.")
    expect(page.locator(".message-author")).to_have_text(["Tom", "Ines Vale"])


MARKDOWN = """*She looks up.* You **must** be `cold`.

- the *first*
- the second
  
2. two
3. three

snake_case_name, 2 * 3 * 4, \\*not this\\*, and __that__"""


def test_actions_and_markdown_are_shown(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(Writer([MARKDOWN]))
    begin(page, site)
    say(page, "*waves* Hello **you**")
    expect(replies(page)).to_have_count(1)
    user, reply = bubbles(page).nth(0), bubbles(page).nth(1)
    expect(user.locator("em")).to_have_text(["waves"])
    expect(user.locator("strong")).to_have_text(["you"])
    expect(reply.locator("p em")).to_have_text(["She looks up."])
    expect(reply.locator("strong")).to_have_text(["must", "that"])
    expect(reply.locator("code")).to_have_text(["cold"])
    expect(reply.locator("ul li")).to_have_text(["the first", "the second"])
    expect(reply.locator("ol")).to_have_attribute("start", "2")
    expect(reply.locator("p").last).to_have_text("snake_case_name, 2 * 3 * 4, *not this*, and that")
    user.hover()
    page.locator(".by-user").get_by_role("button", name="Edit").click()
    expect(page.get_by_role("dialog").get_by_label("Message")).to_have_value("*waves* Hello **you**")


HOSTILE = (
    "![x](https://example.invalid/a.png) [click](javascript:alert(1)) <https://example.invalid>",
    "**<img src=x onerror=\"document.title='run'\">** *<script>document.title='run'</script>*",
    "```\n<b>code</b>\n``` `<i>`",
    "* * * ** ***a** _b",
)


def test_what_is_said_loads_nothing_and_leads_nowhere(page: Page, make_site: MakeSite) -> None:
    writer = Writer()
    site, _ = make_site(writer)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    begin(page, site)
    for number, hostile in enumerate(HOSTILE, 1):
        writer.pieces = (hostile,)
        say(page, "Well?")
        for _ in range(2):
            expect(replies(page)).to_have_count(number)
            assert all(url.startswith(site) for url in requests), hostile
            assert page.locator(".bubble :is(a, img, script, b, i)").count() == 0, hostile
            assert page.title() != "run", hostile
            page.reload()


def test_the_field_is_shown_with_its_verdicts(page: Page, make_site: MakeSite) -> None:
    candidates = (
        Candidate(TEXT, 0.9, source="writer"),
        Candidate("The Prior did.", 0.8, source="writer", rejected="names somebody absent"),
        Candidate("", 0.7, source="exchange", rejected="later"),
        Candidate("No.", None, source="writer"),
    )
    site, _ = make_site(Writer(candidates=candidates))
    begin(page, site)
    say(page, "Where were you?")
    expect(replies(page)).to_have_count(1)
    page.locator(".by-character summary").click()
    drawer = page.get_by_role("dialog", name="Why Ines Vale says this")
    expect(drawer.locator(".runners li")).to_have_text(
        [
            f"{TEXT} said written for this 0.90",
            "The Prior did. written for this · kept back: names somebody absent 0.80",
            "not known yet said before · kept back: later 0.70",
            "No. written for this",
        ]
    )
