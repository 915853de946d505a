"""What a project says to its roles: files of the commit a task starts from, never of a tree that somebody works on."""

from posixpath import normpath

from flyball.config.file import FileConfig
from flyball.core.evaluation.catalogue import BUILT_IN, long_name
from flyball.core.model.task import RolePrompt
from flyball.workspace.repository import Repository

LONGEST = 4_000
"""Characters; whoever replaces flyball's text of a role needs a third of them."""
_ASKED = frozenset(long_name(card.name) for card in BUILT_IN)
"""Roles that are asked the passes of an evaluator, one by one."""


def read_prompts(repository: Repository, file: FileConfig | None) -> dict[str, RolePrompt]:
    """The prompts that `[roles.ROLE]` names, each checked; whatever is wrong is said with file, line and key."""
    found: dict[str, RolePrompt] = {}
    for role, table in file.roles.items() if file is not None else ():
        if table.prompt is not None or table.prompt_mode is not None:
            text, problem = _text(repository, role, table.prompt)
            if problem:
                assert file is not None
                raise file.origin.invalid(("roles", role, "prompt"), problem)
            found[role] = RolePrompt(normpath(table.prompt or ""), text, table.prompt_mode or "add")
    return found


def _text(repository: Repository, role: str, path: str | None) -> tuple[str, str]:
    """The text of a role's prompt, or why it cannot be used."""
    if path is None:
        return "", "expected the path of the prompt, since prompt_mode is set"
    if role in _ASKED:
        return "", f"expected none: {role} is asked the passes of its evaluator and nothing else"
    raw = repository.committed_file(normpath(path), most=4 * LONGEST + 1)
    if raw is None:
        there = (repository.root / path).is_file()
        remedy = "commit it" if there else "write it, and commit it"
        return "", f"there is no file {path} in HEAD, from which tasks start; {remedy}"
    text = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n").strip()
    if len(text) > LONGEST or len(raw) > 4 * LONGEST:
        return "", f"{path} is longer than {LONGEST:,} characters; expected at most that many"
    if not text or "\0" in text or "\ufffd" in text:
        return "", f"{path} holds no text in UTF-8; expected what {role} is to be told"
    return text, ""
