"""The evaluators there are: flyball's four, and those of other packages, found by the entry point `flyball.evaluators`."""

from importlib.metadata import EntryPoint, entry_points

import msgspec

from flyball.core.evaluation.catalogue import BUILT_IN, EvaluatorCard
from flyball.measures.evaluators.contract import Evaluator

GROUP = "flyball.evaluators"


class Offered(msgspec.Struct, frozen=True):
    """The cards of every evaluator that can be dispatched, and why others cannot."""

    cards: tuple[EvaluatorCard, ...]
    unusable: dict[str, str]


class EvaluatorRefused(Exception):
    """What another package offers is no evaluator that can be used."""


def find_evaluators() -> Offered:
    """Every evaluator; one that cannot be used is remembered with its reason."""
    cards = list(BUILT_IN)
    unusable: dict[str, str] = {}
    for entry in _entries():
        try:
            cards.append(_foreign(entry, taken=[card.name for card in cards]).card)
        except Exception as error:  # noqa: BLE001 - code of others may fail in any way
            reason = str(error) if isinstance(error, EvaluatorRefused) else f"{type(error).__name__}: {error}"
            package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.module
            unusable[entry.name] = f"the package {package} offers it as {entry.value}, but {' '.join(reason.split())}"
    return Offered(tuple(cards), unusable)


def evaluator(name: str) -> Evaluator:
    """The evaluator of a name, loaded; for the process that runs it."""
    if name in {card.name for card in BUILT_IN}:
        # Each is imported by the process that runs it, and by no other.
        from flyball.measures.evaluators import business_logic, code_quality, integration, ui_ux  # noqa: PLC0415 - see above

        own = (ui_ux.EVALUATOR, code_quality.EVALUATOR, integration.EVALUATOR, business_logic.EVALUATOR)
        return next(each for each in own if each.card.name == name)
    entry = next((each for each in _entries() if each.name == name), None)
    if entry is None:
        raise EvaluatorRefused(f"there is no evaluator {name}")
    return _foreign(entry, taken=[])


def _entries() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value))


def _foreign(entry: EntryPoint, taken: list[str]) -> Evaluator:
    loaded = entry.load()
    if not isinstance(loaded, Evaluator):
        kind = type(loaded).__name__
        raise EvaluatorRefused(f"that is {kind}, and no flyball.measures.evaluators.contract.Evaluator")
    card = loaded.card
    if card.name != entry.name:
        raise EvaluatorRefused(f"its name is {card.name!r}; name its entry point the same")
    if card.name in taken:
        raise EvaluatorRefused("an evaluator of that name is there already; uninstall one of the two")
    if not card.passes or any(not (each.measured or each.judged) for each in card.passes):
        raise EvaluatorRefused("it has no passes, or one that is neither measured nor judged")
    return loaded
