"""V11 in a real browser, each test an attack: another origin, a name that leads here, paths that lead out, hostile content, very long lines."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page
from tests.web.browser.conftest import Opened
from tests.web.browser.stage import MARKS, REBOUND, Server, World, fits, until
from tests.web.conftest import add, put, worked_on
from tests.web.hostile import HOSTILE, hostile_story

from flyball.core.model.events import LearningRecorded
from flyball.web.access import COOKIE

pytestmark = [*MARKS, pytest.mark.req("V11")]


class Elsewhere(BaseHTTPRequestHandler):
    """A page of somebody else's; what it does is told to it by the test."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>elsewhere</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another server on this machine; to browsers it is the same site as ours, so that cookies go along."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        yield other.server_address[1]
        other.shutdown()


READS = """async ([page, live, form]) => {
  const told = {};
  const get = (url, more) => fetch(url, {credentials: 'include', ...more}).then(r => r.text()).catch(() => 'refused');
  const post = (type) => get(form, {method: 'POST', body: 'answer=half-up&form_token=x', headers: {'Content-Type': type}});
  told.read = await get(page);
  told.opaque = await get(page, {mode: 'no-cors'});
  told.form = await post('application/x-www-form-urlencoded');
  told.text = await post('text/plain');
  told.json = await post('application/json');
  told.beacon = navigator.sendBeacon(form, new URLSearchParams({answer: 'half-up'})) ? '' : 'refused';
  told.stream = await new Promise(done => {
    const source = new EventSource(live, {withCredentials: true});
    source.onmessage = source.onopen = () => done('open');
    source.addEventListener('all', () => done('data'));
    source.onerror = () => { source.close(); done('refused'); };
  });
  told.script = await new Promise(done => {
    const s = document.createElement('script'); s.src = page;
    s.onload = () => done('loaded'); s.onerror = () => done('refused'); document.body.append(s);
  });
  told.frame = await new Promise(done => {
    const f = document.createElement('iframe'); f.src = page; document.body.append(f);
    f.onload = () => { try { done(f.contentDocument ? 'read' : 'refused'); } catch (e) { done('refused'); } };
  });
  return told;
}"""
SENDS = """url => { const f = document.createElement('form'); f.method = 'post'; f.action = url;
  f.innerHTML = '<input name=answer value=half-up><input name=form_token value=x>'; document.body.append(f); f.submit(); }"""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_can_neither_read_nor_speak(
    chromium: Browser, server: Server, world: World, elsewhere: int, name: str
) -> None:
    context = chromium.new_context()
    context.add_cookies([{"name": COOKIE, "value": server.gate.cookie, "url": server.address, "sameSite": "Lax"}])
    page = context.new_page()
    page.goto(f"http://{name}:{elsewhere}/")
    here = server.address + world.path("attacked")
    form = f"{here}/question/ask-1"
    told = page.evaluate(READS, [here, f"{server.address}/live?path={world.path('attacked')}", form])
    assert {way: said for way, said in told.items() if said not in {"refused", ""}} == {}
    (frame,) = page.frames[1:]
    frame.wait_for_url("chrome-error://chromewebdata/", wait_until="commit")
    with page.expect_navigation() as sent:
        page.evaluate(SENDS, form)
    assert sent.value.status == 403
    # The browser sent the cookie along from the same site; it was the origin that gave the form away.
    why = "came from another page" if name == "127.0.0.1" else "flyball serve --link"
    assert why in page.content()
    assert world.words("attacked") == []
    context.close()


def test_a_name_that_was_made_to_lead_here_shows_nothing_whatever_cookie_it_has(
    chromium: Browser, server: Server, world: World
) -> None:
    context = chromium.new_context()
    there = f"http://{REBOUND}:{server.port}"
    context.add_cookies([{"name": COOKIE, "value": server.gate.cookie, "url": there}])
    page = context.new_page()
    for path in ("/", world.path("attacked"), f"/?token={server.gate.token}", "/static/page.js"):
        answer = page.goto(there + path)
        assert answer is not None
        assert (answer.status, page.inner_text("body")) == (421, "This server does not answer to that name.")
    body = {"answer": "half-up", "form_token": server.gate.form_token}
    said = page.evaluate(
        "([url, body]) => fetch(url, {method: 'POST', body: new URLSearchParams(body)}).then(r => r.status)",
        [f"{there}{world.path('attacked')}/question/ask-1", body],
    )
    assert said == 421
    assert world.words("attacked") == []
    context.close()


LEADING_OUT = (
    "../../../../secret",
    "..%2f..%2f..%2fsecret",
    "..%252f..%252fsecret",
    "..%5c..%5csecret",
    "%2fetc%2fpasswd",
    "secret%00.txt",
    "link",
    "file:///etc/passwd",
)


def get(line: http.client.HTTPConnection, path: str, server: Server) -> bytes:
    """What comes of a path that nothing on the way has made another one of; of a stream, what comes first."""
    line.putrequest("GET", path)
    line.putheader("Cookie", f"{COOKIE}={server.gate.cookie}")
    line.endheaders()
    with line.getresponse() as answer:
        assert answer.status < 500, path
        if not answer.headers["Content-Type"].startswith("text/event-stream"):
            return answer.read()
        said = answer.readline() + answer.readline() + answer.read1(200_000)
    line.close()
    return said


def test_no_path_as_it_goes_over_the_wire_leads_out(server: Server, world: World) -> None:
    site, here = world.site, world.path("done")
    (site.home.home / "secret").write_text("SECRET")
    turn = site.home.turns(world.tasks["done"]) / "0001-1"
    turn.mkdir(parents=True)
    for name in ("stdout", "stderr", "link"):
        (turn / name).symlink_to(site.home.home / "secret")
    ways = [f"{here}/turn/{{}}", f"{here}/turn/1/{{}}", f"{here}/turn/1?view=raw&file={{}}", f"{here}/diff?since={{}}"]
    ways += [
        "/{}",
        "/static/{}",
        "/r/{}",
        "/t/{}/x",
        f"/t/{site.home.name}/{{}}",
        f"{here}/{{}}",
        f"{here}/diff?turn={{}}",
    ]
    ways += [f"{here}/diff?item={{}}", f"{here}/diff?comment={{}}", f"{here}/question/{{}}", f"{here}/say/{{}}"]
    ways += ["/live?path={}"]
    paths = [way.format(out) for way in ways for out in LEADING_OUT]
    paths += [
        f"{here}/turn/1?view=raw&file={name}" for name in ("stdout", "stderr", quote(str(turn / "link"), safe=""))
    ]
    paths += [f"/live?path={quote(f'{here}/turn/1?view=raw&file=stdout')}"]
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        for path in paths:
            said = get(line, path, server)
            assert not any(secret in said for secret in (b"SECRET", b"root:x:", server.gate.token.encode())), path
    finally:
        line.close()


def harmless(page: Page) -> None:
    """Nothing of what was written ran or became a part of the page."""
    found = page.evaluate(
        "[window.owned, document.querySelectorAll('main img, main iframe, main script, [onerror], [href^=javascript]').length,"
        " /[\\x00-\\x08\\x0b-\\x1f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.outerHTML.replace(/\\r/g, ''))]"
    )
    assert found == [None, 0, False], page.url


def test_what_an_agent_writes_does_nothing_as_it_stands_and_as_it_arrives(
    opened: Opened, server: Server, world: World
) -> None:
    site = world.site
    task, ended = put(site, hostile_story()), put(site, hostile_story(stopped=True))
    changed = worked_on(site, {"<img src=x onerror=alert(1)>\u202e.py": f"{HOSTILE}\n", "long.js": "x" * 5_000_000})
    turn = site.home.turns(task) / "0001-1"
    turn.mkdir(parents=True)
    for name, text in (("stdout", f"{HOSTILE}\n{'l' * 5_000_000}"), ("stderr", HOSTILE * 9), ("prompt.md", HOSTILE)):
        (turn / name).write_text(text)
    (turn / "report.json").write_text('"' + "l" * 5_000_000)
    here = f"/t/{site.home.name}/{task}"
    tails = (
        "/report",
        "/iterations",
        "/turn/1",
        "/turn/1?view=raw",
        "/turn/1?view=raw&file=stderr",
        "/say/modify",
        "/question/ask-1",
        "",
    )
    page = opened("/", 375)
    for path in (
        *(here + tail for tail in tails),
        f"/t/{site.home.name}/{ended}",
        f"/t/{site.home.name}/{changed}/diff",
        here,
    ):
        answer = page.goto(server.address + path)
        assert answer is not None
        assert answer.status == 200, path
        assert len(answer.body()) < 900_000, path
        harmless(page)
        fits(page)
    assert "<script>" in page.locator("h1").inner_text(), "as text it is all there"
    until(page, "document.getElementById('live-word').textContent === 'Live'")
    add(site, task, LearningRecorded(3, "decision", f"it arrives {HOSTILE}"))
    page.get_by_text("it arrives").first.wait_for(state="attached")
    harmless(page)
