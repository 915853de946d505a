"""Installing dependencies: the files that say what is wanted, by their names, and what those who install are told."""

import re
from collections.abc import Sequence

OWN_COPIES = {"UV_LINK_MODE": "copy"}
"""For whatever may install something: files linked from a cache would be written through, into the cache and all who use it."""

_MANIFEST = re.compile(
    r"pyproject\.toml|setup\.(py|cfg)|.*requirements.*\.(txt|in)|Pipfile|environment\.ya?ml|package\.json|go\.(mod|sum)"
    r"|Cargo\.toml|Gemfile|composer\.json|mix\.exs|pom\.xml|build\.gradle(\.kts)?|.*\.lock|.*-lock\.(json|yaml)|\.python-version|\.nvmrc"
)


def is_manifest(path: str) -> bool:
    return _MANIFEST.fullmatch(path.rpartition("/")[2]) is not None


def may_share_environment(files: Sequence[str]) -> bool:
    """Whether work on these files can be done with dependencies that nobody may write: it is known to change no manifest."""
    return bool(files) and not any(is_manifest(path) or path.endswith("/") or "*" in path for path in files)
