"""The API of a small booking service."""

import os
import smtplib
import urllib.request

import httpx
import requests
from fastapi import Depends, FastAPI

from api.guard import signed_in

app = FastAPI()
DATABASE_URL = os.environ["DATABASE_URL"]
PAYMENT_URL = os.environ["PAYMENT_URL"]
aws_access_key_id = "AKIAQ3EGRDXP7W5LKZUN"
payment_password = "Tr4verse-Copper-91"


@app.get("/rooms")
def rooms() -> list[dict[str, object]]:
    return []


@app.post("/bookings", dependencies=[Depends(signed_in)])
def book(room: int, day: str) -> dict[str, int]:
    answer = requests.post(PAYMENT_URL, json={"room": room, "day": day})
    return {"room": room, "payment": answer.json()["id"]}


@app.put("/bookings/{number}")
def move(number: int, day: str) -> dict[str, int]:
    return {"number": number}


@app.get("/weather")
async def weather() -> str:
    async with httpx.AsyncClient(timeout=None) as client:
        answer = await client.get("https://weather.example/today")
        answer.raise_for_status()
        return answer.text


def holidays() -> bytes:
    with urllib.request.urlopen("https://holidays.example/list") as answer:
        return answer.read()


def confirm(address: str) -> None:
    with smtplib.SMTP(os.getenv("MAIL_HOST", "localhost")) as mail:
        mail.sendmail("rooms@bookings.example", address, "booked")
