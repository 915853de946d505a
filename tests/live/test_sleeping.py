"""A provider that says to wait for an hour: no program sleeps on it within its turn."""

import pytest
from tests.live import test_codex as codex_cli, test_goose as goose_cli, test_opencode as opencode_cli
from tests.live.conftest import Live
from tests.support.model_script import Fault, ModelAnswer

from flyball.agents.dialects.codex import CODEX
from flyball.agents.dialects.goose import GOOSE
from flyball.agents.dialects.opencode import OPENCODE
from flyball.agents.run.frame import Patience

pytestmark = [pytest.mark.slow, pytest.mark.req("C11")]

LONG = ModelAnswer(
    fault=Fault(429, message="Rate limit reached for requests", headers={"retry-after": "3600"}), repeat=0
)
PATIENCE = Patience(wall_s=600.0, idle_s=None, retry_s=5.0)


def test_goose_gives_up_by_itself(live: Live) -> None:
    live.program("goose")

    turn = live.turn(GOOSE, env=goose_cli.offline(live.serve(LONG, tools_needed=False)), patience=PATIENCE)

    assert (turn.kind, turn.exit_code) == ("overloaded", 0), turn.detail
    assert "Rate limit" in turn.detail


def test_codex_is_ended_when_it_falls_silent(live: Live) -> None:
    live.program("codex")
    server = codex_cli.served(live, LONG)
    settings = live.home / ".codex" / "config.toml"
    settings.write_text(settings.read_text().replace("stream_max_retries = 0\n", ""))

    turn = live.turn(CODEX, env=codex_cli.ENV, patience=PATIENCE)

    assert (turn.kind, turn.exit_code) == ("overloaded", None), turn.detail
    assert "429" in turn.detail
    assert turn.session
    assert len(server.requests) == 1


def test_opencode_is_ended_when_it_falls_silent(live: Live) -> None:
    live.program("opencode")

    turn = live.turn(OPENCODE, env=opencode_cli.env(live.serve(LONG)), patience=PATIENCE)

    assert (turn.kind, turn.exit_code) == ("overloaded", None), turn.detail
    assert "Rate limit" in turn.detail
