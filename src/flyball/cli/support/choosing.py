"""Which task a person means: found by words, chosen from a list where somebody can be asked."""

from __future__ import annotations

import re

from flyball.cli.support.output import asked, at_terminal, tell
from flyball.core.model.naming import LOOP, Match, Several, TaskName, resolve
from flyball.core.model.task import TaskId
from flyball.documents.loop_folder import rendered_tasks
from flyball.projections.views.standing import final_stop, task_status
from flyball.projections.wording import plain
from flyball.wiring.site import NoSuchTask, Site

_NO_TASK = 'There is no task in this repository yet. Start one with: flyball run "…"'
_NEGATIVE = re.compile(r"-[0-9]+")


class NewRequest(Exception):
    """Asked which task is meant, a person said what is to be done instead."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def chosen(site: Site, words: str = "", *, may_start: bool = False) -> TaskId:
    """The one task that words mean; without words the unfinished one.

    Where the caller may start a task, the question which one is meant takes a new request, too, and raises it.
    """
    records = site.journal.tasks()
    if not records and (known := rendered_tasks(site.repository.root)):
        raise NoSuchTask(f"The journal has no task, but {LOOP}/ mentions {min(known)}. See: flyball doctor")
    if not records:
        raise _nothing_yet(may_start=may_start)
    if not words.strip():
        return _unfinished(site, [r.id for r in records], may_start=may_start)
    if _NEGATIVE.fullmatch(words.strip()):
        raise NoSuchTask(f"{words.strip()} is not a task number; task numbers begin at 1. See: flyball list")
    found = resolve(words, [TaskName(r.id, r.title) for r in records])
    if isinstance(found, Match):
        return found.task.id
    if isinstance(found, Several):
        return _one_of(site, [t.id for t in found.tasks], f"{words!r} may mean several tasks", may_start=may_start)
    return _one_of(site, [r.id for r in records], f"no task matches {words!r}", may_start=may_start)


def _nothing_yet(*, may_start: bool) -> Exception:
    """Without any task the question is simply for a new request."""
    request = (
        asked("There is no task yet. What is to be done? [empty for nothing] ") if may_start and at_terminal() else ""
    )
    return NewRequest(request) if request else NoSuchTask(_NO_TASK)


def listed(site: Site, task: TaskId) -> str:
    """A task in the list that one is chosen from."""
    state = site.state(task)
    return f"[{task}] Status: {task_status(state)}  {state.main.stage}  {plain(state.task.request, 60)}"


def _unfinished(site: Site, tasks: list[TaskId], *, may_start: bool) -> TaskId:
    if len(tasks) == 1:
        return tasks[0]
    open_ones = [t for t in tasks if final_stop(site.state(t)) is None]
    if not open_ones:
        return tasks[-1]
    if len(open_ones) == 1:
        return open_ones[0]
    return _one_of(site, open_ones, "several tasks are unfinished", may_start=may_start)


def _one_of(site: Site, tasks: list[TaskId], why: str, *, may_start: bool) -> TaskId:
    """Show the list; ask where somebody is there, refuse where nobody is."""
    for number, task in enumerate(tasks, 1):
        tell(f"{number:>3}  {listed(site, task)}\n")
    if not at_terminal():
        raise NoSuchTask(f"{why}. Name one of: {', '.join(tasks)}")
    other = ", or say what is to be done instead" if may_start else ""
    word = asked(f"{why}. Which one? [1-{len(tasks)}, empty for none{other}] ")
    if word.isdigit() and 1 <= int(word) <= len(tasks):
        return tasks[int(word) - 1]
    found = resolve(word, [TaskName(task) for task in tasks])
    if isinstance(found, Match) and found.by != "words":
        return found.task.id
    if may_start and word and not word.isdigit():
        raise NewRequest(word)
    raise NoSuchTask("No task was chosen. See: flyball list")
