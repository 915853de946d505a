import os

from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Patient(Base):
    __tablename__ = "patients"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    phone: Mapped[str | None]

    def as_dict(self) -> dict[str, object]:
        return {"id": self.id, "name": self.name, "phone": self.phone}


def session() -> Session:
    return Session(create_engine(os.environ["DATABASE_URL"]))
