"""How a task's commands are confined on this machine."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from flyball.core.model.task import Settings
from flyball.folders import users_environments
from flyball.ports import Confine, Refusal
from flyball.wiring.site import Site
from flyball.workspace.repository import Repository
from flyball.workspace.sandbox import Confined, Unavailable, Unconfined, available, secret_paths
from flyball.workspace.workspace import GitWorkspace


def confinement(site: Site, settings: Settings, workspace: GitWorkspace, environment: Mapping[str, str]) -> Confine:
    if settings.sandbox == "none":
        return Unconfined()
    program = available()
    if isinstance(program, Unavailable):
        raise Refusal(f"{program.reason}. Or run without one: --sandbox none")
    root = site.repository.root
    user = Path(environment.get("HOME", "/")).expanduser()
    return Confined(
        program,
        root,
        hidden=(*secret_paths(user), site.home.home),
        programs=program_folders(environment),
        git_dirs=workspace.git_dirs,
        environments=lent_environments(site.repository, settings.environment_folders),
        environment_names=settings.environment_folders,
        copies=workspace.environment_copies,
        network=settings.network,
    )


def lent_environments(repository: Repository, names: Sequence[str]) -> tuple[str, ...]:
    """The user's installed dependencies: what git tracks is no such thing, whatever it is called."""
    found = users_environments(repository.root, names)
    return tuple(name for name in found if not repository.tracked_files(name))


def program_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where programs and their libraries lie: this Python, this package, and the folders of PATH."""
    found = [Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[3]]
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(entry)
        if folder.is_absolute() and folder.is_dir():
            found.append(folder.parent if folder.name in {"bin", "Scripts", ".bin"} else folder)
    return tuple(found)
