"""`flyball merge`: brings the work of a DONE task into the branch that is checked out."""

import sys

from flyball.cli.support.arguments import AsJson, MaybeTask
from flyball.cli.support.exits import BLOCKED, DONE, exit_on_refusal
from flyball.cli.support.output import put, put_json


def merge(task: MaybeTask = "", as_json: AsJson = False) -> None:
    """Merge the branch of a DONE task into the branch that is checked out, if the tree is clean and nothing conflicts."""
    from flyball.cli.support.choosing import task_here
    from flyball.config.home import environment
    from flyball.wiring.tasks.merging import merge_task

    with exit_on_refusal():
        site, found = task_here(task)
        result = merge_task(site, found, environment())
        if as_json:
            put_json(result)
        else:
            put("\n".join(result.lines()))
        sys.exit(DONE if result.merged else BLOCKED)
