"""What Goose really printed, and what flyball makes of it; its exit status is 0 in all but a few of these."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.goose import GOOSE
from flyball.agents.display.display import live_line
from flyball.core.model.outcomes import TurnEnded, Usage

RECORDED = Path(__file__).parents[1] / "recorded" / "goose"


def played(name: str, **how: Any) -> TurnEnded:
    return replay(GOOSE, RECORDED / f"{name}.jsonl", **how)


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model="", folder=wanted.pop("folder", Path("/turn")), tree=Path("/repo"), nonce="n", **wanted)


def test_a_completed_run_is_ok_with_its_last_message_and_what_it_used() -> None:
    turn = played("edit")

    assert (turn.kind, turn.final_message) == ("ok", "Done: hello.txt says hello world.")
    assert turn.usage == Usage(200, 40, estimated=True)


def test_a_streamed_message_is_put_together_again() -> None:
    assert played("streamed").final_message == "Hello world. Which?"


@pytest.mark.req("C2")
def test_a_resumed_conversation_reports_its_total_so_that_what_came_before_is_subtracted() -> None:
    turn = played("resumed", session="flyball-1", before=Usage(200, 40))

    assert turn.session == "flyball-1"
    assert turn.usage == Usage(100, 20, estimated=True)
    assert turn.session_usage == Usage(300, 60)


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("unauthorized", "not_logged_in"),
        ("rate-limit", "overloaded"),
        ("quota", "usage_limit"),
        ("credits", "usage_limit"),
        ("server-error", "overloaded"),
        ("unavailable", "overloaded"),
        ("no-network", "overloaded"),
        ("bad-request", "crashed"),
        ("context-full", "context_full"),
        ("max-turns", "max_turns"),
    ],
)
def test_an_error_is_an_error_though_the_exit_status_is_0_and_the_run_complete(name: str, kind: str) -> None:
    turn = played(name)

    assert turn.kind == kind
    assert turn.detail
    assert turn.final_message == ""


def test_a_failed_run_leaves_the_conversations_total_as_it_was() -> None:
    turn = played("rate-limit", session="flyball-1", before=Usage(200, 40))

    assert turn.usage == Usage(usd=0.0, estimated=True)
    assert turn.session_usage == Usage(200, 40)


@pytest.mark.parametrize("name", ["approval", "smart-approval"])
def test_a_mode_that_wants_approval_is_a_denial(name: str) -> None:
    turn = played(name, code=1)

    assert turn.kind == "denied"
    assert "Tool approval required" in turn.detail


def test_a_provider_that_was_never_set_up_is_a_missing_login() -> None:
    turn = played("no-provider", code=1)

    assert turn.kind == "not_logged_in"
    assert "provider" in turn.detail


def test_a_conversation_that_is_gone_makes_for_a_fresh_context() -> None:
    assert played("unknown-session", code=1, session="flyball-1").kind == "context_full"


def test_without_a_terminal_event_a_clean_exit_is_a_failure() -> None:
    assert played("interrupted").kind == "crashed"


def test_a_stream_that_was_cut_is_what_came_of_it_with_unknown_usage() -> None:
    turn = played("cut")

    assert (turn.kind, turn.final_message, turn.usage) == ("ok", "cut", Usage(estimated=True))


def test_a_model_that_quotes_an_error_of_gooses_has_not_met_it(tmp_path: Path) -> None:
    said = {"type": "text", "text": "Ran into this error: Rate limit exceeded: quoted from a log."}
    events = [
        {"type": "message", "message": {"id": "c1", "role": "assistant", "content": [said]}},
        {"type": "complete", "total_tokens": 120, "input_tokens": 100, "output_tokens": 20},
    ]
    (tmp_path / "quoting.jsonl").write_text("\n".join(map(json.dumps, events)))

    assert replay(GOOSE, tmp_path / "quoting.jsonl").kind == "ok"


def test_what_is_shown_is_what_it_says_and_calls() -> None:
    events = [json.loads(line) for line in (RECORDED / "edit.jsonl").read_text().splitlines()]

    assert [line for line in map(live_line, map(GOOSE.show, events)) if line] == [
        "shell echo hello world > hello.txt",
        "Done: hello.txt says hello world.",
    ]


def test_flyball_names_a_fresh_conversation_and_finds_it_again() -> None:
    fresh = GOOSE.invoke(asked())
    name = fresh.argv[fresh.argv.index("--name") + 1]

    again = GOOSE.invoke(asked(session=name))

    assert name.startswith("flyball-")
    assert "--resume" not in fresh.argv
    assert again.argv[again.argv.index("--name") + 1] == name
    assert "--resume" in again.argv
    assert GOOSE.invoke(asked(folder=Path("/turn/2"))).argv != fresh.argv


def test_it_is_asked_on_standard_input_to_work_by_itself_and_to_keep_to_its_turns() -> None:
    invocation = GOOSE.invoke(asked(max_turns=7, args=("--debug",)))

    assert invocation.prompt_on_stdin
    assert invocation.env["GOOSE_MODE"] == "auto"
    assert invocation.env["GOOSE_PROVIDER_SKIP_BACKOFF"] == "true"
    assert invocation.argv[-3:] == ("--max-turns", "7", "--debug")


@pytest.mark.parametrize(
    ("environment", "files", "known"),
    [
        ({}, {}, False),
        ({"GOOSE_PROVIDER": "openai"}, {}, None),
        ({"GOOSE_PROVIDER": "openai", "OPENAI_API_KEY": "k"}, {}, True),
        ({"ANTHROPIC_API_KEY": "k"}, {"config.yaml": "GOOSE_PROVIDER: anthropic\n"}, True),
        ({}, {"config.yaml": "GOOSE_PROVIDER: openai\n", "secrets.yaml": "OPENAI_API_KEY: k\n"}, True),
        ({}, {"config.yaml": "GOOSE_PROVIDER: ollama\n"}, None),
        ({}, {"config.yaml": ": {broken"}, False),
    ],
)
def test_whether_it_is_logged_in_is_found_without_asking_anybody(
    tmp_path: Path, environment: dict[str, str], files: dict[str, str], known: bool | None
) -> None:
    folder = tmp_path / ".config" / "goose"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content)

    assert GOOSE.logged_in(environment, tmp_path) is known


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("notice", "kind"),
    [
        ("Ran into this error: Server error: 500", "overloaded"),
        ("Ran into this error: Network error: no route", "overloaded"),
        ("Network error: no route", "overloaded"),
        ("Ran into this error: Request timed out", "overloaded"),
        ("Ran into this error: Context length exceeded: 9 of 8", "context_full"),
        ("Ran into this error: Context limit reached", "context_full"),
        ("Ran into this error trying to compact: too long", "context_full"),
        ("Ran into this error: Authentication error: 401 Unauthorized", "not_logged_in"),
        ("Ran into this error: Rate limit exceeded: slow down", "overloaded"),
        ("Ran into this error: Request failed: no such model", "crashed"),
        ("I've reached the maximum number of actions I can do without user input.", "max_turns"),
    ],
)
def test_each_notice_of_gooses_own_has_its_kind_and_is_no_word_of_the_models(
    tmp_path: Path, notice: str, kind: str
) -> None:
    said = {"id": None, "role": "assistant", "content": [{"type": "text", "text": f"{notice}\n\nPlease retry."}]}
    events = [{"type": "message", "message": said}, {"type": "complete", "total_tokens": None}]
    (tmp_path / "notice.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    turn = replay(GOOSE, tmp_path / "notice.jsonl")
    assert (turn.kind, turn.final_message) == (kind, "")
    assert "Please retry" not in turn.detail


@pytest.mark.parametrize(("tokens_told", "kind", "last"), [(120, "ok", "All good."), (None, "crashed", "")])
def test_a_message_without_an_id_is_the_models_only_if_its_provider_counted_tokens(
    tmp_path: Path, tokens_told: int | None, kind: str, last: str
) -> None:
    pieces = [
        {"id": None, "role": "assistant", "content": [{"type": "text", "text": t}]} for t in ("First.", "All good.")
    ]
    events = [
        *({"type": "message", "message": piece} for piece in pieces),
        {"type": "complete", "total_tokens": tokens_told},
    ]
    (tmp_path / "unsigned.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    turn = replay(GOOSE, tmp_path / "unsigned.jsonl")
    assert (turn.kind, turn.final_message) == (kind, last)


def test_spent_credits_are_told_in_the_providers_words() -> None:
    assert "credit" in played("credits").detail.lower()
