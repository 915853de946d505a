"""The permits of a city's parking zones."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import Engine, create_engine, select
from sqlalchemy.orm import Session

from permits.auth import Citizen
from permits.models import Permit
from permits.register import RegisterDown, is_registered
from permits.settings import read

app = FastAPI()


class NewPermit(BaseModel):
    plate: str
    zone: str


@cache
def engine() -> Engine:
    return create_engine(read().database_url)


def session() -> Iterator[Session]:
    with Session(engine()) as opened, opened.begin():
        yield opened


Db = Annotated[Session, Depends(session)]


def shown(permit: Permit) -> dict[str, Any]:
    return {"id": permit.id, "plate": permit.plate, "zone": permit.zone, "expires_on": permit.expires_on}


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "alive"}


@app.get("/permits")
def list_permits(db: Db, _who: Citizen) -> list[dict[str, Any]]:
    return [shown(each) for each in db.scalars(select(Permit))]


@app.post("/permits", status_code=201)
def create_permit(new: NewPermit, db: Db) -> dict[str, Any]:
    permit = Permit(plate=new.plate, zone=new.zone)
    db.add(permit)
    db.flush()
    return shown(permit)


@app.post("/permits/{permit_id}/renewals")
def renew_permit(permit_id: int, db: Db, _who: Citizen) -> dict[str, Any]:
    permit = existing(db, permit_id)
    try:
        registered = is_registered(permit.plate, read())
    except RegisterDown as error:
        raise HTTPException(502, "the register did not answer") from error
    if registered:
        permit.expires_on = datetime.now(UTC).date() + timedelta(days=365)
    return shown(permit)


@app.delete("/permits/{permit_id}/renewals")
def revoke(permit_id: int, db: Db, _who: Citizen) -> dict[str, Any]:
    permit = existing(db, permit_id)
    permit.expires_on = None
    return shown(permit)


def existing(db: Session, permit_id: int) -> Permit:
    permit = db.get(Permit, permit_id)
    if permit is None:
        raise HTTPException(404, "no such permit")
    return permit
