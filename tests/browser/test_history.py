"""The page "History" as a person uses it: found, opened by a link, renamed, deleted."""

from urllib.parse import quote

import oidc_provider_mock
import pytest
from playwright.sync_api import expect

from tests.browser.server import (
    PHONE,
    at_rest,
    free_port,
    go_to,
    screens,
    start_server,
    stop_server,
    too_wide,
)

pytestmark = pytest.mark.browser

QUERY = "Name a fish that nobody has asked for before"
VERDICT = ".st-key-verdict_words"


def test_a_result_is_found_opened_elsewhere_renamed_and_deleted(address, open_page):
    page = open_page(f"{address}/inspection?q={quote(QUERY)}")
    page.get_by_role("button", name="In History: link", exact=True).click()
    link = page.get_by_test_id("stCode").filter(has_text="?saved=")
    expect(link).to_be_visible()
    expect(page.locator(".st-key-verdict")).to_be_visible()
    at_rest(page)
    words = page.locator(VERDICT).inner_text()
    assert "Not near anything" in words
    permalink = link.inner_text().strip()
    assert permalink.startswith(f"{address}/inspection?saved=")

    go_to(page, "History")
    for _ in screens(page):
        assert too_wide(page) <= 0
    page.set_viewport_size({"width": 1280, "height": 1000})
    search = page.get_by_role("textbox", name="Search")
    search.fill("fish nobody")
    search.press("Enter")
    expect(page.get_by_role("checkbox", name="Tick").first).to_be_visible()
    rename = page.get_by_role("button", name="Rename")
    expect(rename).to_have_count(0)
    page.get_by_role("checkbox", name="Tick").first.check()
    rename.click()
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_have_value(QUERY)
    title.fill("What swims")
    title.press("Enter")
    at_rest(page)
    rename.last.click()
    expect(title).to_have_count(0)  # what is done closes

    other = open_page(permalink)  # a session of its own
    expect(other.get_by_text("What swims · embedded")).to_be_visible()
    expect(other.locator(VERDICT)).to_have_text(words, use_inner_text=True)
    other.get_by_role("button", name="Ask a new question").click()
    expect(other.get_by_label("Question", exact=True)).to_be_visible()

    page.get_by_role("button", name="Open What swims").click()
    expect(page.get_by_text("Saved result")).to_be_visible()
    page.wait_for_url(f"{address}/inspection?saved=*")
    go_to(page, "History")
    expect(page.get_by_role("textbox", name="Search")).to_have_value("fish nobody")
    page.get_by_role("checkbox", name="Tick").first.check()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_text("No saved result has all of these words.")).to_be_visible()

    other.goto(permalink)
    expect(other.get_by_text("This result is not here")).to_be_visible()


def test_what_has_no_verdict_has_the_room_of_one(address, open_page):
    case = "query=What+is+the+capital+of+Spain%3F&answer=Madrid&repeated=Paris"
    page = open_page(f"{address}/amplification?{case}")
    at_rest(page)
    go_to(page, "History")
    row = page.locator(".result", has_text="Curve").first
    for width, ends in ((1280, False), (390, True)):
        page.set_viewport_size({"width": width, "height": 900})
        at_rest(page)
        all_of_it, title, words = (
            each.bounding_box() for each in (row, row.locator(".title"), row.locator(".came"))
        )
        right = words["x"] + words["width"]
        assert abs(right - all_of_it["x"] - all_of_it["width"]) < 1
        assert (abs(words["x"] - title["x"]) < 1) is ends  # on a phone, one below the other


def test_doubts_stand_one_below_the_other_under_the_name_of_their_scale(address, open_page):
    ink = "(each) => getComputedStyle(each).color"
    page = open_page("about:blank")
    inks = []  # of “Believe it”, and of “Perhaps”, which is not in the colour of trust
    for question in ("Who+wrote+Hamlet%3F", "What+is+the+capital+of+Australia%3F"):
        page.goto(f"{address}/inspection?q={question}")
        expect(page.locator(VERDICT)).to_be_visible()
        at_rest(page)
        inks.append(page.locator('[class*="st-key-served"] span').first.evaluate(ink))
    page.set_viewport_size(PHONE)
    page.goto(f"{address}/history")
    rows = [page.locator(".result", has_text=name) for name in ("Hamlet", "Australia")]
    assert [row.locator(".came").evaluate(ink) for row in rows] == inks and len({*inks}) == 2
    expect(page.get_by_text("doubt; dashed: “I don’t know”")).to_be_visible()
    number = page.locator(".doubt:has(.beside-limit:visible) > span").first
    number.evaluate(
        "(each) => { each.textContent = '0.58051 < 0.58092' }"
    )  # longer than the others
    for size in (PHONE, {"width": 1280, "height": 900}):
        page.set_viewport_size(size)
        at_rest(page)
        tracks = [
            track.bounding_box() for track in page.locator(".doubt .beside-limit:visible").all()
        ]
        assert len(tracks) > 1 and len({(box["x"], box["width"]) for box in tracks}) == 1
        beside = number.bounding_box()["y"] - tracks[0]["y"]
        assert abs(beside) < 10 and too_wide(page) <= 0


USER_COOKIE = "_streamlit_user"  # as Streamlit calls it


@pytest.fixture
def provider():
    """A provider of identities with OpenID Connect, which believes whoever comes."""
    with oidc_provider_mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def signed_in(tmp_path, tabs, provider):
    """Return a function that signs somebody in, each time in a browser that knows nobody."""
    port = free_port()
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(
        f"[auth]\nredirect_uri = 'http://localhost:{port}/oauth2callback'\n"
        "cookie_secret = 'of this test alone, and long enough to sign'\n"
        "client_id = 'believe'\nclient_secret = 'not checked'\n"
        f"server_metadata_url = '{provider}/.well-known/openid-configuration'\n"
    )
    process, address = start_server(
        *("--secrets.files", str(secrets)),
        port=port,
        BELIEVE_DATABASE_URL=f"sqlite:///{tmp_path / 'believe.db'}",
    )
    page = tabs.take()

    def come(name, path):
        page.goto(f"{address}/_stcore/health")
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.context.clear_cookies()
        claims = {"email": f"{name}@x.example"}
        page.request.put(f"{provider}/users/{name}", data=claims)
        page.goto(f"{address}/history")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_placeholder("sub").fill(name)
        page.get_by_role("button", name="Authorize").click()
        page.wait_for_url(f"{address}/**")
        page.goto(f"{address}{path}")
        at_rest(page)
        return page

    yield come
    tabs.give_back(page)
    stop_server(process)


def test_who_signed_in_finds_what_they_asked_in_any_browser_and_nobody_else_does(signed_in):
    asked = signed_in("alice", f"/inspection?q={quote(QUERY)}")
    asked.get_by_role("button", name="In History: link", exact=True).click()
    link = asked.get_by_test_id("stCode").filter(has_text="?saved=")
    expect(link).to_be_visible()
    address, _, path = link.inner_text().strip().rpartition("/")
    again = signed_in("alice", "/history")
    expect(again.get_by_role("checkbox", name="Tick").first).to_be_visible()
    expect(again.get_by_text("You are signed in as alice@x.example.")).to_be_visible()
    again.get_by_role("button", name="Sign out").click()
    again.get_by_role("button", name="End session").click()  # at the provider
    again.wait_for_url(f"{address}/**")
    again.goto(f"{address}/history")
    expect(again.get_by_role("button", name="Sign in")).to_be_visible()
    expect(again.get_by_text("Nothing here yet.")).to_be_visible()

    given = signed_in("bob", "/history")
    expect(given.get_by_text("as bob@x.example")).to_be_visible()
    expect(given.get_by_text("Nothing here yet.")).to_be_visible()
    given.goto(f"{address}/{path}")
    expect(given.get_by_text("Saved result")).to_be_visible()
    id = path.partition("=")[2]
    given.goto(f"{address}/inspection?saved={id[:-1]}{'0' if id[-1] != '0' else '1'}")
    expect(given.get_by_text("This result is not here")).to_be_visible()

    # A cookie that somebody changed, and an answer of the provider that nobody asked for: nobody.
    (cookie,) = (c for c in given.context.cookies() if c["name"] == USER_COOKIE)
    said, _, signature = cookie["value"].rpartition(".")
    given.context.add_cookies([cookie | {"value": f"{said}.{signature[::-1]}"}])
    given.goto(f"{address}/history")
    expect(given.get_by_text("ends with this browser session")).to_be_visible()
    given.context.clear_cookies()
    given.goto(f"{address}/oauth2callback?code=guessed&state=guessed")
    given.goto(f"{address}/history")
    expect(given.get_by_role("button", name="Sign in")).to_be_visible()
    expect(given.get_by_text("Nothing here yet.")).to_be_visible()
