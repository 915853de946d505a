"""What a reviewer's report comes to beside its earlier looks at the same work."""

from collections.abc import Sequence

from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim


def number(claim: Claim, earlier: Sequence[Finding], turn: int) -> Claim:
    """The report with an id for each finding; one that was made before keeps its own, and stands where it is not gone."""
    findings = []
    for place, found in enumerate(claim.findings, 1):
        known = next((each for each in earlier if found.repeats(each)), None)
        nowhere = found.stands if found.stands == "nowhere" else ""
        named = replace(found, id=known.id, stands=nowhere) if known else replace(found, id=f"F{turn}.{place}")
        findings.append(named)
    ids = {found.id for found in findings}
    findings += [each for each in still_open(claim, earlier) if each.id not in ids]
    return replace(claim, findings=tuple(findings))


def still_open(claim: Claim, earlier: Sequence[Finding]) -> tuple[Finding, ...]:
    """The earlier findings that the reviewer says are not gone."""
    open_ids = {each.id for each in claim.earlier if not each.gone}
    return tuple(each for each in earlier if each.id in open_ids and not each.aside)


def known_after(claim: Claim, earlier: Sequence[Finding]) -> tuple[Finding, ...]:
    """What the next look is told of: all that was found now, and what a rejection said nothing of."""
    answered = {each.id for each in claim.findings} | {each.id for each in claim.earlier}
    silent = () if claim.verdict in {"pass", "warn"} else (each for each in earlier if each.id not in answered)
    return (*claim.findings, *silent)


def rests_on_void(claim: Claim) -> bool:
    """Whether nothing that stands blocks, and yet the report rejects the work or holds something grave against it that is void."""
    if claim.rejected or any(each.blocks for each in claim.findings):
        return False
    return is_void(claim) or any(replace(each, stands="").blocks for each in claim.findings if each.stands == "nowhere")


def is_void(claim: Claim) -> bool:
    """Whether a rejection gives reasons of which none counts."""
    return claim.verdict == "fail" and bool(claim.findings) and all(each.aside for each in claim.findings)
