"""A task's history: `checkpoints`, `rollback`, `diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import AsJson, MaybeTask
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.numbers import whole_number
from flyball.cli.support.output import put, put_bytes, put_json
from flyball.core.model.naming import LOOP
from flyball.core.model.task import MAIN, Commit
from flyball.core.text.quantities import plural
from flyball.core.text.scrubbing import escape_surrogates, scrub
from flyball.projections.wording import short, stamp

if TYPE_CHECKING:
    from flyball.workspace.trees import Lines


def checkpoints(task: MaybeTask = "", as_json: AsJson = False) -> None:
    """List the checkpoints of a task, for rollback and diff."""
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks import checkpoints as known

    with exit_on_refusal():
        found = known.checkpoints(*task_here(task))
        if as_json:
            rows = [
                {"label": k.label, "sha": k.commit, "at": k.at, "accepted": k.on_branch, "stage": k.stage}
                | ({"trick": k.tricked} if k.tricked else {})
                for k in found
            ]
            put_json(rows)
            return
        width = max(len(kept.label) for kept in found)
        for kept in found:
            lane = kept.lane if kept.lane != MAIN else ""
            mark = "accepted" if kept.on_branch else "holds a trick" if kept.tricked else lane
            put(f"{kept.label:<{width}}  {short(kept.commit)}  {stamp(kept.at)}  {kept.stage:<9} {mark}".rstrip())


def rollback(
    to: Annotated[
        str,
        typer.Option("--to", help="Checkpoint: a label, a commit, last-good, or N for N accepted checkpoints back."),
    ],
    task: MaybeTask = "",
    as_json: AsJson = False,
) -> None:
    """Restore a task's tree to a checkpoint; the undone work is kept as a checkpoint too."""
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks.rollback import rollback as roll_back

    with exit_on_refusal():
        done = roll_back(*task_here(task), to)
        if as_json:
            put_json(done)
            return
        put(
            f"{done.task} is back at {done.to} ({short(done.sha)}), in stage {done.stage}; {plural(done.files, 'file')} changed."
        )
        if done.merged_into:
            put(
                f"Its work is already in {done.merged_into}, which stays unchanged; the task's branch continues from there."
            )
        if done.unmarked:
            put(
                f"{done.unmarked}. When the task continues, flyball corrects these marks and does not take them for yours."
            )
        put(f"The undone work is kept as {done.undone} ({short(done.undone_sha)}). Continue with: {done.next_command}")


def diff(
    task: MaybeTask = "",
    checkpoint: Annotated[str, typer.Argument(help="Compare with this checkpoint. Default: the start.")] = "",
    turn: Annotated[int | None, whole_number("Show what this turn changed. Default: the whole task.")] = None,
    stat: Annotated[
        bool, typer.Option("--stat", help="Show lines added and deleted instead. Default: a patch.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a task has changed, as a patch."""
    from flyball.cli.support.choosing import task_here
    from flyball.wiring.tasks.checkpoints import commits_of_turn, commits_to_compare

    with exit_on_refusal():
        site, known = task_here(task)
        compared = commits_of_turn(site, known, turn) if turn else commits_to_compare(site, known, checkpoint)
        workspace, older, newer = compared
        # What flyball writes into the tree between turns is the work of none.
        files = tuple(f for f in workspace.numstat(older, newer) if not (turn and f.path.startswith(f"{LOOP}/")))
        if as_json:
            put_json({"from": older, "to": newer, "files": files})
        elif stat:
            put("\n".join(_stat(files)))
        elif files:
            changed = (path for _, path in workspace.changed_files(Commit(older), Commit(newer)))
            paths = tuple(path for path in changed if not path.startswith(f"{LOOP}/")) if turn else ()
            put_bytes(workspace.diff(older, newer, paths))


def _stat(files: tuple[Lines, ...]) -> list[str]:
    rows = []
    for file in files:
        added = "binary" if file.added is None else f"+{file.added}"
        deleted = "binary" if file.deleted is None else f"-{file.deleted}"
        on_one_line = scrub(str(escape_surrogates(file.path)).replace("\n", "\\n"))
        rows.append(f"{added:>7} {deleted:>7}  {on_one_line}")
    total, gone = sum(f.added or 0 for f in files), sum(f.deleted or 0 for f in files)
    return [*rows, f"{plural(len(files), 'file')}, {plural(total, 'line')} added, {gone} deleted"]
