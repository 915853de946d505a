from dataclasses import dataclass, field

LONGEST = 21
LOAN_STATES = {
    "requested": {"active", "cancelled"},
    "active": {"returned", "overdue", "cancelled"},
    "overdue": {"returned"},
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


def reopen(loan: Loan) -> None:
    if loan.status == "returned":
        loan.status = "active"


def archive(loan: Loan) -> None:
    loan.status = "archived"


def is_late(loan: Loan) -> bool:
    return loan.days >= LONGEST


def average_days(loans: list[Loan]) -> float:
    return sum(loan.days for loan in loans) / len(loans)


def last_extension(loan: Loan) -> int:
    return loan.extensions[-1]
