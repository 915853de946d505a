"""How commands read what was typed and show what may be: a text may begin with a dash, help names no default twice and every workflow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

from flyball.core.text.quantities import alternatives
from flyball.core.workflows.registry import WORKFLOWS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

ANY_WORKFLOW, ANY_DEMO = "{workflows}", "{demos}"
_TEXT = re.compile(r"-[^=\s]*\s")
"""No option has white space in its name."""


def texts_last(args: Sequence[str], valued: Collection[str]) -> list[str]:
    """The arguments with texts that begin with a dash behind `--`: text is the last thing every command takes.

    What follows one of the options that take a value (`valued`) is that value.
    """
    end = args.index("--") if "--" in args else len(args)
    texts = [n for n in range(end) if _TEXT.match(args[n]) and not (n and args[n - 1] in valued)]
    if not texts:
        return list(args)
    rest = [arg for n, arg in enumerate(args[:end]) if n not in texts]
    return [*rest, "--", *args[end + 1 :], *(args[n] for n in texts)]


def for_help(params: list[Any]) -> list[Any]:
    """The parameters as help shows them: each text names its default itself, and a flag takes no value."""
    for param in params:
        param.show_default = False
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


class CommandTable(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return for_help(super().get_params(ctx))


def name_workflows(text: str) -> str:
    """Help with the names of all workflows, those of other packages too: they are registered before commands are put together."""
    shown = [name for name, each in WORKFLOWS.items() if each.demo is not None]
    return text.replace(ANY_WORKFLOW, alternatives([*WORKFLOWS])).replace(ANY_DEMO, alternatives(shown))


class FreeTextCommand(TyperCommand):
    """A command whose text may begin with a dash."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        for param in self.params:
            if text := getattr(param, "help", None):
                param.help = name_workflows(text)  # type: ignore[attr-defined]

    def get_params(self, ctx: Any) -> list[Any]:
        return for_help(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        valued = {name for param in self.params if not getattr(param, "is_flag", False) for name in param.opts}
        return super().parse_args(ctx, texts_last(args, valued))
