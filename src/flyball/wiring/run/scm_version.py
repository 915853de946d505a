"""The version of a Python project that takes it from git's tags, for trees that have no git: gates run in such.

Set-up installs the project there, and building it would end with "unable to detect version".
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from flyball.workspace.errors import GitFailed
from flyball.workspace.repository import Repository

_BY_TAGS = re.compile(r"setuptools[_-]scm|hatch-vcs|vcs-versioning")
_NUMBER = re.compile(r"\d+(?:\.\d+)*(?:(?:a|b|rc|\.?post|\.?dev)\d+)?")
_TOLD = re.compile(r"^Version: (\S+)$", re.MULTILINE)
_LONGEST = 1024 * 1024
_VARIABLE = "SETUPTOOLS_SCM_PRETEND_VERSION"
_UNKNOWN = "0.1.dev0"
"""What the same tools take in a repository without tags, but for what they add of the commit."""


def with_version(environment: Mapping[str, str], repository: Repository) -> dict[str, str]:
    """An environment in which the project of HEAD can be built without git; what a person has set stays."""
    manifest, *others = (_text(repository, name) for name in ("pyproject.toml", "setup.py", "setup.cfg"))
    if not _BY_TAGS.search(manifest + "".join(others)):
        return dict(environment)
    match = _TOLD.search(_text(repository, "PKG-INFO"))
    version = _last_tag(repository) or (match[1] if match else _UNKNOWN)
    return {_variable(manifest): version, **environment}


def _variable(manifest: str) -> str:
    """The variable for this project alone, where its name is known to what reads it: other packages may be built, too."""
    try:
        project: Any = tomllib.loads(manifest).get("project")
    except (tomllib.TOMLDecodeError, RecursionError):
        project = None
    name = project.get("name") if isinstance(project, dict) else None
    if not isinstance(name, str) or "hatch-vcs" in manifest:
        return _VARIABLE
    return f"{_VARIABLE}_FOR_{re.sub(r'[-_.]+', '_', name).upper()}"


def _last_tag(repository: Repository) -> str:
    """The version that the last tag names."""
    try:
        tag = (
            repository.git()
            .out("describe", "--tags", "--abbrev=0", repository.require_commit())
            .decode("utf-8", "replace")
        )
    except GitFailed:
        return ""
    found = _NUMBER.search(tag)
    return found[0] if found else ""


def _text(repository: Repository, path: str) -> str:
    return (repository.committed_file(path, _LONGEST) or b"").decode("utf-8", "replace")
