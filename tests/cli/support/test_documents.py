"""The reference pages say what the program does."""

import subprocess
import sys
from pathlib import Path

from flyball.cli.support import exits

ROOT = Path(__file__).parents[3]


def test_the_page_of_the_command_line_is_what_the_program_says():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate-docs", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_page_of_exit_codes_has_a_row_for_each():
    page = (ROOT / "docs" / "reference" / "exit-codes.md").read_text()
    codes = {value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)}
    assert codes
    for code in codes:
        assert f"\n| {code} |" in page, code
