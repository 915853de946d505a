"""flyball as a plugin of Claude Code: its roles, commands that ask for the verdict, and a hook that asks before a stop."""

import json

from flyball.projections.export.agents import MANIFEST, Export, claude_agent, exported_roles

NAME = "flyball"
HOOK_SECONDS = 10

_COMMANDS = {
    "run": (
        "Let flyball work on a request until it is measured as done.",
        "REQUEST",
        (
            "Start flyball on this request: $ARGUMENTS\n\n"
            'Run `flyball run "REQUEST" --unattended` in the project, in the background, with the request as one argument. It works in\n'
            "a checkout of its own; do not work on the same request meanwhile. Look at it with `flyball status --json`. Its `decision`\n"
            "is the verdict: DONE, CONTINUE or BLOCKED. When it is BLOCKED, show me its question and how to answer it. When it is DONE,\n"
            "show me `flyball report` and its branch. Never say that the work is done on any other ground."
        ),
    ),
    "verdict": (
        "Ask flyball where a task stands: CONTINUE, DONE or BLOCKED, and what is missing.",
        "[TASK]",
        (
            "Run `flyball status $ARGUMENTS --json` and tell me `decision`, `reason`, `stage`, open `questions` and what is not verified,\n"
            "in a few lines. Do not judge the work yourself: the measurement is flyball's."
        ),
    ),
    "report": (
        "Show what a flyball task did, how it was verified, and what is left.",
        "[TASK]",
        (
            "Run `flyball report $ARGUMENTS` and give me its gist: what was done, how it was verified, what was forced or is not\n"
            "verified, what it cost, what is left. Quote its numbers, add none."
        ),
    ),
    "answer": (
        "Answer a question a flyball task has asked.",
        "TASK QUESTION TEXT",
        (
            "Run `flyball status --json` and show me the open questions. Then give my answer, which is: $ARGUMENTS\n\n"
            "Use `flyball answer TASK QUESTION TEXT`. Answer nothing that I did not say; where my answer is empty or unclear, ask me."
        ),
    ),
}
_README = """# flyball for Claude Code

flyball measures what a coding agent did and decides CONTINUE, DONE or BLOCKED. This plugin
lets Claude Code ask for that verdict; `flyball` must be installed and on the `PATH`.

- `/flyball:run REQUEST` lets flyball work on a request until it is measured as done.
- `/flyball:verdict`, `/flyball:report` and `/flyball:answer` look at a task, report on it, and answer its questions.
- The agents are flyball's roles, from planner to qa and the validators, and the five of the loop, which run flyball's commands.
- A Stop hook keeps the agent from stopping while an unfinished task governs this folder: six times in a row at most.

Written by `flyball export --target claude --plugin`; run that again to bring it up to date.
"""


def exported_plugin(version: str) -> Export:
    files = {
        "README.md": _README,
        ".claude-plugin/plugin.json": _json(_manifest(version)),
        "hooks/hooks.json": _json(_hooks()),
        **{f"commands/{name}.md": _command(*parts) for name, parts in _COMMANDS.items()},
        **{f"agents/{role.name}.md": claude_agent(role.name, role) for role in exported_roles()},
    }
    return Export(files, f".claude-plugin/{MANIFEST}")


def _manifest(version: str) -> dict[str, object]:
    return {
        "name": NAME,
        "version": version,
        "description": "Ask flyball whether the work is done: it measures, and decides CONTINUE, DONE or BLOCKED.",
        "author": {"name": "flyball contributors"},
        "license": "MIT",
        "keywords": ["agents", "testing", "verification"],
    }


def _hooks() -> dict[str, object]:
    ask = {"type": "command", "command": "flyball hook stop", "timeout": HOOK_SECONDS}
    return {
        "description": "Before the agent stops, flyball says whether the task or backlog of this folder is done.",
        "hooks": {"Stop": [{"hooks": [ask]}]},
    }


def _command(description: str, hint: str, text: str) -> str:
    head = [
        f"description: {json.dumps(description)}",
        f"argument-hint: {json.dumps(hint)}",
        "allowed-tools: Bash(flyball:*)",
    ]
    return "\n".join(["---", *head, "---", "", text, ""])


def _json(value: dict[str, object]) -> str:
    return json.dumps(value, indent=2) + "\n"
