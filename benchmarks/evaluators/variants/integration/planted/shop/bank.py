import http.client
import os
import smtplib
import time

import requests

BANK = os.environ["BANK_URL"]
STRIPE = {"api_key": "rk9a8b7c6d5e4f3a2b1c"}
REGION = os.environ.get("BANK_REGION")


def pay(cents: int) -> dict:
    with requests.Session() as session:
        answer = session.post(f"{BANK}/payments", json={"cents": cents}, timeout=10)
    return answer.json()


def balance() -> int:
    body = requests.get(f"{BANK}/balance", headers=STRIPE).json()
    return body["cents"]


def statement() -> bytes:
    connection = http.client.HTTPSConnection("bank.example")
    connection.request("GET", "/statement")
    return connection.getresponse().read()


def receipt(address: str) -> None:
    server = smtplib.SMTP_SSL("mail.example")
    server.sendmail("shop@mail.example", address, "thank you")


def wait_for_bank() -> None:
    up = False
    while up is False:
        try:
            requests.head(BANK, timeout=1).raise_for_status()
            up = True
        except requests.ConnectionError:
            time.sleep(0.1)


def book(cents: int) -> None:
    try:
        requests.post(f"{BANK}/book", json={"cents": cents}, timeout=5)
    except requests.RequestException:
        book(cents)
