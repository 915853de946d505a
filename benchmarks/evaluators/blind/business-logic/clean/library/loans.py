from dataclasses import dataclass, field

LONGEST = 21
LOAN_STATES = {
    "requested": {"active", "cancelled"},
    "active": {"returned", "overdue"},
    "overdue": {"returned", "lost"},
}


@dataclass
class Loan:
    days: int
    status: str = "requested"
    extensions: list[int] = field(default_factory=list)


def move(loan: Loan, to: str) -> None:
    if to not in LOAN_STATES.get(loan.status, set()):
        raise ValueError(f"{loan.status} cannot become {to}")
    loan.status = to


def is_late(loan: Loan) -> bool:
    return loan.days > LONGEST


def average_days(loans: list[Loan]) -> float:
    return sum(loan.days for loan in loans) / len(loans) if loans else 0.0


def last_extension(loan: Loan) -> int | None:
    return loan.extensions[-1] if loan.extensions else None
