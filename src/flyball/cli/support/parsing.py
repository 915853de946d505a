"""How commands read what was typed and show what may be: a text may begin with a dash, and help names no default twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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
    """All commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        return for_help(super().get_params(ctx))


class FreeTextCommand(TyperCommand):
    """A command whose text may begin with a dash."""

    def get_params(self, ctx: Any) -> list[Any]:
        return for_help(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        valued = {name for param in self.params if not getattr(param, "is_flag", False) for name in param.opts}
        return super().parse_args(ctx, texts_last(args, valued))
