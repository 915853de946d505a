"""A task's history: `checkpoints`, `rollback`, `diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import AsJson, MaybeTask
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_bytes, put_json

if TYPE_CHECKING:
    from flyball.workspace.trees import Lines


def checkpoints(task: MaybeTask = "", as_json: AsJson = False) -> None:
    """List the checkpoints of a task, for rollback and diff."""
    from flyball.cli.support.choosing import chosen
    from flyball.core.model.task import MAIN
    from flyball.projections.wording import short, stamp
    from flyball.wiring.site import Site
    from flyball.wiring.tasks import checkpoints as known

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        found = known.checkpoints(site, chosen(site, task))
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
            mark = (
                "accepted"
                if kept.on_branch
                else "holds a trick"
                if kept.tricked
                else kept.lane
                if kept.lane != MAIN
                else ""
            )
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
    from flyball.cli.support.choosing import chosen
    from flyball.core.text.quantities import plural
    from flyball.projections.wording import short
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.rollback import rollback as roll_back

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        done = roll_back(site, chosen(site, task), to)
        if as_json:
            put_json(done)
            return
        put(
            f"{done.task} stands at {done.to} ({short(done.sha)}) again, in {done.stage}; {plural(done.files, 'file')} changed."
        )
        if done.merged_into:
            put(
                f"Its work is in {done.merged_into} already, which is not changed; the branch of the task goes on from it."
            )
        if done.unmarked:
            put(f"{done.unmarked}. Going on marks it, and takes none of these marks for yours.")
        put(f"What was undone is kept as {done.undone} ({short(done.undone_sha)}). Go on with: {done.next_command}")


def diff(
    task: MaybeTask = "",
    checkpoint: Annotated[str, typer.Argument(help="Compare with this checkpoint. Default: the start.")] = "",
    stat: Annotated[
        bool, typer.Option("--stat", help="Show lines added and deleted instead. Default: a patch.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a task has changed, as a patch."""
    from flyball.cli.support.choosing import chosen
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.checkpoints import commits_to_compare

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        workspace, older, newer = commits_to_compare(site, chosen(site, task), checkpoint)
        if as_json:
            put_json({"from": older, "to": newer, "files": workspace.numstat(older, newer)})
        elif stat:
            put("\n".join(_stat(workspace.numstat(older, newer))))
        else:
            put_bytes(workspace.diff(older, newer))


def _stat(files: tuple[Lines, ...]) -> list[str]:
    from flyball.core.text.quantities import plural

    rows = [f"{_number(f.added, '+'):>7} {_number(f.deleted, '-'):>7}  {_on_one_line(f.path)}" for f in files]
    added, deleted = sum(f.added or 0 for f in files), sum(f.deleted or 0 for f in files)
    return [*rows, f"{plural(len(files), 'file')}, {plural(added, 'line')} added, {deleted} deleted"]


def _on_one_line(path: str) -> str:
    from flyball.core.text.scrubbing import scrub, spelt

    return scrub(str(spelt(path)).replace("\n", "\\n"))


def _number(count: int | None, sign: str) -> str:
    return "binary" if count is None else f"{sign}{count}"
