"""What an agent's program printed, as a person reads it in the log of a turn."""

from pathlib import Path

import pytest

from flyball.agents.dialects.table import DIALECTS, speaking_acp
from flyball.agents.display.display import (
    BRIEF,
    Shown,
    live_line,
    log_lines,
    show_result,
    show_words,
)

RECORDED = Path(__file__).parents[1] / "recorded"
DONE = "Done: it says world now."


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("claude/ok", ["→ Read hello.txt", "  ← 1\thello (and 1 more line)", "I will edit.", "→ Edit hello.txt"]),
        ("codex/edit", ["I will edit.", "→ update /repo/hello.txt", "→ $ /bin/bash -lc 'git status --short'", "  ← M hello.txt"]),
        ("gemini/edit", ["I will edit.", "→ replace /repo/hello.txt", "  ← done", DONE]),
        ("gemini/denied", ["I will edit.", "→ replace /repo/hello.txt", '  ✗ Tool "replace" not found.']),
        ("opencode/edit", ["I will edit.", "→ edit /repo/hello.txt", "  ← Edit applied successfully.", DONE]),
        ("opencode/denied", ["I will run.", "→ bash touch z", "  ✗ The user rejected permission"]),
        ("copilot/edit", ["I will edit.", "→ edit /repo/hello.txt", "  ← File /repo/hello.txt updated with changes.", DONE]),
        ("qwen/edit", ["→ read_file /repo/hello.txt", "  ← hello", "I will edit.", "→ edit /repo/hello.txt"]),
        ("goose/edit", ["→ shell echo hello world > hello.txt", "  ← (no output)", "Done: hello.txt says hello world."]),
        ("goose/streamed", ["Hello world. Which?"]),
        ("goose/rate-limit", ["! Ran into this error: Rate limit exceeded: the message. (and 2 more lines)"]),
        ("acp/goose-edit", ["I will write.", "→ shell · echo world > hello.txt", "  ← (no output)", DONE]),
    ],
)  # fmt: skip
def test_the_log_of_a_turn_has_what_was_said_called_and_came_of_it(name: str, lines: list[str]) -> None:
    dialect = DIALECTS.get(name.partition("/")[0], speaking_acp(("any",)))
    logged = list(log_lines(RECORDED / f"{name}.jsonl", dialect.show))
    assert [line[: len(wanted)] for line, wanted in zip(logged, lines, strict=False)] == lines
    assert not any(line.startswith("{") for line in logged)


def test_lines_that_are_no_events_stay_and_nothing_reaches_a_screen_unscrubbed(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(
        b'{"a": "\\u001b[31mone\\ntwo"}\nplain \x1b[0m\xff\n{"b": "th"}\n{"b": "ree"}\n{"c": 1}'
    )

    def show(event: dict[str, str]) -> list[Shown]:
        return (
            show_words("text", event.get("a"))
            or show_words("piece", event.get("b"))
            or show_words("notice", "x" * (BRIEF + 1))
        )

    assert list(log_lines(tmp_path / "stdout", show)) == ["one", "two", "plain \\xff", "three", f"! {'x' * BRIEF}…"]
    assert list(log_lines(tmp_path / "stdout", None))[-1] == '{"c": 1}'
    assert list(log_lines(tmp_path / "none", show)) == []


def test_a_result_is_brief_and_not_shown_live() -> None:
    shown = [
        *show_words("text", "It works.\nAll of it."),
        show_result([{"type": "text", "text": "one"}, {"text": "two"}], failed=False),
    ]
    assert live_line(shown) == "It works."
    assert live_line([show_result("x", failed=True)]) == ""
