"""A repository with one commit and its site, as commands have them."""

from tests.cli.conftest import one_commit, repository, site, told

__all__ = ["one_commit", "repository", "site", "told"]
