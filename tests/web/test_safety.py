"""V11: each test attacks."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, tdd_task
from tests.web.conftest import ORIGIN, Serve, asking, form_token, place, put, say, short_tdd_run, worked_on
from tests.web.hostile import HOSTILE, STEERING, hostile_story

from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Begun
from flyball.core.model.task import AgentSpec, EffectId
from flyball.web.access import COOKIE, AccessRules, hosts_of, opening_file, token_of
from flyball.wiring.run.confining import confinement
from flyball.wiring.site import Site
from flyball.workspace.sandbox import Unavailable, available

pytestmark = pytest.mark.req("V11")


def test_without_the_token_nothing_is_shown_and_no_word_is_taken(site: Site, serve: Serve) -> None:
    task = put(site, asking())
    stranger = serve(logged_in=False)
    for path in ("/", place(site, task), f"{place(site, task)}/report", "/start", "/metrics", "/live?path=/"):
        answer = stranger.get(path)
        assert answer.status_code == 403
        assert task not in answer.text
    assert say(stranger, f"{place(site, task)}/say/abort", sure="yes").status_code == 403
    assert stranger.get("/?token=" + "0" * 64).status_code == 403
    assert site.journal.pending(task) == []


def test_the_link_is_needed_once_and_leaves_the_address(site: Site, serve: Serve) -> None:
    put(site, short_tdd_run())
    browser = serve(logged_in=False)
    token = token_of(site.home.home)
    answer = browser.get(f"/?token={token}", follow_redirects=False)
    assert answer.status_code == 303
    assert "token" not in answer.headers["location"]
    kept = answer.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=lax" in kept
    assert token not in kept
    assert browser.get("/").status_code == 200


def test_a_token_survives_restarts_and_a_new_one_shuts_out_what_was_stolen(site: Site, serve: Serve) -> None:
    token = token_of(site.home.home)
    assert token_of(site.home.home) == token
    path = site.home.home / "serve" / "token"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    stolen = AccessRules(token, hosts_of("127.0.0.1", ())).cookie
    token_of(site.home.home, new=True)
    after = serve(logged_in=False)
    assert after.get(f"/?token={token}").status_code == 403
    after.cookies.set(COOKIE, stolen)
    assert after.get("/").status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://127.0.0.1.evil.example", "http://127.0.0.1:1"]
)
def test_a_form_or_a_fetch_of_another_site_is_refused_though_the_browser_sends_the_cookie(
    site: Site, serve: Serve, origin: str
) -> None:
    task = put(site, asking())
    browser = serve()
    headers = {"Origin": origin} if origin else {}
    data = {"form_token": form_token(browser), "answer": "half-up"}
    answer = browser.post(f"{place(site, task)}/question/ask-1", data=data, headers=headers)
    assert answer.status_code == 403
    assert site.journal.pending(task) == []


@pytest.mark.parametrize("body", [{"answer": "half-up"}, {"answer": "half-up", "form_token": "0" * 64}])
def test_a_word_without_the_pages_own_form_token_is_refused(site: Site, serve: Serve, body: dict[str, str]) -> None:
    task = put(site, asking())
    answer = serve().post(f"{place(site, task)}/question/ask-1", data=body, headers={"Origin": ORIGIN})
    assert answer.status_code == 403
    assert site.journal.pending(task) == []


def test_words_as_json_or_text_which_other_sites_may_send_are_refused(site: Site, serve: Serve) -> None:
    task = put(site, asking())
    browser = serve()
    body = f"form_token={form_token(browser)}&answer=half-up"
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
        headers = {"Origin": ORIGIN, "Content-Type": kind}
        assert browser.post(f"{place(site, task)}/question/ask-1", content=body, headers=headers).status_code == 403
    assert site.journal.pending(task) == []


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1].evil.example", "[::1", "", "169.254.1.1"],
)
def test_a_name_that_was_pointed_at_this_machine_reads_nothing(site: Site, serve: Serve, host: str) -> None:
    put(site, short_tdd_run())
    answer = serve().get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert "parse the rows" not in answer.text


def test_another_host_is_served_under_its_own_names_only() -> None:
    gate = AccessRules("t" * 64, hosts_of("0.0.0.0", ["desk", "desk.local", "10.0.0.5"]))
    assert all(gate.knows_host(name) for name in ("desk:7117", "10.0.0.5", "localhost:1", "[::1]:7117"))
    assert not gate.knows_host("evil.example")


def test_every_answer_forbids_inline_scripts_frames_and_other_hosts(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    browser = serve()
    for path in ("/", place(site, task), "/static/page.js", "/nothing", f"{place(site, task)}/report"):
        answer = browser.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert "<script>" not in answer.text
        assert " style=" not in answer.text


def test_script_in_every_field_an_agent_can_write_is_text_and_steers_no_terminal(site: Site, serve: Serve) -> None:
    tasks = [put(site, hostile_story()), put(site, hostile_story(stopped=True))]
    changed = worked_on(site, {"<img src=x onerror=alert(1)>\u202e.py": f"{HOSTILE}\n"})
    for task in tasks:
        turn = site.home.turns(task) / "0001-1"
        turn.mkdir(parents=True)
        for name in ("stdout", "stderr", "report.json", "prompt.md"):
            (turn / name).write_text(HOSTILE)
    browser = serve()
    tails = ("", "/report", "/iterations", "/checkpoints", "/say", "/say/modify", "/say/rollback", "/question/ask-1")
    turns = ("/turn/1", *(f"/turn/1?view=raw&file={name}" for name in ("stdout", "stderr", "report.json", "prompt.md")))
    paths = ["/", *(f"{place(site, task)}{tail}" for task in tasks for tail in (*tails, *turns))]
    paths += [f"{place(site, changed)}/diff", f"{place(site, changed)}/diff?view=split"]
    for path in paths:
        answer = browser.get(path)
        assert answer.status_code == 200, path
        text = answer.text
        assert "<script>" not in text, path
        assert "<img" not in text, path
        for control in STEERING:
            assert control not in text, (path, control)
        if path.endswith(tails) or path == "/":
            assert "</textarea></title>" not in text, path
    shown = browser.get(f"{place(site, tasks[0])}/turn/1").text
    assert "&lt;script&gt;window.owned=1" in shown
    assert "␛[31m" in shown
    assert "⟨202E⟩" in shown


@pytest.mark.parametrize(
    "turn",
    [
        "..%2f..%2f..%2f..%2fsecret",
        "..%252f..%252fsecret",
        "1%2f..%2f..%2f..%2fsecret",
        "-1",
        "1e3",
        "٣",
        "99999999999999999999",
    ],
)
def test_no_path_of_a_transcript_leads_out_of_its_folder(site: Site, serve: Serve, turn: str) -> None:
    task = put(site, short_tdd_run())
    (site.home.home / "secret").write_text("SECRET")
    browser = serve()
    assert "SECRET" not in browser.get(f"{place(site, task)}/turn/{turn}").text
    answer = browser.get(f"{place(site, task)}/turn/1", params={"view": "raw", "file": "../../../../secret"})
    assert "SECRET" not in answer.text


def test_a_link_an_agent_left_in_place_of_its_output_is_not_followed(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    (site.home.home / "secret").write_text("SECRET")
    turn = site.home.turns(task) / "0001-1"
    turn.mkdir(parents=True)
    (turn / "stdout").symlink_to(site.home.home / "secret")
    browser = serve()
    assert "SECRET" not in browser.get(f"{place(site, task)}/turn/1").text
    assert "SECRET" not in browser.get(f"{place(site, task)}/turn/1?view=raw").text


def test_no_secret_that_flyball_hands_on_is_sent_even_while_a_turn_prints_it(
    site: Site, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, opening = "sk-live-0123456789abcdef", token_of(site.home.home)
    monkeypatch.setenv("SHOP_API_KEY", key)
    task = replace(tdd_task(), agents=(AgentSpec("scripted", env=("SHOP_API_KEY",)),))
    under_way = RunAgent(EffectId("turn/1"), "tester", "RED", "scripted", "", "do it", 1, 1)
    printing = put(site, Story(task).start().add(Begun(under_way)))
    turn = site.home.turns(printing) / "0001-1"
    turn.mkdir(parents=True)
    for name in ("stdout", "stderr", "report.json"):
        (turn / name).write_text(f"before {key} and {opening} after\n")
    changed = worked_on(site, {"settings.py": f"KEY = '{key}'\nTOKEN = '{opening}'\n"}, task)
    browser = serve()
    raw = [f"/turn/1?view=raw&file={name}" for name in ("stdout", "stderr", "report.json")]
    paths = [f"{place(site, printing)}{tail}" for tail in ("/turn/1", *raw)]
    for path in (*paths, f"{place(site, changed)}/diff", f"{place(site, changed)}/diff?view=split"):
        text = browser.get(path).text
        assert "[hidden]" in text, path
        assert key not in text, path
        assert opening not in text, path


def test_a_diff_takes_only_names_of_checkpoints(site: Site, serve: Serve) -> None:
    task = put(site, short_tdd_run())
    browser = serve()
    for since in ("HEAD~1", "--output=/tmp/x", "../../etc/passwd", "main"):
        assert browser.get(f"{place(site, task)}/diff", params={"since": since}).status_code == 404
    forged = say(
        browser, f"{place(site, task)}/comments", older="--output=/tmp/x", newer="HEAD", path="x", line="1", comment="c"
    )
    assert forged.status_code == 400


def test_a_redirect_leads_to_our_own_pages_only(site: Site, serve: Serve) -> None:
    browser = serve()
    for back in ("https://evil.example/", "//evil.example/", "/\\evil.example"):
        assert say(browser, "/theme", theme="dark", back=back).headers["location"] == "/"


def test_read_only_refuses_every_word_and_shows_no_form(site: Site, serve: Serve) -> None:
    task = put(site, asking())
    browser = serve(read_only=True)
    here = place(site, task)
    words = [f"say/{word}" for word in ("pause", "resume", "modify", "reset", "skip", "abort", "rollback", "reopen")]
    for path in (*words, "question/ask-1", "comments", "comments/preview"):
        assert say(browser, f"{here}/{path}", text="x", sure="yes", answer="half-up").status_code == 403
    assert say(browser, "/start", request="x", repo=site.home.name).status_code == 403
    assert site.journal.pending(task) == []
    for page in (
        "/",
        "/start",
        here,
        f"{place(site, worked_on(site))}/diff?comment=1:2",
        f"{here}/checkpoints",
        f"{here}/say",
        *(f"{here}/{word}" for word in words),
    ):
        told = browser.get(page).text
        forms = set(re.findall(r'<form method="post" action="([^"]*)"', told))
        assert forms <= {"/theme"}, page
    assert 'href="/start"' not in browser.get("/").text
    assert "flyball pause" in browser.get(f"{here}/say/pause").text, "the terminal can still say it"
    assert "read-only" in browser.get(f"{here}/question/ask-1").text


def test_a_form_that_is_far_too_large_is_refused(site: Site, serve: Serve) -> None:
    task = put(site, asking())
    assert say(serve(), f"{place(site, task)}/say/modify", text="x" * 3_000_000).status_code == 403
    many = {f"field{number}": "x" for number in range(3000)}
    assert say(serve(), f"{place(site, task)}/say/modify", **many).status_code == 403


@pytest.mark.parametrize("path", ["//[", "http://[::1", "/repo/../.."])
def test_the_stream_of_an_address_that_is_none_of_ours_is_not_found(site: Site, serve: Serve, path: str) -> None:
    put(site, short_tdd_run())
    assert serve().get("/live", params={"path": path}).status_code == 404


@pytest.mark.slow
def test_a_server_that_is_told_to_end_leaves_no_address_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "flyball", "serve", "--port", "0"]
    environment = {**os.environ, "FLYBALL_HOME": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert "Serving every task" in server.stdout.readline()
        address = tmp_path / "serve" / "address"
        for _ in range(200):
            if address.exists():
                break
            time.sleep(0.05)
        assert address.exists()
        time.sleep(0.5)
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 143
    assert not address.exists()


def test_the_file_that_opens_the_browser_is_for_its_owner_alone(site: Site) -> None:
    path = opening_file(site.home.home, "http://127.0.0.1:1/?token=x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_sandboxed_agent_cannot_read_the_token_and_gets_nothing_without_it(site: Site) -> None:
    if isinstance(available(), Unavailable):
        pytest.skip("bubblewrap is not installed")
    token = token_of(site.home.home)
    state_task = tdd_task()
    workspace = site.workspace(state_task)
    confine = confinement(site, replace(state_task.settings, sandbox="bwrap"), workspace, dict(os.environ))
    tree = site.repository.root
    script = (
        "import pathlib, sys\n"
        f"home = pathlib.Path({str(site.home.home)!r})\n"
        "try:\n    found = (home / 'serve' / 'token').read_text()\nexcept OSError as error:\n    found = type(error).__name__\n"
        "print(found)\n"
    )
    argv, cwd, env = confine([sys.executable, "-c", script], tree=tree, env=dict(os.environ))
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert token not in done.stdout
    assert done.stdout.strip() in {"FileNotFoundError", "PermissionError", "NotADirectoryError"}
