"""An order and where it stands."""

from dataclasses import dataclass

ALLOWED = {
    "draft": {"placed"},
    "placed": {"paid", "cancelled"},
    "paid": {"shipped"},
    "shipped": set(),
    "cancelled": set(),
}
COLOURS = {"draft": {"grey"}, "paid": {"green"}}


@dataclass
class Order:
    euros: int
    name: str = "order"
    status: str = "draft"


def move(order: Order, to: str) -> None:
    if to not in ALLOWED[order.status]:
        raise ValueError(f"{order.status} cannot become {to}")
    order.status = to


def ship(order: Order) -> None:
    if order.status == "paid":
        order.status = "shipped"


def rename(order: Order, name: str) -> None:
    if not name:
        raise ValueError("a name is never empty")
    order.name = name
