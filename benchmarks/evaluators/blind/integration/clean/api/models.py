import datetime
import os

from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Patient(Base):
    __tablename__ = "patients"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    phone: Mapped[str | None]
    insurance: Mapped[str]
    password_hash: Mapped[str | None]

    def as_dict(self) -> dict[str, object]:
        return {"id": self.id, "name": self.name, "phone": self.phone}


class Appointment(Base):
    __tablename__ = "appointments"

    id: Mapped[int] = mapped_column(primary_key=True)
    patient_id: Mapped[int] = mapped_column(ForeignKey("patients.id"))
    starts_at: Mapped[datetime.datetime]
    reminder_at: Mapped[datetime.datetime | None]


def session() -> Session:
    return Session(create_engine(os.environ["DATABASE_URL"]))
