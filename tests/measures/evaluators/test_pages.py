"""ui-ux: which pages are opened, which files they show, and where their elements stand."""

import pytest
from tests.measures.evaluators.planted import options, trees_of

from flyball.measures.evaluators import ui_ux
from flyball.measures.evaluators.browsing.browser import PageFinding, PagesSeen
from flyball.measures.evaluators.browsing.pages import (
    MOST,
    PageAddress,
    PageQueue,
    PageReply,
    addresses_of,
    changed_templates,
)
from flyball.measures.evaluators.browsing.shown import ShownSources

pytestmark = pytest.mark.req("D20", "D21")
FRAME = '<html><head><title>Museum of clocks</title></head>\n<nav><a class="link" href="/order">Order</a></nav>\n'
FILES = {
    "public/index.html": f"{FRAME}<h1>Museum of clocks</h1>\n",
    "public/tickets.html": f'{FRAME}<h1>Tickets for you</h1>\n<p class="note">Closed\n  on <b>Mondays</b></p>\n',
    "public/rooms.html": f'{FRAME}<h1>Rooms upstairs</h1>\n<p class="note">Open</p>\n<a class="link" href="/order">click here</a>\n<input name="day"\n  value="1">\n',
}  # fmt: skip
HTML = "text/html; charset=utf-8"


def site(pages):
    """What a server with these pages answers; it links a page to others by their names."""
    return lambda page: PageReply(200, HTML, pages[page]) if page in pages else PageReply(404)


def opened(queue, pages, links=()):
    told = dict(links)
    for page in queue.pages(site(pages)):
        queue.tell(page, pages[page], told.get(page, ()))
    return queue.opened


def queue_of(tmp_path, files=FILES, before=None, pages=("/",)):
    trees = trees_of(tmp_path, files, before)
    shown = ShownSources(trees.head)
    return PageQueue(pages, addresses_of(trees), shown), shown, trees


def test_changed_files_that_are_served_are_opened_once_each(tmp_path):
    queue, shown, trees = queue_of(tmp_path)
    served = {"/": FILES["public/index.html"], "/index.html": FILES["public/index.html"]}
    served |= {"/tickets.html": FILES["public/tickets.html"], "/rooms": FILES["public/rooms.html"]}
    assert opened(queue, served) == ["/", "/tickets.html", "/rooms"]
    assert shown.list_unseen(changed_templates(trees)) == ()


def test_an_answer_that_is_the_same_for_every_address_is_no_other_page(tmp_path):
    queue, shown, trees = queue_of(tmp_path)
    served = dict.fromkeys(("/", "/tickets.html", "/tickets", "/rooms.html", "/rooms"), FILES["public/index.html"])
    assert opened(queue, served) == ["/"]
    assert shown.list_unseen(changed_templates(trees)) == ("public/tickets.html", "public/rooms.html")


def test_links_are_followed_in_the_order_found_and_not_without_end(tmp_path):
    queue, _, _ = queue_of(tmp_path, {"a.css": "p { margin: 0; }\n"})
    pages = {"/": "home"} | {f"/{n}": f"page {n}" for n in range(20)}
    links = {"/": ["/gone", "/1", "/1?again", "/0"], "/1": [f"/{n}" for n in range(19, -1, -1)]}
    assert opened(queue, pages, links) == ["/", "/1", "/0", *(f"/{n}" for n in range(19, 19 - MOST + 2, -1))]
    assert queue.notes == [
        "a page links to /gone, which answers 404",
        "linked and not opened, see evaluators.pages: " + ", ".join(f"/{n}" for n in range(9, 1, -1)),
    ]


def test_a_redirect_is_followed_and_a_file_is_no_page(tmp_path):
    queue, _, _ = queue_of(tmp_path, {"a.css": "p { margin: 0; }\n"})
    replies = {"/rooms": PageReply(301, location="/rooms/"), "/rooms/": PageReply(200, HTML, "rooms")}
    for page in queue.pages(lambda page: replies.get(page, PageReply(200, "application/pdf"))):
        queue.tell(page, "", ["/plan", "/rooms"])
    assert queue.opened == ["/", "/rooms/"]


ROUTES = [
    ("market/serve.py", '@app.route("/stalls")\ndef stalls(): ...\n@app.get("/stalls/<id>")\n', ["/stalls"]),
    ("server.js", 'app.get("/rooms", show);\nfetch("/api/rooms");\n', ["/rooms"]),
    ("src/App.tsx", '<Route path="/about" element={<About />} />\n', ["/about"]),
    ("app/(shop)/basket/page.tsx", "export default 1;\n", ["/basket"]),
    ("src/pages/help/index.vue", "<template></template>\n", ["/help"]),
    ("app/[id]/page.tsx", "export default 1;\n", []),
]


@pytest.mark.parametrize(("path", "text", "pages"), ROUTES, ids=[each[0] for each in ROUTES])
def test_routes_on_changed_lines_are_tried(tmp_path, path, text, pages):
    trees = trees_of(tmp_path, {path: text})
    assert addresses_of(trees) == tuple(PageAddress(page) for page in pages)


def test_mails_parts_of_components_and_documents_are_no_pages(tmp_path):
    files = {"docs/guide.html": "a", "mails/hello.html": "b", "src/room.component.html": "c", "tests/page.html": "d"}
    assert changed_templates(trees_of(tmp_path, files)) == ()


PLACES = [
    ("/tickets.html", '<p class="note">', "Closed on Mondays", ("public/tickets.html", 4)),
    ("/rooms.html", '<a class="link" href="/order">', "click here", ("public/rooms.html", 5)),
    ("/rooms.html", '<p class="note">', "Closed on Mondays", ("", 0)),
    ("/rooms.html", "<html>", "", ("public/rooms.html", 1)),
    ("/rooms.html", "", "", ("public/rooms.html", 1)),
    ("/rooms.html", '<b id="made">', "Made by a script", ("app/made.js", 1)),
    ("/rooms.html", '<b class="made">', "No such words", ("", 0)),
    ("/rooms.html", '<input name="day" value="1">', "1", ("public/rooms.html", 6)),
]


@pytest.mark.parametrize(("page", "html", "text", "place"), PLACES)
def test_a_finding_names_the_file_that_holds_its_element_or_none(tmp_path, page, html, text, place):
    files = FILES | {"app/made.js": 'add(`<b id="made">Made by a script</b>`);\n'}
    shown = ShownSources(trees_of(tmp_path, files).head)
    for name in ("tickets", "rooms"):
        shown.add(f"/{name}.html", files[f"public/{name}.html"])
    assert shown.place(page, html, text) == place


def measured(tmp_path, monkeypatch, bodies, files=FILES, found=()):
    """The passes in the browser, with pages that are made up; the static rules are left out."""

    def look(given, tree, toolbox, queue, shots):
        for page in queue.pages(site(bodies)):
            queue.tell(page, bodies[page], ())
        return PagesSeen(found, tuple(queue.opened))

    monkeypatch.setattr(ui_ux, "look_at_pages", look)
    trees = trees_of(tmp_path, files, options=options(url="http://127.0.0.1:1"))
    return list(ui_ux._pages(trees))


def test_a_changed_page_that_nobody_opened_fails_the_passes_in_the_browser(tmp_path, monkeypatch):
    results = measured(tmp_path, monkeypatch, {"/": FILES["public/index.html"]})
    failed = {each.name: each.reason for each in results if each.status == "fail"}
    assert set(failed) == set(ui_ux.IN_BROWSER)
    assert all("public/tickets.html, public/rooms.html" in each and "evaluators.pages" in each for each in failed.values())  # fmt: skip


def test_components_that_no_page_can_be_told_of_raise_no_alarm_and_the_pages_are_named(tmp_path, monkeypatch):
    results = measured(tmp_path, monkeypatch, {"/": "<div id=root></div>"}, {"src/Room.tsx": "export const Room = 1;\n"})  # fmt: skip
    assert {each.status for each in results} == {"pass"}
    assert all("pages opened: /" in each.notes for each in results)


def test_a_template_that_says_nothing_of_its_own_is_named_as_untold(tmp_path, monkeypatch):
    results = measured(tmp_path, monkeypatch, {"/": "<p>"}, {"web/room.html": "{{ room }}\n"})
    assert {each.status for each in results} == {"pass"}
    assert all("it cannot be told whether a page shows web/room.html" in each.notes for each in results)


def test_an_error_of_a_script_belongs_to_the_states_of_components(tmp_path, monkeypatch):
    told = (PageFinding("console", "the console shows an error: null", "/"),)
    results = measured(tmp_path, monkeypatch, {"/": "<p>"}, {"a.js": "go();\n"}, told)
    assert [(each.name, one.place) for each in results for one in each.findings] == [("component states", "")]
