"""What came of a batch, as it is reported to `flyball monitor`, and what the monitor sees in it (M1 to M4)."""

import msgspec

from flyball.core.claims.values import meaning
from flyball.core.failures.signature import Signature, digest, signature
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Blocker

NOT_APPROVED = "not approved by the review"


class Review(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    verdict: str = ""
    approved: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    anti_patterns: tuple[str, ...] = ()

    @property
    def says_something(self) -> bool:
        return bool(self.verdict.strip() or self.approved or self.rejected)


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    error: str = ""


class BatchResult(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One batch as reported; what stands below `blocked` is measured, and left out where a loop cannot measure it."""

    batch: tuple[str, ...] = ()
    review: Review | None = None
    passed: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    blocked: tuple[Blocker, ...] = ()
    context: int | None = None
    tree: str | None = None
    changed_files: tuple[str, ...] | None = None
    diff_lines: int | None = None
    failing: tuple[str, ...] | None = None
    metric: float | None = None
    restored: bool = False
    tokens: int = 0
    usd: float = 0.0


def of_batch(result: BatchResult, iteration: int) -> Observation:
    """The batch with only what the review approved counted as passed."""
    approved = _approved_items(result)
    errors = _errors(result, approved)
    failed = {item: signature(error, (item,)) for item, error in errors.items()}
    return Observation(
        iteration=iteration,
        context=result.context,
        kind="plan" if result.metric is None else "optimise",
        batch=result.batch,
        passed=_passed_items(result, approved - errors.keys()),
        failed=failed,
        blocked=result.blocked,
        reviewed=result.review is not None and result.review.says_something,
        tree=result.tree,
        changed_files=() if result.diff_lines == 0 else result.changed_files,
        failing=result.failing,
        metric=result.metric,
        coarse=digest(sorted(failed)) if failed else None,
        fine=_fine(errors, failed, iteration),
        summary=next((named.summary for named in failed.values()), ""),
        restored=result.restored,
        tokens=result.tokens,
        usd=result.usd,
    )


def _approved_items(result: BatchResult) -> set[str]:
    """What the review approved: what it lists, or, listing nothing, all it does not reject unless it turns the batch down."""
    review = result.review or Review()
    if not review.approved and meaning("verdict", review.verdict) in {"pass", "warn"}:
        return set(result.passed) - set(review.rejected)
    return set(review.approved) - set(review.rejected)


def _passed_items(result: BatchResult, approved: set[str]) -> tuple[str, ...]:
    """What was said to have passed, and what was attempted without a word of it, where the review approved it."""
    blocked = {blocker.id for blocker in result.blocked}
    said = dict.fromkeys((*result.passed, *(item for item in result.batch if item not in blocked)))
    return tuple(item for item in said if item in approved)


def _errors(result: BatchResult, approved: set[str]) -> dict[str, str]:
    """What failed and how, each error of an item; what the review turned down has failed, whatever its tests said."""
    errors: dict[str, str] = {}
    for failure in result.failed:
        errors[failure.id] = "\n".join(filter(None, (errors.get(failure.id, ""), failure.error)))
    rejected = result.review.rejected if result.review else ()
    blocked = {blocker.id for blocker in result.blocked}
    turned_down = [item for item in result.passed if item not in approved]
    turned_down += [item for item in rejected if item not in blocked]
    for item in turned_down:
        errors.setdefault(item, NOT_APPROVED)
    return errors


def _fine(errors: dict[str, str], failed: dict[str, Signature], iteration: int) -> str | None:
    """The failure of the whole batch in detail; one that says nothing of itself is like no other."""
    if not errors:
        return None
    if any(not error.strip() or error == NOT_APPROVED for error in errors.values()):
        return f"undetailed:{iteration}"
    return digest(f"{item} {failed[item].fine}" for item in sorted(failed))
