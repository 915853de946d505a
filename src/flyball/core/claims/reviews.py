"""What a review amounts to: the values that summaries and reports of reviewers are read into."""

from typing import Annotated, Literal

import msgspec

Result = Literal["pass", "warn", "fail"]
Count = Annotated[int, msgspec.Meta(ge=0)]
VALIDATORS = ("code review", "security audit", "performance review", "spec audit")
"""The reviews that must be given and pass before anything is done, unless `evaluate.validators` names others."""


class EvaluateSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the evaluator requires before it says DONE, and which files beside the issue files are none."""

    validators: tuple[str, ...] = VALIDATORS
    ignore: tuple[str, ...] = ()


class Validation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One validator's summary: findings by severity, ids it says it created, where a critical one is, and its own file."""

    kind: str
    result: Result
    findings: dict[str, Count] = {}
    created: tuple[str, ...] = ()
    critical_security: bool = False
    critical_in: str = ""
    file: str = "validation"

    @property
    def passed(self) -> bool:
        return self.result != "fail"
