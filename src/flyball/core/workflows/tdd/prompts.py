"""The prompts of the `tdd` workflow."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.loop import prompts
from flyball.core.loop.role import CHECKING, LOOKING, WORKING, Role, role_named
from flyball.core.model.state import Lane, State
from flyball.core.text.quantities import plural

_OWN_CRITERIA = (
    "There are no acceptance criteria yet: write them first, as few as the request needs, each a check that a test can decide, in one sentence. Put them into your report as "
    "`plan`, a markdown list under the heading `### Acceptance Criteria`, one `- [ ] sentence` a line; the first is AC-1."
)
"""To the tester, where nobody named criteria before; from then on they stand."""

CARDS = (
    Role(
        "planner",
        "Turns a request into acceptance criteria that a test can decide. Changes no file.",
        LOOKING,
        "Write the acceptance criteria for the request below. Look at the repository first: what is there already, and what the request would break. Three to seven criteria; "
        "fewer for a small request. Each is one sentence that a test can decide without asking anybody: the input or state, and the result that can be seen. Cover the errors and "
        "limits that the request names or plainly needs. Ask for nothing it does not ask for, and name no solution. Where it can be read in two ways, take the reading that fits "
        "the repository and say so in `summary`; ask only if a wrong guess would waste the whole task. Put the criteria into `plan`, a markdown list under the heading `### "
        "Acceptance Criteria`, one `- [ ] sentence` a line.",
        form="planning",
    ),
    Role(
        "tester",
        "Writes tests that fail now and pass once the acceptance criteria are met.",
        WORKING,
        "Write tests that fail now and will pass when the criteria below are met; write nothing of the implementation. At least one new test for each criterion, with its id in "
        "the name or docstring (AC-1 as `ac_1`), and one for each error or limit it names. Test what can be seen from outside, through the interface that the criteria name, not "
        "how it might be built. Compare with exact results: a wrong implementation must fail, too. Do not replace the thing under test by a mock. Leave existing tests and test "
        "configuration alone; fixtures belong into the new files, not into a `conftest.py`.\n"
        "Before you report, run everything. Each new test fails by an assertion, or because a name or module does not exist yet; every other test ends as it did before. Read why "
        "each fails. Name what is missing in `left` and keep `exit_signal` false.",
        form="tests",
    ),
    Role(
        "implementer",
        "Makes failing tests pass by building what the criteria ask for.",
        WORKING,
        "Make every test pass by building what the criteria ask for, not by answering the tests: write nothing that only recognises their inputs. Find the cause before you change "
        "code, and keep to the style around it. Tests and test configuration are protected: flyball runs the accepted versions, whatever stands in the tree. If a test contradicts "
        "its criterion, leave it and give the reason in `protected_changes`.",
    ),
    Role(
        "refactorer",
        "Improves changed code without changing what it does; tests stay green.",
        WORKING,
        "Improve the code that this task changed, without changing what it does: names that say what is meant, shorter functions, less branching, no repetition. Touch only what "
        "`git diff flyball/start` shows, and callers that must follow. Tests stay green after every small step. No new features, options or layers for later. Functions beyond a "
        "limit come first. When nothing is worth a change, say so, change nothing and signal: that is a good result. Name what you applied in `metrics`, under `patterns_applied`.",
        form="refactoring",
    ),
    Role(
        "documenter",
        "Documents a change: decision record, README, changelog, diagrams.",
        WORKING,
        "Document what this task changed, for its users and for those who will change it. Read `git diff flyball/start` first; write only what the code does, and try every "
        "command and example. Add or change at least three documents (.md, .rst, .adoc or OpenAPI): a decision record under `docs/decisions/` (context, choice, what was "
        "rejected, what follows) among them, README and changelog where the project has them. Correct what became untrue elsewhere. Follow the form of the documents that are "
        "there. Mermaid diagrams must parse. Change no code.",
        form="documents",
    ),
    Role(
        "qa",
        "Judges finished work against its criteria before it ships. Changes no file.",
        CHECKING,
        prompts.REVIEW,
        reviews=True,
        form="judgement",
    ),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    card, own = role_named(role, CARDS), role == "tester" and not state.items
    text = card.text.replace("three documents", plural(state.task.settings.documents, "document"))
    return prompts.compose(
        state,
        lane,
        replace(card, form="own-tests") if own else card,
        purpose,
        text=text,
        context=(_OWN_CRITERIA if own else "", prompts.request(state), prompts.criteria(state)),
    )
