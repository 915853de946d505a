"""What is held in the user's own tree while a run may write to it, and what a run must not leave there."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec

from flyball.workspace.checkout import Checkout
from flyball.workspace.in_place.git_settings import guard_settings, refuse_settings, settings_in_tree
from flyball.workspace.in_place.made_environments import MadeEnvironments
from flyball.workspace.in_place.nested import Nested, refuse_links
from flyball.workspace.mounts import Mount
from flyball.workspace.repository import Repository


class TreeGuard(msgspec.Struct, frozen=True):
    """The guard of one task's runs; `checkout` is where its records are, `saved` gives the files of the newest checkpoint."""

    repository: Repository
    checkout: Checkout
    environment: Mapping[str, str]
    environment_folders: tuple[str, ...]
    saved: Callable[[], Collection[str]]

    def refuse(self) -> None:
        """Refuse a tree that cannot be guarded, or that git itself is at work in."""
        self.repository.require_idle()
        refuse_links(self.root)
        refuse_settings(self.repository, self.environment)

    def hold(self) -> tuple[Mount, ...]:
        """What below the tree is git's, or named by its settings, and must not be written by the run to come."""
        self._made_environments.guard()
        named = guard_settings(settings_in_tree(self.repository, self.environment), self.root)
        return (*named, *(Mount("read-only", path) for path in self._nested.guard()))

    def sweep(self) -> tuple[str, ...]:
        """Move away what a run must not leave in the tree; sentences on it."""
        return (*self._made_environments.sweep(), *self._nested.sweep())

    @property
    def root(self) -> Path:
        return self.repository.root

    @property
    def _nested(self) -> Nested:
        return Nested(self.root, self.checkout.nested, self.checkout.moved_away)

    @property
    def _made_environments(self) -> MadeEnvironments:
        away = self.checkout.moved_away / "environments"
        return MadeEnvironments(self.root, self.environment_folders, self.checkout.environments, away, self.saved)
