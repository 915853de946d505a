"""The roles of all workflows, independent of any program that plays them; the first workflow that has a role describes it."""

from flyball.core.loop.role import Role
from flyball.core.workflows.registry import WORKFLOWS


def roles() -> tuple[Role, ...]:
    found: dict[str, Role] = {}
    for card in (card for workflow in WORKFLOWS.values() for card in workflow.cards):
        found.setdefault(card.name, card)
    return tuple(found.values())


def reviewer_names() -> frozenset[str]:
    return frozenset(card.name for workflow in WORKFLOWS.values() for card in workflow.cards if card.reviews)
