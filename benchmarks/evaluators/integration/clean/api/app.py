"""The API of a small booking service."""

import os
import smtplib

import httpx
import requests
from fastapi import Depends, FastAPI, HTTPException

from api.guard import signed_in

app = FastAPI()
DATABASE_URL = os.environ["DATABASE_URL"]
PAYMENT_URL = os.environ["PAYMENT_URL"]
PAYMENT_TOKEN = os.environ["PAYMENT_TOKEN"]
TOKEN_URL = "https://login.example/oauth2/token"
PASSWORD_FIELD = "password_confirmation_2"
TIMEOUT_S = 10


@app.get("/rooms")
def rooms() -> list[dict[str, object]]:
    return []


@app.get("/rooms/{number}")
def room(number: int) -> dict[str, int]:
    return {"id": number}


@app.post("/bookings", dependencies=[Depends(signed_in)])
def book(room: int) -> dict[str, int]:
    try:
        answer = requests.post(PAYMENT_URL, json={"room": room}, timeout=TIMEOUT_S)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise HTTPException(502, "the payment could not be made; try again") from error
    return {"room": room}


@app.put("/bookings/{number}")
def move(number: int, user: str = Depends(signed_in)) -> dict[str, int]:
    return {"number": number}


@app.delete("/bookings/{number}", dependencies=[Depends(signed_in)])
def cancel(number: int) -> None:
    return None


async def weather() -> str:
    async with httpx.AsyncClient(timeout=TIMEOUT_S) as client:
        answer = await client.get("https://weather.example/today")
        answer.raise_for_status()
        return answer.text


def confirm(address: str) -> None:
    with smtplib.SMTP(os.environ.get("SMTP_HOST", "localhost"), timeout=TIMEOUT_S) as mail:
        mail.sendmail("rooms@bookings.example", address, "booked")
