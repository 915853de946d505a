"""Tries gates once on the commit HEAD stands on, in a tree of their own, and leaves nothing behind."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from flyball import process
from flyball.clock import system_clock
from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Measurement
from flyball.core.model.task import Commit, EffectId, Settings, TaskId
from flyball.journal.blobs import FileBlobs
from flyball.measures.measurer import TreeMeasurer
from flyball.ports import Notify
from flyball.wiring.run.agents import hiding_logins
from flyball.wiring.run.confining import confinement
from flyball.wiring.run.scm_version import with_version
from flyball.wiring.site import Site
from flyball.workspace.workspace import GitWorkspace

NAME = TaskId("000-trial")


def tried(site: Site, settings: Settings, *, environment: Mapping[str, str], notify: Notify) -> Measurement:
    """What the gates say of the untouched tree, after the setup command where there is one."""
    head = Commit(site.repository.require_commit())
    with tempfile.TemporaryDirectory(prefix="trial-", dir=site.home.folder, ignore_cleanup_errors=True) as made:
        folder = Path(made)
        workspace = GitWorkspace(site.repository, folder, NAME)
        measurer = TreeMeasurer(
            directory=folder / "gate",
            repository=site.repository.root,
            confine=hiding_logins(confinement(site, settings, workspace, environment), environment),
            blobs=FileBlobs(folder / "blobs"),
            environment=with_version(environment, site.repository, head),
            nonce=system_clock.nonce,
        )
        return measurer.measure(
            Measure(
                EffectId("measure/baseline"), kind="baseline", candidate=head, base=head, accepted=head, checks=True
            ),
            settings=settings,
            workspace=workspace,
            folder=folder / "logs",
            stop=process.StopFlag(),
            notify=notify,
        )
