import datetime

from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Patient(Base):
    __tablename__ = "patients"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    insurance: Mapped[str]

    def as_dict(self) -> dict[str, object]:
        return {"id": self.id, "name": self.name}


class Appointment(Base):
    __tablename__ = "appointments"

    id: Mapped[int] = mapped_column(primary_key=True)
    patient_id: Mapped[int] = mapped_column(ForeignKey("patients.id"))
    starts_at: Mapped[datetime.datetime]
    reminder_at: Mapped[datetime.datetime | None]


class Invoice(Base):
    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(primary_key=True)
    cents: Mapped[int]


def session() -> Session:
    return Session(create_engine("postgresql://clinic:s3cr3tpw@db.internal/clinic"))
