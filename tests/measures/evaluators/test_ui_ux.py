"""ui-ux: one small page in a real browser, and what happens when it cannot be seen."""

import sys

import pytest
from tests.measures.evaluators.planted import answer_of, found, ground_of, options, trees_of

from flyball.measures.evaluators.toolbox import find_tool, lacking_tools
from flyball.measures.evaluators.ui_ux import IN_BROWSER, measure

pytestmark = pytest.mark.req("D21")
BROWSER = all(find_tool(name, __import__("os").environ) for name in ("playwright", "axe", "chromium"))
needs_browser = pytest.mark.skipif(not BROWSER, reason="the browser is not installed: apt install chromium")
SERVE = f"exec {sys.executable} -m http.server $PORT --bind 127.0.0.1"
PAGE = """<!doctype html>
<html>
<head><title>Rooms</title><link rel="icon" href="data:,"></head>
<body><main>
<h1>Rooms</h1>
<p style="color: #ccc; background: #fff">Too pale.</p>
<p id="wide" style="width: 900px">Wide.</p>
<p>Price: undefined</p>
<button id="small" style="width: 20px; height: 20px; outline: none">x</button>
<input name="guest" placeholder="Name" style="min-height: 50px">
<p id="moving" style="animation: spin 1s infinite">Moving.</p>
<style>@keyframes spin { to { opacity: 0.5; } }</style>
<script>console.error("broken")</script>
<p>There is <a href="/a/b/c/d/more.html">a room upstairs</a>.</p></main></body></html>
"""
LINKED = "a/b/c/d/more.html"
"""Too deep for its address to be guessed from its path, so it is opened only if links are followed."""
MORE = """<!doctype html><html lang="en"><head><title>More</title><link rel="icon" href="data:,"></head><body><main><h1>Upstairs</h1>
<p>TODO words about the room</p>
<div style="cursor: pointer; height: 50px">Book the room</div><script>document.querySelector("#none").hidden = true</script></main></body></html>
"""


@pytest.mark.slow
@needs_browser
def test_a_page_is_seen_at_three_widths_and_pictures_are_kept(tmp_path):
    ground = ground_of(
        tmp_path,
        "ui-ux",
        {"index.html": PAGE, LINKED: MORE},
        options=options(start=SERVE),
        shots=str(tmp_path / "shots"),
    )
    results = answer_of(ground, tmp_path)
    assert not isinstance(results, str), results
    assert {"index.html:7 overflow", "index.html:9 target"} <= set(found(results, "responsive"))
    assert "viewport" in " ".join(found(results, "responsive"))
    told = found(results, "accessibility")
    for rule in ("color-contrast", "label", "html-has-lang", "focus"):
        assert any(each.endswith(rule) for each in told), (rule, told)
    assert found(results, "animation") == ["index.html:11 motion"]
    assert found(results, "copy") == [f"{LINKED}:2 text", "index.html:8 text"]
    assert f"{LINKED}:3 mouse-only" in told
    broken = [each.message for result in results for each in result.findings if each.rule == "console"]
    assert [each.partition(":")[0] for each in broken] == ["/", f"/{LINKED}"]
    assert sorted(path.name for path in (tmp_path / "shots").iterdir()) == [
        f"{page}-{width}.png" for page in ("a-b-c-d-more-html", "index") for width in (1024, 375, 768)
    ]
    layout = next(each for each in results if each.name == "layout")
    assert {"screenshot: index-375.png", f"pages opened: /, /{LINKED}"} <= set(layout.notes)


@pytest.mark.slow
@needs_browser
@pytest.mark.req("D25")
@pytest.mark.parametrize(
    ("start", "url", "said"),
    [
        ("sleep 60", "", "does not listen"),
        ("echo no such script; exit 3", "", "ended before it listened: no such script"),
        (
            f'exec {sys.executable} -c \'import os, socket, time; s = socket.create_server(("127.0.0.1", int(os.environ["PORT"]))); time.sleep(60)\'',
            "",
            "Timeout",
        ),
        ("", "http://127.0.0.1:9", "browser failed"),
    ],
    ids=["never listens", "ends", "never loads", "nobody there"],
)
def test_a_page_that_cannot_be_seen_fails_the_passes_that_need_it(tmp_path, monkeypatch, start, url, said):
    monkeypatch.setattr("flyball.measures.evaluators.browsing.browser.LOAD_MS", 1500)
    given = options(start=start, url=url, start_timeout_s=2)
    results = list(measure(trees_of(tmp_path, {"index.html": PAGE}, options=given)))
    failed = [each for each in results if each.status == "fail" and not each.findings]
    assert {each.name for each in failed} == set(IN_BROWSER)
    assert all(said in each.reason for each in failed), failed[0].reason


@pytest.mark.req("D20")
def test_a_missing_browser_fails_no_pass_and_is_said_how_to_get(tmp_path, monkeypatch):
    real = find_tool
    monkeypatch.setattr(
        "flyball.measures.evaluators.toolbox.find_tool",
        lambda name, env, tree: "" if name == "chromium" else real(name, env) or "there",
    )
    results = list(measure(trees_of(tmp_path, {"index.html": PAGE}, options=options(start=SERVE))))
    unseen = [each for each in results if each.status == "n/a" and "apt install chromium" in each.reason]
    assert {each.name for each in unseen} == set(IN_BROWSER)
    (said,) = lacking_tools(["ui-ux"], tmp_path, {}, pages=True)
    assert "[evaluators] configures chromium, which is not installed here. Install it with: apt install" in said


def test_without_a_way_to_see_pages_the_sources_are_still_read(tmp_path):
    results = list(measure(trees_of(tmp_path, {"a.css": ".a { width: 17px; }\n.b { transition: height 0.2s; }\n"})))
    assert found(results, "design tokens") == ["a.css:1 raw-px"]
    assert found(results, "animation") == ["a.css:2 layout-transition"]
    assert {each.name for each in results if each.status == "n/a"} >= {"layout", "responsive"}


STYLES = [
    (".a { color: rebeccapurple; }", "design tokens", "raw-colour"),
    (".a { border: 1px solid DarkSlateGrey; }", "design tokens", "raw-colour"),
    (".a { --brand: rebeccapurple; color: currentColor; background: transparent; }", "design tokens", ""),
    (".a { animation: snow 1s; grid-area: gold; font-family: linen; }", "design tokens", ""),
    (".a { outline: 4px solid var(--ink); outline-offset: 3px; border-left: 3px solid var(--ink); }", "design tokens", ""),
    (".a { outline-width: 6px; }", "design tokens", "raw-px"),
    (".a { border-radius: 3px; }", "design tokens", "raw-px"),
    (".a { margin: 3.5px; }", "design tokens", "raw-px"),
    (".a { transition: all 200ms; }", "animation", "every-transition"),
    (".a { transition: 0.2s ease-in; }", "animation", "every-transition"),
    (".a { transition: 0.2s ease-in-out transform; }", "animation", ""),
    (".a { color: rgba(var(--ink), 0.5); box-shadow: 0 0 0 rgba(0, 0, 0, 0); }", "design tokens", ""),
    (".a { transition: color 150ms, margin-left 150ms; }", "animation", "layout-transition"),
    (".a { transition: opacity 0.8s ease; }", "animation", "slow-transition"),
    (".a { transition-duration: 900ms; }", "animation", "slow-transition"),
    (".a { transition: opacity 500ms ease 2s, transform 0.3s; }", "animation", ""),
    (".a { transition: none; transition-property: transform; }", "animation", ""),
    ("@keyframes grow { from { max-height: 0; } }", "animation", "layout-keyframes"),
    ("@keyframes turn { to { transform: rotate(1turn); opacity: 0.5; } }", "animation", ""),
    (".a { z-index: 100000; }", "layout", "z-index-off-scale"),
    (".a { z-index: 1000; order: 99999; }", "layout", ""),
]  # fmt: skip


def rules_of(results, name, file):
    return [each.rpartition(" ")[2] for each in found(results, name) if each.startswith(f"{file}:")]


def test_rules_on_styles(tmp_path):
    results = list(measure(trees_of(tmp_path, {f"{n}.css": f"{text}\n" for n, (text, _, _) in enumerate(STYLES)})))
    for n, (text, name, rule) in enumerate(STYLES):
        assert rules_of(results, name, f"{n}.css") == ([rule] if rule else []), text


LIST = "const [rooms, setRooms] = useState([]);\nuseEffect(() => { fetch('/rooms').then((a) => a.json()).then(setRooms)%s; }, []);\n%sreturn <ul>{rooms.map((r) => <li key={r.id}>{r.name}</li>)}</ul>;"
MARKUP = [
    ('<p style={{ color: "peru" }}>x</p>', "design tokens", ["raw-colour-in-markup"]),
    ('<svg fill="tomato" />', "design tokens", ["raw-colour-in-markup"]),
    ('<p className="gold" title="tan">x</p>', "design tokens", []),
    ('<p className="text-[tan] text-tan">x</p>', "design tokens", ["raw-colour-in-markup"]),
    ("<p style={{ marginTop: 7, opacity: 5, zIndex: 10 }}>x</p>", "design tokens", ["raw-px-in-markup"]),
    ('<p className="z-[99999]">x</p>', "layout", ["z-index-off-scale-in-markup"]),
    ('<select name="size"><option>S</option></select>', "accessibility", ["field-without-label"]),
    ('<textarea placeholder="Your words" />', "accessibility", ["field-without-label"]),
    ('<label>Size <select name="size"><option>S</option></select></label>', "accessibility", []),
    ('<><label htmlFor="n">Name</label><input id="n" /></>', "accessibility", []),
    ('<><input type="hidden" name="t" /><input {...field} /><input aria-label="Name" /></>', "accessibility", []),
    ('<button type="button"><svg /></button>', "accessibility", ["jsx-a11y/control-has-associated-label"]),
    ('<p role="status">Saved.</p>', "accessibility", []),
    ("<button>Submit</button>", "copy", ["vague-button"]),
    ("<Button>\n  Yes\n</Button>", "copy", ["vague-button"]),
    ("<button>Send the order</button>", "copy", []),
    ("<button><Icon /> OK</button>", "copy", []),
    ("<ConfirmDialog><p>Delete it?</p><button>Yes</button><button>No</button></ConfirmDialog>", "copy", []),
    ('<p>Terms: <a href="/terms">here</a></p>', "copy", ["jsx-a11y/anchor-ambiguous-text"]),
    ('<a href="/terms">Read the terms</a>', "copy", []),
    ('<p title="Your adress is not known">x</p>', "copy", ["misspelt"]),
    ('<p className="adress recieve">The address of your favourite colour</p>', "copy", []),
]  # fmt: skip


def test_rules_on_components(tmp_path):
    pages = {
        f"{n}.tsx": f"export const Page = ({{ field }}) => (\n{text}\n);\n" for n, (text, _, _) in enumerate(MARKUP)
    }
    results = list(measure(trees_of(tmp_path, pages)))
    for n, (text, name, rules) in enumerate(MARKUP):
        assert rules_of(results, name, f"{n}.tsx") == rules, text


FETCHING = [
    (LIST % ("", ""), ["no-error-state", "no-pending-state", "no-empty-state"]),
    (LIST % (".catch(setError)", ""), ["no-pending-state", "no-empty-state"]),
    (LIST % (".catch(setError)", "if (loading) return <Spinner />;\n"), ["no-empty-state"]),
    (LIST % (".catch(setError)", "if (!rooms) return <p>Loading</p>;\nif (rooms.length === 0) return <p>None</p>;\n"), []),
    ("const { data, error, isLoading } = useQuery(() => fetch('/rooms'));\nreturn <p>{data}</p>;", []),
    ("const send = async () => { await axios.post('/rooms'); };\nreturn <form onSubmit={send} />;", ["no-error-state", "no-pending-state"]),
]  # fmt: skip


def test_a_component_that_fetches_shows_failure_waiting_and_nothing(tmp_path):
    heads = ("export function Rooms() {", "export const Rooms = () => {", "export function useRooms() {")
    files = {f"{n}-{m}.tsx": f"{head}\n{body}\n}}\n" for n, (body, _) in enumerate(FETCHING) for m, head in enumerate(heads)}  # fmt: skip
    results = list(measure(trees_of(tmp_path, files)))
    for n, (body, rules) in enumerate(FETCHING):
        told = [rules_of(results, "component states", f"{n}-{m}.tsx") for m in range(len(heads))]
        assert told == [rules, rules, []], body  # a hook shows nothing


def test_words_of_a_page_are_spelt_and_its_code_and_other_languages_are_not(tmp_path):
    page = '<html lang="{}"><body><p>You will\nrecieve teh order.</p><code>recieve()</code><script>let teh;</script></body></html>\n'
    results = measure(trees_of(tmp_path / "en", {"a.html": page.format("en")}))
    assert found(results, "copy") == ["a.html:2 misspelt", "a.html:2 misspelt"]
    assert found(measure(trees_of(tmp_path / "de", {"a.html": page.format("de")})), "copy") == []


def test_styles_within_pages_are_read_where_they_stand(tmp_path):
    page = (
        '<p style="color: #ccc; margin: var(--gap)">a</p>\n<style>\n.a { color: var(--ink); }\n.b { width: 17px; }\n'
        "</style>\n<p data-colour=\"#fff\" style='padding: 9px'>17px #fff</p>\n"
    )
    files = {"a.html": page, "b.vue": f"<template><p>#fff</p></template>\n{page}", "mails/welcome.html": page}
    told = found(measure(trees_of(tmp_path, files)), "design tokens")
    assert told == [
        *("a.html:1 raw-colour", "a.html:4 raw-px", "a.html:6 raw-px"),
        *("b.vue:2 raw-colour", "b.vue:5 raw-px", "b.vue:7 raw-px"),
    ]


HEAD = '<!doctype html><html lang="en"><head><title>Rooms</title>{}<style>{}</style></head><body><main><h1>Rooms</h1>\n'
SEEN = {
    "bad.html": HEAD.format('<meta name="viewport" content="width=1024">', ".buy { display: inline-block; padding: 20px; background: #036; color: #fff } button { background: #036; color: #fff; min-width: 50px; min-height: 50px } .tag { position: absolute; left: 0; top: 0; width: 300px; height: 90px; background: #036; color: #fff }")
    + """<h3>Prices</h3><div class="tag">New</div>
<p>Prices are <a href="/prices">here</a>.</p>
<button id="plain" type="button">Submit</button>
<p tabindex="3">Below</p><a class="buy" href="/buy">Buy a ticket</a></main></body></html>""",
    "good.html": HEAD.format('<meta name="viewport" content="width=device-width">', "button { background: #036; color: #fff; min-width: 50px; min-height: 50px } button { &:hover { background: #025 } } .wrap { position: relative } .wrap a::after { content: ''; position: absolute; inset: 0 } .cut { overflow: hidden; height: 20px; position: relative } .bar { position: fixed; bottom: 0; left: 0; right: 0; background: #fff }")
    + """<h2>Prices</h2><div class="wrap"><p>A card that is a link as a whole. <a href="/prices">See all prices</a></p></div>
<div class="cut"><p>One</p><p>Two, which is scrolled away</p></div><p>Below</p><div style="height: 900px"></div><p>At the end</p>
<div class="bar">We keep nothing.</div><dialog open><p>Delete it?</p><button type="button">Yes</button></dialog>
<button type="button">Book the room</button></main></body></html>""",
}  # fmt: skip


@pytest.mark.slow
@needs_browser
def test_the_browser_finds_what_is_wrong_on_one_page_and_nothing_on_its_twin(tmp_path, monkeypatch):
    monkeypatch.setattr("flyball.measures.evaluators.browsing.browser.WIDTHS", (1024,))
    given = options(url=f"file://{tmp_path}/head", pages=tuple(SEEN))
    results = list(measure(trees_of(tmp_path, SEEN, options=given)))
    told = {
        (result.name, each.rule) for result in results for each in result.findings if each.message.startswith("bad")
    }
    assert told >= {
        ("layout", "covered"),
        ("responsive", "viewport"),
        ("component states", "states"),
        ("accessibility", "heading-order"),
        ("accessibility", "tabindex"),
        ("copy", "link-text"),
        ("copy", "button-text"),
    }
    assert len([each for result in results for each in result.findings if each.rule == "states"]) == 2
    assert [each.message for result in results for each in result.findings if each.message.startswith("good")] == []
