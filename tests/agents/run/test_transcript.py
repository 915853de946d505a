"""C47: what a program printed holds no secret, wherever a line or a block of it ends."""

from pathlib import Path

import pytest

from flyball.agents.run.transcript import HIDDEN_AT_ONCE, Transcript
from flyball.core.text.hiding import HIDDEN

TOKEN = "sk-Live_Ab12Cd34"


@pytest.mark.req("C47")
def test_a_value_that_goes_over_the_end_of_a_block_is_hidden_and_all_else_is_kept(tmp_path: Path) -> None:
    transcript = Transcript.begin(tmp_path / "turn", "prompt", {})
    before = "x" * (HIDDEN_AT_ONCE - 10) + "\nsk-Live_\n"
    transcript.stdout.write_bytes(before.encode() + b"Ab12Cd34 and \xff\n" + b"more\n" * 2000)
    transcript.stderr.write_text("nothing of that kind\n")
    stamp = transcript.stderr.stat().st_ino
    transcript.hide((TOKEN,))
    said = transcript.stdout.read_bytes()
    assert said == before[:-9].encode() + HIDDEN.encode() + b" and \xff\n" + b"more\n" * 2000
    assert transcript.stderr.stat().st_ino == stamp
    assert sorted(path.name for path in transcript.folder.iterdir() if "hidden" in path.name) == []
