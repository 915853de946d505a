"""What aider really printed and logged, and what flyball makes of it; its exit status is 0 in nearly all of these."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.aider import AIDER, HISTORY, LOG
from flyball.core.model.outcomes import TurnEnded, Usage

RECORDED = Path(__file__).parents[1] / "recorded" / "aider"


def played(name: str, **how: Any) -> TurnEnded:
    kept = {LOG: RECORDED / f"{name}.events.jsonl", HISTORY: RECORDED / f"{name}.model.md"}
    files = {name: path.read_bytes() for name, path in kept.items() if path.exists()}
    return replay(AIDER, RECORDED / f"{name}.txt", files=files, **how)


def asked(**wanted: Any) -> TurnRequest:
    return TurnRequest(model="", folder=Path("/turn"), tree=Path("/repo"), nonce="n", **wanted)


def test_a_completed_message_is_ok_with_the_models_answer_and_what_it_used() -> None:
    turn = played("edit")

    assert turn.kind == "ok"
    assert turn.final_message.startswith("I change it.\n\nhello.txt\n```\n<<<<<<< SEARCH\nhello\n")
    assert turn.final_message.endswith("That is all.\n\n> quoted\n#### heading")
    assert turn.usage == Usage(100, 20, estimated=True)


def test_what_every_answer_of_a_run_used_is_added_up_and_the_last_one_is_its_message() -> None:
    turn = played("asked-for-a-file")

    assert turn.usage == Usage(200, 40, estimated=True)
    assert turn.final_message.startswith("Now.")


def test_a_question_in_its_last_words_is_one_for_a_person() -> None:
    turn = played("question")

    assert turn.kind == "question"
    assert [question.text for question in turn.claim.questions] == ["Which greeting do you want?"]


def test_every_turn_is_a_conversation_of_its_own() -> None:
    assert played("edit").session == ""


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("unauthorized", "not_logged_in"),
        ("no-key", "not_logged_in"),
        ("quota", "usage_limit"),
        ("unavailable", "overloaded"),
        ("bad-request", "crashed"),
        ("context-full", "context_full"),
    ],
)
def test_an_error_is_an_error_though_the_exit_status_is_0(name: str, kind: str) -> None:
    turn = played(name)

    assert turn.kind == kind
    assert turn.detail
    assert turn.final_message == ""


def test_a_run_that_was_ended_while_it_tried_again_was_limited() -> None:
    turn = played("retrying", code=None, signal=9)

    assert turn.kind == "overloaded"
    assert "Retrying" not in turn.detail


def test_a_run_without_a_model_is_a_missing_login() -> None:
    assert played("no-model", code=1).kind == "not_logged_in"


def test_a_model_whose_edits_never_fit_has_met_aiders_own_limit() -> None:
    turn = played("failed-edits")

    assert (turn.kind, turn.detail) == ("max_turns", "Only 3 reflections allowed, stopping.")


def test_without_a_terminal_event_a_clean_exit_is_a_failure() -> None:
    assert played("hung").kind == "crashed"


def test_a_killed_run_is_killed() -> None:
    assert played("hung", code=None, signal=15).kind == "killed"


def test_a_model_that_quotes_an_error_has_not_met_it(tmp_path: Path) -> None:
    printed = tmp_path / "quoting.txt"
    printed.write_text("litellm.RateLimitError: quoted from a log\nTokens: 100 sent, 20 received.\n")

    turn = replay(AIDER, printed, files={LOG: (RECORDED / "edit.events.jsonl").read_bytes()})

    assert turn.kind == "ok"


def test_it_gets_its_prompt_as_a_file_and_neither_commits_nor_leaves_histories_in_the_tree() -> None:
    invocation = AIDER.invoke(asked(args=("--edit-format", "diff", "src/app.py")))

    assert not invocation.prompt_on_stdin
    assert invocation.argv[1:3] == ("--message-file", "/turn/prompt.md")
    assert {"--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore"} <= set(invocation.argv)
    for option in ("--analytics-log", "--llm-history-file", "--chat-history-file", "--input-history-file"):
        assert invocation.argv[invocation.argv.index(option) + 1].startswith("/turn/")
    assert invocation.argv[-3:] == ("--edit-format", "diff", "src/app.py")


def test_a_role_that_only_reads_changes_nothing() -> None:
    assert "--dry-run" in AIDER.invoke(asked(access="read")).argv


def test_whether_it_has_a_key_is_found_without_asking_anybody(tmp_path: Path) -> None:
    assert AIDER.logged_in({}, tmp_path) is None
    assert AIDER.logged_in({"ANTHROPIC_API_KEY": "k"}, tmp_path) is True
    (tmp_path / ".aider").mkdir()
    (tmp_path / ".aider" / "oauth-keys.env").write_text("OPENROUTER_API_KEY=k\n")
    assert AIDER.logged_in({}, tmp_path) is True


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - no", "not_logged_in"),
        ("litellm.ContextWindowExceededError: too long", "context_full"),
        ("litellm.InternalServerError: 500", "overloaded"),
        ("litellm.ServiceUnavailableError: 503", "overloaded"),
        ("litellm.BadGatewayError: 502", "overloaded"),
        ("litellm.APIConnectionError: no route", "overloaded"),
        ("litellm.Timeout: 600 s", "overloaded"),
        ("litellm.exceptions.RateLimitError: slow down", "overloaded"),
        ("litellm.RateLimitError: You exceeded your current quota", "usage_limit"),
        ('litellm.APIError: {"error":{"message":"Insufficient credits","code":402}}', "usage_limit"),
        ("litellm.NotFoundError: no such model", "crashed"),
        ("It said something else", "crashed"),
    ],
)
def test_each_exception_of_its_library_has_its_kind_where_the_model_did_not_answer(
    tmp_path: Path, said: str, kind: str
) -> None:
    printed = tmp_path / "printed.txt"
    printed.write_text(f"aider\n{said}\nRetrying in 0.2 seconds...\n")
    begun = '{"event": "message_send_starting", "properties": {}}\n'
    ended = '{"event": "exit", "properties": {"reason": "Completed --message-file"}}\n'

    turn = replay(AIDER, printed, files={LOG: (begun + ended).encode()})

    assert turn.kind == kind
    assert "Retrying" not in turn.detail
