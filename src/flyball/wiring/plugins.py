"""Workflows of other packages: found by entry point when the process starts, and refused by name where they cannot be used."""

from importlib.metadata import EntryPoint, entry_points

import msgspec

from flyball.core import vocabulary
from flyball.core.loop.workflow import Workflow
from flyball.core.workflows.registry import UNUSABLE, WORKFLOWS

GROUP = "flyball.workflows"


class PluginRefused(Exception):
    """What another package offers is no workflow that can be used."""


def load_workflows() -> None:
    """Register every workflow that an installed package offers.

    One that cannot be used is remembered with its reason: only who asks for it is refused, every other command goes on.
    """
    for entry in sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value)):
        try:
            _register(entry)
        except Exception as error:  # noqa: BLE001 - code of others may fail in any way
            reason = str(error) if isinstance(error, PluginRefused) else f"{type(error).__name__}: {error}"
            said = " ".join(reason.split())
            package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.module
            UNUSABLE[entry.name] = f"the package {package} offers it as {entry.value}, but {said}"


def _register(entry: EntryPoint) -> None:
    if entry.name in WORKFLOWS:
        raise PluginRefused("a workflow of that name is there already; uninstall one of the two")
    workflow = entry.load()
    if not isinstance(workflow, Workflow):
        raise PluginRefused(f"that is {type(workflow).__name__}; expected a flyball.core.loop.workflow.Workflow")
    if workflow.name != entry.name:
        raise PluginRefused(f"its name is {workflow.name!r}; name its entry point the same")
    _check(workflow)
    WORKFLOWS[workflow.name] = workflow
    try:
        msgspec.json.Decoder(vocabulary.event_type())
    except Exception:
        del WORKFLOWS[workflow.name]
        raise


def _check(workflow: Workflow) -> None:
    """What would only be found out in the middle of a task."""
    if not workflow.stages or not workflow.roles:
        raise PluginRefused("it has no stages or no roles")
    if workflow.effects or workflow.outcomes:
        raise PluginRefused("it asks for effects of its own, which flyball cannot perform; use those of the kernel")
    stored = {_stored_name(kind) for kind in vocabulary.facts()}
    doubled = sorted(stored & {_stored_name(kind) for kind in workflow.facts})
    if doubled:
        raise PluginRefused(f"its facts are stored under names that are taken: {', '.join(doubled)}")
    unfolded = sorted(kind.__name__ for kind in workflow.facts if kind not in workflow.folds)
    if unfolded:
        raise PluginRefused(f"it has no fold for its facts: {', '.join(unfolded)}")


def _stored_name(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)
