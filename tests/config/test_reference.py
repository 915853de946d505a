"""The reference names every key there is, no other, and the defaults that are true."""

import re
from pathlib import Path

from flyball.config import schema
from flyball.config.schema import duration
from flyball.core.health.verdict import Thresholds
from flyball.core.model.task import CodeLimits, Gate, Limits, Settings
from flyball.core.workflows.registry import WORKFLOWS
from flyball.core.workflows.tdd.workflow import WORKFLOW as TDD

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
ROWS = {match[1]: match[0] for match in re.finditer(r"^\| `([\w.]+)` \|.*$", TEXT, re.MULTILINE)}


def every_key() -> set[str]:
    keys = {*schema.TopLevel.__struct_fields__, *schema.UserSettings.__struct_fields__}
    keys |= {f"{name}.{field}" for name, kind in schema.SECTIONS.items() for field in kind.__struct_fields__}
    keys |= {f"agents.NAME.{field}" for field in schema.AgentTable.__struct_fields__}
    keys |= {f"roles.ROLE.{field}" for field in schema.RoleTable.__struct_fields__}
    keys |= {f"gates.{field}" for field in schema.GateOptions.__struct_fields__}
    keys |= {f"gates.NAME.{field}" for field in schema.GateTable.__struct_fields__}
    keys |= {f"breaker.{field}" for field in schema.BreakerOptions.__struct_fields__}
    return keys | {f"breaker.STAGE.{field}" for field in schema.StrikesTable.__struct_fields__}


def stated(key: str, column: int) -> str:
    return ROWS[key].split("|")[column].strip().strip("`")


def test_every_key_has_a_row_and_every_row_a_key() -> None:
    assert set(ROWS) == every_key()


def test_the_stated_numbers_are_the_defaults() -> None:
    for section, defaults in (("monitor", Thresholds()), ("code", CodeLimits())):
        for field in type(defaults).__struct_fields__:
            assert stated(f"{section}.{field}", 2) == str(getattr(defaults, field)), field


def test_the_stated_limits_are_the_defaults() -> None:
    limits = Limits()
    for field in schema.LimitsTable.__struct_fields__:
        said = stated(f"limits.{field}", 3)
        if hasattr(limits, f"{field}_s"):
            assert duration(said.strip('"')) == getattr(limits, f"{field}_s"), field
        else:
            assert said == str(getattr(limits, field) or "none"), field
    assert duration(stated("gates.NAME.timeout", 2).strip('"')) == Gate("", "").timeout_s
    assert duration(stated("setup_timeout", 3).strip('"')) == Settings().setup_timeout_s


def test_the_stated_strikes_are_the_defaults() -> None:
    for field in schema.StrikesTable.__struct_fields__:
        row = ROWS[f"breaker.STAGE.{field}"]
        found = {stage: int(number) for stage, number in re.findall(r"([A-Z]+) `(\d+)`", row)}
        assert found == {stage: getattr(strikes, field) for stage, strikes in TDD.strikes.items()}


def test_all_roles_of_the_workflows_are_named() -> None:
    assert all(f"`{role}`" in TEXT for workflow in WORKFLOWS.values() for role in workflow.roles)
