"""Everything in `.loop/NNN-slug/` as text: rendered from the facts, so that deleting the folder loses nothing."""

from flyball.core.model.state import State
from flyball.projections.files.loop_state import loop_state
from flyball.projections.files.phase_status import phase_status
from flyball.projections.files.state_files import state_files
from flyball.projections.files.task_files import context, learning_files, plan
from flyball.projections.files.verdict_file import NAME as VERDICT
from flyball.projections.history.recording import shows
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import markdown, pull_request
from flyball.projections.views.standing import is_closing, is_delivered, state_once_delivered

__all__ = ["STATUS_LOG", "VERDICT", "phase_status", "render", "shows"]

STATUS_LOG = "phase-status.log"


def render(state: State, history: TaskHistory) -> dict[str, str]:
    """Path within the task's folder and text of every rendered file.

    The status log is appended to, not rendered: `phase_status` gives its blocks. The report is there once the task has
    stopped or is closing. What goes to the branch tells of the end already while it is saved.
    """
    final = state_once_delivered(state)
    files = {
        "loop-state.md": loop_state(state, history),
        "context.md": context(state, history),
        "plan.md": plan(final, history),
        **learning_files(history),
        **state_files(state, history),
    }
    if final.stopped is not None or is_closing(final):
        told = report(final, history)
        files["report.md"] = markdown(told)
        if is_delivered(final) and (is_closing(final) or final.decision == "DONE"):
            files["pull-request.md"] = pull_request(told)
    return files
