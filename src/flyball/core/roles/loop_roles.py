"""The five roles of the loop as thin agents: each runs one flyball command and passes on what it says.

flyball plays these roles itself, in code. The agents are for programs that know roles by name: they keep the names, models, tools
and settings that such files usually have, and leave every judgement to the command.
"""

from collections.abc import Mapping
from typing import Literal

from flyball.core.loop.role import Role

Target = Literal["claude", "opencode", "copilot", "gemini", "codex"]
Setting = tuple[str, object]
"""A key of a definition file and its value: a text, a number, a truth, or a list of them."""


class LoopRole(Role, frozen=True, kw_only=True):
    """A role with the settings that a target's file has beyond those of every role."""

    settings: Mapping[Target, tuple[Setting, ...]] = {}


_PASS_ON = (
    "Pass on its answer as it stands. Do not judge for yourself, do not read the files it reads, and change nothing. If the command\n"
    "fails, give its error, which names the next step."
)

LOOP_ROLES: tuple[LoopRole, ...] = (
    LoopRole(
        "evaluator",
        "Decides whether the agent loop over a backlog continues, is done, or is blocked. Runs flyball evaluate.",
        ("read", "shell"),
        "Run `flyball evaluate` in the root of the project. Add `--validation FILE` for each validation summary you were given,\n"
        "`--build pass|fail`, `--gates met|unmet` and `--error TEXT` for what you were told, `--unrecoverable` if only a person can\n"
        "resolve an error, `--max-cycles N` and `--focus ID` where you were given a limit or an issue; leave out what you do not know.\n"
        "Exit code 10 is CONTINUE, 0 is DONE, 3 is BLOCKED and 4 is the limit of cycles: none of them is an error. Answer with its\n"
        "decision, its reason, the next issue or the blocker, and its `<promise>` line.\n" + _PASS_ON,
        settings={
            "claude": (("model", "haiku"), ("permissionMode", "default")),
            "opencode": (("mode", "subagent"), ("temperature", 0.0)),
            "copilot": (("disable-model-invocation", False),),
            "gemini": (("temperature", 0.0),),
        },
    ),
    LoopRole(
        "monitor",
        "Says whether a loop of batches is progressing, stalled, blocked, regressing or flip-flopping. Runs flyball monitor.",
        ("search", "read", "edit", "shell"),
        "You are given the result of a batch: `Batch:`, `Review:`, `Passed:`, `Failed:` and `Blocked:` lines, or the same as JSON.\n"
        "Run `flyball monitor TASK` with that result on its standard input, word for word. It keeps the history and writes\n"
        "`.loop/TASK/loop-state.md`. Exit code 0 is PROGRESSING and 3 is any other status: neither is an error. Answer with its\n"
        "`Status:` line and, where there is one, its `Blockers:` line.\n" + _PASS_ON,
        settings={
            "copilot": (
                (
                    "model",
                    (
                        "Gemini 3 Flash (Preview) (copilot)",
                        "Claude Haiku 4.5 (copilot)",
                        "GLM 4.7 (preview) (cerebras)",
                    ),
                ),
            ),
        },
    ),
    LoopRole(
        "controller",
        "Works through a document with acceptance criteria in a governed loop until it is measured as done. Runs flyball run.",
        ("read", "edit", "shell", "search", "agent", "todo"),
        "Run `flyball run --from DOCUMENT --unattended` in the background; it goes on by itself where an earlier session stopped.\n"
        "It works in a checkout of its own: do not work on the same document meanwhile. `flyball status --json` gives stage,\n"
        "iteration, breaker and `decision`. When that is BLOCKED, pass on its question and how to answer it; when it is DONE, pass\n"
        "on `flyball report`.\n" + _PASS_ON,
    ),
    LoopRole(
        "dispatcher",
        "Chooses the specialised evaluators that a track needs, runs them, and gives one verdict. Runs flyball dispatch.",
        ("read", "shell"),
        "Run `flyball dispatch TRACK` with the folder of the track; it evaluates the commit at HEAD, and a note names what is not\n"
        "committed. It chooses the evaluators, runs them with the structural checks, and writes `evaluation-report.md` and the state in\n"
        "`metadata.json`. Exit code 0 is PASS and 3 is FAIL. Answer with the evaluators and the words that chose each, the verdict of\n"
        "each, the final verdict, the fix actions, and the step that comes next. If no agent that\n"
        "could judge is set up, `flyball dispatch TRACK --measured-only` runs what needs none; say that it is incomplete.\n"
        + _PASS_ON,
    ),
    LoopRole(
        "orchestrator",
        "Takes a request or the name of a task, has it worked on in a governed loop, and reports. Runs flyball run and resume.",
        ("agent", "search", "read", "edit", "shell", "ask", "todo"),
        'If the message names a task that exists (`flyball list` shows them), run `flyball resume "WORDS" --unattended` with its\n'
        "words as one argument; if it could mean several or none, ask the person which, or whether it is a new request. For a new request run\n"
        '`flyball run "REQUEST" --workflow plan --unattended --approve-plan` with the request as one argument. Do it in the background\n'
        "and look at it with `flyball status --json`. When its `decision` is BLOCKED, put each of its `questions` to the person (the\n"
        "plan, what the planner wants to know, what nobody could resolve), give the answer with `flyball answer TASK QUESTION TEXT`,\n"
        "and go on with `flyball resume TASK --unattended`. When it is DONE, pass on `flyball report TASK`.\n"
        + _PASS_ON,
        settings={
            "copilot": (
                ("agents", ("flyball-planner", "flyball-implementer", "flyball-reviewer", "flyball-monitor")),
                ("disable-model-invocation", True),
                (
                    "handoffs",
                    (
                        {
                            "label": "Orchestrate the loop",
                            "agent": "flyball-orchestrator",
                            "prompt": "Go on with the loop.",
                            "send": True,
                        },
                    ),
                ),
            ),
        },
    ),
)
