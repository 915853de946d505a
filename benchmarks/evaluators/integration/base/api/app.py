"""The API of a small booking service."""

import os

from fastapi import Depends, FastAPI

from api.guard import signed_in

app = FastAPI()
DATABASE_URL = os.environ["DATABASE_URL"]


@app.get("/rooms")
def rooms() -> list[dict[str, object]]:
    return []


@app.post("/bookings", dependencies=[Depends(signed_in)])
def book(room: int) -> dict[str, int]:
    return {"room": room}


@app.delete("/bookings/{number}", dependencies=[Depends(signed_in)])
def cancel(number: int) -> None:
    return None
