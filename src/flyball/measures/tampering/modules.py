"""Which file of a tree a module's name means, and under which names one file knows what another defines."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import msgspec

ALL = "*"


def files_of(dotted: str, files: Iterable[str]) -> frozenset[str]:
    """The files that a module of this name may be, from any folder that is not itself a package."""
    files = files if isinstance(files, frozenset) else frozenset(files)
    path = dotted.replace(".", "/")
    ends = (f"{path}.py", f"{path}/__init__.py")
    return frozenset(file for file in files for end in ends if _is_module(file, end, files))


def _is_module(file: str, end: str, files: frozenset[str]) -> bool:
    if file == end:
        return True
    return file.endswith(f"/{end}") and f"{file[: -len(end)]}__init__.py" not in files


def names_of(path: str, files: frozenset[str]) -> frozenset[str]:
    """The names a module may be imported by; a package that only passes on what its modules hold has them as well."""
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    roots = (at for at in range(len(parts)) if not at or "/".join((*parts[:at], "__init__.py")) not in files)
    return frozenset(".".join(parts[at:]) for at in roots)


class KnownNames(msgspec.Struct, frozen=True):
    """Under which names a file knows what a module defines: each for one definition, or as attributes of the module."""

    names: dict[str, str]
    prefixes: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.names or self.prefixes)

    def meant(self, node: ast.expr) -> str:
        """The module's definition that an expression is, or an empty string."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id) or (node.id if ALL in self.names else "")
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in self.prefixes:
            return node.attr
        return ""


def known(path: str, module: ast.Module, names: frozenset[str]) -> KnownNames:
    """What the file at `path` imports of the module that has those names."""
    found: dict[str, str] = {}
    prefixes: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            prefixes |= {alias.asname or alias.name for alias in node.names if alias.name in names}
        elif isinstance(node, ast.ImportFrom):
            for origin in _origins(path, node):
                found |= {a.asname or a.name: a.name for a in node.names if origin in names}
                prefixes |= {a.asname or a.name for a in node.names if f"{origin}.{a.name}".lstrip(".") in names}
    return KnownNames(found, frozenset(prefixes))


def _origins(path: str, node: ast.ImportFrom) -> Iterator[str]:
    """The module that something is imported from; a relative one by every name it may have."""
    module = node.module or ""
    if not node.level:
        yield module
        return
    parts = PurePosixPath(path).parts[: -node.level]
    for at in range(len(parts) + 1):
        yield ".".join((*parts[at:], *([module] if module else ())))
