"""`flyball clean`: frees the disk of what finished tasks no longer need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import AsJson, task_ids
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.ports import Refusal

if TYPE_CHECKING:
    from flyball.wiring.tasks.cleaning import Tidied


def clean(
    task: Annotated[
        str,
        typer.Argument(
            help="Task: its id, number, part of its id, or words of its request. Without a task or --finished, nothing is removed.",
            autocompletion=task_ids,
        ),
    ] = "",
    finished: Annotated[
        bool, typer.Option("--finished", help="Clean all finished tasks: DONE, MERGED or ABORTED. Default: no.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing. Default: no.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove checkouts, gate folders and environments of finished tasks, and kept baselines; journal, checkpoints and branches stay."""
    from flyball.cli.support.choosing import choose_task
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.cleaning import clean as clean_task, finished_tasks, would_clean
    from flyball.workspace.files import remove, space_of

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        if task.strip() and finished:
            raise Refusal("Name a task or pass --finished, not both. See: flyball clean --help")
        only_shown = dry_run or not (task.strip() or finished)
        tasks = [choose_task(site, task)] if task.strip() else finished_tasks(site)
        found = [would_clean(site, each) if only_shown else clean_task(site, each) for each in tasks]
        baselines = space_of(site.home.baselines)
        if not only_shown:
            remove(site.home.baselines)
        if as_json:
            freed = sum(each.freed_bytes for each in found) + baselines
            put_json({"dry_run": only_shown, "freed_bytes": freed, "baselines_bytes": baselines, "tasks": found})
        else:
            again = f"flyball clean {tasks[0] if task.strip() else '--finished'}"
            _tell(found, baselines, only_shown=only_shown, again=again)


def _tell(found: list[Tidied], baselines: int, *, only_shown: bool, again: str) -> None:
    from flyball.projections.wording import size

    there = [each for each in found if each.removed]
    for each in there:
        what = ", ".join(dict.fromkeys(part.what for part in each.removed))
        put(f"{each.task}  {each.state}  {what}: {size(each.freed_bytes)}")
        if each.kept_as:
            put(f"  Unsaved changes are kept as {each.kept_as}: flyball diff {each.task} {each.kept_as}")
    if baselines:
        put(f"measured baselines, kept for the next task: {size(baselines)}")
    freed = size(sum(each.freed_bytes for each in there) + baselines)
    if not (there or baselines):
        put("Nothing to remove: finished tasks use space for their history only.")
    elif only_shown:
        put(f"Nothing was removed. It would free {freed}: {again}")
    else:
        put(f"Freed {freed}. A checkout is made again when its task needs it.")
