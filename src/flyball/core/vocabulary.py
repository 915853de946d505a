"""All that journals may hold: the facts, effects and outcomes of the kernel and of every workflow, put together here alone."""

from functools import reduce
from operator import or_
from typing import Any

from flyball.core.model import batch_events as be, effects as ef, events as ev, outcomes as oc
from flyball.core.model.effects import Effect
from flyball.core.model.events import Event, Fact
from flyball.core.model.outcomes import Outcome
from flyball.core.workflows.registry import WORKFLOWS


def effects() -> tuple[type[Effect], ...]:
    return (*_kinds(ef, Effect), *(kind for workflow in WORKFLOWS.values() for kind in workflow.effects))


def outcomes() -> tuple[type[Outcome], ...]:
    return (*_kinds(oc, Outcome), *(kind for workflow in WORKFLOWS.values() for kind in workflow.outcomes))


def facts() -> tuple[type[Fact], ...]:
    return (*_kinds(ev, Fact), *_kinds(be, Fact), *(kind for workflow in WORKFLOWS.values() for kind in workflow.facts))


def fact_type() -> Any:
    begun: Any = ev.Begun[_any_of(effects())]  # type: ignore[misc]
    ended: Any = ev.Ended[_any_of(outcomes())]  # type: ignore[misc]
    return _any_of((begun, ended, *(kind for kind in facts() if kind not in {ev.Begun, ev.Ended})))


def event_type() -> Any:
    return Event[fact_type()]  # type: ignore[misc]


def _any_of(kinds: tuple[Any, ...]) -> Any:
    return reduce(or_, kinds)


def _kinds(module: Any, base: Any) -> tuple[Any, ...]:
    defined = (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__)
    return tuple(each for each in defined if issubclass(each, base) and each is not base)
