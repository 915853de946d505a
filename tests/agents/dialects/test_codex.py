"""What Codex really printed, and what flyball makes of it."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay

from flyball.agents.dialect import ProgramOutput, TurnRequest
from flyball.agents.dialects.codex import CODEX
from flyball.agents.display.display import live_line
from flyball.agents.reading.jsonl import Events
from flyball.agents.run.homes import guarded_paths
from flyball.core.model.outcomes import TurnEnded, Usage
from flyball.process import Exit

RECORDED = Path(__file__).parents[1] / "recorded" / "codex"
THREAD = "01a1e251-8ab1-75f0-9678-703fd5a9d84f"
NOW = datetime(2026, 11, 16, 3, 7, tzinfo=UTC)


def played(name: str, **how: Any) -> TurnEnded:
    return replay(CODEX, RECORDED / f"{name}.jsonl", **{"now": NOW, **how})


def remembered(home: Path, name: str) -> Path:
    """A home of Codex's in which it keeps its record of the thread of a recording."""
    thread = json.loads((RECORDED / f"{name}.jsonl").read_text().splitlines()[0])["thread_id"]
    kept = home / "sessions/2026/11/16" / f"rollout-2026-11-16T03-06-19-{thread}.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_bytes((RECORDED / f"{name}.rollout").read_bytes())
    return home


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model="", folder=Path("/turn"), tree=Path("/repo"), nonce="n", **wanted)


def test_a_completed_turn_is_ok_with_its_last_message_its_thread_and_what_it_used() -> None:
    turn = played("edit")

    assert (turn.kind, turn.final_message) == ("ok", "Done: hello.txt says hello world.")
    assert turn.session == THREAD
    assert turn.usage == Usage(300, 60, estimated=True)


@pytest.mark.req("C2")
def test_a_resumed_thread_reports_its_total_so_that_what_came_before_is_subtracted() -> None:
    turn = played("resumed", session=THREAD, before=Usage(300, 60))

    assert turn.usage == Usage(100, 20, estimated=True)
    assert turn.session_usage == Usage(400, 80)


@pytest.mark.parametrize("name", ["unknown-model", "fell-back"])
def test_an_error_is_not_the_end_only_a_failed_turn_is(name: str) -> None:
    assert played(name).kind == "ok"


@pytest.mark.req("C11")
@pytest.mark.parametrize("plan", ["", "-team", "-pro", "-free"])
def test_a_usage_limit_of_any_plan_ends_at_the_local_time_it_names(plan: str) -> None:
    there = timezone(timedelta(hours=5, minutes=30))

    turn = played(f"usage-limit{plan}", code=1, now=NOW.astimezone(there).replace(hour=3))

    assert turn.kind == "usage_limit"
    assert turn.reset_at == datetime(2026, 11, 16, 5, 6, tzinfo=there)


@pytest.mark.req("C11")
def test_a_weekly_limit_ends_on_the_date_it_names() -> None:
    turn = played("weekly-limit", code=1)

    assert turn.reset_at == datetime(2026, 11, 19, 3, 23, tzinfo=UTC)


@pytest.mark.req("C11")
@pytest.mark.parametrize(("name", "at"), [("usage-limit", 1794805579), ("weekly-limit", 1795058616)])
def test_the_record_of_the_thread_knows_the_end_of_the_spent_window_to_the_second(
    tmp_path: Path, name: str, at: int
) -> None:
    turn = played(name, code=1, homes=(remembered(tmp_path, name),))

    assert turn.reset_at == datetime.fromtimestamp(at, UTC)


def test_a_usage_limit_that_names_no_time_has_none() -> None:
    turn = played("usage-limit-no-reset", code=1)

    assert (turn.kind, turn.reset_at) == ("usage_limit", None)


@pytest.mark.req("C11")
def test_a_rate_limit_with_a_pause_ends_after_it() -> None:
    turn = played("rate-limit", code=1)

    assert turn.kind == "rate_limited"
    assert turn.reset_at is not None
    assert timedelta() < turn.reset_at - NOW <= timedelta(seconds=2)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("too-many-requests", "overloaded"),
        ("quota", "usage_limit"),
        ("server-error", "overloaded"),
        ("unavailable", "overloaded"),
        ("overloaded", "overloaded"),
        ("cut", "overloaded"),
        ("context-full", "context_full"),
        ("unauthorized", "not_logged_in"),
        ("bad-request", "crashed"),
        ("bad-flag", "crashed"),
        ("interrupted", "crashed"),
    ],
)
def test_a_failed_turn_is_told_by_its_last_words(name: str, kind: str) -> None:
    turn = played(name, code=2 if name == "bad-flag" else 1)

    assert turn.kind == kind
    assert turn.detail


def test_a_refused_request_is_told_in_the_providers_words_alone() -> None:
    assert played("bad-request", code=1).detail.startswith("The model does not exist.")


def test_without_a_terminal_event_a_clean_exit_is_a_failure() -> None:
    assert played("interrupted", code=0).kind == "crashed"


def test_the_last_terminal_event_counts_whatever_stands_around_it(tmp_path: Path) -> None:
    failed, completed = ((RECORDED / f"{name}.jsonl").read_text() for name in ("server-error", "edit"))
    (tmp_path / "both.jsonl").write_text(f"a banner\n{failed}not JSON {{\n{completed}")

    assert replay(CODEX, tmp_path / "both.jsonl").kind == "ok"


def test_a_killed_run_is_killed() -> None:
    assert played("terminated", code=None, signal=15).kind == "killed"


def test_a_thread_that_is_gone_makes_for_a_fresh_context() -> None:
    turn = played("unknown-session", code=1, session=THREAD)

    assert turn.kind == "context_full"
    assert THREAD in turn.detail


@pytest.mark.parametrize(
    ("name", "what"),
    [("denied-by-rule", "git push origin main"), ("denied-by-sandbox", "writing is blocked by read-only sandbox")],
)
def test_a_denial_is_named_though_no_event_tells_it(name: str, what: str) -> None:
    turn = played(name)

    assert turn.kind == "denied"
    assert what in turn.detail


def test_what_a_failed_turn_used_is_in_the_record_of_its_thread(tmp_path: Path) -> None:
    turn = played("failed-half-way", code=1, homes=(remembered(tmp_path, "failed-half-way"),))

    assert (turn.kind, turn.usage) == ("overloaded", Usage(100, 20, estimated=True))


def test_the_model_stands_in_the_record_of_the_thread(tmp_path: Path) -> None:
    kept = remembered(tmp_path, "failed-half-way") / "sessions/2026/11/16"
    with next(kept.iterdir()).open("a") as record:
        record.write('{"type": "turn_context", "payload": {"turn_id": "t", "model": "gpt-5.5"}}\n')
    story = RECORDED / "failed-half-way.jsonl"

    reading = CODEX.read(
        ProgramOutput(asked=asked(), lines=Events(story), exit=Exit(1, None, "exit", 1.0), now=NOW, homes=(tmp_path,))
    )

    assert (reading.model, reading.usage) == ("gpt-5.5", Usage(100, 20))


def test_a_turn_that_used_nothing_known_leaves_the_threads_total_as_it_was() -> None:
    turn = played("too-many-requests", code=1, session="01a1e252-08de-7471-bba4-2ed0fd24d2ff", before=Usage(300, 60))

    assert turn.usage == Usage(usd=0.0, estimated=True)
    assert turn.session_usage == Usage(300, 60)


def test_what_is_shown_is_what_it_says_runs_and_changes() -> None:
    events = [json.loads(line) for line in (RECORDED / "edit.jsonl").read_text().splitlines()]

    assert [line for line in map(live_line, map(CODEX.show, events)) if line] == [
        "I will edit.",
        "update /repo/hello.txt",
        "$ /bin/bash -lc 'git status --short'",
        "Done: hello.txt says hello world.",
    ]


def test_a_fresh_turn_reads_its_prompt_from_standard_input_and_runs_without_a_sandbox_of_its_own() -> None:
    argv = CODEX.invoke(asked()).argv

    assert argv[:3] == ("codex", "exec", "--json")
    assert "--dangerously-bypass-approvals-and-sandbox" in argv
    assert argv[-1] == "-"
    assert "resume" not in argv


def test_a_session_a_model_and_the_users_own_arguments_have_their_places() -> None:
    argv = CODEX.invoke(asked(session=THREAD, args=("-c", 'model_reasoning_effort="high"')))

    assert argv.argv[-5:] == ("-c", 'model_reasoning_effort="high"', "resume", THREAD, "-")


@pytest.mark.parametrize(
    ("environment", "files", "known"),
    [
        ({}, {}, False),
        ({"CODEX_API_KEY": "k"}, {}, True),
        ({}, {"auth.json": '{"OPENAI_API_KEY": null, "tokens": {"access_token": "t"}}'}, True),
        ({}, {"auth.json": '{"OPENAI_API_KEY": null}'}, False),
        ({}, {"auth.json": "broken"}, False),
        ({}, {"config.toml": 'cli_auth_credentials_store = "keyring"'}, None),
        ({"KEY": "k"}, {"config.toml": 'model_provider = "p"\nmodel_providers.p = {env_key = "KEY"}'}, True),
        ({}, {"config.toml": 'model_provider = "p"\nmodel_providers.p = {env_key = "KEY"}'}, False),
        ({}, {"config.toml": 'model_provider = "p"\nmodel_providers.p = {base_url = "http://127.0.0.1"}'}, True),
    ],
)
def test_whether_it_is_logged_in_is_found_without_asking_anybody(
    tmp_path: Path, environment: dict[str, str], files: dict[str, str], known: bool | None
) -> None:
    (tmp_path / ".codex").mkdir()
    for name, content in files.items():
        (tmp_path / ".codex" / name).write_text(content)

    assert CODEX.logged_in(environment, tmp_path) is known


def test_settings_are_there_to_be_guarded_before_codex_would_write_them_itself(tmp_path: Path) -> None:
    guarded = guarded_paths(CODEX.guarded, {"HOME": str(tmp_path)})

    assert guarded == (tmp_path / ".codex" / "config.toml",)
    assert guarded[0].read_text() == ""


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("primary", "secondary", "until"),
    [
        ((100.0, 1794805579), (40.0, 1795058616), 1794805579),
        ((40.0, 1794805579), (100.0, 1795058616), 1795058616),
        ((100.0, 1794805579), (100.0, 1795058616), 1795058616),
        ((None, 1795058616), (100, 1794805579), 1794805579),
    ],
    ids=["the hours are spent", "the week is spent", "both are", "an unknown window"],
)
def test_only_a_window_that_is_spent_says_when_the_limit_ends(
    tmp_path: Path, primary: tuple[float | None, int], secondary: tuple[float | None, int], until: int
) -> None:
    kept = remembered(tmp_path, "usage-limit") / "sessions/2026/11/16"
    windows = {
        name: {"used_percent": used, "resets_at": at}
        for name, (used, at) in (("primary", primary), ("secondary", secondary))
    }
    with next(kept.iterdir()).open("a") as record:
        told = {"type": "token_count", "rate_limits": windows}
        record.write(json.dumps({"type": "event_msg", "payload": told}) + "\n")

    turn = played("usage-limit", code=1, homes=(tmp_path,))

    assert turn.reset_at == datetime.fromtimestamp(until, UTC)


def test_a_key_kept_by_its_login_is_a_login(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "auth.json").write_text('{"OPENAI_API_KEY": "k", "tokens": null}')
    assert CODEX.logged_in({}, tmp_path) is True


def test_its_own_patience_with_a_dead_network_is_switched_off() -> None:
    assert "-c features.unbounded_connection_retries=false" in " ".join(CODEX.invoke(asked()).argv)


def test_a_turn_that_failed_without_a_word_says_so_and_one_that_worked_outside_its_sandbox_too(tmp_path: Path) -> None:
    silent = tmp_path / "silent.jsonl"
    silent.write_text('{"type": "turn.failed", "error": null}\n')
    assert replay(CODEX, silent, code=1).detail.startswith("Codex ended without completing its turn")
    unguarded = tmp_path / "unguarded.jsonl"
    ran = {"type": "command_execution", "aggregated_output": "bwrap: No permissions to create a new namespace\n"}
    failed = {"type": "turn.failed", "error": {"message": "Quota exceeded. Check your plan and billing details."}}
    unguarded.write_text(json.dumps({"type": "item.completed", "item": ran}) + "\n" + json.dumps(failed) + "\n")
    assert replay(CODEX, unguarded, code=1, sandboxed=False).kind == "usage_limit"


def test_only_what_it_read_is_a_use_too(tmp_path: Path) -> None:
    stream = tmp_path / "read.jsonl"
    stream.write_text('{"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 0}}\n')
    assert replay(CODEX, stream).usage.input_tokens == 100


def test_what_fails_and_what_its_tools_answer_is_shown() -> None:
    def shown(event: dict[str, Any]) -> str:
        return live_line(CODEX.show(event))

    call = {"type": "mcp_tool_call", "tool": "get_task", "arguments": {"task": "001"}}
    assert shown({"type": "error", "message": "Reconnecting... 1/5"}) == "Reconnecting... 1/5"
    assert shown({"type": "turn.failed", "error": {"message": "Quota exceeded."}}) == "Quota exceeded."
    assert shown({"type": "item.started", "item": call}).startswith("get_task")
    assert shown({"type": "item.started", "item": {"type": "web_search", "query": "q"}}).startswith("web search")
