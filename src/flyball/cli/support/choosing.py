"""Which task a person means: found by words, chosen from a list where somebody can be asked."""

import re
from pathlib import Path

from flyball.cli.support.output import ask, at_terminal, tell
from flyball.core.model.naming import LOOP, Match, Several, TaskName, resolve
from flyball.core.model.task import TaskId
from flyball.documents.loop_folder import rendered_tasks
from flyball.projections.views.situation import situation
from flyball.projections.views.standing import final_stop, task_status
from flyball.projections.wording import plain
from flyball.wiring.site import NoSuchTask, Site
from flyball.wiring.tasks.surroundings import look_around

_NO_TASK = 'There is no task in this repository yet. Start one with: flyball run "…"'
_NEGATIVE = re.compile(r"-[0-9]+")


class NewRequest(Exception):
    """Asked which task is meant, a person said what is to be done instead."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def task_here(words: str) -> tuple[Site, TaskId]:
    site = Site.find(Path.cwd())
    return site, choose_task(site, words)


def choose_task(site: Site, words: str = "", *, may_start: bool = False) -> TaskId:
    """The one task that words mean; without words the unfinished one.

    Where the caller may start a task, the question which one is meant takes a new request, too, and raises it.
    """
    records = site.journal.tasks()
    if not records and (known := rendered_tasks(site.repository.root)):
        raise NoSuchTask(f"The journal has no task, but {LOOP}/ mentions {min(known)}. See: flyball doctor")
    if not records:
        # Without any task the question is simply for a new request.
        question = "There is no task yet. What is to be done? [empty for nothing] "
        request = ask(question) if may_start and at_terminal() else ""
        raise NewRequest(request) if request else NoSuchTask(_NO_TASK)
    if not words.strip():
        return _task_without_words(site, [r.id for r in records], may_start=may_start)
    if _NEGATIVE.fullmatch(words.strip()):
        raise NoSuchTask(f"{words.strip()} is not a task number; task numbers begin at 1. See: flyball list")
    found = resolve(words, [TaskName(r.id, r.title) for r in records])
    if isinstance(found, Match):
        return found.task.id
    if isinstance(found, Several):
        return _one_of(site, [t.id for t in found.tasks], f"{words!r} may mean several tasks", may_start=may_start)
    return _one_of(site, [r.id for r in records], f"no task matches {words!r}", may_start=may_start)


def _task_without_words(site: Site, tasks: list[TaskId], *, may_start: bool) -> TaskId:
    """The only one, the unfinished one, or the last where all are finished."""
    open_ones = tasks if len(tasks) == 1 else [t for t in tasks if final_stop(site.state(t)) is None]
    if len(open_ones) <= 1:
        return (open_ones or tasks)[-1]
    return _one_of(site, open_ones, "several tasks are unfinished", may_start=may_start)


def _one_of(site: Site, tasks: list[TaskId], why: str, *, may_start: bool) -> TaskId:
    """Show the list; ask where somebody is there, refuse where nobody is."""
    for number, task in enumerate(tasks, 1):
        state = site.state(task)
        request = plain(state.task.request, 60)
        status, now = task_status(state), situation(state, look_around(site, state))
        shown = status if status == now else f"{status} ({now})"
        tell(f"{number:>3}  [{task}] Status: {shown}  {state.main.stage}  {request}\n")
    if not at_terminal():
        raise NoSuchTask(f"{why}. Name one of: {', '.join(tasks)}")
    other = ", or say what is to be done instead" if may_start else ""
    word = ask(f"{why}. Which one? [1-{len(tasks)}, empty for none{other}] ")
    if word.isdigit() and 1 <= int(word) <= len(tasks):
        return tasks[int(word) - 1]
    found = resolve(word, [TaskName(task) for task in tasks])
    if isinstance(found, Match) and found.by != "words":
        return found.task.id
    if may_start and word and not word.isdigit():
        raise NewRequest(word)
    raise NoSuchTask("No task was chosen. See: flyball list")
