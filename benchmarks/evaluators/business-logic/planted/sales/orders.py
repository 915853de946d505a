"""An order and where it stands."""

from dataclasses import dataclass

ALLOWED = {
    "draft": {"placed"},
    "placed": {"paid", "cancelled"},
    "paid": {"shipped", "draft"},
    "shipped": set(),
}


@dataclass
class Order:
    euros: int
    status: str = "draft"


def move(order: Order, to: str) -> None:
    if to not in ALLOWED[order.status]:
        raise ValueError(f"{order.status} cannot become {to}")
    order.status = to


def ship(order: Order) -> None:
    if order.status == "cancelled":
        order.status = "shipped"


def archive(order: Order) -> None:
    order.status = "archived"
