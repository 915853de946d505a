"""What each program is told of its own guard: off within flyball's sandbox, on without it as far as it needs nobody to ask."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.recordings import replay

from flyball.agents.dialect import TurnRequest
from flyball.agents.dialects.codex import BYPASS
from flyball.agents.dialects.table import DIALECTS


def line(name: str, *args: str, sandboxed: bool, **more: Any) -> str:
    asked = TurnRequest(
        model="", folder=Path("/turn"), tree=Path("/repo"), nonce="n", sandboxed=sandboxed, args=args, **more
    )
    invocation = DIALECTS[name].invoke(asked)
    return " ".join((*(f"{key}={value}" for key, value in invocation.env.items()), *invocation.argv))


BYPASSING = {
    "claude": "--permission-mode bypassPermissions",
    "codex": BYPASS,
    "gemini": "--approval-mode yolo",
    "opencode": "--auto",
    "copilot": "--yolo",
    "qwen": "--approval-mode yolo",
}
GUARDED = {
    "claude": "--permission-mode acceptEdits --allowedTools Bash",
    "codex": "--sandbox workspace-write --add-dir /turn",
    "gemini": "--approval-mode auto_edit --allowed-tools run_shell_command",
    "opencode": "run --format json",
    "copilot": "--allow-all-tools --add-dir /turn",
    "qwen": "--approval-mode auto-edit --allowed-tools run_shell_command",
}


@pytest.mark.parametrize("name", BYPASSING)
def test_a_programs_own_guard_is_off_only_where_flyballs_sandbox_holds_it(name: str) -> None:
    assert BYPASSING[name] in line(name, sandboxed=True)
    assert BYPASSING[name] not in line(name, sandboxed=False)
    assert GUARDED[name] in line(name, sandboxed=False)


def test_claude_code_is_told_of_a_sandbox_only_where_there_is_one() -> None:
    assert "IS_SANDBOX=1" in line("claude", sandboxed=True)
    assert "IS_SANDBOX" not in line("claude", sandboxed=False)


def test_who_may_only_read_has_codexs_own_sandbox_read_only() -> None:
    assert "--sandbox read-only" in line("codex", sandboxed=False, access="read")


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("claude", ("--permission-mode", "bypassPermissions")),
        ("claude", ("--permission-mode=plan",)),
        ("codex", (BYPASS,)),
        ("codex", ("--sandbox=danger-full-access",)),
        ("gemini", ("--yolo",)),
        ("copilot", ("--allow-all",)),
        ("qwen", ("--approval-mode", "auto")),
    ],
)
def test_the_users_own_word_on_the_guard_stands_alone(name: str, own: tuple[str, ...]) -> None:
    told = line(name, *own, sandboxed=False)
    assert " ".join(own) in told
    assert not any(guard in told for guard in (GUARDED[name], "acceptEdits", "workspace-write", "--allow-all-tools"))


def test_a_codex_that_cannot_start_its_own_sandbox_says_what_to_do(tmp_path: Path) -> None:
    printed = tmp_path / "printed.jsonl"
    item = '{"type": "command_execution", "aggregated_output": "bwrap: execvp x: No such file", "status": "failed"}'
    printed.write_text(f'{{"type": "item.completed", "item": {item}}}\n{{"type": "turn.completed"}}\n')
    ended = replay(DIALECTS["codex"], printed, sandboxed=False)
    assert (ended.kind, BYPASS in ended.detail) == ("denied", True)
    assert replay(DIALECTS["codex"], printed).kind == "ok"
