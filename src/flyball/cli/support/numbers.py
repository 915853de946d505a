"""Options that are numbers: one that is none, or too small or large, is refused with its value and with what may be typed."""

import math
from typing import Any

import typer

NO_LIMIT = " (leave it out for no limit)"
LARGEST = 2**53
"""What the journal and every reader of its JSON can hold as a whole number."""


def whole_number(help_: str, *, least: int = 1, most: int | None = None, otherwise: str = "") -> Any:
    """An option that takes a whole number; `otherwise` is what to do where no number fits."""
    wanted = f"a whole number from {least}{f' to {most}' if most is not None else ''}{otherwise}"

    def parse(typed: object) -> int:
        try:
            value = int(str(typed))
        except ValueError:
            raise _misfit(typed, wanted) from None
        if value > LARGEST and most is None:
            raise _misfit(typed, f"a whole number from {least} to {LARGEST}{otherwise}", number=True)
        if value < least or (most is not None and value > most):
            raise _misfit(typed, wanted, number=True)
        return value

    return typer.Option(help=help_, metavar="N", parser=parse)


def amount(help_: str, metavar: str) -> Any:
    """An option that takes a number greater than nothing, with or without a fraction."""
    wanted = f"a finite number greater than 0{NO_LIMIT}"

    def parse(typed: object) -> float:
        try:
            value = float(str(typed))
        except ValueError:
            raise _misfit(typed, wanted) from None
        if not 0 < value < math.inf:
            raise _misfit(typed, wanted, number=True)
        return value

    return typer.Option(help=help_, metavar=metavar, parser=parse)


def _misfit(typed: object, wanted: str, *, number: bool = False) -> typer.BadParameter:
    from flyball.config.file import spell_value

    shown = str(typed).strip() if number else spell_value(typed)
    return typer.BadParameter(f"expected {wanted}, but it is {shown}")
