"""`flyball mcp` as real agents' programs start and ask it, in a turn that flyball drives."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
from tests.live.conftest import Live
from tests.live.test_exported import asked, claude, codex
from tests.support.model_script import Call, ModelAnswer

from flyball.agents.dialects.claude import CLAUDE
from flyball.agents.dialects.codex import CODEX
from flyball.projections.files.verdict_file import NAME, TaskVerdict

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SERVER = {"mcpServers": {"flyball": {"command": "flyball", "args": ["mcp"]}}}
VERDICT = TaskVerdict(
    task="001-live",
    request="teach it to multiply",
    workflow="tdd",
    stage="GREEN",
    iteration=1,
    decision="CONTINUE",
    reason="a criterion is open",
    stopped="",
    health="PROGRESSING",
    items=(),
    missing=("multiply is not there",),
    findings=(),
    gates=(),
    questions=(),
    next_command="",
    updated_at=datetime(2026, 1, 5, tzinfo=UTC),
)


def test_what_claude_code_asks_and_says_through_it_reaches_the_turns_claim(live: Live) -> None:
    live.program("claude")
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    folder = live.repository / ".loop" / "001-live"
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(msgspec.json.encode(VERDICT))
    question = {"question": "Integers only?", "options": ["yes", "no"], "default": "no"}
    server = live.serve(
        ModelAnswer(calls=(Call("mcp__flyball__get_task", {}),)),
        ModelAnswer(calls=(Call("mcp__flyball__report_progress", {"summary": "half way"}),)),
        ModelAnswer(calls=(Call("mcp__flyball__ask_human", question),)),
        ModelAnswer(say="I wait for the answer."),
    )
    words = ("--mcp-config", json.dumps(SERVER), "--strict-mcp-config")
    ended = live.turn(CLAUDE, env=claude(server), cli={"args": words})
    assert ended.kind in {"ok", "question"}, ended.detail
    said = asked(server)
    assert "mcp__flyball__evaluate" in said
    assert "multiply is not there" in said
    claim = ended.claim
    assert (claim.exit_signal, claim.summary) == (False, "half way")
    assert [(q.text, q.options, q.default) for q in claim.questions] == [("Integers only?", ("yes", "no"), "no")]


def test_codex_offers_its_tools_to_the_model(live: Live) -> None:
    live.program("codex")
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    server = live.serve(ModelAnswer(say="Looked."))
    passed = ["FLYBALL_TASK", "FLYBALL_NONCE", "FLYBALL_REPORT_FILE"]
    table = f'{{command="flyball",args=["mcp"],required=true,startup_timeout_sec=60,env_vars={json.dumps(passed)}}}'
    words = (*codex(server), "-c", f"mcp_servers.flyball={table}")
    ended = live.turn(CODEX, env={"LOCAL_KEY": "dummy"}, cli={"args": words, "env": ("LOCAL_KEY",)})
    assert ended.kind == "ok", ended.detail
    said = asked(server)
    assert all(f'"name": "{tool}"' in said for tool in ("get_task", "ask_human", "report_progress", "evaluate"))
