"""Without flyball's sandbox: programs work in the tree unattended, and their own guard keeps them there."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live import test_claude as claude_code, test_codex as codex_cli
from tests.live.conftest import Live
from tests.support.model_script import Call, ModelAnswer

from flyball.agents.dialects.claude import CLAUDE
from flyball.agents.dialects.codex import CODEX
from flyball.workspace import sandbox

pytestmark = pytest.mark.slow

BY_SHELL = ModelAnswer(shell='echo made > made.txt; echo "{\\"nonce\\": \\"$FLYBALL_NONCE\\"}" > $FLYBALL_REPORT_FILE')


def test_claude_code_edits_and_runs_commands_but_writes_no_file_elsewhere(live: Live) -> None:
    live.program("claude")
    inside, outside = live.repository / "inside.txt", live.folder / "outside.txt"
    server = live.serve(
        BY_SHELL,
        *(ModelAnswer(calls=(Call("Write", {"file_path": str(path), "content": "x"}),)) for path in (inside, outside)),
        ModelAnswer(say="Done."),
    )

    turn = live.turn(CLAUDE, env=claude_code.offline(server), sandboxed=False)

    assert (turn.kind, turn.claim.source) == ("denied", "report-file")
    assert turn.detail == f"denied: Write {outside}"
    assert (inside.exists(), outside.exists(), (live.repository / "made.txt").exists()) == (True, False, True)


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """Codex starts its sandbox from its home, which must not lie below /tmp, as a person's home and the cache in it may."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="codex-home-"))
    yield folder
    shutil.rmtree(folder)


def test_codex_works_in_its_own_sandbox_and_goes_on_with_a_conversation(live: Live, elsewhere: Path) -> None:
    if isinstance(program := sandbox.available(), sandbox.Unavailable):
        pytest.skip(program.reason)
    live.program("codex")
    outside = elsewhere / "outside.txt"
    refused = ModelAnswer(shell=f"(echo x > {outside}) || touch refused.txt")
    codex_cli.served(live, BY_SHELL, refused, ModelAnswer(say="Done."), BY_SHELL, ModelAnswer(say="Again."))
    shutil.copy(live.home / ".codex" / "config.toml", elsewhere)
    env = {**codex_cli.ENV, "CODEX_HOME": str(elsewhere)}

    turn = live.turn(CODEX, env=env, sandboxed=False)

    assert (turn.kind, turn.claim.source) == ("ok", "report-file"), turn.detail
    assert [(live.repository / name).exists() for name in ("made.txt", "refused.txt")] == [True, True]
    assert not outside.exists()
    again = live.turn(CODEX, env=env, sandboxed=False, session=turn.session, session_usage=turn.session_usage)
    assert (again.kind, again.claim.source) == ("ok", "report-file"), again.detail
