"""Whether a reviewer's quotation stands where it says, and whether a finding is about what changed since the last look."""

import subprocess
from pathlib import Path

import pytest
from tests.workspace.conftest import AT, User

from flyball.core.claims.findings import Finding
from flyball.core.model.task import Commit
from flyball.workspace.workspace import GitWorkspace

START = "def total(prices):\n    return sum(prices)\n\n\ndef unused():\n    return 1\n"
SEEN = START.replace("sum(prices)", "sum(prices) * 1.1") + "\n" * 20 + "LIMIT = 10\n"
NOW = SEEN.replace("    return sum(prices) * 1.1\n", "    if not prices:\n        return 0\n    return sum(prices)\n")
OLD_LIMIT = Finding("major", "the limit is too low", "shop/prices.py", 28)


@pytest.fixture
def shown(user: User, workspace: GitWorkspace) -> dict[str, str]:
    found = {}
    for name, text in (("start", START), ("seen", SEEN), ("now", NOW)):
        user.write("shop/prices.py", text)
        user.write("shop/callers.py", "from shop.prices import total\n")
        found[name] = user.commit(name)
    return found


def stands(workspace: GitWorkspace, shown: dict[str, str], finding: Finding, prompt: str = "") -> str:
    names = {name: commit for name, commit in shown.items() if name != "now"}
    return workspace.stands(finding, shown["now"], names, prompt)  # type: ignore[arg-type]


@pytest.mark.req("C16")
@pytest.mark.parametrize(
    "quote",
    [
        "    if not prices:\n        return 0",
        "if  not\tprices:",
        "+    if not prices:",
        "2: if not prices:",
        "`if not prices:`",
        "if not prices:\n    ...\n    return sum(prices)",
        "    return sum(prices) * 1.1",
        "-    return sum(prices) * 1.1",
        "from shop.prices import total",
        "AC-2: an empty basket costs nothing",
        "{",
        "",
    ],
    ids=[
        "as it is", "other white space", "from a difference", "with its number", "in back-ticks", "its middle left out", "a line that was deleted",
        "a line that was deleted, from a difference", "a file beside the change", "a criterion of the prompt", "nothing but a bracket", "none",
    ],
)  # fmt: skip
def test_an_honest_quotation_stands(workspace: GitWorkspace, shown: dict[str, str], quote: str) -> None:
    shown = {"start": shown["seen"], "now": shown["now"]}
    prompt = "## Acceptance criteria\n- AC-2: an empty basket\n  costs nothing"
    assert stands(workspace, shown, Finding("major", "wrong", "shop/prices.py", 9, quote=quote), prompt) == ""


@pytest.mark.req("C16")
@pytest.mark.parametrize("quote", ["eval(user_input)", "if not prices:\n    raise ValueError", "return prices * 1.19"])
def test_a_line_that_is_in_no_tree_that_was_shown_is_nowhere(
    workspace: GitWorkspace, shown: dict[str, str], quote: str
) -> None:
    assert stands(workspace, shown, Finding("critical", "wrong", "shop/prices.py", 2, quote=quote)) == "nowhere"


@pytest.mark.parametrize(
    ("finding", "measured"),
    [
        (Finding("major", "prices may be None", "shop/prices.py", 2), ""),
        (Finding("major", "prices may be None", "/home/me/project/shop/prices.py", 2), ""),
        (Finding("major", "prices may be None", "prices.py", 3), ""),
        (Finding("major", "the tax is gone", "shop/prices.py", 400, quote="return sum(prices) * 1.1"), ""),
        (Finding("major", "no test of it"), ""),
        (Finding("major", "prices.py is not what was asked for", "shop/prices.py"), ""),
        (OLD_LIMIT, "unchanged"),
        (Finding("major", "total is never called", "shop/callers.py", 1), "unchanged"),
        (Finding("major", "there is no changelog", "CHANGELOG.md"), "unchanged"),
    ],
)
def test_a_finding_is_measured_against_what_changed_since_the_last_look(
    workspace: GitWorkspace, shown: dict[str, str], finding: Finding, measured: str
) -> None:
    assert stands(workspace, shown, finding) == measured
    shown = {"start": shown["seen"], "now": shown["now"]}
    assert stands(workspace, shown, finding) == "", "at a first look everything may be held against the work"


def test_the_commits_a_reviewer_is_shown_have_names_in_its_copy(
    workspace: GitWorkspace, user: User, tmp_path: Path
) -> None:
    (workspace.root / "new.py").write_text("first = 1\n")
    seen = Commit(workspace.snapshot("turn-1", "turn-1", AT).tree)
    (workspace.root / "new.py").write_text("first = 1\nsecond = 2\n")
    now = Commit(workspace.snapshot("turn-2", "turn-2", AT).commit)
    copy = workspace.copy("reviewer", now, {"start": workspace.base, "seen": seen})

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=copy, capture_output=True, text=True, check=True)
        return done.stdout

    assert git("diff", "--stat", "flyball/start", "--", ".", ":!.loop").endswith("1 file changed, 2 insertions(+)\n")
    assert "+second = 2\n" in git("diff", "flyball/seen")
    assert "+first = 1" not in git("diff", "flyball/seen")
