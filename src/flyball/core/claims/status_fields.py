"""The fields of a status block; their names, order and types are the grammar that `status_block` reads and writes."""

from types import NoneType
from typing import Literal, get_args, get_origin

import msgspec


class BlockSection(msgspec.Struct, frozen=True, rename="upper"):
    """A key with indented keys below it."""


class Tests(BlockSection, frozen=True):
    total: int = 0
    passing: int = 0
    failing: int = 0
    skipped: int = 0


class FilesSection(BlockSection, frozen=True):
    created: int = 0
    modified: int = 0
    deleted: int = 0


class QaMetrics(BlockSection, frozen=True):
    checks_total: int = 0
    checks_passing: int = 0
    checks_failing: int = 0
    blocking_issues: int = 0
    warning_issues: int = 0


class MemoryContext(BlockSection, frozen=True):
    queries_executed: int = 0
    historical_bugs_found: int = 0
    patterns_identified: int = 0
    adrs_found: int = 0
    file_histories: int = 0


class CircuitBreaker(BlockSection, frozen=True):
    state: str = "CLOSED"
    no_progress_count: int = 0


class DualGate(BlockSection, frozen=True):
    gate_1: bool = False
    gate_1_detail: str = ""
    gate_2: bool = False
    can_exit: bool = False


class Calls(msgspec.Struct, frozen=True):
    """Calls made in the hour, of those allowed: `7/100`."""

    made: int = 0
    limit: int = 0


class RateLimit(BlockSection, frozen=True):
    hourly: Calls = Calls()
    provider: Literal["OK", "DETECTED"] = msgspec.field(default="OK", name="5H_LIMIT")


class FieldEntry(msgspec.Struct, frozen=True):
    key: str
    value: str = ""
    body: tuple[str, ...] = ()


Status = Literal["IN_PROGRESS", "BLOCKED", "COMPLETE"]


class StatusBlock(msgspec.Struct, frozen=True, rename="upper"):
    """One block; a QA block has `qa_metrics`, `memory_context`, `verdict` and `attempt` in place of tests and files.

    Fields stand in the order they are written. `extra` keeps what is not understood, so that nothing read is lost.
    """

    timestamp: str = ""
    phase: str = ""
    status: Status | None = None
    iteration: int | None = None
    progress_percent: int | None = None
    tests: Tests | None = None
    files: FilesSection | None = None
    qa_metrics: QaMetrics | None = None
    memory_context: MemoryContext | None = None
    patterns_applied: tuple[str, ...] = ()
    circuit_breaker: CircuitBreaker | None = None
    dual_gate: DualGate | None = None
    rate_limit: RateLimit | None = None
    verdict: str = ""
    attempt: int | None = None
    blockers: tuple[str, ...] = ()
    exit_signal: bool = False
    recommendation: str = ""
    extra: tuple[FieldEntry, ...] = ()


class BrokenBlock(msgspec.Struct, frozen=True):
    """A block that cannot be believed: why, and the 1-based line of the text."""

    reason: str
    line: int


class BlockField(msgspec.Struct, frozen=True):
    """What a key holds, read off the struct's annotation."""

    name: str
    key: str
    kind: object
    words: tuple[str, ...] = ()

    @property
    def section(self) -> type[BlockSection] | None:
        return self.kind if isinstance(self.kind, type) and issubclass(self.kind, BlockSection) else None


def fields_of(struct: type[msgspec.Struct]) -> tuple[BlockField, ...]:
    fields = []
    for field in msgspec.structs.fields(struct):
        kinds = [kind for kind in get_args(field.type) if kind is not NoneType]
        kind = kinds[0] if NoneType in get_args(field.type) else field.type
        words = get_args(kind) if get_origin(kind) is Literal else ()
        fields.append(BlockField(field.name, field.encode_name, get_origin(kind) or kind, words))
    return tuple(fields)


GRAMMAR = tuple(field for field in fields_of(StatusBlock) if field.name != "extra")
SECTIONS = {field.key: fields_of(field.section) for field in GRAMMAR if field.section}
